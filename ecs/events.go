package ecs

import (
	"fmt"
	"reflect"

	"github.com/strata-go/strata/memory"
)

// Events is a double-buffered queue of pointer-free values. Send appends to one buffer, and Read returns the other one.
// Swap exchanges the buffers: events that were sent since the previous Swap become readable. With one Swap per tick,
// each event is readable for one tick, by all systems in any order.
//
// The capacity is fixed. An event that does not fit is rejected and counted. A queue belongs to one goroutine at a time
// and must not be copied.
//
// The events are state of the game: add the queue to the save.Set of the world. Otherwise a load of an earlier state
// leaves the present events in the queue.
type Events[T any] struct {
	// Invariants, verified by Check:
	//
	//	(1) write is 0 or 1, and 0 <= n[i] <= len(buf[i])
	//	(2) both buffers have the same length, which is 0 if and only if the queue is closed
	noCopy  noCopy
	mem     memory.Allocator
	buf     [2][]T
	n       [2]int
	write   int
	dropped uint64
	words   []word // what Hash reads of an event
	unwatch func()
}

// maxEvents keeps the number of events in both buffers below the limit of a 32-bit int.
const maxEvents = 1<<30 - 1

// NewEvents creates a queue. Between two calls of Swap, capacity events fit. NewEvents allocates both buffers from mem
// in one block; mem must not be nil. Close frees the block. If mem has a Watch method, as described at page.Watched,
// the queue closes itself when mem is closed. Without Watch, close the queue before mem.
//
// The error wraps [memory.ErrConfig] if capacity is not from 1 to 1<<30 - 1. If T contains a pointer, the error wraps a
// [*memory.PointerError]. If the size in bytes overflows, the error wraps [memory.ErrTooLarge]. If mem fails, the error
// wraps the error of mem. If Watch of mem returns nil, because mem was closed, the error wraps [memory.ErrClosed]. On
// error nothing is allocated.
func NewEvents[T any](mem memory.Allocator, capacity int) (*Events[T], error) {
	if capacity < 1 || capacity > maxEvents {
		return nil, fmt.Errorf("ecs: the capacity of NewEvents is %d; it must be from 1 to %d: %w", capacity, maxEvents, memory.ErrConfig)
	}
	block, err := memory.MakeSlice[T](mem, 2*capacity)
	if err != nil {
		return nil, fmt.Errorf("ecs: a queue for %d events: %w", capacity, err)
	}
	q := &Events[T]{mem: mem, buf: [2][]T{block[:capacity], block[capacity:]}, words: hashWords(reflect.TypeFor[T]())}
	if q.unwatch, err = watch(mem, q.allocatorClosed); err != nil {
		return nil, fmt.Errorf("ecs: a queue for %d events: %w", capacity, err)
	}
	return q, nil
}

// Send appends v to the events that Read returns after the next Swap, and returns true. If Cap events are
// pending, or if the queue is closed, Send rejects v and returns false. Dropped counts rejected events.
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

// Read returns the events that the last Swap made readable, in the order of Send. After Clear and after Close there are
// none. The slice is valid until the next Swap or Close, until a state of the queue is loaded, or until the allocator
// is closed.
func (q *Events[T]) Read() []T {
	r := q.write&1 ^ 1
	return q.buf[r][:q.n[r]]
}

// Swap makes the pending events readable. It discards the events that were readable before. In a closed queue Swap
// has no effect.
func (q *Events[T]) Swap() {
	q.write ^= 1
	q.n[q.write&1] = 0
}

// Clear discards the events of both buffers, so Read returns none and Pending is 0. It does not change Dropped.
func (q *Events[T]) Clear() { q.n = [2]int{} }

// Pending returns the number of events that the next Swap makes readable. These are the events that Send accepted
// since the last Swap or Clear. After Close it is 0.
func (q *Events[T]) Pending() int { return q.n[q.write&1] }

// Cap returns the number of events that fit between two calls of Swap. In a closed queue it is 0.
func (q *Events[T]) Cap() int { return len(q.buf[0]) }

// Dropped returns the number of events that Send rejected since NewEvents, including events sent to a closed queue.
// Loading a state replaces it by the saved number.
func (q *Events[T]) Dropped() uint64 { return q.dropped }

// Check verifies the queue and returns an error that lists all broken invariants, or nil.
func (q *Events[T]) Check() error {
	var c checker
	c.that(q.write>>1 == 0, "events: buffer %d is written", q.write)
	for i, n := range q.n {
		c.that(n >= 0 && n <= len(q.buf[i]), "events: buffer %d holds %d of %d", i, n, len(q.buf[i]))
	}
	c.that(len(q.buf[0]) == len(q.buf[1]) && (len(q.buf[0]) > 0) == (q.mem != nil), "events: buffers for %d and %d", len(q.buf[0]), len(q.buf[1]))
	return c.err()
}

// Close frees the buffers and discards all events. After Close, Send returns false and Read returns no events.
// Closing again does nothing. The error is always nil.
func (q *Events[T]) Close() error {
	if q.mem != nil {
		c := len(q.buf[0])
		memory.FreeSlice(q.mem, q.buf[0][:2*c:2*c])
		if q.mem != nil { // Free may have closed the allocator
			q.unwatch()
			q.allocatorClosed()
		}
	}
	return nil
}

// allocatorClosed forgets the buffers, which were freed or whose allocator was closed.
func (q *Events[T]) allocatorClosed() { *q = Events[T]{dropped: q.dropped} }
