package tiers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestSnapshot_HasTheBooksOfTheMoment(t *testing.T) {
	m := newManager(t, small())
	var s Snapshot
	alloc(t, m, 100)
	m.Snapshot(&s)
	if s.Frame != 0 || s.Level != 0 || s.InLevel || s.Tiers[Slab].FrameAllocs != 0 || s.Tiers[Slab].Allocs != 1 {
		t.Errorf("before any frame: %+v", s.Tiers[Slab])
	}
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	p := alloc(t, m, 10_000)
	alloc(t, m, 10_000)
	m.Free(p, 10_000)
	m.Snapshot(&s)
	known := s.Go.Total - s.Go.Released
	for tier, x := range s.Tiers {
		if x.Tier != Tier(tier) || x.Stats != m.Stats(x.Tier) || x.Budget != uint64(m.cfg.Budget[tier]) {
			t.Errorf("%v: %+v", Tier(tier), x)
		}
		if tier := Tier(tier); tier >= Slab {
			known += x.Committed
		} else {
			known += x.InUse
		}
	}
	want := uint64(0)
	if s.RSS > known {
		want = s.RSS - known
	}
	if s.Frame != 1 || s.Level != 1 || !s.InLevel || s.Untracked != want {
		t.Errorf("frame %d, level %d, %t, untracked %d of %d", s.Frame, s.Level, s.InLevel, s.Untracked, want)
	}
	if l := s.Tiers[Large]; l.FrameAllocs != 2 || l.FrameFrees != 1 || s.Tiers[Slab].FrameAllocs != 0 {
		t.Errorf("large in this frame: %+v", l)
	}
	must(t, m.EndFrame())
	m.Snapshot(&s)
	if l := s.Tiers[Large]; l.FrameAllocs != 0 || l.FrameFrees != 0 {
		t.Errorf("large after the frame: %+v", l)
	}
}

// A pool takes its counts out of the tier's when it is removed.
func TestSnapshot_FrameCountsAfterRemovePool(t *testing.T) {
	m := newManager(t, small())
	p := &Funcs{StatsFunc: func() memory.Stats { return memory.Stats{Allocs: 7, Frees: 7} }}
	m.AddPool("p", p)
	must(t, m.BeginFrame())
	m.RemovePool(p)
	var s Snapshot
	if m.Snapshot(&s); s.Tiers[Pools].FrameAllocs != 0 || s.Tiers[Pools].FrameFrees != 0 {
		t.Errorf("%d allocations and %d frees in this frame; want none", s.Tiers[Pools].FrameAllocs, s.Tiers[Pools].FrameFrees)
	}
}

func TestTierStats_UsedIsAShareOfTheBudget(t *testing.T) {
	if got := (TierStats{Stats: memory.Stats{InUse: 25}, Budget: 100}).Used(); got != 0.25 {
		t.Errorf("Used = %v", got)
	}
	if got := (TierStats{Stats: memory.Stats{InUse: 25}}).Used(); got != 0 {
		t.Errorf("without a budget Used = %v", got)
	}
}

func TestSnapshot_FilesHaveEveryFigureInItsColumn(t *testing.T) {
	var s Snapshot
	s.Tiers[Large] = TierStats{Stats: memory.Stats{Reserved: 1, Committed: 2, InUse: 3072, Peak: 4096, Live: 5, Allocs: 6, Frees: 7, Failures: 8}, Budget: 9}
	var csv, text bytes.Buffer
	must(t, s.WriteCSV(&csv))
	must(t, s.WriteText(&text))
	if want := "name,reserved,committed,in_use,peak,live,allocs,frees,failures,budget\nstatic,0,0,0,0,0,0,0,0,0\n"; !strings.HasPrefix(csv.String(), want) {
		t.Errorf("csv begins\n%s", csv.String())
	}
	if !strings.Contains(csv.String(), "\nlarge,1,2,3072,4096,5,6,7,8,9\n") {
		t.Errorf("csv:\n%s", csv.String())
	}
	if want := fmt.Sprintf("%-8s %10s %10s %10s %10s %9d %9d %8d\n", "large", "3.0 KiB", "4.0 KiB", "2 B", "9 B", 6, 7, 8); !strings.Contains(text.String(), want) {
		t.Errorf("text:\n%s\nlacks\n%s", text.String(), want)
	}
}

func TestManager_HistoryTurnsOldestFirst(t *testing.T) {
	m := newManager(t, small())
	for i := range HistoryLen + 2 {
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), uintptr(i))
		must(t, m.EndFrame())
	}
	var h [HistoryLen]float32
	m.Inspect().History(Frame, &h)
	for i, v := range h {
		if v != float32(i+2) {
			t.Fatalf("sample %d is %v, want %d", i, v, i+2)
		}
	}
}

func TestSnapshot_TagsHaveEveryFigureInTheirFiles(t *testing.T) {
	var s Snapshot
	for _, empty := range []func() string{
		func() string { var b bytes.Buffer; must(t, s.WriteTagsJSON(&b)); return b.String() },
		func() string { var b bytes.Buffer; must(t, s.WriteTagsCSV(&b)); return b.String() },
	} {
		if got := empty(); got != "[]\n" && got != "name,in_use,peak,requested,measured,live,allocs,frees,failures,frame_bytes,frame_blocks,level_bytes,level_blocks\n" {
			t.Errorf("without tags: %q", got)
		}
	}
	long := strings.Repeat("é", 24)
	s.Tags = []TagStats{
		{Name: `a "quoted", one`, Stats: memory.Stats{InUse: 1, Peak: 2, Requested: 3, Measured: 4, Live: 5, Allocs: 6, Frees: 7, Failures: 8},
			Frame: Bumped{9, 10}, Level: Bumped{11, 12}},
		{Name: long}, {},
	}
	var js, table, text bytes.Buffer
	must(t, errors.Join(s.WriteTagsJSON(&js), s.WriteTagsCSV(&table), s.WriteText(&text)))
	rows := s.TagRecords()
	var back []TagRecord
	must(t, json.Unmarshal(js.Bytes(), &back))
	want := TagRecord{`a "quoted", one`, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	if len(back) != 3 || back[0] != want || !slices.Equal(back, rows) || back[2] != (TagRecord{}) {
		t.Errorf("%+v", back)
	}
	if !strings.Contains(table.String(), "\n\"a \"\"quoted\"\", one\",1,2,3,4,5,6,7,8,9,10,11,12\n") || !strings.HasSuffix(table.String(), "\n,0,0,0,0,0,0,0,0,0,0,0,0\n") {
		t.Errorf("csv:\n%s", &table)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for _, line := range lines[len(lines)-4:] {
		if n := utf8.RuneCountInString(line); n != utf8.RuneCountInString(lines[len(lines)-1]) {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if err := s.WriteTagsCSV(failing{}); !errors.Is(err, errInjected) {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errInjected }

func TestSpan_TheTiersLieOneAfterTheOtherAndHoldTheirBlocks(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	in := map[Tier]unsafe.Pointer{Slab: alloc(t, m, 100), Large: alloc(t, m, 10_000)}
	for tier, a := range map[Tier]memory.Allocator{Frame: m.Frame(), Level: m.Level(), Inbox: m.Worker(m.Workers() - 1)} {
		p, err := a.Alloc(100, 8)
		must(t, err)
		in[tier] = p
	}
	var end uintptr
	for tier := range Tier(Count) {
		base, size := m.Inspect().Span(tier)
		if end != 0 && uintptr(base) != end || size < m.cfg.reserved(tier) {
			t.Errorf("%v is %d bytes at %p; the tier before it ends at %#x", tier, size, base, end)
		}
		end = uintptr(base) + size
		if p, ok := in[tier]; ok && uintptr(p)-uintptr(base) >= size {
			t.Errorf("%v is %d bytes at %p and has a block at %p", tier, size, base, p)
		}
	}
	if end != uintptr(m.base)+m.size {
		t.Errorf("the tiers end at %#x, the reservation at %#x", end, uintptr(m.base)+m.size)
	}
	must(t, m.EndFrame())
	must(t, m.Close())
	for _, tier := range []Tier{Static, Inbox, Count, 255} {
		if base, size := m.Inspect().Span(tier); base != nil || size != 0 {
			t.Errorf("%v of a closed manager is %d bytes at %p", tier, size, base)
		}
	}
}

func TestSpan_WithoutWorkersTheInboxIsNothing(t *testing.T) {
	cfg := small()
	cfg.Workers = -1
	m := newManager(t, cfg)
	for _, tier := range []Tier{Inbox, Count} {
		if base, size := m.Inspect().Span(tier); base != nil || size != 0 {
			t.Errorf("%v is %d bytes at %p", tier, size, base)
		}
	}
}
