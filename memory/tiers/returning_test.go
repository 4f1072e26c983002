package tiers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// A metered source counts the calls of page.Default for the heaps, and fails or panics as a test wants. Debug builds
// call the source in each frame, for the frame tier.
type metered struct {
	page.Source
	m                  *Manager
	commits, decommits int
	largest            uintptr // decommitted by one call
	fail               func() error
}

// counts reports whether the address is one of the heaps'.
func (s *metered) counts(m page.Memory, off uintptr) bool {
	if s.m == nil {
		return false
	}
	t, ok := s.m.Inspect().TierOf(unsafe.Add(m.Base, off))
	return ok && (t == Slab || t == Large || t == Inbox)
}

func (s *metered) Commit(m page.Memory, off, size uintptr) error {
	if s.counts(m, off) {
		s.commits++
	}
	return s.Source.Commit(m, off, size)
}

func (s *metered) Decommit(m page.Memory, off, size uintptr) error {
	if s.counts(m, off) {
		s.decommits++
		s.largest = max(s.largest, size)
		if s.fail != nil {
			if err := s.fail(); err != nil {
				return err
			}
		}
	}
	return s.Source.Decommit(m, off, size)
}

// A crowd is a number of blocks of random sizes, which follows a target.
type crowd struct {
	t      *testing.T
	rng    *rand.Rand
	alloc  func(size, align uintptr) (unsafe.Pointer, error)
	free   func(p unsafe.Pointer, size uintptr)
	lo, hi float64 // sizes
	blocks []struct {
		p unsafe.Pointer
		n uintptr
	}
	bytes uintptr
}

func (c *crowd) add() {
	n := uintptr(c.lo * math.Pow(c.hi/c.lo, c.rng.Float64()))
	p, err := c.alloc(n, 8)
	if err != nil {
		c.t.Fatalf("with %d bytes in %d blocks: %v", c.bytes, len(c.blocks), err)
	}
	b := unsafe.Slice((*byte)(p), n)
	b[0], b[n-1] = 1, 1
	c.blocks = append(c.blocks, struct {
		p unsafe.Pointer
		n uintptr
	}{p, n})
	c.bytes += n
}

func (c *crowd) remove(i int) {
	b := c.blocks[i]
	c.free(b.p, b.n)
	c.bytes -= b.n
	c.blocks[i] = c.blocks[len(c.blocks)-1]
	c.blocks = c.blocks[:len(c.blocks)-1]
}

// covered returns the bytes of runs of 64 KiB, the largest span of a slab, that have a byte of a block.
func (c *crowd) covered() uint64 {
	set := map[uintptr]bool{}
	for _, b := range c.blocks {
		for p := uintptr(b.p) >> 16; p <= (uintptr(b.p)+b.n-1)>>16; p++ {
			set[p] = true
		}
	}
	return uint64(len(set)) << 16
}

// follow replaces some blocks and makes the sum of the sizes about that many bytes.
func (c *crowd) follow(bytes uintptr) {
	for range min(8, len(c.blocks)) {
		c.remove(c.rng.IntN(len(c.blocks)))
	}
	for c.bytes < bytes {
		c.add()
	}
	for c.bytes > bytes {
		c.remove(c.rng.IntN(len(c.blocks)))
	}
}

// A played is a manager with a crowd in slab, large or a worker's heap.
type played struct {
	m   *Manager
	src *metered
	crowd
}

func playWith(t *testing.T, cfg Config, worker bool, lo, hi float64) *played {
	t.Helper()
	src := &metered{Source: page.Default()}
	cfg.Source = src
	m, err := New(cfg)
	must(t, err)
	src.m = m
	t.Cleanup(func() {
		src.m = nil
		if m.phase&inFrame != 0 {
			must(t, m.EndFrame())
		}
		must(t, m.Close())
	})
	g := &played{m: m, src: src, crowd: crowd{t: t, rng: rand.New(rand.NewPCG(7, 7)), alloc: m.Alloc, free: m.Free, lo: lo, hi: hi}}
	if worker {
		g.alloc, g.free = m.Worker(0).Alloc, m.Worker(0).Free
	}
	return g
}

// frames plays n frames, in each of which the crowd has target(frame) bytes.
func (g *played) frames(n int, target func(f int) uintptr) {
	for f := range n {
		must(g.t, g.m.NextFrame())
		g.follow(target(f))
	}
	must(g.t, g.m.EndFrame())
}

const second = 60 // frames

func constant(bytes uintptr) func(int) uintptr { return func(int) uintptr { return bytes } }

// The footprint falls within seconds after a peak, whichever blocks are left, and what was returned can be used again.
func TestReturn_FootprintFallsAfterAPeak(t *testing.T) {
	for _, worker := range []bool{false, true} {
		for _, size := range [][2]float64{{16, 64}, {200, 4000}, {5000, 16 << 10}, {5000, 64 << 10}, {32 << 10, 400 << 10}} {
			for _, left := range []string{"random", "oldest", "newest"} {
				if size[0] < 4096 && (worker || left == "random") {
					continue // a page of slab with a live block stays
				}
				if testenv.Brief() && (size[0] == 16 || size[1] == 16<<10 || size[0] == 32<<10 || left == "newest" || left == "oldest" && size[0] != 200) {
					continue
				}
				t.Run(fmt.Sprintf("worker=%t/%.0f to %.0f/%s", worker, size[0], size[1], left), func(t *testing.T) {
					cfg := Config{ReturnAfter: 5 * second}
					cfg.Budget[Large], cfg.Budget[Inbox] = 20<<20, 40<<20
					g := playWith(t, cfg, worker, size[0], size[1])
					tier := Large
					switch {
					case worker:
						tier = Inbox
					case size[0] < 4096:
						tier = Slab
					}
					g.frames(2*second, constant(1<<20))
					g.frames(2*second, constant(14<<20))
					switch left {
					case "random":
						g.rng.Shuffle(len(g.blocks), func(i, j int) { g.blocks[i], g.blocks[j] = g.blocks[j], g.blocks[i] })
					case "newest":
						slices.Reverse(g.blocks)
					}
					for g.bytes > 1<<20 {
						g.remove(len(g.blocks) - 1)
					}
					before := g.m.Stats(tier)
					g.src.largest = 0
					g.frames(12*second, constant(1<<20))
					must(t, g.m.Check())
					if s := g.m.Stats(tier); s.Committed > 3<<20 && (tier != Slab || s.Committed > 2*g.covered()) {
						t.Errorf("%d KiB of %d are committed for %d, which lie in %d", s.Committed>>10, before.Committed>>10, s.InUse>>10, g.covered()>>10)
					}
					if g.src.largest > returnStep {
						t.Errorf("a call returned %d bytes", g.src.largest)
					}
					if got, want := g.m.Inspect().Returned(tier), before.Committed-g.m.Stats(tier).Committed; got < want {
						t.Errorf("Returned is %d, less than %d", got, want)
					}
					g.frames(second, constant(14<<20)) // fails if the budget is short
					must(t, g.m.Check())
				})
			}
		}
	}
}

// Loads that are steady, or repeat within the window, make no system call once they have had their first waves.
func TestReturn_RepeatingLoadsMakeNoCalls(t *testing.T) {
	n := 1_300
	if testenv.Night() {
		n = 10_000
	}
	wave := func(period int, share float64) func(int) uintptr {
		return func(f int) uintptr {
			if float64(f%period) < share*float64(period) {
				return 10 << 20
			}
			return 1 << 20
		}
	}
	for name, target := range map[string]func(int) uintptr{
		"steady":   constant(6 << 20),
		"wave":     wave(600, 0.5),
		"burst":    wave(600, 0.01),
		"flicker":  wave(7, 0.3),
		"sawtooth": func(f int) uintptr { return 1<<20 + uintptr(f%600)*(9<<20)/600 },
		"sine":     func(f int) uintptr { return uintptr((5 + 4*math.Sin(float64(f)*2*math.Pi/500)) * (1 << 20)) },
	} {
		for _, lo := range []float64{100, 5000} {
			if testenv.Brief() && (lo == 100) != (name == "sawtooth") {
				continue
			}
			name := fmt.Sprintf("%s/%.0f", name, lo)
			t.Run(name, func(t *testing.T) {
				g := playWith(t, Config{}, false, lo, 12*lo)
				g.frames(1300, target)
				calls := g.src.commits + g.src.decommits
				g.frames(n, target)
				if got := g.src.decommits; got != 0 {
					t.Errorf("%d decommits", got)
				}
				// The heap may still grow by fragmentation.
				if got := g.src.commits + g.src.decommits - calls; got > 12 {
					t.Errorf("%d calls in %d frames", got, n)
				}
			})
		}
	}
}

// Blocks that live within a frame count, although no end of a frame sees them.
func TestReturn_MomentsWithinAFrameCount(t *testing.T) {
	g := playWith(t, Config{ReturnAfter: 60}, false, 5000, 64<<10)
	for range 400 {
		must(t, g.m.NextFrame())
		g.follow(8 << 20)
		g.follow(1 << 20)
	}
	if g.src.decommits != 0 {
		t.Errorf("%d decommits", g.src.decommits)
	}
}

// Waves that are further apart than the window cost calls only until the window has grown.
func TestReturn_LateWavesDoubleTheWindow(t *testing.T) {
	g := playWith(t, Config{ReturnAfter: 60}, false, 5000, 64<<10)
	var calls []int
	for range 12 {
		before := g.src.decommits
		g.frames(20, constant(3<<20))
		g.frames(280, constant(256<<10))
		calls = append(calls, g.src.decommits-before)
	}
	if calls[0] == 0 || calls[10] != 0 || calls[11] != 0 {
		t.Errorf("decommits by wave: %v", calls)
	}
	must(t, g.m.Check())
}

func TestReturn_NegativeReturnAfterIsOff(t *testing.T) {
	g := playWith(t, Config{ReturnAfter: -1}, false, 5000, 64<<10)
	g.frames(10, constant(8<<20))
	g.frames(2000, constant(1<<20))
	if g.src.decommits != 0 || g.m.Inspect().Returned(Large) != 0 {
		t.Errorf("%d decommits", g.src.decommits)
	}
}

// A step that fails does not fail the frame, and Inspector.ReturnErr has its error. After a panic EndFrame can be
// repeated. Neither changes a heap.
func TestReturn_FailingSource(t *testing.T) {
	broken := errors.New("broken")
	for _, how := range []string{"error", "panic"} {
		t.Run(how, func(t *testing.T) {
			g := playWith(t, Config{ReturnAfter: 60}, false, 5000, 64<<10)
			g.frames(10, constant(8<<20))
			failed := 0
			g.src.fail = func() error {
				failed++
				if how == "panic" {
					panic(broken)
				}
				return broken
			}
			for range 600 {
				must(t, g.m.NextFrame())
				g.follow(1 << 20)
				was, calls := g.m.Stats(Large), failed
				err := func() (err error) {
					defer func() {
						if r := recover(); r != nil {
							err = r.(error)
							must(t, g.m.Check())
							must(t, g.m.EndFrame()) // the frame is still open
						}
					}()
					return g.m.EndFrame()
				}()
				if (failed > calls && how == "panic") != errors.Is(err, broken) || g.m.phase&inFrame != 0 {
					t.Fatalf("EndFrame = %v after %d failures", err, failed-calls)
				}
				if n, last := g.m.Inspect().ReturnErr(); how == "error" && (n != uint64(failed) || (n > 0) != errors.Is(last, broken) || n > 0 && !strings.HasPrefix(last.Error(), "tiers: large: ")) {
					t.Fatalf("ReturnErr = %d, %v after %d failures", n, last, failed)
				}
				if failed > calls && g.m.Stats(Large) != was {
					t.Fatalf("%+v, before %+v", g.m.Stats(Large), was)
				}
			}
			must(t, g.m.Check())
			if failed == 0 || failed > 10 {
				t.Errorf("%d attempts: want one in a window", failed)
			}
			g.src.fail = nil
			g.frames(200, constant(1<<20))
			must(t, g.m.Check())
			if s := g.m.Stats(Large); s.Committed > 4<<20 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// While a worker's call runs, nothing waits for it, and nothing of its heap changes.
func TestReturn_WorkerInACallIsLeftAlone(t *testing.T) {
	g := playWith(t, Config{ReturnAfter: 30}, true, 5000, 64<<10)
	g.frames(10, constant(8<<20))
	for g.bytes > 1<<20 {
		g.remove(0)
	}
	w := g.m.Worker(0)
	w.mu.Lock()
	for range 200 {
		must(t, g.m.NextFrame())
	}
	w.mu.Unlock()
	if g.src.decommits != 0 {
		t.Errorf("%d decommits", g.src.decommits)
	}
	for range 200 {
		must(t, g.m.NextFrame())
	}
	if g.src.decommits == 0 {
		t.Error("nothing was returned after the call")
	}
}

// If returned memory is committed again beyond the soft mark, OnSoft is called again.
func TestReturn_SoftMarkRisesAgain(t *testing.T) {
	told := 0
	cfg := Config{ReturnAfter: 60, SoftMark: 0.5}
	cfg.Budget[Large] = 12 << 20
	cfg.OnSoft = func(tier Tier, _, _ uintptr) { told++ }
	g := playWith(t, cfg, false, 5000, 64<<10)
	for range 2 {
		g.frames(10, constant(9<<20))
		g.frames(200, constant(1<<20))
		must(t, g.m.Check())
	}
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}

// The Go heap gets nothing back by Decommit, which zeroes the bytes. EndFrame did that in steps of 128 KiB, and counted
// them as returned.
func TestReturn_NothingIsReturnedToTheGoHeap(t *testing.T) {
	m, err := New(Config{Source: page.NewLimit(page.Heap(), 0), ReturnAfter: 8})
	must(t, err)
	var all []unsafe.Pointer
	for range 100 {
		p, err := m.Alloc(64<<10, 16)
		must(t, err)
		all = append(all, p)
	}
	for _, p := range all {
		m.Free(p, 64<<10)
	}
	before := m.Stats(Large).Committed
	for range 200 {
		must(t, m.NextFrame())
	}
	if s := m.Stats(Large); s.Committed != before || m.Inspect().Returned(Large) != 0 {
		t.Errorf("%d bytes of %d are committed, %d were returned", s.Committed, before, m.Inspect().Returned(Large))
	}
	must(t, m.EndFrame())
	must(t, m.Large().Trim())
	if s := m.Stats(Large); s.Committed != 0 {
		t.Errorf("%d bytes are committed after Trim", s.Committed)
	}
	must(t, m.Close())
}

func TestReturner_RulesOfTheWindow(t *testing.T) {
	var r returner
	const after = 80
	run := func(frames int, used, committed uintptr) (due int) {
		for range frames {
			if r.due(after, used, committed) {
				due++
			}
		}
		return due
	}
	const mb = 1 << 20
	if n := run(after-1, mb, 8*mb); n != 0 {
		t.Errorf("due %d times before the first window has passed", n)
	}
	if n := run(3, mb, 8*mb); n == 0 {
		t.Error("not due after a window")
	}
	if n := run(3, mb, mb+mb/4); n != 0 {
		t.Errorf("due with a quarter more than used")
	}
	if n := run(3, mb, 2*mb); n != 0 {
		t.Errorf("due with twice what is used")
	}
	r.held, r.regret = 6*mb, 10
	if n := run(2*after-1, mb, 9*mb); n != 0 || r.doubles != 1 {
		t.Errorf("due %d times in a window that is doubled %d times", n, r.doubles)
	}
	r = returner{}
	if n := run(10, 0, math.MaxUint); n != 0 {
		t.Error("due at once")
	}
	if got := r.slice(math.MaxInt); got < 1<<20 {
		t.Errorf("a slice of %d frames", got)
	}
}
