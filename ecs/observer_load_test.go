package ecs

import (
	"bytes"
	"errors"
	"maps"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// An index that observers keep is right after each kind of load, if OnLoad rebuilds it.
func TestWorld_OnLoadFollowsEachLoad(t *testing.T) {
	w := basedWorld(t)
	hp := mustRegisterTest[health](t, w)
	m, all := NewMap1[health](w), NewFilter1[health](w)
	index, loads, order := map[Entity]int32{}, 0, ""
	hp.OnAdd(func(e Entity, h *health) { index[e] = h.Points; order += "a" })
	hp.OnRemove(func(e Entity, _ *health) { delete(index, e) })
	first := w.OnLoad(func() {
		loads++
		order += "1"
		if !w.Locked() {
			t.Error("the world is not locked")
		}
		clear(index)
		for e, h := range all.All() {
			index[e] = h.Points
		}
		if text := misuse(t, func() { w.Reset() }); text != "ecs.Reset: the world is locked while an observer is called; use World.Commands" {
			t.Error(text)
		}
	})
	second := w.OnLoad(func() { order += "2" })
	for i := range int32(3) {
		must[Entity](t)(m.NewEntity(health{i, 9}))
	}
	was := maps.Clone(index)
	var set, portable save.Set
	if err := errors.Join(set.Add("heap", save.Metadata(w.store.mem.(*tlsf.Heap))), set.Add("world", w), set.Seal(), portable.Add("world", w), portable.Seal()); err != nil {
		t.Fatal(err)
	}
	slot := set.NewSlot(4 << 20) // debug builds save all bytes
	var file, one, text bytes.Buffer
	if err := errors.Join(set.Save(slot), portable.Write(&file), w.WriteBinary(&one), w.WriteJSON(&text)); err != nil {
		t.Fatal(err)
	}
	history, err := save.NewHistory(&set, make([]byte, 8<<20), 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Save(1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, order string
		load        func() error
	}{
		{"Load", "12", func() error { return set.Load(slot) }},
		{"History", "12", func() error { _, err := history.Load(1); return err }},
		{"Read", "aaa12", func() error { return portable.Read(bytes.NewReader(file.Bytes()), nil) }},
		{"ReadBinary", "aaa12", func() error { w.Reset(); return w.ReadBinary(bytes.NewReader(one.Bytes()), nil) }},
		{"ReadJSON", "aaa12", func() error { w.Reset(); return w.ReadJSON(bytes.NewReader(text.Bytes())) }},
	} {
		for e := range all.All() {
			w.Commands().Destroy(e)
		}
		if err := w.Commands().Apply(); err != nil {
			t.Fatal(err)
		}
		must[Entity](t)(m.NewEntity(health{77, 9}))
		loads, order = 0, ""
		if err := errors.Join(c.load(), w.Check()); err != nil || loads != 1 || order != c.order || !maps.Equal(index, was) {
			t.Errorf("%s: %v, %d loads in order %s, index %v, want %v", c.name, err, loads, order, index, was)
		}
	}
	loads, order = 0, ""
	w.Reset()
	if err := w.ReadJSON(bytes.NewReader(text.Bytes()[:text.Len()-3])); err == nil || loads != 0 {
		t.Errorf("%v, %d loads", err, loads)
	}
	first.Stop()
	if err := errors.Join(set.Load(slot), w.Check()); err != nil || order != "2" {
		t.Errorf("%v, %q after Stop", err, order)
	}
	second.Stop()
	if order = ""; set.Load(slot) != nil || order != "" || w.observers.observed != 1<<addEvent|1<<removeEvent {
		t.Errorf("%q after Stop", order)
	}
	if text := misuse(t, func() { w.OnLoad(nil) }); text != "ecs.OnLoad: the function is nil" {
		t.Error(text)
	}
}

// A load that fails after the index of the world has grown takes that back. No observer is told.
func TestWorld_OnLoadIgnoresFailedLoads(t *testing.T) {
	w := basedWorld(t)
	fits, calls := 0, 0
	set := new(save.Set)
	if err := errors.Join(set.Add("heap", save.Metadata(w.store.mem.(*tlsf.Heap))), set.Add("world", w), set.AddFunc("last", func(c *save.Coder) {
		if c.Fitting() {
			if fits--; fits == 0 {
				c.Differs("it is refused")
			}
		}
	}), set.Seal()); err != nil {
		t.Fatal(err)
	}
	empty, full := set.NewSlot(4<<20), set.NewSlot(4<<20)
	err := set.Save(empty)
	for range 4500 {
		must[Entity](t)(w.NewEntity())
	}
	if err = errors.Join(err, set.Save(full), set.Load(empty)); err != nil {
		t.Fatal(err)
	}
	w.OnLoad(func() { calls++ })
	grown := w.store.index.mem.Committed()
	fits = 2
	if err := set.Load(full); !errors.Is(err, save.ErrLayout) || calls != 0 || w.store.index.mem.Committed() != grown {
		t.Errorf("%v, %d calls, %d bytes committed, before %d", err, calls, w.store.index.mem.Committed(), grown)
	}
	if err := errors.Join(set.Load(full), w.Check()); err != nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// An observer of a load may close the allocator, or stop the next one.
func TestWorld_OnLoadMayEndTheWorldOrOthers(t *testing.T) {
	from, _ := newTestWorld(t, Config{})
	newValue(t, from, position{})
	var text bytes.Buffer
	if err := from.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	for _, closes := range []bool{false, true} {
		mem, calls := &tellingMemory{testMemory: newTestMemory(t)}, 0
		w := must[*World](t)(New(mem, Config{}))
		mustRegisterTest[position](t, w)
		var later *Observer
		w.OnLoad(func() {
			if calls++; closes {
				mem.close()
			} else {
				later.Stop()
			}
		})
		later = w.OnLoad(func() { calls += 10 })
		err := w.ReadJSON(&text)
		if errors.Is(err, memory.ErrClosed) != closes || calls != 1 {
			t.Errorf("closes %v: %v, %d calls", closes, err, calls)
		}
		text.Reset()
		if err := from.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Check(), w.Close()); err != nil {
			t.Error(err)
		}
	}
}
