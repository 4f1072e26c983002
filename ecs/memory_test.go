package ecs

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// testMemory hands out blocks of Go bytes, reuses those given back, and counts. It fails
// the request numbered failAt (from 1), or every one from there on when failing persists,
// and every one past limit live blocks. onAlloc and onFree stand for hooks: they may panic.
type testMemory struct {
	t       testing.TB
	free    map[uintptr][]unsafe.Pointer
	live    map[unsafe.Pointer]uintptr
	allocs  int
	failAt  int
	persist bool
	limit   int // live blocks; 0: any number
	closed  bool
	bare    bool // refuses with the bare sentinel, as a full pool does
	onAlloc func()
	onFree  func()
}

func newTestMemory(t testing.TB) *testMemory {
	return &testMemory{t: t, free: map[uintptr][]unsafe.Pointer{}, live: map[unsafe.Pointer]uintptr{}}
}

func (m *testMemory) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	m.allocs++
	if m.closed {
		return nil, memory.ErrClosed
	}
	if m.onAlloc != nil {
		m.onAlloc()
	}
	if m.limit > 0 && len(m.live) >= m.limit {
		if m.bare {
			return nil, memory.ErrOutOfMemory
		}
		return nil, &memory.Exhausted{Op: "test", Need: size}
	}
	if m.failAt > 0 && (m.allocs == m.failAt || m.persist && m.allocs > m.failAt) {
		return nil, &memory.Exhausted{Op: "test", Need: size}
	}
	if list := m.free[size]; len(list) > 0 {
		p := list[len(list)-1]
		m.free[size] = list[:len(list)-1]
		m.live[p] = size
		return p, nil
	}
	b := make([]byte, size+align)
	pad := -uintptr(unsafe.Pointer(&b[0])) & (align - 1)
	p := unsafe.Pointer(&b[pad])
	for i := range b {
		b[i] = 0xCD // nothing may rely on zeroed chunks
	}
	m.live[p] = size
	return p, nil
}

func (m *testMemory) Free(p unsafe.Pointer, size uintptr) {
	if m.live[p] != size {
		m.t.Errorf("Free(%p, %d), which is live with size %d", p, size, m.live[p])
	}
	delete(m.live, p)
	for i := range unsafe.Slice((*byte)(p), size) {
		*(*byte)(unsafe.Add(p, i)) = 0xDD
	}
	m.free[size] = append(m.free[size], p)
	if m.onFree != nil {
		m.onFree()
	}
}

// close takes every block away, and tells nobody.
func (m *testMemory) close() {
	m.closed = true
	for p, size := range m.live {
		clear(unsafe.Slice((*byte)(p), size))
	}
	clear(m.live)
}

// tellingMemory is testMemory that tells who stands on it.
type tellingMemory struct {
	*testMemory
	lost map[int]func()
	next int
}

func (m *tellingMemory) Watch(lost func()) (unwatch func()) {
	if m.lost == nil {
		m.lost = map[int]func(){}
	}
	m.next++
	n := m.next
	m.lost[n] = lost
	return func() { delete(m.lost, n) }
}

func (m *tellingMemory) close() {
	m.testMemory.close()
	for _, lost := range m.lost {
		lost()
	}
}

// failNext makes the next request fail, and all after it when persist is set.
func (m *testMemory) failNext(persist bool) { m.failAt, m.persist = m.allocs+1, persist }

func (m *testMemory) heal() { m.failAt = 0 }

// newTestWorld makes a world that is checked and closed at the end of the test.
func newTestWorld(t testing.TB, cfg Config) (*World, *testMemory) {
	t.Helper()
	mem := newTestMemory(t)
	w, err := New(mem, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Check(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if len(mem.live) != 0 {
			t.Errorf("%d blocks are live after Close", len(mem.live))
		}
		runtime.KeepAlive(mem)
	})
	return w, mem
}

func mustRegisterTest[T any](t testing.TB, w *World) Component[T] {
	t.Helper()
	c, err := Register[T](w)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// misuse runs f and returns the text of the *memory.Misuse that it panics with.
func misuse(t testing.TB, f func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		m, ok := recover().(*memory.Misuse)
		if !ok {
			t.Fatal("no *memory.Misuse")
		}
		text = m.Error()
	}()
	f()
	return ""
}

type position struct{ X, Y float32 }
type velocity struct{ X, Y float32 }
type health struct{ Points, Max int32 }
type armour struct {
	Kind  uint8
	Value uint64
	Tail  uint16
}
type burning struct{}
type odd [3]byte
type brain struct {
	Name   string
	Target *int
}
