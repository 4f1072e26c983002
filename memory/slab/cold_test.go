//go:build unix && !race

package slab_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
)

// colds are the ways to meet memory for the first time.
var colds = []struct {
	name string
	o    page.Options
	warm uintptr // bytes committed before the clock starts
}{
	{"plain", page.Options{}, 0},
	{"prefault", page.Options{Prefault: true}, 0},
	{"huge", page.Options{HugePages: true}, 0},
	{"huge+prefault", page.Options{HugePages: true, Prefault: true}, 0},
	{"huge+prefault,warm", page.Options{HugePages: true, Prefault: true}, 18 << 20},
	{"goheap", page.Options{}, 0},
}

const coldChild = "SLAB_COLD"

// TestMain is the fresh process of BenchmarkCold where it is asked to be.
func TestMain(m *testing.M) {
	for _, c := range colds {
		if os.Getenv(coldChild) == c.name {
			firstPass(c.name == "goheap", c.o, c.warm)
			return
		}
	}
	os.Exit(m.Run())
}

// firstPass is W1 once: 100,000 blocks of 8 to 256 bytes, then all freed in random order. It prints
// nanoseconds a pair, and what was granted.
func firstPass(goHeap bool, o page.Options, warm uintptr) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	sizes, order, blocks := make([]uintptr, n), rng.Perm(n), make([]unsafe.Pointer, n)
	for i := range sizes {
		sizes[i] = 8 + uintptr(rng.Uint32N(249))
	}
	src := page.OSWith(o)
	h, err := slab.New(src, slab.Config{})
	if err == nil {
		err = h.Warm(warm)
	}
	begin := time.Now()
	for i, size := range sizes {
		if goHeap {
			blocks[i] = unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
		} else {
			var failed error
			blocks[i], failed = h.Alloc(size, 16)
			err = errors.Join(err, failed)
		}
		*(*uint64)(blocks[i]) = uint64(i)
	}
	for _, i := range order {
		if !goHeap {
			h.Free(blocks[i], sizes[i])
		}
		blocks[i] = nil
	}
	took := time.Since(begin)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	g := page.GrantedBy(src)
	fmt.Println(float64(took.Nanoseconds())/n, g.Huge>>10, g.Populated>>10)
}

// BenchmarkCold is the first pass of W1 in a fresh process, page faults included, an operation each.
func BenchmarkCold(b *testing.B) {
	for _, c := range colds {
		b.Run(c.name, func(b *testing.B) {
			best, sum, n := 1e9, 0.0, 0
			for b.Loop() {
				ns, _, _ := cold(b, c.name)
				best, sum, n = min(best, ns), sum+ns, n+1
			}
			b.ReportMetric(sum/float64(n), "ns/pair")
			b.ReportMetric(best, "ns/pair-least")
		})
	}
}

func cold(tb testing.TB, name string) (ns float64, huge, populated int) {
	tb.Helper()
	cmd := testenv.Command(tb, os.Args[0])
	cmd.Env = append(cmd.Environ(), coldChild+"="+name)
	out, err := cmd.Output()
	if _, bad := fmt.Sscan(string(out), &ns, &huge, &populated); err != nil || bad != nil {
		tb.Fatalf("%v\n%s", errors.Join(err, bad), out)
	}
	return ns, huge, populated
}

// With the options the memory is there before the first touch, as far as the kernel takes them.
func TestCold_TheOptionsReachTheHeap(t *testing.T) {
	for _, c := range colds {
		ns, huge, populated := cold(t, c.name)
		t.Logf("%-20s %6.1f ns a pair, %d KiB advised, %d KiB populated", c.name, ns, huge, populated)
		if !c.o.HugePages && huge > 0 || !c.o.Prefault && populated > 0 || c.warm > 0 && huge>>10 > 20 {
			t.Errorf("%s: %d KiB advised, %d KiB populated", c.name, huge, populated)
		}
	}
}

func TestWarm_CommitsAtOnceAndTrimGivesItBack(t *testing.T) {
	limit := page.NewLimit(nil, 8<<20)
	h, err := slab.New(limit, slab.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Warm(5 << 20); err != nil || limit.Committed() != 5<<20 || h.Stats().InUse != 0 {
		t.Errorf("Warm: %v, %d bytes committed", err, limit.Committed())
	}
	if err := h.Warm(9 << 20); !errors.Is(err, memory.ErrOutOfMemory) || limit.Committed() != 5<<20 {
		t.Errorf("Warm beyond the budget: %v, %d bytes committed", err, limit.Committed())
	}
	p, err := h.Alloc(100, 16)
	if err != nil || limit.Committed() != 5<<20 {
		t.Errorf("Alloc: %v, %d bytes committed", err, limit.Committed())
	}
	if err := errors.Join(h.Check(), h.Trim()); err != nil || limit.Committed() != page.SizeOf(limit) {
		t.Errorf("Trim: %v, %d bytes committed", err, limit.Committed())
	}
	h.Free(p, 100)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Warm(1); err != memory.ErrClosed {
		t.Errorf("Warm after Close: %v", err)
	}
}
