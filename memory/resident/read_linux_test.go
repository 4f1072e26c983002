package resident

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

const mib = 1 << 20

func read(t testing.TB, m *tiers.Manager) *Report {
	t.Helper()
	var r Report
	if err := Read(m, &r); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	return &r
}

// manager is one on the system's memory, also under -race.
func manager(t testing.TB, src page.Source, budget [tiers.Count]uintptr) *tiers.Manager {
	t.Helper()
	m, err := tiers.New(tiers.Config{Source: src, Reserve: budget, Workers: 1, GC: gcpace.Config{Keep: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// touch writes to every page of n bytes.
func touch(p unsafe.Pointer, n uintptr) {
	for off := uintptr(0); off < n; off += 4096 {
		*(*byte)(unsafe.Add(p, off)) = 1
	}
}

func near(got, want, within uint64) bool { return got+within >= want && got <= want+within }

func TestRead_HalfOfATierThatIsTouchedIsResident(t *testing.T) {
	m := manager(t, page.OS(), [tiers.Count]uintptr{tiers.Pools: 128 * mib})
	src := m.PoolSource()
	whole, err := src.Reserve(64 * mib)
	if err := errors.Join(err, src.Commit(whole, 0, 64*mib)); err != nil {
		t.Fatal(err)
	}
	if r := read(t, m); r.Tiers[tiers.Pools].RSS != 0 || m.Stats(tiers.Pools).Committed != 64*mib {
		t.Errorf("untouched, %d bytes of %d are resident", r.Tiers[tiers.Pools].RSS, m.Stats(tiers.Pools).Committed)
	}
	touch(whole.Base, 32*mib)
	r := read(t, m)
	if u := r.Tiers[tiers.Pools]; u.RSS != 32*mib || u.Private != u.RSS || u.Dirty != u.RSS || u.Pss != u.RSS {
		t.Errorf("half touched: %+v", u)
	}
	for tier, u := range r.Tiers {
		if tiers.Tier(tier) != tiers.Pools && u.RSS > 0 {
			t.Errorf("%v has %d bytes", tiers.Tier(tier), u.RSS)
		}
	}
	if none := read(t, nil); none.Classes[Tiers].RSS != 0 || none.Classes[Pages].RSS < 32*mib {
		t.Errorf("without the manager: %d and %d bytes", none.Classes[Tiers].RSS, none.Classes[Pages].RSS)
	}
}

// Tiers that are full lie in one mapping.
func TestRead_TiersThatShareAMappingAreToldApart(t *testing.T) {
	m := manager(t, page.OS(), [tiers.Count]uintptr{tiers.Static: 1 * mib, tiers.Frame: 1 * mib, tiers.Level: 4 * mib, tiers.Pools: 4 * mib, tiers.Slab: 4 * mib, tiers.Large: 4 * mib, tiers.Inbox: 4 * mib})
	src := m.PoolSource()
	whole, err := src.Reserve(4 * mib)
	if err := errors.Join(err, src.Commit(whole, 0, 4*mib)); err != nil {
		t.Fatal(err)
	}
	touch(whole.Base, 3*mib)
	for i := range 256 {
		p, err := m.Alloc(4096, 4096)
		if err != nil {
			t.Fatal(err)
		}
		if touch(p, 4096); i == 0 && unsafe.Add(whole.Base, 4*mib) != p {
			t.Fatalf("the pools end at %p, the slab begins at %p", unsafe.Add(whole.Base, 4*mib), p)
		}
	}
	if r := read(t, m); r.Tiers[tiers.Pools].RSS != 3*mib || r.Tiers[tiers.Slab].RSS != 1*mib {
		t.Errorf("pools %d, slab %d bytes", r.Tiers[tiers.Pools].RSS, r.Tiers[tiers.Slab].RSS)
	}
}

func TestRead_TiersOnTheGoHeapAreNotTheGoHeaps(t *testing.T) {
	m := manager(t, page.Heap(), [tiers.Count]uintptr{tiers.Large: 64 * mib})
	p, err := m.Alloc(32*mib, 4096)
	if err != nil {
		t.Fatal(err)
	}
	touch(p, 16*mib)
	r := read(t, m)
	if got := r.Tiers[tiers.Large].RSS; got < 16*mib || got > 64*mib {
		t.Errorf("%d bytes", got)
	}
}

func TestRead_OtherReservationsOfPageAreOneClass(t *testing.T) {
	before := read(t, nil).Classes[Pages].RSS
	src := page.OS()
	whole, err := src.Reserve(16 * mib)
	if err := errors.Join(err, src.Commit(whole, 0, 8*mib)); err != nil {
		t.Fatal(err)
	}
	touch(whole.Base, 8*mib)
	if got := read(t, nil).Classes[Pages].RSS; got != before+8*mib {
		t.Errorf("%d bytes after %d", got, before)
	}
	if err := src.Release(whole); err != nil {
		t.Fatal(err)
	}
	if got := read(t, nil).Classes[Pages].RSS; got != before {
		t.Errorf("released, %d bytes after %d", got, before)
	}
}

func TestRead_HugePagesAreWhole(t *testing.T) {
	src := page.OSWith(page.Options{HugePages: true, Prefault: true})
	m := manager(t, src, [tiers.Count]uintptr{tiers.Large: 64 * mib})
	if _, err := m.Alloc(32*mib, 4096); err != nil {
		t.Fatal(err)
	}
	committed := uint64(m.Stats(tiers.Large).Committed)
	if got := read(t, m).Tiers[tiers.Large].RSS; got != committed {
		t.Errorf("%d bytes of %d that were touched as they were committed", got, committed)
	}
}

var kept []byte

func TestRead_TheGoHeapIsTheGoHeap(t *testing.T) {
	before := read(t, nil).Classes[GoHeap].RSS
	kept = make([]byte, 100*mib)
	touch(unsafe.Pointer(unsafe.SliceData(kept)), 100*mib)
	if got := read(t, nil).Classes[GoHeap].RSS; got < 100*mib || got > before+101*mib {
		t.Errorf("%d bytes after %d", got, before)
	}
	kept = nil
}

// The detector's shadow is nobody's.
func quiet(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector its shadow is unexplained")
	}
}

func TestRead_AtMostTwoPercentAreUnexplained(t *testing.T) {
	quiet(t)
	m := manager(t, nil, [tiers.Count]uintptr{})
	for range 1000 {
		if _, err := m.Alloc(4000, 8); err != nil {
			t.Fatal(err)
		}
	}
	r := read(t, m)
	if r.Share() > 0.02 {
		var b strings.Builder
		_ = r.WriteText(&b)
		t.Errorf("%.3f of it is unexplained:\n%s", r.Share(), b.String())
	}
}

// What somebody maps past everybody's books is found, to the page but for what rounding may hide.
func TestRead_WhatNobodyKnowsIsUnexplainedAndListed(t *testing.T) {
	quiet(t)
	for _, flags := range []int{0, syscall.MAP_NORESERVE} {
		foreign, err := syscall.Mmap(-1, 0, 32*mib, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|flags)
		if err != nil {
			t.Fatal(err)
		}
		p := unsafe.Pointer(unsafe.SliceData(foreign))
		touch(p, 32*mib)
		r := read(t, nil)
		hidden := uint64(roundingBytes + (r.work.process.mapped+heapIndex)>>roundingShift) // less what rounding took of it
		if got := r.Classes[Unexplained].RSS; !near(got, 32*mib, hidden) {
			t.Errorf("%d bytes are unexplained, of %d that are mapped %d may hide", got, r.work.process.mapped, hidden)
		}
		if len(r.Suspects) == 0 || r.Suspects[0].From > uint64(uintptr(p)) || r.Suspects[0].To < uint64(uintptr(p))+32*mib {
			t.Errorf("%p is not the first of %+v", p, r.Suspects)
		}
		if err := syscall.Munmap(foreign); err != nil {
			t.Fatal(err)
		}
		if r := read(t, nil); r.Share() > 0.02 {
			t.Errorf("unmapped, %.3f of it is unexplained", r.Share())
		}
	}
}

// statm has counters that lag; and the runtime may give back what an earlier test freed meanwhile.
func TestRead_TheSumIsWhatTheKernelCounts(t *testing.T) {
	before := statm(t)
	r := read(t, nil)
	after := statm(t)
	if low, high := min(before, after), max(before, after); r.RSS+low/50+mib < low || r.RSS > high+high/50+mib {
		t.Errorf("smaps adds up to %d bytes, statm says %d before and %d after", r.RSS, before, after)
	}
}

func statm(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	if _, bad := fmt.Sscan(string(text), &size, &pages); errors.Join(err, bad) != nil {
		t.Fatal(err, bad)
	}
	return pages * uint64(os.Getpagesize())
}

func TestRead_WhileMappingsComeAndGo(t *testing.T) {
	var stop atomic.Bool
	done := make(chan error)
	go func() {
		var err error
		for src := page.OS(); !stop.Load() && err == nil; {
			var whole page.Memory
			if whole, err = src.Reserve(mib); err != nil {
				break
			}
			err = errors.Join(src.Commit(whole, 0, mib/2), src.Commit(whole, mib/2, mib/4), src.Decommit(whole, mib/4, mib/4), src.Release(whole))
		}
		done <- err
	}()
	var r Report
	rounds := 100
	if testenv.Brief() {
		rounds = 10
	}
	for range rounds {
		if err := errors.Join(Read(nil, &r), r.Check()); err != nil && !errors.Is(err, errTorn) {
			t.Error(err)
		}
	}
	stop.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRead_AReportIsAsGoodAsNew(t *testing.T) {
	var r Report
	for range 3 {
		if err := Read(nil, &r); err != nil {
			t.Fatal(err)
		}
	}
	libraries, scratch := &r.Libraries[:1][0], unsafe.SliceData(r.work.process.smaps)
	if err := errors.Join(Read(nil, &r), r.Check()); err != nil {
		t.Fatal(err)
	}
	if &r.Libraries[0] != libraries || unsafe.SliceData(r.work.process.smaps) != scratch {
		t.Error("a second Read has other arrays")
	}
}

// A Read closes what it has opened, and does not leave it to the collector.
func TestRead_LeavesNoFileOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	read(t, nil) // the first one may have the runtime open something
	before := open()
	for range 10 {
		read(t, nil)
	}
	if after := open(); after > before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}

// fakeProc has Read look into a folder of its own, with these files.
func fakeProc(t *testing.T, smaps string, others ...string) {
	dir := t.TempDir()
	for _, name := range others {
		if err := os.Symlink("/proc/self/"+name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if smaps != "" {
		if err := os.WriteFile(filepath.Join(dir, "smaps"), []byte(smaps), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := proc
	proc = dir + "/"
	t.Cleanup(func() { proc = old })
}

func TestRead_OnAnErrorTheReportIsEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		smaps  string
		others []string
		want   string
		is     error
	}{
		"no proc":    {"", nil, "resident: open ", fs.ErrNotExist},
		"no exe":     {"1000-2000 rw-p 0 00:00 0\nRss: 4 kB\n", nil, "resident: readlink ", fs.ErrNotExist},
		"no pagemap": {"1000-2000 rw-p 0 00:00 0\nRss: 4 kB\n", []string{"exe"}, "pagemap", fs.ErrNotExist},
		"malformed":  {"1000-2000 rw-p 0 00:00 0\nRss: much\n", []string{"exe", "pagemap", "mem"}, `smaps, line 2, "Rss: much"`, nil},
		"torn":       {"1000-3000 rw-p 0 00:00 0\nRss: 4 kB\n2000-3000 rw-p 0 00:00 0\nRss: 4 kB\n", []string{"exe", "pagemap", "mem"}, "changed while", errTorn},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, nil)
			fakeProc(t, c.smaps, c.others...)
			err := Read(nil, r)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if r.RSS != 0 || r.Mappings != 0 || len(r.Libraries) != 0 || len(r.Suspects) != 0 || r.Classes != [Count]Usage{} || r.Tiers != [tiers.Count]Usage{} {
				t.Errorf("left behind: %+v", r)
			}
		})
	}
}

// A pagemap that cannot be read is met when half of the books are written.
func TestRead_NothingIsHalfFilled(t *testing.T) {
	m := manager(t, page.OS(), [tiers.Count]uintptr{})
	base, _ := m.Inspect().Span(tiers.Level)
	at := uint64(uintptr(base))
	fakeProc(t, fmt.Sprintf("1000-2000 rw-p 0 00:00 7 /opt/a.dat\nRss: 4 kB\n%x-%x rw-p 0 00:00 0\nRss: 64 kB\n", at-64*kib, at+64*kib), "exe", "mem")
	if err := os.WriteFile(proc+"pagemap", make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := Read(m, &r); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "which pages") {
		t.Error(err)
	}
	if r.RSS != 0 || len(r.Libraries) != 0 || r.Classes != [Count]Usage{} {
		t.Errorf("left behind: %+v", r)
	}
}

// Without /proc/self/mem nothing of malloc's is known, which is no error: it shows as unexplained.
func TestRead_WithoutMemItGoesOn(t *testing.T) {
	fakeProc(t, "61000000-61021000 rw-p 0 00:00 0\nRss: 92 kB\nVmFlags: nr\n62000000-62001000 r--p 0 00:00 7 /lib/a.so\nRss: 4 kB\n", "exe", "pagemap")
	if r := read(t, nil); r.Classes[Unexplained].RSS != 92*kib || r.Classes[Libraries].RSS != 4*kib {
		t.Errorf("%+v", r.Classes)
	}
}

func TestRead_AClosedManagerHasNothing(t *testing.T) {
	m := manager(t, page.OS(), [tiers.Count]uintptr{})
	if _, err := m.Alloc(100, 8); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if u := read(t, m).Classes[Tiers]; u != (Usage{}) {
		t.Errorf("%+v", u)
	}
}

func TestWriteJSON_HasEveryClassAndTier(t *testing.T) {
	r := read(t, nil)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		RSS       uint64  `json:"rss"`
		Share     float64 `json:"unexplained_share"`
		Classes   []row   `json:"classes"`
		Tiers     []row   `json:"tiers"`
		Libraries []Library
		Suspects  []suspect
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.RSS != r.RSS || got.Share != r.Share() || len(got.Classes) != Count || len(got.Tiers) != tiers.Count || !slices.Equal(got.Libraries, r.Libraries) {
		t.Errorf("%s", b.Bytes())
	}
	for c, x := range got.Classes {
		if x.Name != Class(c).String() || x.Usage != r.Classes[c] {
			t.Errorf("%+v is not %+v of %v", x, r.Classes[c], Class(c))
		}
	}
	if Class(Count).String() != "class(11)" {
		t.Error(Class(Count))
	}
}

func BenchmarkRead(b *testing.B) {
	b.Run("idle", func(b *testing.B) { benchmark(b, nil) })
	b.Run("touched=1GiB", func(b *testing.B) {
		m := manager(b, page.OS(), [tiers.Count]uintptr{tiers.Large: 1100 * mib})
		p, err := m.Alloc(1024*mib, 4096)
		if err != nil {
			b.Fatal(err)
		}
		touch(p, 1024*mib)
		benchmark(b, m)
	})
}

func benchmark(b *testing.B, m *tiers.Manager) {
	var r Report
	b.ReportAllocs()
	for b.Loop() {
		if err := Read(m, &r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(r.Mappings), "mappings")
}
