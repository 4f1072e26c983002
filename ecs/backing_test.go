package ecs

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// nothing is an allocator that says yes and gives nothing.
type nothing struct{}

func (nothing) Alloc(size, align uintptr) (unsafe.Pointer, error) { return nil, nil }
func (nothing) Free(unsafe.Pointer, uintptr)                      {}

// populated is a world on mem, with everything that it can hold.
func populated(t *testing.T, mem memory.Allocator) (*World, *Map2[position, velocity], *Filter1[position], []Entity) {
	w, err := New(mem, Config{ChunkBytes: 1024})
	if err != nil {
		t.Fatal(err)
	}
	m, f := NewMap2[position, velocity](w), NewFilter1[position](w)
	if err := m.NewBatch(300, nil); err != nil {
		t.Fatal(err)
	}
	es := entities(w, f)
	if err := mustRegisterTest[brain](t, w).Add(es[3], brain{Name: "b"}); err != nil {
		t.Fatal(err)
	}
	AddTo(w.Commands(), mustRegisterTest[position](t, w), es[4], position{})
	return w, m, f, es
}

// isClosed looks at a world whose memory has gone.
func isClosed(t *testing.T, w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) {
	t.Helper()
	pos := mustRegisterTest[position](t, w)
	for _, c := range changes(w, m, pos, f, es[0]) {
		if text := misuse(t, c.f); text != "ecs."+c.op+": the world is closed" {
			t.Errorf("%s: %q", c.op, text)
		}
	}
	for _, e := range es {
		if _, ok := pos.Get(e); ok || w.Alive(e) || pos.Set(e, position{}) || m.Has(e) {
			t.Fatalf("%v is alive", e)
		}
		if _, _, ok := m.Get(e); ok {
			t.Fatal("an address of memory that has gone")
		}
	}
	q := f.Query()
	if q.Next() || f.Len() != 0 || w.Len() != 0 || w.Commands().Len() != 0 {
		t.Error("something is left")
	}
	if s := w.Stats(); s.Chunks != 0 || s.BytesCapacity != 0 || s.PointerfulBytes != 0 {
		t.Errorf("%+v", s)
	}
	w.Hash(0)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func TestWorld_ClosesItselfWhenItsMemoryGoes(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w, m, f, es := populated(t, mem)
	q := f.Query()
	q.Next()
	q.NextChunk()
	mem.close()
	if text := misuse(t, func() { q.NextChunk() }); text != "ecs.Next: the query was closed by a copy of it or by World.EndQueries" {
		t.Error(text)
	}
	isClosed(t, w, m, f, es)
}

func TestWorld_ClosesItselfWhenItsAllocatorSaysClosed(t *testing.T) {
	mem := newTestMemory(t)
	w, m, f, es := populated(t, mem)
	mem.close()
	err := m.NewBatch(500, nil)
	if !errors.Is(err, memory.ErrClosed) || err.Error() != "ecs: a chunk of 16384 bytes: memory: allocator is closed" {
		t.Error(err)
	}
	isClosed(t, w, m, f, es)
}

// Memory that says closed first, and tells of it later, is lost twice.
func TestWorld_IsClosedOnceWhoeverSaysSo(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w, m, f, es := populated(t, mem)
	mem.testMemory.close()
	if err := m.NewBatch(500, nil); !errors.Is(err, memory.ErrClosed) {
		t.Error(err)
	}
	for range 2 {
		mem.close()
		if w.guard.openQueries() != 0 || w.guard.locked != closedMark {
			t.Errorf("open is %#x, with %d walks", w.guard.locked, w.guard.openQueries())
		}
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	}
	isClosed(t, w, m, f, es)
}

// TestWorld_MemoryMayGoAnywhere closes the memory from within every call that asks for some.
func TestWorld_MemoryMayGoAnywhere(t *testing.T) {
	for name, op := range map[string]func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error{
		"NewEntity": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			_, err := w.NewEntity()
			return err
		},
		"NewBatch": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			return m.NewBatch(300, nil)
		},
		"Add": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			return NewMap1[health](w).Add(es[7], health{})
		},
		"Remove": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			_, err := m.Remove(es[7])
			return err
		},
		"AddAll": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			_, err := NewMap1[health](w).AddAll(f, health{})
			return err
		},
		"RemoveAll": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			_, err := m.RemoveAll(f)
			return err
		},
		"Apply": func(w *World, m *Map2[position, velocity], f *Filter1[position], es []Entity) error {
			RemoveFrom(w.Commands(), Component[velocity]{w: w, comp: w.store.comps[m.mapper.ids[1]]}, es[8])
			return w.Commands().Apply()
		},
	} {
		for _, refuse := range []bool{true, false} {
			mem := &tellingMemory{testMemory: newTestMemory(t)}
			w, m, f, es := populated(t, mem)
			mem.onAlloc = func() { mem.close(); mem.closed = refuse }
			if err := op(w, m, f, es); !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
			isClosed(t, w, m, f, es)
		}
	}
}

func TestNewColumns_MemoryThatGoesMeanwhileEndsTheBatch(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w, m, f, es := populated(t, mem)
	calls := 0
	if err := m.NewColumns(300, func([]Entity, []position, []velocity) {
		calls++
		mem.close()
	}); !errors.Is(err, memory.ErrClosed) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	isClosed(t, w, m, f, es)
}

func TestWorld_CloseTakesItsWatchBack(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w, _, _, _ := populated(t, mem)
	q := must[*Events[position]](t)(NewEvents[position](mem, 4))
	if len(mem.lost) != 2 {
		t.Fatalf("%d watch", len(mem.lost))
	}
	if w.Close() != nil || q.Close() != nil || len(mem.lost) != 0 || len(mem.live) != 0 {
		t.Errorf("%d watch, %d blocks", len(mem.lost), len(mem.live))
	}
}

func TestEvents_CloseThemselvesWhenTheirMemoryGoes(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	q := must[*Events[position]](t)(NewEvents[position](mem, 4))
	q.Send(position{1, 1})
	q.Swap()
	q.Send(position{2, 2})
	mem.close()
	if q.Send(position{3, 3}) || len(q.Read()) != 0 || q.Cap() != 0 || q.Pending() != 0 || q.Dropped() != 1 {
		t.Errorf("%+v", q)
	}
	q.Swap()
	q.Clear()
	if err := errors.Join(q.Check(), q.Close(), q.Close()); err != nil {
		t.Error(err)
	}
}

func TestEvents_FreeMayCloseTheAllocator(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	q := must[*Events[position]](t)(NewEvents[position](mem, 4))
	mem.onFree = mem.close
	if err := errors.Join(q.Close(), q.Check(), q.Close()); err != nil || q.Cap() != 0 {
		t.Error(err, q.Cap())
	}
}

// ended is an allocator whose Watch says that it has ended.
type ended struct{ *testMemory }

func (ended) Watch(func()) func() { return nil }

func TestWatch_OfAnAllocatorThatHasEndedIsRefused(t *testing.T) {
	mem := ended{newTestMemory(t)}
	if w, err := New(mem, Config{}); w != nil || !errors.Is(err, memory.ErrClosed) {
		t.Errorf("New: %v", err)
	}
	if q, err := NewEvents[position](mem, 4); q != nil || !errors.Is(err, memory.ErrClosed) {
		t.Errorf("NewEvents: %v", err)
	}
}

// TestClose_FreesTheBlocksWhenOnlyThePagesEnded ends Config.Pages within calls. Then the allocator is closed as well,
// or it is not.
func TestClose_FreesTheBlocksWhenOnlyThePagesEnded(t *testing.T) {
	const text = `{"strata/ecs":1,"archetypes":[{"components":["ecs.position"],"entities":[{"entity":"1:1","ecs.position":{}}]}],"index":{"next":2}}`
	for name, call := range map[string]func(w *World, f *Filter1[position], mem *tellingMemory, end func()){
		"none": func(_ *World, _ *Filter1[position], _ *tellingMemory, end func()) { end() },
		"Alloc": func(w *World, _ *Filter1[position], mem *tellingMemory, end func()) {
			mem.onAlloc = end
			if err := NewMap1[health](w).NewBatch(300, nil); !errors.Is(err, memory.ErrClosed) {
				t.Errorf("NewBatch: %v", err)
			}
		},
		"Free": func(w *World, _ *Filter1[position], mem *tellingMemory, end func()) {
			mem.onFree = end
			w.Reset()
		},
		"Parallel": func(_ *World, f *Filter1[position], _ *tellingMemory, end func()) {
			f.Parallel(newTestWorkers(t, 1), func(*Task, []Entity, []position) { end() })
		},
		"ReadJSON": func(w *World, _ *Filter1[position], _ *tellingMemory, end func()) {
			w.Reset()
			eof := &flaky{text: strings.NewReader(""), left: 1, do: func() error { end(); return io.EOF }}
			if err := w.ReadJSON(io.MultiReader(strings.NewReader(text), eof)); !errors.Is(err, memory.ErrClosed) {
				t.Errorf("ReadJSON: %v", err)
			}
		},
	} {
		mem := &tellingMemory{}
		for closed, closeMem := range map[string]func(){"open": func() {}, "telling": func() { mem.close() }, "silent": func() { mem.testMemory.close() }} {
			*mem = tellingMemory{testMemory: newTestMemory(t)}
			src := memtest.NewMortal(t, nil, 16<<20)
			w := must[*World](t)(New(mem, Config{ChunkBytes: 1024, Pages: src}))
			if err := NewMap2[position, velocity](w).NewBatch(300, nil); err != nil {
				t.Fatal(err)
			}
			call(w, NewFilter1[position](w), mem, func() {
				mem.onAlloc, mem.onFree = nil, nil
				src.End(t)
			})
			left := len(mem.live)
			closeMem()
			if s := w.Stats(); left == 0 || s.Chunks != 0 || s.BytesCapacity != 0 || w.Check() != nil {
				t.Errorf("%s, %s: %d blocks are left, %+v, %v", name, closed, left, s, w.Check())
			}
			if err := errors.Join(w.Close(), w.Close(), w.Check()); err != nil || len(mem.live) != 0 {
				t.Errorf("%s, %s: Close leaves %d blocks, %v", name, closed, len(mem.live), err)
			}
		}
	}
}
