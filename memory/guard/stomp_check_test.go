package guard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// stomped returns a Stomp with slots 0 and 1 live, 2 vacant, 3 vacant and kept, 4 live.
func stomped(t *testing.T) *Stomp {
	t.Helper()
	src := memtest.NewFaulty()
	s, err := NewStomp(src, StompConfig{Reserve: 4 << 20, Blocks: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var p []unsafe.Pointer
	for _, size := range []uintptr{100, twoUnits, 100, 100, 50} {
		p = append(p, memtest.MustAlloc(t, s, size, 8))
	}
	s.Free(p[2], 100)
	src.FailReturnAt = src.Returns() + 1
	s.Free(p[3], 100)
	memtest.MustCheck(t, s)
	if s.Kept() != unit || s.Stats().Committed != uint64(5*unit) {
		t.Fatalf("%d bytes are kept, %d committed", s.Kept(), s.Stats().Committed)
	}
	return s
}

func TestStomp_CheckNamesWhatIsCorrupt(t *testing.T) {
	s := stomped(t)
	book, slots, queue, names := s.slots, slices.Clone(s.slots), slices.Clone(s.queue), maps.Clone(s.names)
	x, vacant := &s.slots[1], &s.slots[2]
	for what, c := range map[string]struct {
		want    string
		corrupt func()
	}{
		"a queue beyond the slots":  {"the queue of vacant slots holds slot 5 of 5", func() { s.queue[0] = 5 }},
		"a slot queued twice":       {"holds slot 3 of 5, which is live or there twice", func() { s.queue[0] = 3 }},
		"a live slot queued":        {"holds slot 1 of 5, which is live", func() { s.queue[0] = 1 }},
		"a slot moved":              {fmt.Sprintf("slot 1 at %d with", 4*unit), func() { x.off += unit }},
		"no room":                   {fmt.Sprintf("slot 1 at %d with 0 bytes", 3*unit), func() { x.room = 0 }},
		"half a granule":            {fmt.Sprintf("with %d bytes", 2*unit-1), func() { x.room-- }},
		"more room than its place":  {fmt.Sprintf("with %d bytes", 3*unit), func() { x.room += unit }},
		"a place of half a granule": {"slot 1 at", func() { x.span++ }},
		"a place off the end":       {"slot 1 at", func() { x.span = s.mem.Size }},
		"a longer place":            {"slot 2 at", func() { x.span += unit }},
		"a block before its slot":   {fmt.Sprintf("does not hold the block of %d bytes at %d", twoUnits, 3*unit-1), func() { x.at = x.off - 1 }},
		"a block behind its slot":   {"does not hold the block", func() { x.at, x.size = x.off+x.room+1, 0 }},
		"a block beyond its slot":   {fmt.Sprintf("does not hold the block of %d bytes", twoUnits+1), func() { x.size++; x.at = x.off + x.room - twoUnits }},
		"a site of an allocation":   {"slot 1 names call sites", func() { x.allocSite = uint32(len(s.sites.list)) }},
		"a site of a free":          {"slot 1 names call sites", func() { x.freeSite = uint32(len(s.sites.list)) }},
		"a name lost":               {"slot 1, live true, in the queue false, is known as 0", func() { delete(s.names, x.at) }},
		"a name of another":         {"is known as 2", func() { s.names[x.at] = 2 }},
		"a name too many":           {"5 slots with 6 names, of 8", func() { s.names[1] = 1 }},
		"a live slot kept":          {"slot 1, live true", func() { x.kept = true; s.kept += x.room }},
		"a vacant slot lost":        {"slot 3, live false, in the queue false", func() { s.queue = s.queue[:1] }},
		"a vacant slot live":        {"holds slot 2 of 5, which is live", func() { vacant.live = true }},
		"too much kept":             {fmt.Sprintf("%d bytes are kept, the slots sum to %d", unit+1, unit), func() { s.kept++ }},
		"another end":               {fmt.Sprintf("end at %d and not at %d", 11*unit, 11*unit+1), func() { s.next++ }},
		"more slots than allowed":   {"5 slots with 5 names, of 4", func() { s.cfg.Blocks = 4 }},
		"another count of blocks":   {"the slots sum to", func() { s.stats.Live++ }},
		"another sum of granules":   {"the slots sum to", func() { s.stats.InUse-- }},
		"another sum of bytes":      {"the slots sum to", func() { s.stats.Requested++ }},
		"an allocation too many":    {"the slots sum to", func() { s.stats.Allocs++ }},
		"a free too many":           {"the slots sum to", func() { s.stats.Frees++ }},
		"a peak too low":            {"the slots sum to", func() { s.stats.Peak = s.stats.InUse - 1 }},
	} {
		restore := memtest.Keep(s)
		c.corrupt()
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Check = %v; want %q", what, err, c.want)
		}
		restore()
		copy(book, slots)
		copy(s.queue, queue)
		s.names = maps.Clone(names)
		memtest.MustCheck(t, s)
	}
}

func TestStomp_TrimAsksAgainForWhatIsKept(t *testing.T) {
	s := stomped(t)
	if err := s.Trim(); err != nil || s.Kept() != 0 || s.Stats().Committed != uint64(4*unit) {
		t.Errorf("Trim: %v, %d bytes are kept", err, s.Kept())
	}
	memtest.MustCheck(t, s)

	s = stomped(t)
	src := s.src.(*memtest.Faulty)
	src.FailReturnAt = src.Returns() + 1
	if err := s.Trim(); err == nil || !strings.HasPrefix(err.Error(), "guard: trim: ") || s.Kept() != unit {
		t.Errorf("Trim that is refused: %v, %d bytes are kept", err, s.Kept())
	}
	memtest.MustCheck(t, s)
}

func TestStomp_AKeptPlaceServesItsOwnSizeAlone(t *testing.T) {
	s := stomped(t)
	for range 4 { // three more places and the vacant one that is not kept
		memtest.MustAlloc(t, s, 100, 8)
	}
	src := s.src.(*memtest.Faulty)
	src.FailReturnAt = src.Returns() + 1
	s.FreeAny(unsafe.Add(s.mem.Base, s.slots[1].at))
	if s.Kept() != 3*unit {
		t.Fatalf("%d bytes are kept", s.Kept())
	}
	for _, c := range []struct {
		size uintptr
		slot int
		kept uintptr
	}{{10, 3, 2 * unit}, {2*unit - 10, 1, 0}} {
		p := memtest.MustAlloc(t, s, c.size, 8)
		if at := uintptr(p) - uintptr(s.mem.Base); at-s.slots[c.slot].off >= s.slots[c.slot].room || s.Kept() != c.kept {
			t.Errorf("a block of %d bytes is at %d, %d bytes are kept; want it in place %d", c.size, at, s.Kept(), c.slot)
		}
		memtest.MustCheck(t, s)
		if c.slot == 3 {
			if _, err := s.Alloc(10, 8); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Errorf("a block in a larger place that is kept: %v", err)
			}
		}
	}
}
