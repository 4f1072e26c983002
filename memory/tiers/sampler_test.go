package tiers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func sampledManager(t testing.TB, cfg Config) *Manager {
	t.Helper()
	m, err := New(cfg)
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

// estimates returns the sums of the samples whose stack has a function with this name.
func estimates(m *Manager, function string) (sum Sample, tags map[string]bool) {
	tags = map[string]bool{}
	m.Inspect().EachSample(func(s Sample) {
		frames := runtime.CallersFrames(s.Stack)
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasSuffix(f.Function, "."+function) {
				sum.Live, sum.InUse = sum.Live+s.Live, sum.InUse+s.InUse
				sum.Allocs, sum.Bytes = sum.Allocs+s.Allocs, sum.Bytes+s.Bytes
				tags[s.Tag] = true
				return
			}
		}
	})
	return sum, tags
}

//go:noinline
func takeSmall(a memory.Allocator, size uintptr) unsafe.Pointer { return mustTake(a, size) }

//go:noinline
func takeMany(a memory.Allocator, size uintptr) unsafe.Pointer { return mustTake(a, size) }

func mustTake(a memory.Allocator, size uintptr) unsafe.Pointer {
	p, err := a.Alloc(size, 16)
	if err != nil {
		panic(err)
	}
	return p
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: estimated %.0f, true %.0f: want within %.0f %%", what, got, want, 100*share)
	}
}

// The estimates are unbiased: they are within four standard deviations of the truth.
func TestSampler_EstimatesAreNearTheTruth(t *testing.T) {
	for _, size := range []uintptr{16, 100, 1000, 5000, 40_000} {
		for _, rate := range []uintptr{512, 16 << 10} {
			n := min(int(4<<20/size), 4000)
			share := 4 / math.Sqrt(float64(n)*-math.Expm1(-float64(size)/float64(rate))) // of a standard deviation
			if share > .6 {
				continue // so few samples say nothing
			}
			t.Run(fmt.Sprint(size, "/", rate), func(t *testing.T) {
				m := sampledManager(t, Config{SampleBytes: rate, Tags: true})
				tag, err := m.Tag("many")
				if err != nil {
					t.Fatal(err)
				}
				var some, many []unsafe.Pointer
				for range n {
					some = append(some, takeSmall(m, size))
					many = append(many, takeMany(tag, size), takeMany(tag, size))
				}
				small, smallTags := estimates(m, "takeSmall")
				large, largeTags := estimates(m, "takeMany")
				within(t, "blocks of takeSmall", small.Live, float64(n), share)
				within(t, "bytes of takeMany", large.InUse, float64(2*n)*float64(size), share)
				within(t, "allocations of takeMany", large.Allocs, float64(2*n), share)
				if !smallTags[""] || len(smallTags) != 1 || !largeTags["many"] || len(largeTags) != 1 {
					t.Errorf("the tags are %v and %v", smallTags, largeTags)
				}
				for _, p := range some {
					m.Free(p, size)
				}
				if small, _ = estimates(m, "takeSmall"); small.Live != 0 || small.InUse != 0 || small.Allocs == 0 {
					t.Errorf("after all frees: %+v", small)
				}
				for i, p := range many {
					if i%2 == 0 {
						m.FreeAny(p)
					} else {
						tag.Free(p, size)
					}
				}
				if large, _ = estimates(m, "takeMany"); large.Live != 0 || large.InUse != 0 {
					t.Errorf("after all frees: %+v", large)
				}
			})
		}
	}
}

// Every block that contains a sample point is forgotten on every way on which a block can be freed.
func TestSampler_EveryWayToFreeIsSeen(t *testing.T) {
	m := sampledManager(t, Config{SampleBytes: 1})
	left := func() (n float64) {
		m.Inspect().EachSample(func(s Sample) { n += s.Live })
		return n
	}
	var blocks []unsafe.Pointer
	fill := func(a memory.Allocator) {
		blocks = blocks[:0]
		for i := range 64 {
			blocks = append(blocks, takeSmall(a, uintptr(100+100*i)))
		}
		if left() < 60 {
			t.Fatalf("%v of 64 blocks were sampled with one sample point a byte", left())
		}
	}
	size := func(i int) uintptr { return uintptr(100 + 100*i) }
	fill(m)
	f := m.NewFreer()
	for i, p := range blocks {
		f.Free(p, size(i))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.BeginFrame(), m.EndFrame()); err != nil {
		t.Fatal(err)
	}
	if left() != 0 {
		t.Errorf("%v are left after a Freer", left())
	}
	fill(m)
	for i, p := range blocks {
		if memory.Grow(m, p, size(i), size(i)*4, 16); i < 0 {
			t.Fatal(p)
		}
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	m.Inspect().EachSample(func(s Sample) {
		if s.Live > 0 && s.InUse < 100 {
			t.Errorf("%v blocks have %v bytes after they grew", s.Live, s.InUse)
		}
	})

	w := m.Worker(0)
	before := left()
	fill(w)
	for i, p := range blocks {
		switch i % 2 {
		case 0:
			w.Free(p, size(i))
		default:
			m.Free(p, size(i))
		}
	}
	w.Settle()
	if left() != before {
		t.Errorf("%v are left after the frees of a worker's blocks, before them %v", left(), before)
	}
	m.Slab().Free(takeSmall(m, 48), 48) // past the manager: the sample is stale until the address is used again
	m.Free(takeMany(m, 48), 48)
	if left() != before {
		t.Errorf("%v are left after a stale sample, before it %v", left(), before)
	}
}

func TestSampler_WorkersSampleAtOnce(t *testing.T) {
	m := sampledManager(t, Config{SampleBytes: 256, Tags: true})
	tag, err := m.Tag("ai")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range m.Workers() {
		w := m.Worker(k).Tag(tag)
		all.Go(func() {
			for range 200 {
				w.Free(takeSmall(w, 300), 300)
				takeMany(w, 300)
			}
		})
	}
	for range 20 {
		m.Inspect().EachSample(func(Sample) {})
		runtime.Gosched()
	}
	all.Wait()
	small, _ := estimates(m, "takeSmall")
	many, tags := estimates(m, "takeMany")
	if small.Live != 0 || !tags["ai"] {
		t.Errorf("live %v of what was freed, tags %v", small.Live, tags)
	}
	within(t, "blocks of two workers", many.Live, 400, .35)
}

// Beyond the limit of stacks the bytes stay in their tier and under their tag.
func TestEachSample_PanicReleasesTheWorker(t *testing.T) {
	m := sampledManager(t, Config{SampleBytes: 1, Workers: 1})
	w := m.Worker(0)
	p := mustTake(w, 1000)
	func() {
		defer func() { _ = recover() }()
		m.Inspect().EachSample(func(Sample) { panic("f") })
	}()
	if !w.mu.TryLock() {
		t.Error("the worker is locked")
	}
	w.mu.Unlock()
	w.Free(p, 1000)
}

func TestSampler_StacksAreBounded(t *testing.T) {
	m := sampledManager(t, Config{SampleBytes: 1, Tags: true})
	tag, err := m.Tag("many")
	if err != nil {
		t.Fatal(err)
	}
	s := m.sampler
	for i := range maxSites {
		s.index[siteKey{depth: 1, pcs: [maxDepth]uintptr{uintptr(i)}}] = uint32(i)
		s.sites = append(s.sites, site{})
	}
	n := len(s.sites)
	for range 3 {
		takeSmall(m, 100)
		takeSmall(tag, 100)
		takeMany(tag, 100_000)
	}
	rows := map[string]float64{}
	m.Inspect().EachSample(func(x Sample) {
		if len(x.Stack) != 0 {
			t.Errorf("a stack beyond the limit: %+v", x)
		}
		rows[x.Tier.String()+" "+x.Tag] += x.Live
	})
	if len(s.sites) != n+3 || len(rows) != 3 || rows["slab "] != 3 || rows["slab many"] != 3 || rows["large many"] != 3 {
		t.Errorf("%d sites of %d, %v", len(s.sites), n, rows)
	}
	s.close()
	if s.sites[n].live != 0 || len(s.live) != 0 {
		t.Error("close left samples")
	}
}

func TestConfig_SampleBytesIsBounded(t *testing.T) {
	if _, err := New(Config{SampleBytes: 1<<30 + 1}); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "SampleBytes 1073741825: want at most 1073741824") {
		t.Errorf("error %v", err)
	}
}

// The sums of EachUse are the statistics of tiers and tags, with everything that a program may do.
func TestEachUse_SumsAreTheStatistics(t *testing.T) {
	for seed := range uint64(8) {
		for _, tags := range []bool{false, true} {
			t.Run(fmt.Sprint(seed, tags), func(t *testing.T) { // which closes the manager before the next one reserves memory
				m := sampledManager(t, Config{Tags: tags, SampleBytes: 4096})
				useSums(t, m, rand.New(rand.NewPCG(seed, 1)))
			})
		}
	}
}

func useSums(t *testing.T, m *Manager, rng *rand.Rand) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var tags [3]*Tag
	for i := range tags {
		var err error
		tags[i], err = m.Tag(fmt.Sprint("t", i))
		must(err)
	}
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	var live []block
	must(m.BeginLevel())
	for range 20 {
		must(m.BeginFrame())
		for range 30 {
			size, tag := uintptr(1+rng.IntN(9000)), tags[rng.IntN(3)]
			switch rng.IntN(7) {
			case 0:
				live = append(live, block{takeSmall(m, size), size})
			case 1:
				live = append(live, block{takeSmall(tag, size), size})
			case 2:
				takeSmall(m.Frame(), size)
			case 3:
				takeSmall(tag.Frame(), size)
			case 4:
				takeSmall(tag.Level(), size)
			case 5:
				live = append(live, block{takeSmall(m.Worker(0).Tag(tag), size), size})
			default:
				if len(live) > 0 {
					k := rng.IntN(len(live))
					m.Free(live[k].p, live[k].size)
					live[k] = live[len(live)-1]
					live = live[:len(live)-1]
				}
			}
		}
		compareUses(t, m, tags[:])
		must(m.EndFrame())
		compareUses(t, m, tags[:])
	}
	for _, b := range live {
		m.Free(b.p, b.size)
	}
	m.Worker(0).Settle()
	_, err := m.EndLevel()
	must(err)
	compareUses(t, m, tags[:])
}

func compareUses(t *testing.T, m *Manager, tags []*Tag) {
	t.Helper()
	var byTier [Count]memory.Stats
	byTag := map[string]memory.Stats{}
	sum := memory.Stats{}
	if n := testenv.LeastObjects(2, func() { m.Inspect().EachUse(func(u Use) { sum = sum.Add(u.Stats) }) }); n != 0 {
		t.Fatalf("EachUse allocates %v times", n)
	}
	m.Inspect().EachUse(func(u Use) {
		byTier[u.Tier] = byTier[u.Tier].Add(u.Stats)
		if u.Tier != Frame && u.Tier != Level {
			byTag[u.Tag] = byTag[u.Tag].Add(u.Stats)
		}
	})
	equal := func(what string, got, want memory.Stats) {
		t.Helper()
		if got.InUse != want.InUse || got.Live != want.Live || got.Allocs != want.Allocs {
			t.Fatalf("%s: EachUse has %d bytes in %d of %d blocks, the statistics have %d in %d of %d",
				what, got.InUse, got.Live, got.Allocs, want.InUse, want.Live, want.Allocs)
		}
	}
	for k := range Tier(Count) {
		equal(k.String(), byTier[k], m.Stats(k))
	}
	for _, g := range tags {
		equal(g.Name(), byTag[g.Name()], g.Stats())
	}
}

// A Close that is refused changes nothing, and the samples of a manager whose memory is gone are not live.
func TestSampler_SamplesLiveAsLongAsTheHeaps(t *testing.T) {
	live := func(m *Manager) (n float64) {
		m.Inspect().EachSample(func(s Sample) { n += s.Live })
		return n
	}
	for _, lost := range []bool{false, true} {
		whole, err := page.Default().Reserve(64 << 20)
		must(t, err)
		src, err := page.NewCarve(page.Default(), whole)
		must(t, err)
		cfg := small()
		cfg.Source, cfg.SampleBytes = src, 1
		m, err := New(cfg)
		must(t, err)
		query := errInjected
		m.AddPool("world", &fiend{"InUse", func() error { return query }})
		for _, a := range []memory.Allocator{m, m.Worker(0)} {
			mustTake(a, 5000)
		}
		before := live(m)
		if err := m.Close(); !errors.Is(err, errInjected) || before < 2 || live(m) != before {
			t.Errorf("%.0f blocks are live after %v, and were %.0f", live(m), err, before)
		}
		if query = nil; !lost {
			must(t, m.Close())
		}
		src.Close()
		if n := live(m); n != 0 {
			t.Errorf("lost %v: %.0f blocks are live in a closed manager", lost, n)
		}
		must(t, page.Default().Release(whole))
	}
}
