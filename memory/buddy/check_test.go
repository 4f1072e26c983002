package buddy

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

// furnished returns a heap with live blocks, free blocks on several lists, and memory that is not committed. One block is
// padded if the system pads, and one list has two blocks.
func furnished(t *testing.T, system System) *Heap {
	h := newHeap(t, nil, Config{Reserve: 512 << 10, MinBlock: 1 << 10, System: system})
	var p []unsafe.Pointer
	for _, kib := range []uintptr{1, 1, 3, 2, 1, 1, 8, 1, 1, 1, 1} {
		p = append(p, memtest.MustAlloc(t, h, kib<<10, 1))
	}
	for range 8 {
		memtest.MustAlloc(t, h, 2<<10, 4096)
	}
	for _, i := range []int{1, 2, 4, 7, 9} {
		h.FreeAny(p[i])
	}
	memtest.MustCheck(t, h)
	return h
}

// corrupted runs f on the heap and reports what Check says, then puts everything back.
func corrupted(h *Heap, f func()) error {
	restore, entries := memtest.Keep(h), slices.Clone(h.entries)
	defer func() {
		restore()
		copy(h.entries, entries)
	}()
	f()
	return h.Check()
}

func TestCheck_FindsEveryCorruptField(t *testing.T) {
	for _, system := range systems {
		h := furnished(t, system)
		met := map[state]int{}
		for at := range h.entries {
			e := &h.entries[at]
			met[e.state]++
			faults := map[string]func(){}
			for s := range 2 * handed {
				if s != e.state {
					faults["state"] = func() { e.state = s }
					if corrupted(h, faults["state"]) == nil {
						t.Errorf("%v: unit %d with state %03b instead of %03b goes unseen", system, at, s, e.state)
					}
				}
			}
			if e.state&(free|live) != 0 {
				faults["rung + 1"] = func() { e.rung++ }
				faults["rung - 1"] = func() { e.rung-- }
				faults["side"] = func() { e.side ^= right }
				faults["kept"] = func() { e.side ^= kept }
			}
			if e.state&(free|handed) != 0 {
				faults["prev"] = func() { e.prev += 3 }
				faults["next"] = func() { e.next += 1 << 20 }
			}
			if e.state&free != 0 {
				faults["next"] = func() { e.next = uint32(at) }
			}
			for name, f := range faults {
				if corrupted(h, f) == nil {
					t.Errorf("%v: corrupt %s of unit %d, %+v, goes unseen", system, name, at, *e)
				}
			}
		}
		if met[free] < 4 || met[live|handed] < 4 || system == Fibonacci && met[handed] == 0 {
			t.Errorf("%v: the heap has %v by state", system, met)
		}
	}
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	h := furnished(t, Binary)
	for _, tt := range []struct {
		want    string
		corrupt func()
	}{
		{"blocks from 8 bytes", func() { h.grain = 3 }},
		{"alignments up to 512", func() { h.align = 512 }},
		{"the ladder is not that of Fibonacci", func() { h.system = Fibonacci }},
		{"the ladder is not that of Binary", func() { h.ladder.size[3] = 7 }},
		{"requests up to 1 are not the root", func() { h.limit = 1 }},
		{"10 entries for a root of 512", func() { h.entries = h.entries[:10] }},
		{"are not the root", func() { h.base = unsafe.Add(h.base, 16) }},
		{"has bit true and head 4294967295", func() { h.lists[0] = none }},
		{"bits beyond 48 rungs", func() { h.mask |= 1 << 60 }},
		{"rung 40 has bit true", func() { h.mask |= 1 << 40 }},
		{"leads to unit 700 of 512", func() { h.lists[0] = 700 }},
		{"on the list of rung 0 behind", func() { h.entries[h.lists[0]].next = h.lists[0] }},
		{"blocks, 1 are free", func() { h.mask |= 1 << 2; h.lists[2] = none }},
		{"unit 511, where nothing starts, has state 001", func() { h.entries[511].state = free }},
		{"has 0 pointers", func() { h.entries[0].state = live }},
		{"is too near its end for 1025 bytes", func() { h.entries[0].next = 1025 }},
		{"is in no block", func() { h.entries[0].state = 0 }},
		{"units used for", func() { h.counts.Resized(0, 1, 0, 0) }},
		{"units used for", func() { h.counts.Resized(0, 0, 1, 0) }},
		{"blocks are live", func() { h.counts.Out(0, 0) }},
		{"blocks are live", func() { h.counts.In(0, 0) }},
	} {
		if err := corrupted(h, tt.corrupt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check = %v, want %q", err, tt.want)
		}
	}
}

func TestCheck_FindsBuddiesThatAreBothFree(t *testing.T) {
	h := newHeap(t, nil, tiny(Fibonacci))
	h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1))
	err := corrupted(h, func() {
		a, b := h.ladder.parts(h.unlink(0))
		h.link(a)
		h.link(b)
	})
	if err == nil || !strings.Contains(err.Error(), "the buddies at units 0 and 8 are both free") {
		t.Errorf("Check = %v", err)
	}
}

// Two free blocks that are each on the other's list keep all counts as they are.
func TestCheck_FindsBlocksOnEachOthersLists(t *testing.T) {
	for _, system := range systems {
		h := furnished(t, system)
		for size := uintptr(1); size < 100<<10; size *= 3 {
			memtest.MustAlloc(t, h, size, 1)
		}
		var single []int
		for k, head := range h.lists {
			if head != none && h.entries[head].next == none {
				single = append(single, k)
			}
		}
		if len(single) < 2 {
			t.Fatalf("%v: only the lists %v have one block", system, single)
		}
		a, b := &h.lists[single[0]], &h.lists[single[1]]
		err := corrupted(h, func() { *a, *b = *b, *a })
		if err == nil || !strings.Contains(err.Error(), "on the list of rung") {
			t.Errorf("%v: Check = %v", system, err)
		}
	}
}
