package save_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/particles"
)

// A subject is a State that grows, and shrinks to other contents.
type subject struct {
	state        save.State
	grow, shrink func()
	needs        save.State // an earlier part of Sets for slots, or nil
}

func blocksIn(a memory.Allocator, state save.State) subject {
	if state == nil {
		state = a.(save.State)
	}
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	var all []block
	return subject{state: state, grow: func() {
		for i := range uintptr(200) {
			size := 80 + i%5*1000
			if b, ok := a.(*pool.Blocks); ok {
				size = b.Size()
			}
			if p, err := a.Alloc(size, 16); err == nil {
				all = append(all, block{p, size})
			}
		}
	}, shrink: func() {
		for len(all) > 3 {
			last := all[len(all)-1]
			a.Free(last.p, last.size)
			all = all[:len(all)-1]
		}
		if t, ok := a.(memory.Trimmer); ok {
			_ = t.Trim()
		}
	}}
}

// subjects returns each type of this module that implements State.
func subjects(t *testing.T) map[string]subject {
	all := map[string]subject{}
	for name, x := range homes(t) {
		all[name] = blocksIn(x.a, x.state)
	}
	heap := func() *tlsf.Heap { return some(tlsf.New(nil, tlsf.Config{Reserve: 4 << 20})) }
	one := pool.BlocksConfig{Size: 5008, Capacity: 5000}
	all["blocks"] = blocksIn(some(pool.NewBlocks(nil, one)), nil)
	all["fallback"] = blocksIn(some(compose.NewFallback(heap(), heap())), nil)
	all["by size"] = blocksIn(some(compose.NewBySize(1000, heap(), heap())), nil)
	frames := some(arena.NewFrames(nil, arena.FramesConfig{Bytes: 1 << 20}))
	all["frames"] = subject{frames, func() { some(frames.Alloc(500<<10, 16)) }, func() { frames.Reset(); frames.Advance() }, nil}
	pivot := some(stack.NewPivot(nil, stack.PivotConfig{}))
	all["pivot"] = subject{pivot, func() { some(pivot.Forward().Alloc(30<<10, 16)) }, pivot.Reset, nil}
	window := some(arena.NewWindow(nil, some(memory.TypeFor[int]()), arena.WindowConfig{}))
	all["window"] = subject{window, func() { window.Push(5) }, func() { window.Drop(1) }, nil}
	inbox := some(remote.New(heap(), remote.Config{}))
	all["inbox"] = subject{inbox, func() {}, func() {}, nil}
	planned := some(plan.New(nil, some(plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Death: 2}, {ID: 1, Size: 100, Death: 3}}))))
	all["plan"] = subject{planned, func() { planned.Begin(0) }, planned.Reset, nil}
	moving := some(compact.New(nil, compact.Config{}))
	var hs []compact.Handle
	all["compact"] = subject{moving, func() {
		for i := range uintptr(300) {
			hs = append(hs, some(moving.Alloc(2000+i*7)))
		}
	}, func() {
		for i, h := range hs {
			if i%40 != 3 {
				moving.Free(h)
			}
		}
		hs = hs[:0]
		must(t, moving.Trim())
	}, nil}
	ships := some(pool.New[shipV1](nil, pool.Config{Capacity: 50_000}))
	all["pool"] = poolOf(t, ships.New, ships.Reset, ships.Trim, ships)
	split := some(pool.NewSplit[int, shipV1](nil, pool.Config{Capacity: 50_000}))
	all["split"] = poolOf(t, func() (memory.Handle[int], *int, error) { h, n, _, err := split.New(); return h, n, err }, split.Reset, split.Trim, split)
	registry := pool.NewRegistry(nil)
	registered := some(pool.Register[int](registry, pool.Config{Capacity: 50_000}))
	all["registry"] = poolOf(t, registered.New, registered.Reset, registered.Trim, registry)
	home := heap()
	world := some(ecs.New(home, ecs.Config{}))
	number := some(ecs.Register[uint64](world))
	all["world"] = subject{world, func() {
		for range 9000 {
			must(t, number.Add(some(world.NewEntity()), 5))
		}
	}, func() { world.Reset(); must(t, home.Trim()); some(world.NewEntity()) }, home}
	sparks := some(particles.New(nil, particles.Config{Capacity: 50_000}))
	id := some(sparks.Register(particles.Kind{Name: "spark"}))
	all["particles"] = subject{sparks, func() { sparks.Emit(&particles.Emitter{Kind: id, Life: particles.Just(9)}, 20_000) }, func() { sparks.Reset(); must(t, sparks.Trim()) }, nil}
	hits := some(ecs.NewEvents[uint64](home, 5000))
	all["events"] = subject{hits, func() { hits.Send(5) }, func() { hits.Swap() }, home}
	clock, rng := engine.NewClock(2), engine.NewRand(1, 1)
	all["clock"] = subject{clock, func() { clock.Advance(time.Second) }, func() { clock.Advance(time.Second / 100) }, nil}
	all["rand"] = subject{&rng, func() { rng.Uint32() }, func() { rng.Uint32() }, nil}
	all["schedule"] = subject{new(engine.Schedule), func() {}, func() {}, nil}
	prefix := some(page.NewPrefix(nil, 1<<20, 1<<20, 0))
	all["prefix"] = subject{&prefix, func() { must(t, prefix.Ensure(1<<19)) }, func() { must(t, prefix.Trim(1<<16)) }, nil}
	for name, x := range all {
		if x.state == nil {
			t.Fatalf("%s has no State", name)
		}
	}
	return all
}

func poolOf[H any](t *testing.T, create func() (memory.Handle[H], *H, error), reset func(), trim func() error, state save.State) subject {
	some := func(n int) {
		for range n {
			_, _, err := create()
			must(t, err)
		}
	}
	return subject{state, func() { some(20_000) }, func() { reset(); must(t, trim()); some(3) }, nil}
}

// A load or a read that is refused, before or after memory was committed for it, changes no byte of a canonical state.
func TestSet_RefusedLoadsChangeNothing(t *testing.T) {
	types, grown := map[string]bool{}, 0
	for name, x := range subjects(t) {
		types[strings.Trim(regexp.MustCompile(`\[.*`).ReplaceAllString(fmt.Sprintf("%T", x.state), ""), "*")] = true
		set, files, refuse := new(save.Set), new(save.Set), 0
		if x.needs != nil {
			must(t, set.Add("home", x.needs))
		}
		for _, s := range []*save.Set{set, files} {
			must(t, s.Add(name, x.state), s.AddFunc("later", func(c *save.Coder) {
				if c.Fitting() && refuse > 0 {
					c.Commit(nil)
					if refuse--; refuse == 0 {
						c.Differs("it is refused")
					}
				}
			}), s.Seal())
		}
		x.grow()
		slot, same := saved(t, set, set.NewSlot), saved(t, set, set.NewCanonical)
		loads := map[string]func() error{"Load": func() error { return set.Load(slot) }, "Load of a canonical": func() error { return set.Load(same) }}
		if files.Portable() == nil {
			file := fileOf(t, files)
			loads["Read"] = func() error { return files.Read(file(), nil) }
			loads["Verify"] = func() error { return files.Verify(file(), nil) }
		}
		x.shrink()
		for how, load := range loads {
			before, want := hashed(t, set)
			for pass := 1; pass < 4; pass++ {
				refuse = pass
				err := load()
				after, hash := hashed(t, set)
				if !errors.Is(err, save.ErrLayout) || hash != want || !bytes.Equal(before, after) {
					t.Errorf("%s: %s is refused in pass %d: %v; hash %x, was %x", name, how, pass, err, hash, want)
				}
			}
		}
		if c, ok := x.state.(memory.Checker); ok {
			must(t, c.Check())
		}
		if size := len(same.Bytes()); size > 4<<10 {
			grown++
		}
		if must(t, set.Load(slot)); !strings.Contains(name, "guard") && !bytes.Equal(saved(t, set, set.NewCanonical).Bytes(), same.Bytes()) {
			t.Errorf("%s: a load after refused ones gives another state", name)
		}
	}
	if grown < 15 {
		t.Errorf("%d subjects have grown", grown)
	}
	methods := regexp.MustCompile(`(?m)^package (\w+)|^func \(\w+ \*(\w+)(?:\[.*?\])?\) SaveState\(\w+ \*save\.Coder\)`)
	must(t, fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(path, "demo/") || strings.HasPrefix(path, "memory/internal") || strings.HasPrefix(path, "memory/compose") || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") || !strings.Contains(path, "saved") {
			return err
		}
		text, err := os.ReadFile("../../" + path)
		pkg := ""
		for _, m := range methods.FindAllStringSubmatch(string(text), -1) {
			if pkg += m[1]; m[2] != "" && !types[pkg+"."+m[2]] && m[2] != "Stomp" { // a Stomp is never saved
				t.Errorf("%s.%s is no subject", pkg, m[2])
			}
		}
		return err
	}))
}

// A part of several allocators, of which the first has to commit, is visited only up to it in the first pass of a load.
func TestSet_LoadCommitsBeforeTheAllocatorOfAWorld(t *testing.T) {
	m := some(tiers.New(tiers.Config{Workers: 1}))
	must(t, m.BeginLevel())
	first := some(tlsf.New(nil, tlsf.Config{Reserve: 4 << 20}))
	second := some(tlsf.New(nil, tlsf.Config{Reserve: 4 << 20}))
	for name, x := range map[string]struct {
		part  save.State
		grows memory.Allocator
		home  memory.Allocator
	}{
		"manager": {m, m.Slab(), m.Large()}, "pair": {&pairOf{first, second}, first, second}, "portable": {&portable{level{first}}, first, second},
	} {
		world, list, set := some(ecs.New(x.home, ecs.Config{})), []squad{{Name: 1}}, new(save.Set)
		number := some(ecs.Register[uint64](world))
		if must(t, set.Add("part", x.part), save.Slice(set, "list", &list)); name == "portable" {
			must(t, set.Add("home", save.Metadata(second)))
		}
		must(t, set.Add("world", world), set.Seal(), number.Add(some(world.NewEntity()), 5))
		all := blocksIn(x.grows, m)
		all.grow()
		slot := saved(t, set, set.NewSlot)
		all.shrink()
		before := saved(t, set, set.NewCanonical).Bytes()
		if must(t, set.Load(slot)); bytes.Equal(saved(t, set, set.NewCanonical).Bytes(), before) {
			t.Errorf("%s: the load has changed nothing", name)
		}
		world.Close()
	}
	must(t, first.Close(), second.Close())
}

// A function of a page source may change an allocator for which a load has committed memory. If the load is then refused,
// the allocator has this change and no other.
func TestSet_RefusedLoadKeepsWhatTheSourceHasChanged(t *testing.T) {
	for _, change := range []string{"trim", "free", "alloc"} {
		limit := page.NewLimit(page.Default(), 0)
		a, b := some(tlsf.New(limit, tlsf.Config{Reserve: 8 << 20})), some(tlsf.New(limit, tlsf.Config{Reserve: 8 << 20}))
		set, fits := new(save.Set), 0
		must(t, set.Add("a", a), set.Add("b", b), set.AddFunc("last", func(c *save.Coder) {
			if c.Fitting() {
				if fits++; fits == 2 {
					c.Differs("it is refused")
				}
			}
		}), set.Seal())
		p, q := some(a.Alloc(3<<20, 16)), some(b.Alloc(3<<20, 16))
		slot := saved(t, set, set.NewSlot)
		a.Free(p, 3<<20)
		b.Free(q, 3<<20)
		must(t, a.Trim(), b.Trim())
		cached := some(a.Alloc(1<<20, 16))
		if change == "trim" {
			a.Free(cached, 1<<20) // and leave it committed
		}
		inUse, calls, got := a.Stats().InUse, 0, unsafe.Pointer(nil)
		limit.OnSoft(limit.Committed()+5<<19, func(uintptr, uintptr) { // during the commit of b
			if calls++; calls > 1 {
				return
			}
			switch change {
			case "trim":
				must(t, a.Trim())
			case "free":
				a.Free(cached, 1<<20)
				inUse = 0
			case "alloc":
				got = some(a.Alloc(1<<10, 16))
				inUse = a.Stats().InUse
			}
		})
		err := set.Load(slot)
		if limit.OnSoft(0, nil); !errors.Is(err, save.ErrLayout) || calls == 0 || a.Stats().InUse != inUse {
			t.Errorf("%s: %v, %d calls, %d bytes in use, want %d", change, err, calls, a.Stats().InUse, inUse)
		}
		must(t, a.Check(), b.Check())
		x := some(a.Alloc(100<<10, 16))
		if clear(unsafe.Slice((*byte)(x), 100<<10)); x == got {
			t.Error("a live block was allocated again")
		}
		must(t, a.Close(), b.Close())
	}
}

// A pairOf saves two allocators.
type pairOf struct{ a, b *tlsf.Heap }

func (p *pairOf) SaveState(c *save.Coder) { p.a.SaveState(c); p.b.SaveState(c) }

// A steppedHeap returns memory between its blocks.
type steppedHeap interface {
	memory.Allocator
	memory.Checker
	save.State
	Trim() error
	TrimStep(most uintptr) (uintptr, error)
	Close() error
}

var heaps = map[string]func(page.Source) steppedHeap{
	"slab": func(src page.Source) steppedHeap {
		return some(slab.New(src, slab.Config{Reserve: 4 << 20, MaxSize: 64 << 10}))
	},
	"tlsf": func(src page.Source) steppedHeap { return some(tlsf.New(src, tlsf.Config{Reserve: 4 << 20})) },
}

// punch frees three pairs of blocks and returns their memory.
func punch(t *testing.T, h steppedHeap, all []unsafe.Pointer) {
	for _, i := range []int{4, 5, 12, 13, 20, 21} {
		h.Free(all[i], 64<<10)
	}
	must(t, h.Trim())
	for n := uintptr(1); n > 0; {
		n = some(h.TrimStep(1 << 20))
	}
}

// A load that can fill only a part of the holes makes them holes again.
func TestSet_RefusedLoadsKeepHoles(t *testing.T) {
	for name, open := range heaps {
		for _, more := range []uintptr{16 << 10, 64 << 10, 128 << 10, 192 << 10} {
			for _, stays := range []bool{false, true} {
				src := memtest.NewFaulty()
				l := page.NewLimit(src, 8<<20)
				h, set := open(l), new(save.Set)
				must(t, set.Add("heap", h), set.Seal())
				var all []unsafe.Pointer
				for range 32 {
					all = append(all, some(h.Alloc(64<<10, 16)))
				}
				slot := saved(t, set, set.NewSlot)
				punch(t, h, all)
				had, before := l.Committed(), saved(t, set, set.NewCanonical).Bytes()
				l.SetBudget(had + more)
				src.FailReturns = stays
				err := set.Load(slot)
				if src.FailReturns = false; !errors.Is(err, memory.ErrOutOfMemory) || h.Check() != nil {
					t.Errorf("%s, %d bytes left: %v, then %v", name, more, err, h.Check())
				}
				if !stays && (l.Committed() != had || !bytes.Equal(before, saved(t, set, set.NewCanonical).Bytes())) {
					t.Errorf("%s, %d bytes left: the refused load has left a trace; %d bytes committed, was %d", name, more, l.Committed(), had)
				}
				l.SetBudget(8 << 20)
				must(t, set.Load(slot), h.Check(), h.Close())
			}
		}
	}
}

// A mortal ends in the call of Decommit with the number at, and passes it on or not.
type mortal struct {
	*page.Carve
	at   int
	late bool
}

func (m *mortal) Decommit(mem page.Memory, off, size uintptr) (err error) {
	if m.at--; m.at == 0 && !m.late {
		m.Close()
	}
	err = m.Carve.Decommit(mem, off, size)
	if m.at == 0 && m.late {
		m.Close()
	}
	return err
}

// If the source ends while a state is loaded, Load fails, and the heap is closed.
func TestSet_LoadFailsIfTheSourceEnds(t *testing.T) {
	for name, open := range heaps {
		for at := 1; ; at++ {
			mem := some(page.OS().Reserve(16 << 20))
			src := &mortal{Carve: some(page.NewCarve(page.OS(), mem)), late: at%2 == 0}
			h, set := open(src), new(save.Set)
			must(t, set.Add("heap", h), set.Seal())
			var all []unsafe.Pointer
			for range 32 {
				all = append(all, some(h.Alloc(64<<10, 16)))
			}
			punch(t, h, all)
			slot := saved(t, set, set.NewSlot)
			for range 20 {
				some(h.Alloc(64<<10, 16))
			}
			src.at = (at + 1) / 2
			err := set.Load(slot)
			ended := src.at <= 0
			if must(t, h.Check()); ended != errors.Is(err, memory.ErrClosed) || !ended && err != nil {
				t.Errorf("%s: the source ends in Decommit %d, after it %t: %v", name, (at+1)/2, src.late, err)
			}
			src.at = 0
			must(t, h.Close())
			src.Close()
			if must(t, page.OS().Release(mem)); !ended {
				break
			}
		}
	}
}

func hashed(t *testing.T, set *save.Set) ([]byte, uint64) {
	slot := saved(t, set, set.NewCanonical)
	hash, err := set.SaveHash(slot)
	must(t, err)
	return slot.Bytes(), hash
}

// saved saves into a slot that is long enough.
func saved(t *testing.T, set *save.Set, make func(int) *save.Slot) *save.Slot {
	short := (*memory.Exhausted)(nil)
	if err := set.Save(make(0)); !errors.As(err, &short) {
		t.Fatal(err)
	}
	return filled(t, set, make(int(short.Need)))
}
