package ecs

import (
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the readable and the pending events, and Dropped. Loading replaces them: a slice that Read returned
// before is no longer valid. The allocator of the queue may be in the same Set, but need not. If T contains a type of
// package container, the allocator of its elements must be an earlier part, and not only as save.Metadata: see
// save.Coder.Elements.
//
// With another capacity the error of loading wraps save.ErrLayout. For a file the capacity may differ if the events
// fit. If the queue is closed, saving and loading fail with an error that wraps memory.ErrClosed.
func (q *Events[T]) SaveState(c *save.Coder) {
	if q.mem == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	t, size := reflect.TypeFor[T](), unsafe.Sizeof(*new(T))
	c.Elements(t)
	c.Same("the size of an event", uint64(size))
	c.Same("the capacity", uint64(q.Cap()))
	// Equal queues have equal bytes in canonical slots and files, so which buffer is written is not in them.
	state := [...]uint64{uint64(q.write), uint64(len(q.Read())), uint64(q.Pending()), q.dropped}
	if c.Canonical() {
		state[0] = 0
	}
	c.Words(state[:])
	most := uint64(q.Cap())
	switch {
	case c.Failed():
		return
	case state[0] > 1 || state[1] > most || state[2] > most:
		c.Differs("%d events are readable and %d pending, the capacity is %d", state[1], state[2], most)
		return
	}
	if c.Loading() {
		if !c.Canonical() {
			q.write = int(state[0])
		}
		q.n[q.write&1^1], q.n[q.write&1], q.dropped = int(state[1]), int(state[2]), state[3]
	}
	c.Rows("readable", t, unsafe.Pointer(unsafe.SliceData(q.buf[q.write&1^1])), size, int(state[1]))
	c.Rows("pending", t, unsafe.Pointer(unsafe.SliceData(q.buf[q.write&1])), size, int(state[2]))
}

// CanWrite returns nil if events of type T can be in a file: see save.Portable. If T has a field that has no meaning in
// another process, such as an address, the error names the path of the first such field. Handles in T are no error
// here, because save.Set.Portable checks them. A save.Set calls CanWrite.
func (q *Events[T]) CanWrite() error {
	_, err := layout.OfHandles(reflect.TypeFor[T](), func(reflect.Type) error { return nil })
	return err
}

// RowType returns the type T, for package save: see save.Portable.
func (q *Events[T]) RowType() reflect.Type { return reflect.TypeFor[T]() }

// Hash mixes the readable and the pending events into h, in order, and returns the result. For the same h, two queues
// have the same Hash if the same events are readable and pending, in the same order. Dropped, padding and blank fields
// of T do not count. As in [World.Hash] all NaNs count as equal. Hash allocates nothing.
func (q *Events[T]) Hash(h uint64) uint64 {
	for _, events := range [...][]T{q.Read(), q.buf[q.write&1][:q.n[q.write&1]]} {
		h = mix(h, uint64(len(events)))
		for i := range events {
			h = hashCell(h, unsafe.Pointer(&events[i]), q.words)
		}
	}
	return h
}
