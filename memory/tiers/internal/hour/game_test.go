package main

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

// small is a game of which every frame can be looked at.
var small = scale{level: 90, least: 30, most: 300, bytes: 400 << 10}

// A recorder is a heap that notes every call, and fails at one of them.
type recorder struct {
	t      *testing.T
	digest hash.Hash64
	blocks map[unsafe.Pointer]record
	calls  int
	failAt int
	failed string
	count  map[string]int
}

type record struct {
	number int
	size   uintptr
}

func recording(t *testing.T) *recorder {
	return &recorder{t: t, digest: fnv.New64a(), blocks: map[unsafe.Pointer]record{}, count: map[string]int{}}
}

var errFault = errors.New("fault")

func (r *recorder) note(what string, args ...any) error {
	r.calls++
	r.count[what]++
	fmt.Fprintln(r.digest, append([]any{what}, args...)...)
	if r.calls == r.failAt {
		r.failed = what
		return errFault
	}
	return nil
}

func (r *recorder) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if err := r.note("Alloc", size, align); err != nil {
		return nil, err
	}
	p := unsafe.Pointer(new([2]uint64))
	r.blocks[p] = record{r.count["Alloc"], size}
	return p, nil
}

func (r *recorder) Free(p unsafe.Pointer, size uintptr) {
	b, ok := r.blocks[p]
	if !ok || b.size != size {
		r.t.Errorf("Free(%p, %d) of %+v", p, size, b)
	}
	delete(r.blocks, p)
	_ = r.note("Free", b.number, *(*uint64)(p))
}

func (r *recorder) FreeAny(p unsafe.Pointer) {
	b, ok := r.blocks[p]
	if !ok {
		r.t.Errorf("FreeAny(%p)", p)
	}
	delete(r.blocks, p)
	_ = r.note("FreeAny", b.number, *(*uint64)(p))
}

func (r *recorder) BeginFrame() error { return r.note("BeginFrame") }
func (r *recorder) EndFrame() error   { return r.note("EndFrame", len(r.blocks)) }
func (r *recorder) BeginLevel() error { return r.note("BeginLevel") }
func (r *recorder) Check() error      { return r.note("Check") }
func (r *recorder) Close() error      { return r.note("Close", len(r.blocks)) }

func (r *recorder) EndLevel() (tiers.Leaks, error) {
	return tiers.Leaks{}, r.note("EndLevel", len(r.blocks))
}

// asked is what the blocks that live were asked for with, by tier.
func (r *recorder) asked() (sum [2]uint64) {
	for _, b := range r.blocks {
		if b.size > 4096 {
			sum[1] += uint64(b.size)
		} else {
			sum[0] += uint64(b.size)
		}
	}
	return sum
}

func nothing() (s [2]memory.Stats) { return s }

// Every call that the games make, with its arguments, in its order.
func TestRun_ASeedIsAlwaysTheSameGame(t *testing.T) {
	for _, c := range []struct {
		seed                uint64
		levels              bool
		digest              uint64
		calls, free, byAddr int
	}{
		{1, true, 0xa85586e708d1056, 9166, 2054, 2118},
		{1, false, 0x2008a41384c7cb61, 7530, 1567, 1647},
		{2, true, 0xdda3c2e1f25d1d5f, 9044, 2086, 2025},
	} {
		r := recording(t)
		if _, err := newGame(r, load{Frames: 400, Seed: c.seed, Levels: c.levels, scale: small}).run(nothing); err != nil {
			t.Fatal(err)
		}
		if d := r.digest.Sum64(); d != c.digest || r.calls != c.calls || r.count["Free"] != c.free || r.count["FreeAny"] != c.byAddr {
			t.Errorf("seed %d, levels %t: %#x, %d, %d, %d; want %+v", c.seed, c.levels, d, r.calls, r.count["Free"], r.count["FreeAny"], c)
		}
	}
}

func TestRun_LevelsBeginAndEnd(t *testing.T) {
	for levels, want := range map[bool]map[string]int{
		true:  {"BeginFrame": 400, "EndFrame": 400, "BeginLevel": 5, "EndLevel": 5, "Check": 5, "Close": 1},
		false: {"BeginFrame": 400, "EndFrame": 400, "Check": 1, "Close": 1},
	} {
		r := recording(t)
		if _, err := newGame(r, load{Frames: 400, Seed: 1, Levels: levels, scale: small}).run(nothing); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"Alloc", "Free", "FreeAny"} {
			delete(r.count, what)
		}
		if fmt.Sprint(r.count) != fmt.Sprint(want) {
			t.Errorf("levels %t: %v, want %v", levels, r.count, want)
		}
	}
}

func TestRun_LooksAtTheHeapOnceASecond(t *testing.T) {
	r := recording(t)
	looks := uint64(0)
	samples, err := newGame(r, load{Frames: 239, Seed: 1, scale: small}).run(func() [2]memory.Stats {
		looks++
		return [2]memory.Stats{{Live: looks}, {Live: looks * 100}}
	})
	if err != nil || len(samples) != 3 {
		t.Fatalf("%v, %d samples", err, len(samples))
	}
	for i, s := range samples {
		if s.Frame != 60*(i+1) || s.Tiers[0].Live != uint64(i+1) || s.Tiers[1].Live != uint64(100*i+100) {
			t.Errorf("sample %d: %+v", i, s)
		}
	}
}

func TestGame_ItsBooksAreThoseOfTheHeap(t *testing.T) {
	for _, levels := range []bool{true, false} {
		r := recording(t)
		g := newGame(r, load{Seed: 1, Levels: levels, scale: small})
		most := 0
		for f := range 400 {
			if err := g.frame(f); err != nil {
				t.Fatal(err)
			}
			if sum := r.asked(); g.live != len(r.blocks) || g.asked != sum || g.asks != int(sum[0]+sum[1]) || g.asks > small.bytes {
				t.Fatalf("frame %d: %d live, %d bytes, %d; the heap has %d and %d", f, g.live, g.asks, g.asked, len(r.blocks), sum)
			}
			most = max(most, len(r.blocks))
		}
		if most > small.most || most < small.most/2 || len(g.blocks) > small.most {
			t.Errorf("up to %d blocks, a table of %d", most, len(g.blocks))
		}
	}
}

// One in fifty lives on.
func TestGame_NearlyEverythingDiesWithItsLevel(t *testing.T) {
	r := recording(t)
	g := newGame(r, load{Seed: 1, Levels: true, scale: small})
	for f := range small.level {
		if err := g.frame(f); err != nil {
			t.Fatal(err)
		}
	}
	g.sweep(small.level)
	if len(r.blocks) != (len(g.blocks)+49)/50 && len(r.blocks) > 6 || len(r.blocks) == 0 {
		t.Errorf("%d of %d are left", len(r.blocks), len(g.blocks))
	}
}

func TestRun_EveryErrorEndsIt(t *testing.T) {
	tiny := scale{level: 3, least: 2, most: 4, bytes: 64 << 10}
	for _, levels := range []bool{true, false} {
		for failAt := 1; ; failAt++ {
			r := recording(t)
			r.failAt = failAt
			_, err := newGame(r, load{Frames: 8, Seed: 4, Levels: levels, scale: tiny}).run(nothing)
			if r.calls < failAt {
				if err != nil || failAt < 30 {
					t.Errorf("%v without a fault, %d calls", err, r.calls)
				}
				break
			}
			if err == nil && r.calls > failAt {
				continue // a Free cannot fail
			}
			want := failAt
			if r.failed == "Alloc" {
				want++ // the frame is ended, or the manager could not be closed
			}
			if !errors.Is(err, errFault) || r.calls != want {
				t.Errorf("levels %t, call %d: %v after %d", levels, failAt, err, r.calls)
			}
		}
	}
}

func TestRun_NamesTheFrame(t *testing.T) {
	r := recording(t)
	r.failAt = 1
	if _, err := newGame(r, load{Frames: 1, scale: small}).run(nothing); fmt.Sprint(err) != "frame 0: fault" {
		t.Error(err)
	}
}

func TestGame_DrawsTheseNumbers(t *testing.T) {
	g := newGame(nil, load{Seed: 1, scale: whole})
	if got := []uint64{g.next(), g.next(), g.next()}; !slices.Equal(got, []uint64{0x7dba174b87478e40, 0x361ac3de9f9a532d, 0xc0942bdcc2a98a43}) {
		t.Errorf("%#x", got)
	}
	var sizes []uintptr
	for range 12 {
		sizes = append(sizes, g.size())
	}
	if want := []uintptr{93, 53, 154, 28, 157, 37, 48, 43, 570, 1542, 62, 102}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %d, want %d", sizes, want)
	}
	var lives []int
	for range 12 {
		lives = append(lives, g.life())
	}
	if want := []int{2, 4, 148, 442, 434, 42, 409, 25, 2, 2, 10, 38}; !slices.Equal(lives, want) {
		t.Errorf("lives %d, want %d", lives, want)
	}
}

func TestGame_SizesAndLivesReachTheirBounds(t *testing.T) {
	g := newGame(nil, load{Seed: 1, scale: whole})
	const draws = 400_000
	var kinds [4]int
	least, most := uintptr(1<<30), uintptr(0)
	for range draws {
		size := g.size()
		least, most = min(least, size), max(most, size)
		switch {
		case size <= 256:
			kinds[0]++
		case size <= 4096:
			kinds[1]++
		case size <= 32<<10:
			kinds[2]++
		default:
			kinds[3]++
		}
	}
	if least != 16 || most < 250<<10 || most > 256<<10 {
		t.Errorf("from %d to %d bytes", least, most)
	}
	for i, want := range []float64{0.8, 0.15, 0.045, 0.005} {
		if got := float64(kinds[i]) / draws; got < want*0.95 || got > want*1.05 {
			t.Errorf("kind %d is drawn in %.4f of all cases, want %.4f", i, got, want)
		}
	}
	shortest, longest, long := 1<<30, 0, 0
	for range draws {
		life := g.life()
		shortest, longest = min(shortest, life), max(longest, life)
		if life > 8*framesPerSecond {
			long++
		}
	}
	if shortest != 1 || longest < levelFrames*99/100 || longest > levelFrames || long < draws/64/4 || long > draws/64 {
		t.Errorf("from %d to %d frames, %d long", shortest, longest, long)
	}
}

func TestTierOf_TheLargeTierBeginsBehindAPage(t *testing.T) {
	for size, want := range map[uintptr]int{1: 0, 4096: 0, 4097: 1, 1 << 20: 1} {
		if tier := tierOf(size); tier != want {
			t.Errorf("%d bytes: %d", size, tier)
		}
	}
}

func TestTarget_IsTheMostAtFirstAndThenAWave(t *testing.T) {
	g := newGame(nil, load{Seed: 1, scale: whole})
	least, most := whole.most, 0
	var got []int
	for f := range 2 * levelFrames {
		n := g.target(f)
		if into := f % levelFrames; into < 600 && n != whole.most {
			t.Fatalf("frame %d: %d blocks", f, n)
		} else if into >= 600 {
			least, most = min(least, n), max(most, n)
		}
		if f%1500 == 700 {
			got = append(got, n)
		}
	}
	if want := []int{5710, 18957, 5798, 15360, 25846, 24686, 40000, 40000, 5969, 31867, 4000, 39797, 4000, 27200}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	if least != 4000 || most != 40_000 {
		t.Errorf("from %d to %d", least, most)
	}
}

func TestConfig_HasRoomForAnyFragmentation(t *testing.T) {
	want := tiers.Config{GC: gcpace.Config{Keep: true}, Workers: -1}
	want.Reserve[tiers.Slab], want.Reserve[tiers.Large] = 256<<20, 512<<20
	if got := config(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := (scale{level: 10_800, least: 4000, most: 40_000, bytes: 54_525_952}); whole != want {
		t.Errorf("%+v, want %+v", whole, want)
	}
}

func TestPlay_BadConfigOrFullManagerIsAnErrorAndLeavesNothing(t *testing.T) {
	cfg := config()
	cfg.Frames = -1
	if _, err := play(cfg, load{Frames: 1, scale: small}); err == nil {
		t.Error("-1 frame buffers are allowed")
	}
	src := memtest.NewFaulty()
	cfg = config()
	cfg.Source, cfg.Budget[tiers.Large] = src, 1<<20
	if _, err := play(cfg, load{Frames: 600, Seed: 1, scale: whole}); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Error(err)
	}
	if n := src.Reserved(); n != 0 {
		t.Errorf("%d reservations are left", n)
	}
}
