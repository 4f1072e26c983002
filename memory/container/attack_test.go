package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tlsf"
)

// Whoever knows this package and not the seed finds no texts and no keys that share a hash: the
// constants of the hash, in any word of a text, do not take the others with them.
func TestHash_NobodyFloodsATableWhoseSeedIsSecret(t *testing.T) {
	testenv.Long(t)
	const texts = 512
	words := []uint64{0, mult1, mult2, mult1 ^ mult2, ^uint64(mult1), ^uint64(mult2), math.MaxUint64, 1 << 63}
	for _, seed := range []uint64{0x7263a1f05bd94c8e, 0x0123456789abcdef, 0xfedcba9876543210}[:min(memtest.Rounds(3), 4-testenv.Step(3))] {
		s := NewStrings(seed)
		for _, n := range []int{12, 16, 17, 24, 31, 32, 40, 48, 64} {
			for at := 0; at+8 <= n; at++ {
				for _, w := range words {
					low, high := map[uint64]int{}, map[uint32]int{}
					for i := range texts {
						b := make([]byte, n)
						for j := range b {
							b[j] = byte(i) + byte(i>>8)*byte(j|1)
						}
						binary.LittleEndian.PutUint64(b[at:], w)
						low[hashBytes(unsafe.Pointer(&b[0]), uintptr(n), saltOf(seed, 10))&0x7F]++
						high[s.hash(string(b))]++
					}
					most := 0
					for _, c := range low {
						most = max(most, c)
					}
					if len(high) < texts-2 || most > texts/8 {
						t.Fatalf("seed %#x, %d bytes with %#x at %d: %d hashes of %d texts, %d with one tag", seed, n, w, at, len(high), texts, most)
					}
				}
			}
		}
	}
}

func TestHash_KeysOfAStrangerStayNearTheirHomes(t *testing.T) {
	testSpread(t, 0x5eed5eed5eed5eed, func(i int) [2]uint64 { return [2]uint64{mult1, uint64(i)} })
}

// forged is a Strings of one text in an arena, which does not know its blocks.
func forged(t *testing.T) (s Strings, sp *Space) {
	t.Helper()
	a, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 20})
	memtest.Opened(t, a, err)
	sp = space(t, a)
	_, err = s.Intern(sp, "x")
	must(t, err)
	must(t, s.Check(sp))
	return s, sp
}

func TestStrings_CheckTakesNoMemoryForSlotsThatNoTextHas(t *testing.T) {
	s, sp := forged(t)
	must(t, s.pages.Reserve(sp, maxPages))
	off, err := sp.take(pageBytes, 1)
	must(t, err)
	for s.pages.n < maxPages { // all of them the same bytes, 2^32 slots and more in sum
		s.pages.TryAppend(sp, page{off: off, slots: pageBytes, next: s.pages.n + 2})
	}
	s.pages.Ptr(sp, 0).next = 2
	s.pages.Ptr(sp, maxPages-1).next = 0
	s.rungs[0].page, s.rungs[0].used = maxPages, pageBytes
	err = s.Check(sp)
	if err == nil || !strings.Contains(err.Error(), "share bytes") {
		t.Errorf("Check says %v", err)
	}
	// Slots that lie apart, and have no texts.
	s, sp = forged(t)
	for i := range 3000 {
		off, err := sp.take(pageBytes, 1)
		must(t, err)
		must(t, s.pages.Append(sp, page{off: off, slots: pageBytes, next: uint32(i + 3)}))
	}
	s.pages.Ptr(sp, 0).next = 2
	s.pages.Ptr(sp, 3000).next = 0
	s.rungs[0].page, s.rungs[0].used = 3001, pageBytes
	v := visit{s: &s, sp: sp, r: &report{findings.List{Of: "container: Strings"}}, most: make([]uint32, s.pages.n), first: make([]uint32, s.pages.n)}
	v.chains()
	if bytes := testing.AllocsPerRun(1, func() { v.texts() }); v.r.None() || bytes > 40 {
		t.Errorf("%v, %v allocations", v.r.Err(), bytes)
	}
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), "1 texts, 1 of them live, 0 bare, in 12288064 slots") {
		t.Errorf("Check says %v", err)
	}
}

func TestStrings_CheckFindsBlocksThatShareBytes(t *testing.T) {
	for name, c := range map[string]struct {
		ruin func(s *Strings, sp *Space)
		want string
	}{
		"two pages": {func(s *Strings, sp *Space) { s.pages.Ptr(sp, 1).off = s.pages.Ptr(sp, 0).off }, "share bytes"},
		"by one byte": {func(s *Strings, sp *Space) {
			a, b := s.pages.Ptr(sp, 0), s.pages.Ptr(sp, 1)
			b.off = a.off + uint64(a.bytes()) - 1
		}, "share bytes"},
		"a page and the index": {func(s *Strings, sp *Space) { s.pages.Ptr(sp, 1).off = s.index.off }, "share bytes"},
		"a page and the texts": {func(s *Strings, sp *Space) { s.pages.Ptr(sp, 1).off = s.texts.off + 8 }, "share bytes"},
		"a page and the pages": {func(s *Strings, sp *Space) { s.pages.Ptr(sp, 1).off = s.pages.off }, "share bytes"},
		"none":                 {func(*Strings, *Space) {}, ""},
		"neighbours": {func(s *Strings, sp *Space) {
			a, b := s.pages.Ptr(sp, 0), s.pages.Ptr(sp, 1)
			b.off = a.off + uint64(a.bytes())
		}, ""},
	} {
		s, sp := forged(t)
		_, err := sp.take(4096, 1)
		must(t, err)
		id, err := s.Intern(sp, "seventeen letters")
		must(t, err)
		s.Release(sp, id) // nobody reads its page until a text is written there
		c.ruin(&s, sp)
		if err := s.Check(sp); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Check says %v", name, err)
		}
	}
}

func TestMap_DeleteFuncDetectsChangesByItsFunction(t *testing.T) {
	h, sp := heap(t)
	for name, change := range map[string]func(m *Map[int, int]){
		"grows":   func(m *Map[int, int]) { must(t, m.Reserve(sp, 1000)) },
		"grown":   func(m *Map[int, int]) { must(t, m.Set(sp, -1, 1)) },
		"deletes": func(m *Map[int, int]) { m.Delete(sp, 5) },
		"cleared": func(m *Map[int, int]) { m.Clear(sp) },
		"freed":   func(m *Map[int, int]) { m.Free(sp) },
	} {
		m := NewMap[int, int](1)
		for i := range 40 {
			must(t, m.Set(sp, i, i))
		}
		memtest.Misuse(t, func() {
			m.DeleteFunc(sp, func(int, int) bool { change(&m); return true })
		}, "container.Map.DeleteFunc", "the function that selects entries has changed")
		if err := errors.Join(m.Check(sp), h.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		m.Free(sp)
	}
	if h.Stats().Live != 0 {
		t.Errorf("%d blocks are left", h.Stats().Live)
	}
}

// A narrow heap has no block above most bytes, moves what grows, and counts what it takes.
type narrow struct {
	*tlsf.Heap
	most   uintptr
	blocks int
}

func (a *narrow) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if size > a.most {
		return nil, memory.ErrOutOfMemory
	}
	a.blocks++
	return a.Heap.Alloc(size, align)
}

func (a *narrow) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool { return false }

func TestVec_NearTheEndOfMemoryItDoesNotMoveAtEachAppend(t *testing.T) {
	h, _ := heap(t)
	const most = 100_000
	a := &narrow{Heap: h, most: most * 8}
	sp := space(t, a)
	var v Vec[uint64]
	defer v.Free(sp)
	for i := range uint64(most) {
		must(t, v.Append(sp, i))
	}
	if err := v.Append(sp, 0); err != memory.ErrOutOfMemory || v.Len() != most || v.Cap() != most {
		t.Errorf("one more: %v, %d of %d", err, v.Len(), v.Cap())
	}
	if a.blocks > 60 { // 14 doublings, and quarters of what is left
		t.Errorf("%d elements were moved %d times", most, a.blocks)
	}
	must(t, v.Check(sp))
}

// A told heap calls what listens in the midst of an Alloc and of a Free.
type told struct {
	*tlsf.Heap
	tell func()
}

func (a *told) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if f := a.tell; f != nil {
		a.tell = nil
		f()
	}
	return a.Heap.Alloc(size, align)
}

func (a *told) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool { return false }

func TestSpace_WhatTheAllocatorCallsMayRemoveAndNotGrow(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var (
		v Vec[int]
		r Ring[int]
		m Map[int, int]
		s Strings
	)
	fillAll := func() {
		for v.Len() < v.Cap() || v.Len() < 20 {
			must(t, v.Append(sp, v.Len()))
		}
		for r.Len() < r.Cap() || r.Len() < 20 {
			must(t, r.PushBack(sp, r.Len()))
		}
		for k := 0; m.Len() < m.Cap() || m.Len() < 20; k++ {
			must(t, m.Set(sp, k, 1))
		}
		for i := range 40 {
			_, err := s.Intern(sp, fmt.Sprint("text", i))
			must(t, err)
		}
	}
	check := func(name string) {
		t.Helper()
		a.tell = nil
		if err := errors.Join(v.Check(sp), r.Check(sp), m.Check(sp), s.Check(sp), h.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	grow := map[string]func() error{
		"Vec":  func() error { return v.Append(sp, 1) },
		"Ring": func() error { return r.PushBack(sp, 1) },
		"Map":  func() error { return m.Set(sp, -1, 1) },
		"Strings": func() error {
			id, err := s.Intern(sp, strings.Repeat("long", 200))
			if err != nil && id != 0 {
				t.Errorf("a text that was not kept has id %d", id)
			}
			return err
		},
	}
	for name, one := range grow {
		for other, two := range grow {
			fillAll()
			a.tell = func() { must(t, two()) }
			memtest.Misuse(t, func() { must(t, one()) }, "container.Space", "while it works for a container")
			check(name + " in which " + other + " grows")
		}
		for other, free := range map[string]func(){
			"Vec": func() { v.Free(sp) }, "Ring": func() { r.Free(sp) }, "Map": func() { m.Free(sp) },
		} {
			fillAll()
			a.tell = func() { free() }
			memtest.Misuse(t, func() { must(t, one()) }, "container.Space", "while it works for a container")
			check(name + " in which " + other + " is freed")
		}
	}
	for name, one := range grow {
		fillAll()
		a.tell = func() {
			v.Pop(sp)
			r.PopFront(sp)
			m.Delete(sp, 3)
			s.Release(sp, 7)
		}
		had, entries := v.Len()+r.Len()+m.Len()+s.Len(), m.Len()
		must(t, one())
		if a.tell == nil && v.Len()+r.Len()+m.Len()+s.Len() < had-4 {
			t.Errorf("%s: %d of %d are left", name, v.Len()+r.Len()+m.Len()+s.Len(), had)
		}
		if m.Has(sp, 3) || m.Len() > entries {
			t.Errorf("%s: the entry that was removed is there", name)
		}
		check(name + " in which some are removed")
	}
	v.Free(sp)
	r.Free(sp)
	m.Free(sp)
	s.Free(sp)
	if h.Stats().Live != 0 {
		t.Errorf("%d blocks are left", h.Stats().Live)
	}
}

func TestIn_RefusesAnAllocatorThatIsNone(t *testing.T) {
	for _, a := range []memory.Allocator{nil, (*tlsf.Heap)(nil), (*arena.Linear)(nil)} {
		if sp, err := In(a); sp != nil || !errors.Is(err, ErrNoBase) {
			t.Errorf("%T: %v, %v", a, sp, err)
		}
	}
}

func TestStrings_CheckFindsALiveTextAmongTheDead(t *testing.T) {
	_, sp := heap(t)
	var s Strings
	defer s.Free(sp)
	for _, x := range []string{"ab", "cd"} {
		_, err := s.Intern(sp, x)
		must(t, err)
	}
	s.Release(sp, 2)
	must(t, s.Check(sp))
	k := rungOf(2)
	s.rungs[k].dead = 1 // whose length, 2, would be the next dead id
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("id 1 is on the list of dead ids of rung %d, and is live", k)) {
		t.Errorf("Check says %v", err)
	}
	s.rungs[k].dead = 2
	must(t, s.Check(sp))
}

func TestStrings_CheckFindsABlockThatADeadTextHas(t *testing.T) {
	s, sp := forged(t)
	id, err := s.Intern(sp, strings.Repeat("y", 2000))
	must(t, err)
	s.Release(sp, id)
	must(t, s.Check(sp))
	off, err := sp.take(64, 1) // another's
	must(t, err)
	p := s.pages.slot(sp, int(s.spare-1))
	p.off, p.slots = off, 64
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), "page 2 is spare and has 64 bytes") {
		t.Errorf("Check says %v", err)
	}
	s.text(sp, id).at, s.spare = 1<<slotBits, 0
	if err := s.Check(sp); err == nil || !strings.Contains(err.Error(), "id 2 is dead, and page 2 still has 64 bytes for it") {
		t.Errorf("Check says %v", err)
	}
}

// A pointer out of a stranger's bytes would be followed by who reads it, and by the collector.
func TestContainers_CheckRefusesTypesWithGoPointers(t *testing.T) {
	a, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 1 << 16})
	memtest.Opened(t, a, err)
	sp := space(t, a)
	var plain Map[int, int]
	must(t, plain.Set(sp, 1, 2))
	table := Map[int, *int]{off: plain.off, salt: plain.salt, n: 1, bits: plain.bits}
	for what, check := range map[string]func(*Space) error{
		"Vec":  (&Vec[npc]{n: 1, cap: 1}).Check,
		"Ring": (&Ring[*int]{n: 1, cap: 1}).Check,
		"Map":  table.Check,
	} {
		var p *memory.PointerError
		if err := check(sp); !errors.As(err, &p) {
			t.Errorf("%s: Check says %v", what, err)
		}
	}
	for what, check := range map[string]func(*Space) error{
		"Vec": new(Vec[npc]).Check, "Ring": new(Ring[*int]).Check, "Map": new(Map[string, int]).Check,
	} {
		if err := check(sp); err != nil {
			t.Errorf("%s: an empty one: %v", what, err)
		}
	}
}
