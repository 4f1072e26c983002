package page_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A random program of Drop, Fill, Ensure and Trim, beside a model of which pages are there, on pages of two sizes.
func TestPrefix_HolesModel(t *testing.T) {
	for _, src := range []page.Source{page.Heap(), paged{page.Heap(), 64 << 10}} {
		limit := page.NewLimit(src, 0)
		p, err := page.NewPrefix(limit, 2<<20, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		unit := page.SizeOf(src)
		there := make([]bool, 2<<20/unit)
		r := rand.New(rand.NewPCG(3, uint64(unit)))
		for op := range 3000 {
			pages := p.Committed() / unit
			switch k := r.IntN(10); {
			case k == 0:
				n := uintptr(r.IntN(2<<20 + 1))
				if err := p.Ensure(n); err != nil {
					t.Fatal(err)
				}
				for i := pages; i < p.Committed()/unit; i++ {
					there[i] = true
				}
			case k == 1 && r.IntN(4) == 0:
				if err := p.Trim(uintptr(r.IntN(2 << 20))); err != nil {
					t.Fatal(err)
				}
				for i := p.Committed() / unit; i < pages; i++ {
					there[i] = false
				}
			case pages > 0: // a run of pages of one kind
				first := uintptr(r.IntN(int(pages)))
				last := first + 1
				for last < pages && there[last] == there[first] && r.IntN(4) > 0 {
					last++
				}
				do := p.Fill
				if there[first] {
					do = p.Drop
				}
				if err := do(first*unit, (last-first)*unit); err != nil {
					t.Fatal(err)
				}
				for i := first; i < last; i++ {
					if there[i] = !there[i]; there[i] {
						*(*byte)(unsafe.Add(p.Base(), i*unit)) = 1
					}
				}
			}
			bytes := uintptr(0)
			for i, ok := range there {
				if ok {
					bytes += unit
				}
				from, to := p.NextHole(uintptr(i) * unit)
				if in := uintptr(i)*unit < p.Committed(); in && (from == uintptr(i)*unit && to > from) == ok {
					t.Fatalf("operation %d: page %d is there: %t, the next hole is from %d to %d", op, i, ok, from, to)
				}
			}
			if err := p.Check(); err != nil || bytes != limit.Committed() || bytes != p.Committed()-p.Dropped() {
				t.Fatalf("operation %d: %v; %d bytes are there, the limit has %d, the prefix %d less %d", op, err, bytes, limit.Committed(), p.Committed(), p.Dropped())
			}
		}
		if err := p.Close(); err != nil || limit.Committed() != 0 {
			t.Errorf("Close: %v, %d bytes committed", err, limit.Committed())
		}
	}
}

// A paged source has pages of its own size.
type paged struct {
	page.Source
	size uintptr
}

func (s paged) PageSize() uintptr { return s.size }

func TestPrefix_DropAndFillRefuseOtherRanges(t *testing.T) {
	p, err := page.NewPrefix(nil, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(256 << 10); err != nil {
		t.Fatal(err)
	}
	unit := page.SizeOf(page.Default())
	if err := p.Drop(unit, unit); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		do   func(off, n uintptr) error
		off  uintptr
		n    uintptr
		want string
	}{
		{p.Drop, 0, 3 * unit, "not all dropped, or some are"},
		{p.Drop, unit, unit, "not all dropped, or some are"},
		{p.Fill, 0, 2 * unit, "not all dropped, or some are"},
		{p.Drop, 1, unit, "not whole pages"},
		{p.Drop, 2 * unit, unit - 1, "not whole pages"},
		{p.Drop, 2 * unit, 0, "not whole pages"},
		{p.Drop, p.Committed(), unit, "not whole pages"},
		{p.Drop, 2 * unit, ^uintptr(0) &^ (unit - 1), "not whole pages"},
	} {
		memtest.Misuse(t, func() { _ = c.do(c.off, c.n) }, c.want)
	}
	if err := p.Check(); err != nil || p.Dropped() != unit {
		t.Errorf("%v, %d bytes dropped", err, p.Dropped())
	}
	if err := p.Close(); err != nil || p.Dropped() != 0 {
		t.Errorf("Close: %v, %d bytes dropped", err, p.Dropped())
	}
	memtest.Misuse(t, func() { _ = p.Fill(0, unit) }, "the Prefix is closed")
}

// Droppable keeps huge pages whole, and Around asks for whole ones.
func TestPrefix_DroppableIsOfWholeUnits(t *testing.T) {
	src := ahead{page.Heap(), 128 << 10}
	p, err := page.NewPrefix(src, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(1 << 20); err != nil {
		t.Fatal(err)
	}
	skew := uintptr(p.Base()) % (128 << 10)
	first := (128<<10 - skew) % (128 << 10)
	for _, c := range [][4]uintptr{
		{first, first + 128<<10, first, first + 128<<10},
		{first + 1, first + 300<<10, first + 128<<10, first + 256<<10},
		{first + 1, first + 200<<10, first + 1, first + 1},
		{first, first, first, first},
	} {
		if from, to := p.Droppable(c[0], c[1]); from != c[2] || to != c[3] {
			t.Errorf("Droppable(%d, %d) = %d, %d, want %d, %d", c[0], c[1], from, to, c[2], c[3])
		}
	}
	if from, to := p.Around(first+130<<10, first+131<<10); from != first+128<<10 || to != first+256<<10 {
		t.Errorf("Around = %d, %d from %d on", from, to, first)
	}
	if from, to := p.Around(0, 1); from != 0 || to == 0 || to > 128<<10 {
		t.Errorf("Around(0, 1) = %d, %d", from, to)
	}
}

type ahead struct {
	page.Source
	to uintptr
}

func (s ahead) AheadTo() uintptr { return s.to }

// A source that refuses changes nothing, and one that ends closes the prefix.
func TestPrefix_HolesWhenTheSourceFails(t *testing.T) {
	broken := errors.New("broken")
	src := &failing{Source: page.Heap()}
	p, err := page.NewPrefix(src, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(256 << 10); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(64<<10, 64<<10); err != nil {
		t.Fatal(err)
	}
	src.err = broken
	for _, do := range []func(off, n uintptr) error{p.Fill, p.Drop} {
		if err := do(64<<10, 64<<10); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		if err := p.Check(); err != nil || p.Dropped() != 64<<10 && p.Dropped() != 0 {
			t.Errorf("%v, %d bytes dropped", err, p.Dropped())
		}
		src.err = nil
		if p.Dropped() > 0 {
			if err := p.Fill(64<<10, 64<<10); err != nil {
				t.Error(err)
			}
		}
		src.err = broken
	}
	src.err = nil
	if err := p.Drop(64<<10, 64<<10); err != nil {
		t.Fatal(err)
	}
	src.err = broken
	if err := p.Trim(0); !errors.Is(err, broken) || p.Committed() != 256<<10 {
		t.Errorf("Trim: %v, %d bytes are left", err, p.Committed())
	}
	src.err = nil
	if err := p.Trim(0); err != nil || p.Committed() != 0 || p.Dropped() != 0 {
		t.Errorf("Trim: %v, %d bytes are left, %d dropped", err, p.Committed(), p.Dropped())
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

type failing struct {
	page.Source
	err error
}

func (s *failing) Commit(m page.Memory, off, size uintptr) error {
	if s.err != nil {
		return s.err
	}
	return s.Source.Commit(m, off, size)
}

func (s *failing) Decommit(m page.Memory, off, size uintptr) error {
	if s.err != nil {
		return s.err
	}
	return s.Source.Decommit(m, off, size)
}

// If the source ends during a call, the Prefix is closed, and the error is memory.ErrClosed.
func TestPrefix_HolesWhenTheSourceEnds(t *testing.T) {
	for _, op := range []string{"drop", "fill", "a drop that fails", "a trim that fails", "a trim of holes that fails"} {
		mem, err := page.Heap().Reserve(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		ending := &endingSource{Source: page.Heap()}
		c, err := page.NewCarve(ending, mem)
		if err != nil {
			t.Fatal(err)
		}
		p, err := page.NewPrefix(c, 512<<10, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Watch(func() {})
		if err := p.Ensure(128 << 10); err != nil {
			t.Fatal(err)
		}
		do := p.Drop
		if op == "fill" || op == "a trim of holes that fails" {
			if err := p.Drop(0, 64<<10); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case op == "fill":
			do = p.Fill
		case strings.HasPrefix(op, "a trim"):
			do = func(off, _ uintptr) error { return p.Trim(off) }
		}
		if strings.HasSuffix(op, "fails") {
			ending.fails = errors.New("refused")
		}
		ending.end = c.Close
		if err := do(0, 64<<10); !errors.Is(err, memory.ErrClosed) || p.Committed() != 0 || p.Dropped() != 0 {
			t.Errorf("%s: %v; %d bytes committed, %d dropped", op, err, p.Committed(), p.Dropped())
		}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

type endingSource struct {
	page.Source
	end   func()
	fails error
}

func (s *endingSource) Commit(m page.Memory, off, size uintptr) error {
	if s.end != nil {
		s.end()
	}
	return s.Source.Commit(m, off, size)
}

func (s *endingSource) Decommit(m page.Memory, off, size uintptr) error {
	if s.end != nil {
		s.end()
	}
	return errors.Join(s.Source.Decommit(m, off, size), s.fails)
}

// BenchmarkPrefix_Hole drops every second run of 64 KiB of 64 MiB, fills them and accesses their pages. An operation is
// one hole.
func BenchmarkPrefix_Hole(b *testing.B) {
	const size, hole = 64 << 20, 64 << 10
	p, err := page.NewPrefix(nil, size, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(size); err != nil {
		b.Fatal(err)
	}
	access := func(off uintptr) error {
		for i := off; i < off+hole; i += 4096 {
			*(*byte)(unsafe.Add(p.Base(), i)) = 1
		}
		return nil
	}
	for off := uintptr(0); off < size; off += hole {
		_ = access(off)
	}
	var took [3]time.Duration
	holes := 0
	for b.Loop() {
		for i, do := range []func(off uintptr) error{
			func(off uintptr) error { return p.Drop(off, hole) },
			func(off uintptr) error { return p.Fill(off, hole) },
			access,
		} {
			start := time.Now()
			for off := uintptr(0); off < size; off += 2 * hole {
				if err := do(off); err != nil {
					b.Fatal(err)
				}
			}
			took[i] += time.Since(start)
		}
		holes += size / hole / 2
	}
	for i, unit := range []string{"ns/drop", "ns/fill", "ns/access"} {
		b.ReportMetric(float64(took[i])/float64(holes), unit)
	}
}
