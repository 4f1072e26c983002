package tiers

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func TestManager_ClosedItAnswersAndOwnsNothing(t *testing.T) {
	m := furnish(t, small())
	must(t, m.EndFrame())
	freer := m.NewFreer()
	before := m.allStats()
	must(t, errors.Join(m.Close(), m.Close(), m.Check()))
	for _, p := range []unsafe.Pointer{m.ofSlab, m.ofLarge, m.ofFrame, m.ofLevel, m.ofStatic, m.ofWorker, m.ofPool} {
		if _, ok := m.Inspect().TierOf(p); ok || m.Owns(p) {
			t.Error("it owns what it has given back")
		}
		memtest.Misuse(t, func() { m.Free(p, 100) }, "tiers.Free", "the manager is closed")
		memtest.Misuse(t, func() { m.FreeAny(p) }, "tiers.FreeAny", "the manager is closed")
		memtest.Misuse(t, func() { m.SizeOf(p) }, "tiers.SizeOf", "the manager is closed")
	}
	m.Free(nil, 0)
	for _, a := range []memory.Allocator{m, m.Slab(), m.Large(), m.Worker(0), m.Worker(1)} {
		for _, size := range []uintptr{0, 100, 10_000} {
			if p, err := a.Alloc(size, 16); p != nil || !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%T: Alloc(%d) = %v, %v", a, size, p, err)
			}
		}
	}
	memtest.Misuse(t, func() { m.Worker(0).Free(m.ofWorker, 10_000) }, "closed")
	m.Worker(0).Settle()
	freer.FreeAny(m.ofSlab)
	if err := freer.Flush(); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("a Freer after Close: %v", err)
	}
	if m.Inspect().InLevel() || m.Static() != nil {
		t.Error("it is in a level")
	}
	for tier, s := range m.allStats() {
		if s.InUse != 0 || s.Committed != 0 || s.Reserved != 0 || s.Live != 0 || s.LargestFree != 0 || s.Free != 0 {
			t.Errorf("%v: %+v", Tier(tier), s)
		}
		if Tier(tier) != Pools && s.Allocs != before[tier].Allocs {
			t.Errorf("%v: %d allocations, there were %d", Tier(tier), s.Allocs, before[tier].Allocs)
		}
	}
	var s Snapshot
	m.Snapshot(&s)
	for range m.Inspect().LevelBlocks {
		t.Error("it has blocks of a level")
	}
}

func TestManager_CloseInALevelRunsWhatTheLevelsEndWouldHaveRun(t *testing.T) {
	m := newManager(t, small())
	var log []string
	note := func(s string) func() { return func() { log = append(log, s) } }
	m.AddPool("a", &Funcs{ResetFunc: note("reset"), CloseFunc: func() error { note("close")(); m.FreeAny(nil); return nil }})
	p := alloc(t, m, 100)
	m.AddPool("b", &Funcs{CloseFunc: func() error { m.Free(p, 100); return nil }}) // every tier is open still
	must(t, m.BeginLevel())
	m.Level().OnReset(note("level"))
	must(t, m.BeginFrame())
	m.Frame().OnReset(note("frame"))
	if err := m.Close(); !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), "Close inside a frame; EndFrame first") || len(log) > 0 {
		t.Errorf("Close inside a frame: %v after %v", err, log)
	}
	must(t, m.EndFrame())
	must(t, m.Close())
	if got := strings.Join(log, " "); got != "level frame reset close" {
		t.Errorf("ran %s", got)
	}
}

func TestManager_CloseTakesWorkersBlocksHomeThatOthersHaveFreed(t *testing.T) {
	m := newManager(t, small())
	p, q := alloc(t, m.Worker(1), 1000), alloc(t, m.Worker(1), 1000)
	freeElsewhere(t, m, p)
	m.Free(q, 1000)
	w := m.Worker(1)
	must(t, m.Close())
	if s := w.Stats(); s.Live != 0 || s.Frees != 2 {
		t.Errorf("worker: %+v", s)
	}
}

func TestManager_CloseGoesOnBehindWhatAWorkerRefuses(t *testing.T) {
	src := memtest.NewFaulty()
	cfg := small()
	cfg.Source = src
	m, err := New(cfg)
	must(t, err)
	p := alloc(t, m.Worker(0), 1000)
	m.Free(p, 1000)
	m.FreeAny(p) // the worker's to find
	q := alloc(t, m, 100)
	freeElsewhere(t, m, q, q)
	memtest.Misuse(t, func() { _ = m.Close() }, "remote.Close", "double free")
	if _, err := m.Alloc(100, 1); src.Reserved() != 1 || m.BeginFrame() == nil || m.BeginLevel() == nil || err != nil && !errors.Is(err, memory.ErrClosed) {
		t.Errorf("half closed: %v", err)
	}
	memtest.Misuse(t, func() { m.AddPool("late", &Funcs{}) }, "closed")
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "a block that is returned to worker 0 panicked at ") || !strings.Contains(err.Error(), "double free") {
		t.Errorf("the second Close: %v", err)
	}
	must(t, m.Close())
	if src.Reserved() != 0 {
		t.Error("the reservation is held")
	}
}

func TestManager_CloseIsRepeatedWhereTheSystemKeepsTheMemory(t *testing.T) {
	src := memtest.NewFaulty()
	cfg := small()
	cfg.Source = src
	m, err := New(cfg)
	must(t, err)
	p := alloc(t, m, 100)
	src.FailReturns = true
	for range 2 {
		if err := m.Close(); err == nil || !strings.Contains(err.Error(), "tiers: close: memtest: injected release failure") {
			t.Errorf("Close = %v", err)
		}
		if _, err := m.Alloc(100, 1); !errors.Is(err, memory.ErrClosed) || m.Owns(p) {
			t.Errorf("Alloc = %v, owns %t", err, m.Owns(p))
		}
		must(t, m.Check())
	}
	src.FailReturns = false
	must(t, m.Close())
	if src.Reserved() != 0 {
		t.Error("the reservation is held")
	}
}

func TestManager_ClosingGivesBackAllAtOnceAndNothingPieceByPiece(t *testing.T) {
	src := &countingSource{Source: page.Default()}
	cfg := small()
	cfg.Source = src
	m, err := New(cfg)
	must(t, err)
	for range 100 {
		alloc(t, m, 4000)
		alloc(t, m, 10_000)
	}
	must(t, m.Close())
	if src.decommits != 0 || src.releases != 1 {
		t.Errorf("%d decommits and %d releases", src.decommits, src.releases)
	}
}

type countingSource struct {
	page.Source
	decommits, releases int
}

func (s *countingSource) Decommit(m page.Memory, off, size uintptr) error {
	s.decommits++
	return s.Source.Decommit(m, off, size)
}

func (s *countingSource) Release(m page.Memory) error {
	s.releases++
	return s.Source.Release(m)
}

// A reusingSource has a stranger move into what is released: the bytes are painted, and whoever
// touches them afterwards is found.
type reusingSource struct {
	page.Source
	t     *testing.T
	taken page.Memory
}

const stranger = 0xA5

func (s *reusingSource) Release(m page.Memory) error {
	if m.Base == nil || s.taken.Base != nil {
		s.t.Fatal("a part of the reservation, or all of it twice, is released")
	}
	s.taken = m
	must(s.t, s.Source.Decommit(m, 0, m.Size))
	must(s.t, s.Source.Commit(m, 0, m.Size))
	copy(s.bytes(), bytes.Repeat([]byte{stranger}, int(m.Size)))
	return nil
}

func (s *reusingSource) Commit(m page.Memory, off, size uintptr) error {
	if s.taken.Base != nil {
		s.t.Fatal("a commit in what was released")
	}
	return s.Source.Commit(m, off, size)
}

func (s *reusingSource) Decommit(m page.Memory, off, size uintptr) error {
	if s.taken.Base != nil {
		s.t.Fatal("a decommit in what was released")
	}
	return s.Source.Decommit(m, off, size)
}

func (s *reusingSource) bytes() []byte { return unsafe.Slice((*byte)(s.taken.Base), s.taken.Size) }

// intact verifies that the stranger's bytes are as they were, and moves him out.
func (s *reusingSource) intact() {
	s.t.Helper()
	for i, b := range s.bytes() {
		if b != stranger {
			s.t.Fatalf("byte %d of what was released was written", i)
		}
	}
	must(s.t, s.Source.Release(s.taken))
}

func TestManager_DroppedWithoutCloseItIsReportedOnceInDebugBuilds(t *testing.T) {
	said := make(chan string, 10)
	defer func(f func(string)) { reportDropped = f }(reportDropped)
	reportDropped = func(s string) { said <- s }
	src, size := memtest.NewFaulty(), uintptr(0)
	func() {
		cfg := small()
		cfg.Source, cfg.GC.Keep = src, true
		_, err := New(cfg)
		must(t, err)
		closed, err := New(cfg)
		must(t, err)
		size = closed.size
		must(t, closed.Close())
	}()
	reports, want := 0, 0
	if invariant.Debug {
		want = 1
	}
	// Until it is reported, and then 20 collections more.
	for end, more := testenv.Deadline(t), 0; more < 20 && time.Now().Before(end); {
		runtime.GC()
		select {
		case s := <-said:
			reports++
			if !strings.Contains(s, "close_test.go") || !strings.Contains(s, "was dropped without Close: ") || !strings.Contains(s, fmt.Sprint(size, " bytes")) {
				t.Errorf("said %q", s)
			}
		case <-time.After(10 * time.Millisecond):
		}
		if reports >= want {
			more++
		}
	}
	if reports != want || src.Reserved() != 1 {
		t.Errorf("%d reports, want %d; %d reservations", reports, want, src.Reserved())
	}
}
