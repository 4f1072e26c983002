package ecs

import (
	"strings"
	"testing"
	"unsafe"
)

func unsafeAdd(p unsafe.Pointer, n int) unsafe.Pointer { return unsafe.Add(p, n) }

// TestCheck_NamesEachCorruption breaks one book at a time.
func TestCheck_NamesEachCorruption(t *testing.T) {
	for _, c := range []struct {
		name, want string
		corrupt    func(w *World, t *table, es []Entity)
	}{
		{"live count", "the book says", func(w *World, _ *table, _ []Entity) { w.store.index.live++ }},
		{"slot 0 in use", "slot 0 is not retired", func(w *World, _ *table, _ []Entity) { w.store.index.recs[0].gen = 2 }},
		{"free list cycle", "met before", func(w *World, _ *table, es []Entity) {
			w.store.index.at(es[0].index).loc = es[0].index
		}},
		{"free list lost", "neither alive nor free", func(w *World, _ *table, _ []Entity) { w.store.index.free = 0 }},
		{"free slot alive", "on the free list has generation", func(w *World, _ *table, es []Entity) { w.store.index.at(es[0].index).gen++ }},
		{"bump too low", "never used and is alive", func(w *World, _ *table, _ []Entity) { w.store.index.bump -= 2 }},
		{"room too small", "room", func(w *World, _ *table, _ []Entity) { w.store.index.usable = 1 }},
		{"record elsewhere", "whose record says", func(w *World, _ *table, es []Entity) { w.store.index.at(es[5].index).loc++ }},
		{"row of the dead", "which is not alive", func(w *World, t *table, _ []Entity) { w.store.entity(t.chunks[0].number<<rowBits + 3).gen += 2 }},
		{"two rows the same", "whose record says", func(_ *World, t *table, _ []Entity) {
			*entityAt(t.tailBase, 3) = *entityAt(t.tailBase, 2)
		}},
		{"tail too long", "tables hold", func(_ *World, t *table, _ []Entity) { t.tailN-- }},
		{"tail elsewhere", "the tail is not chunk", func(_ *World, t *table, _ []Entity) { t.tailLoc++ }},
		{"chunk number", "not what the directory says", func(w *World, t *table, _ []Entity) { w.store.chunks[t.chunks[1].number].pos = 7 }},
		{"chunk lost", "chunks", func(_ *World, t *table, _ []Entity) { t.chunks = t.chunks[:len(t.chunks)-1] }},
		{"column address", "at a wrong address", func(w *World, t *table, _ []Entity) {
			w.store.row(t.chunks[0].number)[0] = 0
		}},
		{"column offset", "at a wrong address", func(w *World, t *table, _ []Entity) { w.store.row(t.chunks[0].number)[1] += 16 }},
		{"rows past the end", "rows of", func(_ *World, t *table, _ []Entity) { t.caps[0]++ }},
		{"chunk past its end", "rows from", func(_ *World, t *table, _ []Entity) { t.chunks[0].cap++ }},
		{"mask", "not where its mask", func(_ *World, t *table, _ []Entity) { t.mask[0] ^= 1 << 9 }},
		{"pointer kept", "keeps a ecs.brain", func(w *World, t *table, _ []Entity) {
			(*brain)(w.store.cell(t.tailLoc+t.tailN, 2, unsafe.Sizeof(brain{}))).Name = "left"
		}},
		{"free segments range", "free segments meet", func(w *World, _ *table, _ []Entity) { w.store.vacant[0] = uint32(len(w.store.chunks)) + 5 }},
		{"edge", "the way for component", func(w *World, t *table, _ []Entity) { t.byComponent = []*transition{{to: t}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := New(newTestMemory(t), Config{ChunkBytes: 1024})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.store.index.mem.Close() }() // a ruined world is not closed otherwise
			m := NewMap3[position, armour, brain](w)
			var es []Entity
			for range 50 {
				es = append(es, must[Entity](t)(m.NewEntity(position{}, armour{}, brain{})))
			}
			w.Remove(es[1])
			w.Remove(es[0])
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
			c.corrupt(w, m.mapper.table, es)
			if err := w.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check says %v, want %q", err, c.want)
			}
		})
	}
}
