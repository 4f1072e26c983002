package container

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// A cache of texts under a limit evicts at random and calls Shrink after each sixteenth. However the lengths change, the
// heap has at most 2.2 times what a new Strings of the same texts takes. Without Shrink the cache keeps one text.
func TestStrings_ShrinkBoundsBytesWhenLengthsChange(t *testing.T) {
	const limit, ratio = 96 << 10, 2.2
	for seed := range uint64(12) {
		h, sp := heap(t)
		r := rand.New(rand.NewPCG(seed, 7))
		s := NewStrings(seed)
		var ids []uint32
		model, evicted, id := map[uint32]string{}, 0, uint32(0)
		phases := []func() int{
			func() int { return 4 + r.IntN(9) },                             // short
			func() int { return 200 + r.IntN(788) },                         // long
			func() int { return 4 + int(1496*math.Pow(r.Float64(), 4)) },    // mixed, some above the ladder
			func() int { return int(ladder[4+len(model)/3%(rungs-4)]) - 1 }, // from size to size
		}
		r.Shuffle(len(phases), func(i, k int) { phases[i], phases[k] = phases[k], phases[i] })
		for i, length := range append(phases, phases[0]) {
			for range 3500 {
				id++
				text := fmt.Sprintf("%0*d", length(), id)
				x, err := s.Intern(sp, text)
				must(t, err)
				if model[x] != "" {
					continue // a number that is wider than its length
				}
				model[x], ids = text, append(ids, x)
				for h.Stats().Requested > limit && len(ids) > 1 {
					i := r.IntN(len(ids))
					s.Release(sp, ids[i])
					delete(model, ids[i])
					ids[i] = ids[len(ids)-1]
					ids = ids[:len(ids)-1]
					if evicted++; evicted > len(ids)/16 {
						must(t, s.Shrink(sp))
						evicted = 0
					}
				}
			}
			must(t, errors.Join(s.Shrink(sp), s.Check(sp)))
			if got := maps.Collect(s.All(sp)); !maps.Equal(got, model) {
				t.Fatalf("seed %d, phase %d: %d texts, want %d", seed, i, len(got), len(model))
			}
			texts, live := uint64(0), uint64(0)
			for _, p := range s.pages.Slice(sp) {
				texts += uint64(p.bytes())
			}
			for _, text := range model {
				live += uint64(len(text))
			}
			got, want := h.Stats().Requested, bytesOfNew(t, model)
			if float64(got) > ratio*float64(want) || 3*want < limit || texts > 3*live+64*rungs {
				t.Errorf("seed %d, phase %d: %d texts of %d bytes take %d bytes, %d of them pages; in a new Strings %d", seed, i, len(model), live, got, texts, want)
			}
		}
		s.Free(sp)
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%d blocks are left", n)
		}
	}
}

// bytesOfNew returns the bytes that a new Strings takes for texts.
func bytesOfNew(t *testing.T, texts map[uint32]string) uint64 {
	t.Helper()
	h, sp := heap(t)
	var s Strings
	for _, text := range texts {
		_, err := s.Intern(sp, text)
		must(t, err)
	}
	n := h.Stats().Requested
	must(t, h.Close())
	return n
}

// After a Shrink each rung has only the pages that its texts need, and no id beyond the last that is in use.
func TestStrings_ShrinkKeepsIdsAndFreesPages(t *testing.T) {
	h, sp := heap(t)
	s := furnish(t, sp, 3000)
	const each = 17
	want := map[uint32]string{}
	for id, text := range s.All(sp) {
		if id%each == 0 && id < 1000 {
			want[id] = strings.Clone(text)
			continue
		}
		for s.Refs(sp, id) > 0 {
			s.Release(sp, id)
		}
	}
	texts, metadata := s.Bytes(sp)
	must(t, errors.Join(s.Shrink(sp), s.Check(sp)))
	fewer, less := s.Bytes(sp)
	if got := maps.Collect(s.All(sp)); !maps.Equal(got, want) {
		t.Errorf("%d texts, want %d", len(got), len(want))
	}
	if fewer*8 > texts || less*2 > metadata || fewer+less != h.Stats().Requested {
		t.Errorf("%d and %d bytes, were %d and %d", fewer, less, texts, metadata)
	}
	if last := slices.Max(slices.Collect(maps.Keys(want))); s.texts.n != last || s.texts.cap > 2*last {
		t.Errorf("%d of %d ids; the last live one is %d", s.texts.n, s.texts.cap, last)
	}
	was := s
	must(t, errors.Join(s.Shrink(sp), s.Check(sp)))
	if s != was {
		t.Error("a second Shrink has changed something")
	}
	if id, err := s.Intern(sp, strings.Repeat("n", 987)); id > was.texts.n || err != nil {
		t.Errorf("the next id is %d of %d; %v", id, was.texts.n, err)
	}
	s.Clear(sp)
	id, err := s.Intern(sp, "after")
	must(t, errors.Join(err, s.Shrink(sp), s.Check(sp)))
	if n := s.pages.n; s.Text(sp, id) != "after" || h.Stats().Live != 4 {
		t.Errorf("%q; %d pages in %d blocks", s.Text(sp, id), n, h.Stats().Live)
	}
	s.Release(sp, id)
	must(t, errors.Join(s.Shrink(sp), s.Check(sp)))
	if h.Stats().Live != 0 || s != NewStrings(77) {
		t.Error("a Shrink of an empty Strings is not Free")
	}
}

// Ids of long strings have no slot. A list of ids that is at least half used stays where it is.
func TestStrings_ShrinkDropsIdsWithoutASlot(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	for i := range 100 {
		_, err := s.Intern(sp, fmt.Sprintf("%01000d", i))
		must(t, err)
	}
	size := s.texts.cap
	for id := uint32(100); id > 1; id-- {
		if id == 85 {
			if must(t, errors.Join(s.Shrink(sp), s.Check(sp))); s.texts.n != 85 || s.texts.cap != size {
				t.Errorf("%d of %d ids, there were %d", s.texts.n, s.texts.cap, size)
			}
		}
		s.Release(sp, id)
	}
	if must(t, errors.Join(s.Shrink(sp), s.Check(sp))); s.texts.n != 1 || s.texts.cap != 1 || s.pages.cap != 1 || s.index.n != minIndex {
		t.Errorf("%d of %d ids, %d pages, an index of %d", s.texts.n, s.texts.cap, s.pages.cap, s.index.n)
	}
}

// Shrink and Reserve of a Strings that was overwritten, or whose blocks were freed, are misuse as far as it shows.
func TestStrings_ShrinkOfARuinedOneIsMisuse(t *testing.T) {
	for want, ruin := range map[string]func(s *Strings, sp *Space){
		"fewer slots than texts":   func(s *Strings, sp *Space) { s.pages.slot(sp, 0).slots = 1000 },
		"a page that is not there": func(s *Strings, sp *Space) { s.text(sp, 3).at = 1 << 30 },
		"contradict each other":    func(s *Strings, sp *Space) { s.live = 9999 },
		"tlsf.SizeOf":              func(s *Strings, sp *Space) { sp.Allocator().(memory.AnyFreer).FreeAny(sp.at(s.index.off)) },
	} {
		_, sp := heap(t)
		var s Strings
		for i := range 100 {
			_, err := s.Intern(sp, fmt.Sprintf("text%04d", i))
			must(t, err)
		}
		s.Release(sp, 1)
		ruin(&s, sp)
		memtest.Misuse(t, func() { _ = s.Shrink(sp) }, want)
		if s.live > 100 {
			memtest.Misuse(t, func() { _ = s.Reserve(sp, 1) }, want)
		}
	}
}

// Whichever call of the allocator in a Shrink fails or panics: no text is lost, and another Shrink continues.
func TestStrings_ShrinkContinuesAfterAFailure(t *testing.T) {
	for _, boom := range []bool{false, true} {
		for n, more := 1, true; more; n++ {
			f, sp := newFlaky(t)
			s := furnish(t, sp, 700)
			for id := range s.All(sp) {
				for id%20 > 1 && s.Refs(sp, id) > 0 {
					s.Release(sp, id)
				}
			}
			want := map[uint32]string{}
			for id, text := range s.All(sp) {
				want[id] = strings.Clone(text)
			}
			if boom {
				f.boomAt = f.calls + n
			} else {
				f.failAt = f.calls + n
			}
			var err error
			done := survives(func() { err = s.Shrink(sp) })
			more = !done || err != nil || n < 10
			if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatal(err)
			}
			f.boomAt, f.failAt = 0, 0
			must(t, s.Check(sp))
			_, err = s.Intern(sp, "text 1")
			must(t, errors.Join(err, s.Shrink(sp), s.Check(sp)))
			x, _ := s.Lookup(sp, "text 1")
			s.Release(sp, x)
			if got := maps.Collect(s.All(sp)); !maps.Equal(got, want) {
				t.Fatalf("call %d, boom %t: %d texts, want %d", n, boom, len(got), len(want))
			}
			if got, like := f.Stats().Requested, bytesOfNew(t, want); got > 2*like {
				t.Fatalf("call %d, boom %t: %d bytes are left; a new Strings has %d", n, boom, got, like)
			}
			s.Free(sp)
			if n := f.Stats().Live; n != 0 {
				t.Fatalf("%d blocks are left", n)
			}
			must(t, f.Close())
		}
	}
}

func TestStrings_ReserveMakesInternCheap(t *testing.T) {
	h, sp := heap(t)
	var s Strings
	_, err := s.Intern(sp, "first")
	must(t, errors.Join(err, s.Reserve(sp, 1000), s.Check(sp)))
	ids, index := s.texts, s.index
	for i := range 999 {
		_, err := s.Intern(sp, fmt.Sprint(i))
		must(t, err)
	}
	if s.texts.cap != ids.cap || s.index != index || s.texts.off != ids.off {
		t.Error("the ids or the index have moved")
	}
	must(t, errors.Join(s.Reserve(sp, 0), s.Check(sp)))
	if s.index != index {
		t.Error("Reserve(0) has changed something")
	}
	live := h.Stats().Live
	if err := s.Reserve(sp, math.MaxInt32); err != memory.ErrTooLarge || h.Stats().Live != live {
		t.Errorf("too many: %v", err)
	}
	if got := panics(func() { _ = s.Reserve(sp, -1) }); !strings.Contains(got, "out of range") {
		t.Errorf("a negative Reserve: %q", got)
	}
	must(t, h.Close())
	for name, f := range map[string]func() error{
		"Reserve": func() error { return s.Reserve(sp, 10_000) }, "Shrink": func() error { return s.Shrink(sp) },
	} {
		if err := f(); err != memory.ErrClosed {
			t.Errorf("%s in a closed heap: %v", name, err)
		}
	}
}

// While Shrink frees a page, the Strings can be read and texts released.
func TestStrings_ReleaseDuringShrinkIsKept(t *testing.T) {
	h, _ := heap(t)
	a := &telling{Heap: h}
	sp := space(t, a)
	s := furnish(t, sp, 700)
	for id := range s.All(sp) {
		for id%20 > 3 && s.Refs(sp, id) > 0 {
			s.Release(sp, id)
		}
	}
	told := 0
	var tell func()
	tell = func() {
		told++
		must(t, s.Check(sp))
		for id, text := range s.All(sp) {
			if len(text) < 900 && s.Refs(sp, id) == 1 {
				s.Release(sp, id)
				break
			}
		}
		memtest.Misuse(t, func() { _ = s.Shrink(sp) }, "container.Space", "while it works for a container")
		memtest.Misuse(t, func() { _, _ = s.Intern(sp, "new") }, "container.Space")
		must(t, s.Check(sp))
		a.tell = tell
	}
	a.tell = tell
	n := s.Len()
	must(t, s.Shrink(sp))
	a.tell = nil
	if must(t, s.Check(sp)); told < 10 || s.Len() >= n {
		t.Errorf("told %d times, %d texts of %d", told, s.Len(), n)
	}
	s.Free(sp)
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are left", n)
	}
}
