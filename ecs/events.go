package ecs

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

// Events is a queue of pointer-free values with two buffers: systems send into one while
// they read what was sent before the last Swap from the other. One Swap per tick makes
// every event readable for exactly one tick, by every system, whatever their order.
//
// The capacity is fixed. An event that does not fit is refused, and counted.
//
// Invariants, verified by Check:
//
//	(1) write is 0 or 1, and 0 <= n[i] <= len(buf[i])
//	(2) both buffers have the same length, which is 0 once the queue is closed
type Events[T any] struct {
	noCopy  noCopy
	mem     memory.Allocator
	buf     [2][]T
	n       [2]int
	write   int
	dropped uint64
	unwatch func()
}

// maxEvents in both buffers are fewer than an int of 32 bits counts.
const maxEvents = 1<<30 - 1

// NewEvents makes a queue for capacity events of T per tick. It allocates its two buffers from mem in
// one block, and Close frees them. If mem is closed first and has a Watch method, as page.Watched
// says, the queue closes itself.
//
// The error wraps [memory.ErrConfig] if capacity is not from 1 to 1<<30 - 1, a [*memory.PointerError]
// that names the field if T contains a pointer, or the error of mem. Nothing was allocated then.
func NewEvents[T any](mem memory.Allocator, capacity int) (*Events[T], error) {
	if capacity < 1 || capacity > maxEvents {
		return nil, fmt.Errorf("ecs: NewEvents with capacity %d: want 1 to %d: %w", capacity, maxEvents, memory.ErrConfig)
	}
	block, err := memory.MakeSlice[T](mem, 2*capacity)
	if err != nil {
		return nil, fmt.Errorf("ecs: a queue for %d events: %w", capacity, err)
	}
	q := &Events[T]{mem: mem, buf: [2][]T{block[:capacity], block[capacity:]}}
	q.unwatch = watch(mem, q.allocatorClosed)
	return q, nil
}

// Send queues v for the readers after the next Swap; false when the queue is full, which
// Dropped counts, or closed.
func (q *Events[T]) Send(v T) bool {
	b, n := q.buf[q.write&1], q.n[q.write&1]
	if n >= len(b) {
		q.dropped++
		return false
	}
	b[n] = v
	q.n[q.write&1] = n + 1
	return true
}

// Read returns the events sent between the last two calls of Swap, in order. The slice is
// valid until the next Swap.
func (q *Events[T]) Read() []T {
	r := q.write&1 ^ 1
	return q.buf[r][:q.n[r]]
}

// Swap makes the events sent since the last Swap readable and forgets those before.
func (q *Events[T]) Swap() {
	q.write ^= 1
	q.n[q.write&1] = 0
}

// Clear forgets all events of both buffers. It leaves Dropped as it is.
func (q *Events[T]) Clear() { q.n = [2]int{} }

// Pending returns the number of events sent since the last Swap.
func (q *Events[T]) Pending() int { return q.n[q.write&1] }

// Cap returns the number of events that fit between two calls of Swap.
func (q *Events[T]) Cap() int { return len(q.buf[0]) }

// Dropped returns the number of events refused since NewEvents.
func (q *Events[T]) Dropped() uint64 { return q.dropped }

// Check verifies the books and reports every broken invariant, or nil.
func (q *Events[T]) Check() error {
	var c checker
	c.that(q.write>>1 == 0, "events: buffer %d is written", q.write)
	for i, n := range q.n {
		c.that(n >= 0 && n <= len(q.buf[i]), "events: buffer %d holds %d of %d", i, n, len(q.buf[i]))
	}
	c.that(len(q.buf[0]) == len(q.buf[1]) && (len(q.buf[0]) > 0) == (q.mem != nil), "events: buffers for %d and %d", len(q.buf[0]), len(q.buf[1]))
	return c.err()
}

// Close gives the buffers back. Closing again does nothing; the error is always nil.
func (q *Events[T]) Close() error {
	if q.mem != nil {
		c := len(q.buf[0])
		memory.FreeSlice(q.mem, q.buf[0][:2*c:2*c])
		q.unwatch()
		q.allocatorClosed()
	}
	return nil
}

// allocatorClosed forgets the buffers: they went back, or mem was closed.
func (q *Events[T]) allocatorClosed() { *q = Events[T]{dropped: q.dropped} }
