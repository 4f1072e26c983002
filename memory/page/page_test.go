package page_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var sources = map[string]page.Source{
	"OS": page.OS(), "Heap": page.Heap(), "Limit": page.NewLimit(nil, 0),
	"OSWith": page.OSWith(page.Options{HugePages: true, Prefault: true}),
}

func bytesOf(m page.Memory, off, n uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), n)
}

func TestSource_CommittedMemoryIsZeroAndWritable(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		if uintptr(m.Base)%page.BaseAlign != 0 || m.Size != 1<<20 {
			t.Errorf("%s: base %p, size %d", name, m.Base, m.Size)
		}
		for round := range 3 { // a decommitted range comes back zeroed
			if err := src.Commit(m, 64<<10, 128<<10); err != nil {
				t.Fatal(name, err)
			}
			b := bytesOf(m, 64<<10, 128<<10)
			for i := range b {
				if b[i] != 0 {
					t.Fatalf("%s: round %d: byte %d is %#x", name, round, i, b[i])
				}
				b[i] = 0xAB
			}
			if err := src.Decommit(m, 64<<10, 128<<10); err != nil {
				t.Fatal(name, err)
			}
		}
		if err := src.Release(m); err != nil {
			t.Error(name, err)
		}
	}
}

func TestSource_SizesAreRoundedAndImpossibleOnesRefused(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1)
		if err != nil || m.Size != page.Granule {
			t.Errorf("%s: Reserve(1) gives %d bytes, %v", name, m.Size, err)
		}
		if err := src.Release(m); err != nil {
			t.Error(name, err)
		}
		if _, err := src.Reserve(0); err == nil {
			t.Errorf("%s: Reserve(0) succeeded", name)
		}
		for _, size := range []uintptr{math.MaxUint, math.MaxUint - page.Granule, math.MaxInt} {
			if _, err := src.Reserve(size); !errors.Is(err, memory.ErrTooLarge) {
				t.Errorf("%s: Reserve(%d): %v, want ErrTooLarge", name, size, err)
			}
		}
	}
}

func TestSource_RangesOutsideTheReservationPanic(t *testing.T) {
	for name, src := range sources {
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, r := range [][2]uintptr{{0, 1}, {1, page.Granule}, {0, 2 << 20}, {1 << 20, page.Granule}, {math.MaxUint &^ (page.Granule - 1), page.Granule}} {
			memtest.Misuse(t, func() { _ = src.Commit(m, r[0], r[1]) }, "page.Commit", "inside a reservation of 1048576 bytes")
			memtest.Misuse(t, func() { _ = src.Decommit(m, r[0], r[1]) }, "page.Decommit")
		}
		_ = src.Release(m)
	}
}

func TestPrefix_GrowsInStepsAndKeepsItsBase(t *testing.T) {
	p, err := page.NewPrefix(nil, 1<<20, 0, 128<<10)
	if err != nil {
		t.Fatal(err)
	}
	base := p.Base()
	for _, c := range []struct{ ensure, want uintptr }{{0, 0}, {1, 128 << 10}, {128 << 10, 128 << 10}, {129 << 10, 256 << 10}, {1 << 20, 1 << 20}} {
		if err := p.Ensure(c.ensure); err != nil || p.Committed() != c.want {
			t.Errorf("Ensure(%d): committed %d, %v; want %d", c.ensure, p.Committed(), err, c.want)
		}
	}
	if p.Base() != base || !p.Contains(unsafe.Add(base, 1<<20-1)) || p.Contains(unsafe.Add(base, 1<<20)) {
		t.Error("base or range have changed")
	}
	if err := p.Ensure(1<<20 + 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the reservation: %v", err)
	}
	if err := errors.Join(p.Trim(100), p.Check()); err != nil || p.Committed() != page.Granule {
		t.Errorf("Trim(100): committed %d, %v", p.Committed(), err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil || p.Base() != nil {
		t.Errorf("Close: %v", err)
	}
	if err := p.Ensure(1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Ensure after Close: %v", err)
	}
}

func TestPrefix_TakesLessWhereTheStepIsRefused(t *testing.T) {
	budget := page.NewLimit(nil, 100<<10)
	p, err := page.NewPrefix(budget, 1<<20, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(90 << 10); err != nil || p.Committed() != 96<<10 {
		t.Errorf("committed %d, %v; want the 6 granules that fit", p.Committed(), err)
	}
	var full *memory.Exhausted
	if err := p.Ensure(200 << 10); !errors.As(err, &full) || full.Limit != 100<<10 || full.Have != 4<<10 {
		t.Errorf("err %v", err)
	}
}

// small refuses reservations above a limit, as ulimit -v does.
type small struct {
	page.Source
	limit uintptr
}

func (s small) Reserve(size uintptr) (page.Memory, error) {
	if size > s.limit {
		return page.Memory{}, memory.ErrOutOfMemory
	}
	return s.Source.Reserve(size)
}

func TestPrefix_HalvesWhatTheSystemRefuses(t *testing.T) {
	src := small{page.Heap(), 300 << 10}
	p, err := page.NewPrefix(src, 1<<20, 64<<10, 0)
	if err != nil || p.Reserved() != 256<<10 {
		t.Fatalf("reserved %d, %v; want 256 KiB", p.Reserved(), err)
	}
	_ = p.Close()
	if _, err := page.NewPrefix(src, 1<<20, 512<<10, 0); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("least 512 KiB of 300 KiB: %v", err)
	}
}

func TestPrefix_CloseThatFailsLeavesItOpen(t *testing.T) {
	src := memtest.NewFaulty()
	p, err := page.NewPrefix(src, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(1); err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := p.Close(); err == nil || p.Base() == nil {
		t.Errorf("Close hid the failure: %v", err)
	}
	src.FailReturns = false
	if err := p.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("Close: %v, %d left", err, src.Reserved())
	}
}

func TestLimit_CountsSoftAndHard(t *testing.T) {
	l := page.NewLimit(nil, 256<<10)
	var marks []uintptr
	l.OnSoft(128<<10, func(committed, limit uintptr) { marks = append(marks, committed) })
	m, err := l.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release(m)
	for i := range uintptr(4) {
		if err := l.Commit(m, i*(64<<10), 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Commit(m, 512<<10, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the budget: %v", err)
	}
	if err := l.Decommit(m, 0, 192<<10); err != nil {
		t.Fatal(err)
	}
	if l.Committed() != 64<<10 || l.Peak() != 256<<10 || l.Failures() != 1 || l.Budget() != 256<<10 {
		t.Errorf("committed %d, peak %d, failures %d, budget %d", l.Committed(), l.Peak(), l.Failures(), l.Budget())
	}
	if err := l.Commit(m, 0, 128<<10); err != nil {
		t.Fatal(err)
	}
	if len(marks) != 2 || marks[0] != 192<<10 {
		t.Errorf("the soft mark was reported at %v, want twice, first at 192 KiB", marks)
	}
}

func TestCarve_PartsAreDisjointAndInOneRange(t *testing.T) {
	src := page.Default()
	whole, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Release(whole)
	c := page.NewCarve(src, whole)
	var end uintptr
	for _, size := range []uintptr{1, 64 << 10, 100 << 10, 300 << 10} {
		m, err := c.Reserve(size)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(m.Base) < end || uintptr(m.Base)%page.BaseAlign != 0 || !whole.Contains(m.Base) {
			t.Errorf("part %p of %d bytes overlaps or is misplaced", m.Base, m.Size)
		}
		end = uintptr(m.Base) + m.Size + 1 // the guard keeps one byte between at least
		if err := c.Commit(m, 0, page.Granule); err != nil {
			t.Fatal(err)
		}
		b := bytesOf(m, 0, page.Granule)
		b[0], b[len(b)-1] = 1, 1
		if err := errors.Join(c.Decommit(m, 0, page.Granule), c.Release(m)); err != nil {
			t.Error(err)
		}
	}
	left := c.Left()
	if _, err := c.Reserve(left + 1); err == nil || !strings.Contains(err.Error(), "page: carve") {
		t.Errorf("more than is left: %v", err)
	}
	if _, err := c.Reserve(left); err != nil || c.Left() != 0 {
		t.Errorf("exactly what is left: %v, %d left", err, c.Left())
	}
	c.Reset()
	if m, err := c.Reserve(1); err != nil || m.Base != whole.Base {
		t.Errorf("after Reset: %p, %v; want the front again", m.Base, err)
	}
}

func BenchmarkCommitTouch(b *testing.B) {
	for name, src := range map[string]page.Source{
		"plain": page.OS(), "prefault": page.OSWith(page.Options{Prefault: true}),
		"huge": page.OSWith(page.Options{HugePages: true, Prefault: true}), "goheap": page.Heap(),
	} {
		b.Run(name, func(b *testing.B) {
			const size = 8 << 20
			b.SetBytes(size)
			for b.Loop() {
				m, err := src.Reserve(size)
				if err != nil {
					b.Fatal(err)
				}
				if err := src.Commit(m, 0, size); err != nil {
					b.Fatal(err)
				}
				mem := bytesOf(m, 0, size)
				for i := 0; i < size; i += 4096 {
					mem[i] = 1
				}
				if err := src.Release(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
