package realm

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

func manager(t testing.TB, cfg tiers.Config) *tiers.Manager {
	t.Helper()
	cfg.Workers = 1
	cfg.Reserve = [tiers.Count]uintptr{tiers.Static: 1 << 20, tiers.Frame: 1 << 20, tiers.Level: 8 << 20, tiers.Pools: 1 << 20, tiers.Slab: 1 << 20, tiers.Large: 4 << 20, tiers.Inbox: 4 << 20}
	m, err := tiers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Check(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := m.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	return m
}

// pages are the Go heap's.
type pages struct{}

func (pages) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([]byte, size))), nil
}
func (pages) Free(unsafe.Pointer, uintptr) {}

// A flight wants ways to a place and to both sides of it, and has a crowd stand there.
type flight struct {
	r *Realm
	p vec
}

func (f flight) Goal(lane int) int32 { return f.r.Node(f.p.Add(vec{float32(lane-1) * 200, 0})) }

func (f flight) Count(x0, y0 int32, into []uint8) {
	for i := range 10 {
		into[Window*Window/2+i] += 5
	}
}

func flowOf(t testing.TB, m *tiers.Manager) *Flow {
	t.Helper()
	f, err := NewFlow(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fly moves a place through a realm for n ticks and returns the hash of what the field said there.
func fly(t testing.TB, m *tiers.Manager, r *Realm, n uint64) uint64 {
	f := flowOf(t, m)
	h := fnv.New64a()
	p, v := vec(r.Info.Start), vec{}
	asked := 0
	for tick := uint64(1); tick <= n; tick++ {
		if err := m.BeginFrame(); err != nil {
			t.Fatal(err)
		}
		had := f.Field(0) != nil
		again, err := f.Update(tick, r, flight{r, p})
		if err != nil {
			t.Fatal(err)
		}
		asked += again
		if f.Field(0) != nil && !had && tick != Lanes+Ahead {
			t.Fatalf("the first field is used in tick %d", tick)
		}
		f.Each(func(x uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, x)) })
		if fd := f.Field(int(tick) % Lanes); fd != nil {
			h.Write([]byte{byte(tick), fd.At(p.Add(vec{100, 50})), fd.At(p.Add(vec{-300, 9})), fd.At(p)})
		}
		from := p
		v = engine.Scale(r.Guide(Heart, p), 240)
		p = engine.MulAdd(p, v, engine.Delta)
		r.Slide(&p, &v, from, 6, 0)
		if err := errors.Join(f.Check(), m.EndFrame()); err != nil {
			t.Fatal(err)
		}
	}
	if asked < 5 {
		t.Errorf("%d fields were asked for", asked)
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	return h.Sum64()
}

func TestFlow_IsTheSameForAnyNumberOfProcessors(t *testing.T) {
	testenv.Long(t)
	ticks := uint64(400)
	if testenv.Brief() {
		ticks = 150
	}
	r := build(t, info(), maze())
	var hashes []uint64
	for _, procs := range []int{1, 2, 16} {
		old := runtime.GOMAXPROCS(procs)
		hashes = append(hashes, fly(t, manager(t, tiers.Config{}), r, ticks))
		runtime.GOMAXPROCS(old)
	}
	if hashes[0] != hashes[1] || hashes[1] != hashes[2] {
		t.Errorf("hashes %x", hashes)
	}
}

func TestFlow_BlocksGoHomeBothWays(t *testing.T) {
	m := manager(t, tiers.Config{})
	fly(t, m, build(t, info(), maze()), 200)
	leaks, err := m.EndLevel()
	if err != nil || leaks.Any() {
		t.Errorf("%v, %v", leaks, err)
	}
	for _, tier := range []tiers.Tier{tiers.Large, tiers.Inbox} {
		if s := m.Stats(tier); s.Allocs < 5 || s.Allocs != s.Frees {
			t.Errorf("%v: %d allocations and %d frees", tier, s.Allocs, s.Frees)
		}
	}
}

func TestFlow_WithoutRoomKeepsTheLastField(t *testing.T) {
	testenv.Long(t)
	r := build(t, info(), maze())
	for _, tier := range []tiers.Tier{tiers.Large, tiers.Inbox} {
		var cfg tiers.Config
		cfg.Budget[tier] = 128 << 10
		m := manager(t, cfg)
		for err := error(nil); tier == tiers.Inbox && err == nil; { // the worker has used up its heap
			_, err = m.Worker(0).Alloc(16<<10, 16)
		}
		f := flowOf(t, m)
		refused := 0
		for tick := uint64(1); tick < 60; tick++ {
			if _, err := f.Update(tick, r, flight{r, vec(r.Info.Start)}); errors.Is(err, memory.ErrOutOfMemory) {
				refused++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if refused == 0 || f.Field(0) != nil {
			t.Errorf("%v: refused %d times", tier, refused)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// unflushed is memory of which the flush that ends the first job fails, and that counts blocks.
type unflushed struct {
	anywhere
	failed bool
	live   atomic.Int64
}

var errFlush = errors.New("not flushed")

func (u *unflushed) flush() (err error) {
	if !u.failed {
		err, u.failed = errFlush, true
	}
	return err
}

func (u *unflushed) game() memory.Allocator   { return u }
func (u *unflushed) worker() memory.Allocator { return u }

func (u *unflushed) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	u.live.Add(1)
	return pages{}.Alloc(size, align)
}

func (u *unflushed) Free(unsafe.Pointer, uintptr)     { u.live.Add(-1) }
func (u *unflushed) giveBack(unsafe.Pointer, uintptr) { u.live.Add(-1) }

// The tiles of a field were lost when the flush of its job failed.
func TestFlow_FailedFlushFreesTheField(t *testing.T) {
	r := build(t, info(), maze())
	mem := &unflushed{}
	f := newFlow(mem)
	failed := 0
	for tick := uint64(1); tick < 60; tick++ {
		if _, err := f.Update(tick, r, flight{r, vec(r.Info.Start)}); errors.Is(err, errFlush) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed != 1 || f.Field(0) == nil {
		t.Errorf("%d flushes have failed, field %v", failed, f.Field(0))
	}
	if err := f.Close(); err != nil || mem.live.Load() != 0 {
		t.Errorf("%v, %d blocks are left", err, mem.live.Load())
	}
}

// From anywhere in the window, who follows the field arrives.
func TestField_LeadsToItsMiddle(t *testing.T) {
	r := build(t, info(), maze())
	f := new(Field)
	goal := vec{6200, 6200}
	if err := r.fill(f, pages{}, make([]entry, Window*Window), nil, r.Node(goal)); err != nil {
		t.Fatal(err)
	}
	rnd := engine.NewRand(3, 1)
	arrived := 0
	for range 200 {
		p := r.Open(engine.MulAdd(goal, vec{rnd.Range(-1, 1), rnd.Range(-1, 1)}, 2300), 10)
		v := vec{}
		for range 6000 {
			from := p
			v = engine.Scale(r.Steer(f.At(p), p), 200)
			p = engine.MulAdd(p, v, engine.Delta)
			r.Slide(&p, &v, from, 9, 0)
			if d := engine.Distance(p, goal); d < 64 {
				arrived++
				break
			}
		}
	}
	if arrived < 199 {
		t.Errorf("%d of 200 arrived", arrived)
	}
	if f.At(vec{10, 10}) != 0 {
		t.Error("beyond the window there is a direction")
	}
}

// Where many stand in the shorter of two ways, the field leads round by the longer.
func TestField_LeadsRoundACrowd(t *testing.T) {
	r := build(t, info(), noWalls())
	goal := vec{6200, 6200}
	f, crowd := new(Field), make([]uint8, Window*Window)
	x0, y0 := window(r.Node(goal))
	for y := -1; y <= 1; y++ { // a wall of people, six nodes before the goal, that ends
		crowd[(int(r.Node(goal))/Coarse-int(y0)+y)*Window+int(r.Node(goal))%Coarse-int(x0)-6] = 200
	}
	nodes := make([]entry, Window*Window)
	from := vec{6200 - 14*CoarseSize, 6200}
	length := func(crowd []uint8) (steps, through int) {
		if err := r.fill(f, pages{}, nodes, crowd, r.Node(goal)); err != nil {
			t.Fatal(err)
		}
		for p := from; engine.Distance(p, goal) > 2*CoarseSize; steps++ {
			if steps > 1000 {
				t.Fatal("it does not arrive")
			}
			p = engine.MulAdd(p, Headings[f.At(p)], 8)
			if n := int(r.Node(p)); crowd != nil && crowd[(n/Coarse-int(y0))*Window+n%Coarse-int(x0)] > 0 {
				through++
			}
		}
		return steps, through
	}
	straight, _ := length(nil)
	round, through := length(crowd)
	if round < straight || through > 0 {
		t.Errorf("%d steps, and %d with a crowd, %d of them through it", straight, round, through)
	}
}
