package ecs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// indexed makes a world whose index lies in src.
func indexed(t *testing.T, src page.Source, cfg Config) (*World, *testMemory) {
	cfg.Pages = src
	return newTestWorld(t, cfg)
}

func TestIndex_ReservesNothingBeforeTheFirstEntity(t *testing.T) {
	src := memtest.NewFaulty()
	mem := newTestMemory(t)
	w := must[*World](t)(New(mem, Config{Pages: src}))
	m := NewMap1[position](w)
	if _, ok := m.Get(MakeEntity(1, 1)); ok || w.Remove(MakeEntity(1, 1)) || src.Calls() != 0 {
		t.Errorf("%d calls before the first entity", src.Calls())
	}
	must[Entity](t)(m.NewEntity(position{}))
	if src.Reserved() != 1 {
		t.Errorf("%d reservations", src.Reserved())
	}
	if err := m.NewBatch(3*runRecords, nil); err != nil || w.Check() != nil {
		t.Error(err, w.Check())
	}
	calls := src.Calls()
	w.Reset()
	if err := m.NewBatch(3*runRecords, nil); err != nil || src.Calls() != calls {
		t.Errorf("%v; Reset cost %d calls", err, src.Calls()-calls)
	}
	if err := w.Close(); err != nil || src.Reserved() != 0 || w.Check() != nil {
		t.Errorf("%v, %d reservations after Close, %v", err, src.Reserved(), w.Check())
	}
}

// TestIndex_FullBudgetChangesNothing lets every call of the source fail in turn, once, for good,
// and with a panic.
func TestIndex_FullBudgetChangesNothing(t *testing.T) {
	for _, mode := range []string{"once", "for good", "panic"} {
		failures := 0
		for at := 1; ; at++ {
			src := memtest.NewFaulty()
			src.Miserly = true
			w, _ := indexed(t, src, Config{})
			if mode == "panic" {
				src.PanicAt = at
			} else {
				src.FailAt, src.ForGood = at, mode == "for good"
			}
			failed := 0
			step := func(name string, f func() error) {
				before, n := w.Hash(0), w.Len()
				for {
					var err error
					r := caught(func() { err = f() })
					if r == nil && err == nil {
						return
					}
					failed++
					if r != nil && r != memtest.ErrInjected || err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
						t.Fatalf("%s: %v, %v", name, r, err)
					}
					if w.Hash(0) != before || w.Len() != n || w.Locked() || w.Check() != nil {
						t.Fatalf("%s changed the world and failed: %v", name, w.Check())
					}
					src.FailAt = 0
				}
			}
			m := NewMap1[position](w)
			step("NewEntity", func() error { _, err := w.NewEntity(); return err })
			step("NewBatch", func() error { return m.NewBatch(2*runRecords, nil) })
			step("Spawn", func() error { _, err := w.Commands().Spawn(); return err })
			for w.Len() < 3*runRecords { // up to the edge of the run in use
				if w.store.index.ready() {
					must[Entity](t)(m.NewEntity(position{}))
					continue
				}
				step("NewEntity", func() error { _, err := m.NewEntity(position{}); return err })
			}
			w.RemoveAll(NewFilter1[position](w))
			step("NewBatch", func() error { return m.NewBatch(3*runRecords, nil) })
			if w.Len() != 3*runRecords+2 {
				t.Fatal(w.Len())
			}
			if failures += failed; src.Calls() < at {
				break
			}
		}
		if failures < 3 { // a refusal to reserve is met by less
			t.Errorf("%s: %d failures", mode, failures)
		}
	}
}

// A sourceValue is a source that == panics at.
type sourceValue struct {
	page.Source
	names []string
}

func TestCheck_ComparesNoSources(t *testing.T) {
	w, _ := indexed(t, sourceValue{page.Default(), []string{"frames"}}, Config{})
	newEntities(t, w, 3)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// Slot 0 is nobody's: one entity less than records fills a run to its end.
func TestIndex_BringsNoRunThatABatchDoesNotNeed(t *testing.T) {
	for _, runs := range []int{1, 2} {
		n := runs*runRecords - 1
		w, _ := newTestWorld(t, Config{MaxEntities: n})
		m, f := NewMap1[position](w), NewFilter1[position](w)
		if err := m.NewBatch(n, nil); err != nil || len(w.store.index.recs) != runs*runRecords {
			t.Fatalf("%d records for %d entities, %v", len(w.store.index.recs), n, err)
		}
		for _, e := range entities(w, f)[:5] {
			w.Remove(e)
		}
		if err := m.NewBatch(5, nil); err != nil || len(w.store.index.recs) != runs*runRecords || w.Check() != nil {
			t.Errorf("%d records when slots are used again, %v, %v", len(w.store.index.recs), err, w.Check())
		}
	}
}

func TestIndex_RetiredSlotsAreNotReady(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: runRecords + 10})
	m := NewMap1[position](w)
	if err := m.NewBatch(runRecords, nil); err != nil {
		t.Fatal(err)
	}
	for i := runRecords - 20; i < runRecords; i++ { // nearly all at the end of the first run
		w.store.index.at(uint32(i)).gen = lastGen
		w.store.index.lastLife++
	}
	for _, e := range entities(w, NewFilter1[position](w)) { // their rows name another life now
		*w.store.entity(w.store.index.at(e.index).loc) = Entity{e.index, w.store.index.at(e.index).gen}
	}
	w.Reset()
	for i := range runRecords - 10 {
		if _, err := m.NewEntity(position{}); err != nil {
			t.Fatalf("entity %d: %v", i, err)
		}
	}
	if _, err := m.NewEntity(position{}); !errors.Is(err, ErrLimit) || w.Stats().RetiredSlots != 20 {
		t.Errorf("%v, %+v", err, w.Stats())
	}
	w.Reset()
	if err := m.NewBatch(runRecords-10, nil); err != nil || w.Check() != nil {
		t.Error(err, w.Check())
	}
}

// A batch that would just fit behind the slots in use has to go round those among them that are worn out,
// be it since a Reset or because a text says so.
func TestIndex_ABatchGoesRoundRetiredSlots(t *testing.T) {
	for name, begin := range map[string]func(w *World){
		"reset": func(w *World) {
			e := must[Entity](t)(w.NewEntity())
			w.store.index.at(e.index).gen, w.store.index.lastLife = lastGen, 1
			*w.store.entity(w.store.index.at(e.index).loc) = MakeEntity(e.index, lastGen)
			w.Reset()
		},
		"text": func(w *World) {
			text := fmt.Sprintf(`{"strata/ecs":1,"archetypes":[],"index":{"next":1,"vacant":["1:2","2-9:%d","10:4"]}}`, uint32(retiredGen))
			if err := w.ReadJSON(strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, first := range []int{1, 2} {
			w, _ := newTestWorld(t, Config{})
			begin(w)
			newEntities(t, w, first)
			if err := NewMap1[position](w).NewBatch(runRecords-first-1, nil); err != nil || w.Len() != runRecords-1 || w.Check() != nil {
				t.Errorf("%s: %v, %d entities, %v", name, err, w.Len(), w.Check())
			}
		}
	}
}

func TestIndex_ClosesTheWorldWhenItsPagesGo(t *testing.T) {
	src := memtest.NewMortal(t, nil, 16<<20)
	mem := newTestMemory(t)
	w := must[*World](t)(New(mem, Config{ChunkBytes: 1024, Pages: src}))
	m, f := NewMap2[position, velocity](w), NewFilter1[position](w)
	if err := m.NewBatch(300, nil); err != nil {
		t.Fatal(err)
	}
	es := entities(w, f)
	if text := misuse(t, func() {
		for range f.All() {
			src.End(t)
		}
	}); text != changedWithin {
		t.Error(text)
	}
	isClosed(t, w, m, f, es)
	if len(mem.live) != 0 {
		t.Errorf("%d blocks are live after Close", len(mem.live))
	}
	if w := must[*World](t)(New(mem, Config{Pages: src})); true {
		if _, err := w.NewEntity(); !errors.Is(err, memory.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestClose_IsTriedAgainWhenThePagesAreNotTakenBack(t *testing.T) {
	src := &memtest.Halfway{Source: page.Default(), On: true}
	w := must[*World](t)(New(newTestMemory(t), Config{Pages: src}))
	e := must[Entity](t)(w.NewEntity())
	if err := w.Close(); err == nil || w.Alive(e) || w.Check() != nil {
		t.Errorf("%v, %v", err, w.Check())
	}
	misuse(t, func() { w.NewEntity() })
	src.On = false
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

func TestIndex_CountsInTheBudgetOfItsPages(t *testing.T) {
	limit := page.NewLimit(nil, 64<<10)
	w, _ := indexed(t, limit, Config{})
	m := NewMap1[position](w)
	n := 0
	for {
		_, err := m.NewEntity(position{})
		if err != nil {
			if !errors.Is(err, memory.ErrOutOfMemory) {
				t.Error(err)
			}
			break
		}
		n++
	}
	if n != 64<<10/int(recordBytes)-1 || w.Len() != n || w.Check() != nil {
		t.Errorf("%d entities in 64 KiB, %v", n, w.Check())
	}
	w.Remove(entities(w, NewFilter1[position](w))[7])
	must[Entity](t)(m.NewEntity(position{}))
}
