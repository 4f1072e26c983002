package container

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	source "github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// families make an allocator with 16 MiB of one range.
var families = map[string]func(source.Source) (memory.Allocator, error){
	"linear": func(s source.Source) (memory.Allocator, error) {
		return arena.NewLinear(s, arena.LinearConfig{Bytes: 16 << 20})
	},
	"growing": func(s source.Source) (memory.Allocator, error) {
		return arena.NewGrowing(s, arena.GrowingConfig{Reserve: 16 << 20})
	},
	"tlsf": func(s source.Source) (memory.Allocator, error) {
		return tlsf.New(s, tlsf.Config{Reserve: 16 << 20, Granule: 16})
	},
	"buddy": func(s source.Source) (memory.Allocator, error) { return buddy.New(s, buddy.Config{Reserve: 16 << 20}) },
	"freelist": func(s source.Source) (memory.Allocator, error) {
		return freelist.New(s, freelist.Config{Reserve: 16 << 20})
	},
	"slab": func(s source.Source) (memory.Allocator, error) {
		return slab.New(s, slab.Config{Reserve: 16 << 20, MaxSize: 64 << 10})
	},
	"central": func(s source.Source) (memory.Allocator, error) {
		h, err := slab.New(s, slab.Config{Reserve: 16 << 20, MaxSize: 64 << 10})
		if err != nil {
			return nil, err
		}
		return slab.NewCentral(h)
	},
	"pool": func(s source.Source) (memory.Allocator, error) {
		return pool.NewBlocks(s, pool.BlocksConfig{Size: 64 << 10, Capacity: 200})
	},
	"guard": func(s source.Source) (memory.Allocator, error) {
		h, err := tlsf.New(s, tlsf.Config{Reserve: 16 << 20, Granule: 16})
		if err != nil {
			return nil, err
		}
		return guard.New(h, guard.Config{})
	},
}

// heap returns a heap that knows its blocks to the byte, and its space.
func heap(tb testing.TB) (*tlsf.Heap, *Space) {
	tb.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 32 << 20, Granule: 16})
	memtest.Opened(tb, h, err)
	return h, space(tb, h)
}

// bigHeap is heap for a million entries and more.
func bigHeap(tb testing.TB) (*tlsf.Heap, *Space) {
	tb.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 256 << 20})
	memtest.Opened(tb, h, err)
	return h, space(tb, h)
}

func space(tb testing.TB, a memory.Allocator) *Space {
	tb.Helper()
	sp, err := In(a)
	if err != nil {
		tb.Fatal(err)
	}
	return sp
}

// must ends the test on an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

var errBoom = errors.New("boom")

// A flaky heap fails, or panics, in the calls that it is told to.
type flaky struct {
	*tlsf.Heap
	calls      int
	failAt     int // the Alloc that fails; 0: none
	forGood    bool
	boomAt     int // the Alloc or Free that panics; 0: none
	neverMoves bool
}

func (f *flaky) step() {
	f.calls++
	if f.calls == f.boomAt {
		panic(errBoom)
	}
}

func (f *flaky) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if f.step(); f.calls == f.failAt || f.forGood && f.failAt > 0 && f.calls > f.failAt {
		return nil, memory.ErrOutOfMemory
	}
	return f.Heap.Alloc(size, align)
}

func (f *flaky) Free(p unsafe.Pointer, size uintptr) {
	f.step()
	f.Heap.Free(p, size)
}

func (f *flaky) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return f.neverMoves && f.Heap.Resize(p, oldSize, newSize)
}

func newFlaky(tb testing.TB) (*flaky, *Space) {
	h, _ := heap(tb)
	f := &flaky{Heap: h}
	return f, space(tb, f)
}

// survives reports whether f ran to its end; a panic out of the flaky heap is what may stop it.
func survives(f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil && r != errBoom {
			panic(r)
		}
	}()
	f()
	return true
}

// panics returns what f panics with, as text.
func panics(f func()) (said string) {
	defer func() {
		if err, ok := recover().(error); ok {
			said = err.Error()
		}
	}()
	f()
	return ""
}

func TestIn_WantsOneBase(t *testing.T) {
	h, _ := heap(t)
	double, err := stack.NewDouble(nil, stack.DoubleConfig{})
	must(t, err)
	defer double.Close()
	closed, err := arena.NewLinear(nil, arena.LinearConfig{})
	must(t, err)
	must(t, closed.Close())
	twoRanges, err := slab.New(nil, slab.Config{Large: h})
	must(t, err)
	defer twoRanges.Close()
	for want, a := range map[string]memory.Allocator{
		"<nil>": nil, "struct": struct{ memory.Allocator }{h}, "*arena.Linear": closed, "*slab.Heap": twoRanges,
	} {
		sp, err := In(a)
		if sp != nil || !errors.Is(err, ErrNoBase) || !strings.Contains(err.Error(), "container: a space in "+want) {
			t.Errorf("In(%s) = %v, %v", want, sp, err)
		}
	}
	sp := space(t, h)
	if sp.Allocator() != memory.Allocator(h) || sp.base != h.Base() {
		t.Error("the space is another one's")
	}
	if err := sp.Use(closed); err == nil || sp.Allocator() != memory.Allocator(h) {
		t.Errorf("Use of a closed arena: %v", err)
	}
	must(t, sp.Use(double.Bottom()))
	if n := testenv.LeastObjects(11, func() { must(t, sp.Use(h)) }); n != 0 {
		t.Errorf("Use costs %v Go allocations", n)
	}
}

func TestSpace_ClosedIsTold(t *testing.T) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{})
	must(t, err)
	sp := space(t, l)
	var v Vec[int]
	must(t, v.Append(sp, 1))
	must(t, l.Close())
	v.SetLen(sp, 0)
	var w Vec[int]
	if invariant.Debug {
		memtest.Misuse(t, func() { v.Slice(sp) }, "container.Space", "the memory of this space is gone")
	}
	if err := w.Append(sp, 1); !errors.Is(err, memory.ErrClosed) || w != (Vec[int]{}) {
		t.Errorf("Append in a closed arena: %v, %+v", err, w)
	}
}

// If Close could not release the memory, the error said that the heap has got a second range of addresses.
func TestSpace_GrowthInAClosedAllocatorIsAnError(t *testing.T) {
	for _, fails := range []bool{false, true} {
		growthInAClosedHeap(t, fails)
	}
}

func growthInAClosedHeap(t *testing.T, fails bool) {
	t.Helper()
	src := memtest.NewFaulty()
	h, err := tlsf.New(src, tlsf.Config{})
	must(t, err)
	sp := space(t, h)
	var v Vec[int]
	var r Ring[int]
	var m Map[int, int]
	must(t, v.AppendSlice(sp, []int{7: 1}))
	must(t, v.Shrink(sp))
	for r.Len() == 0 || r.Len() < r.Cap() {
		must(t, r.PushBack(sp, 1))
	}
	must(t, m.Set(sp, 1, 1))
	src.FailReturns = fails
	if err := h.Close(); (err != nil) != fails {
		t.Fatal(err)
	}
	wasV, wasR, wasM := v, r, m
	for name, f := range map[string]func() error{
		"Append": func() error { return v.Append(sp, 1) }, "AppendSlice": func() error { return v.AppendSlice(sp, []int{1}) },
		"Insert": func() error { return v.Insert(sp, 0, 1) }, "SetLen": func() error { return v.SetLen(sp, 9) },
		"Vec.Reserve": func() error { return v.Reserve(sp, 1) }, "PushBack": func() error { return r.PushBack(sp, 1) },
		"PushFront": func() error { return r.PushFront(sp, 1) }, "Ring.Reserve": func() error { return r.Reserve(sp, 1) },
		"Map.Reserve": func() error { return m.Reserve(sp, 100) },
	} {
		if err := f(); err != memory.ErrClosed || v != wasV || r != wasR || m != wasM {
			t.Errorf("%s in a closed heap: %v", name, err)
		}
	}
	for _, f := range []func(){func() { v.Free(sp) }, func() { r.Free(sp) }, func() { m.Free(sp) }} {
		if memtest.Misuse(t, f, "clos"); v != wasV || r != wasR || m != wasM {
			t.Error("a Free that is refused has changed something")
		}
	}
	src.FailReturns = false
	must(t, h.Close())
}

func TestSpace_ASecondPoolIsNoneOfTheContainers(t *testing.T) {
	h, sp := heap(t)
	var v Vec[int]
	var m Map[int, int]
	var s Strings
	must(t, v.AppendSlice(sp, []int{7: 1}))
	must(t, v.Shrink(sp))
	must(t, m.Set(sp, 1, 1))
	id, err := s.Intern(sp, "text")
	must(t, err)
	wasV, wasM, live := v, m, h.Stats().Live
	must(t, h.AddPool(nil, 1<<20))
	for name, f := range map[string]func() error{
		"Append": func() error { return v.Append(sp, 1) }, "Reserve": func() error { return m.Reserve(sp, 100) },
		"Strings.Reserve": func() error { return s.Reserve(sp, 100) }, "Strings.Shrink": func() error { return s.Shrink(sp) },
		"Intern": func() error {
			id, err := s.Intern(sp, strings.Repeat("long", 300))
			if id != 0 {
				t.Errorf("a text that was not kept has id %d", id)
			}
			return err
		},
	} {
		if err := f(); !errors.Is(err, ErrNoBase) || !strings.Contains(err.Error(), "container: more of *tlsf.Heap, which has got a second range") || v != wasV || m != wasM {
			t.Errorf("%s beside a second pool: %v", name, err)
		}
	}
	if x, ok := m.Get(sp, 1); !ok || x != 1 || v.At(sp, 7) != 1 || s.Text(sp, id) != "text" || h.Stats().Live != live {
		t.Errorf("what there was cannot be read, or %d blocks are live of %d", h.Stats().Live, live)
	}
	v.Free(sp)
	m.Free(sp)
	s.Free(sp)
	if st := h.Stats(); st.Live != 0 {
		t.Errorf("Free leaves %d blocks", st.Live)
	}
}

// moody does not say how large a block is.
type moody struct{ *tlsf.Heap }

func (moody) SizeOf(unsafe.Pointer) uintptr { panic(errBoom) }

func TestSpace_CheckPassesOnWhatThePanicOfTheAllocatorIs(t *testing.T) {
	h, sp := heap(t)
	var v Vec[int]
	must(t, v.Append(sp, 1))
	if got := panics(func() { v.Check(space(t, moody{h})) }); got != errBoom.Error() {
		t.Errorf("Check panics with %q; want that of SizeOf", got)
	}
	v.Free(sp)
}

func TestSpace_WhereTheNewestIsFreedFirstGrowthIsAsDocumented(t *testing.T) {
	d, err := stack.NewDouble(nil, stack.DoubleConfig{})
	must(t, err)
	defer d.Close()
	for name, a := range map[string]*stack.End{"lower": d.Bottom(), "upper": d.Top()} {
		sp := space(t, a)
		var v Vec[uint64]
		var m, reserved Map[int, int]
		must(t, reserved.Reserve(sp, 100))
		for i := range 100 {
			must(t, reserved.Set(sp, i, i))
		}
		for i := range 6 {
			must(t, m.Set(sp, i, i))
		}
		was, live := m, a.Stats().Live
		memtest.Misuse(t, func() { must(t, m.Set(sp, 6, 6)) }, "stack.Free", "out of order")
		if m != was || m.Check(sp) != nil || a.Stats().Live != live {
			t.Errorf("%s: the growth that was refused has changed a Map", name)
		}
		for i := range uint64(8) {
			must(t, v.Append(sp, i))
		}
		must(t, v.Check(sp))
		grow := func() { must(t, v.Reserve(sp, 9)) }
		if name == "lower" {
			grow()
		} else if memtest.Misuse(t, grow, "stack.Free", "out of order"); v.Len() != 8 || a.Stats().Live != live+1 {
			t.Errorf("%s: %d elements, %d blocks", name, v.Len(), a.Stats().Live)
		}
		must(t, v.Check(sp))
		v.Free(sp)
		m.Free(sp)
		reserved.Free(sp)
		var s Strings
		memtest.Misuse(t, func() {
			for i := range 100 {
				_, err := s.Intern(sp, strings.Repeat("x", 1+i))
				must(t, err)
			}
		}, "stack.Free", "out of order")
		must(t, s.Check(sp))
		a.Reset()
	}
}

func TestSpace_ABlockThatDiedWithAResetIsNotFreed(t *testing.T) {
	h, sp := heap(t)
	var v Vec[int]
	var r Ring[int]
	var m Map[int, int]
	var s Strings
	must(t, v.Append(sp, 1))
	must(t, r.PushBack(sp, 1))
	must(t, m.Set(sp, 1, 1))
	_, err := s.Intern(sp, "text")
	must(t, err)
	h.Reset()
	for name, f := range map[string]func(){
		"Vec": func() { v.Free(sp) }, "Ring": func() { r.Free(sp) }, "Map": func() { m.Free(sp) }, "Strings": func() { s.Free(sp) },
		"growth": func() { v.Reserve(sp, 1000) }, "growth of a Ring": func() { r.Reserve(sp, 1000) }, "growth of a Map": func() { m.Reserve(sp, 1000) },
	} {
		m := memtest.Misuse(t, f)
		if st := h.Stats(); st.Live != 0 || m.Package != "tlsf" && name != "growth of a Map" { // which looks at its table first
			t.Errorf("%s: %d blocks are left of %v", name, st.Live, m)
		}
	}
	for name, err := range map[string]error{"Vec": v.Check(sp), "Ring": r.Check(sp), "Map": m.Check(sp), "Strings": s.Check(sp)} {
		if err == nil || !strings.Contains(err.Error(), "container: "+name+": ") || !strings.Contains(err.Error(), "tlsf.SizeOf") {
			t.Errorf("Check of a %s that died says %v", name, err)
		}
	}
	memtest.Misuse(t, func() { s.Clear(sp) }, "tlsf.SizeOf")
	v.Forget()
	r.Forget()
	m.Forget()
	s.Forget()
	if v != (Vec[int]{}) || r != (Ring[int]{}) || m != (Map[int, int]{}) || s != (Strings{}) {
		t.Error("Forget leaves something")
	}
}

// If Free of the allocator panics, as that of a guard that finds damage elsewhere, a container has its old block again.
func TestVec_APanicOfItsGuardLosesNoBlock(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(h, guard.Config{QuarantineBytes: 200})
	if err != nil {
		t.Fatal(err)
	}
	sp := space(t, g)
	var v Vec[int64]
	for i := range 4 {
		if err := v.Append(sp, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	g.Flush()
	p := memtest.MustAlloc(t, g, 100, 8)
	g.Free(p, 100)
	*(*byte)(unsafe.Add(p, 3)) = 1 // through a dangling pointer
	memtest.Misuse(t, func() {
		for range 1000 {
			_ = v.Append(sp, 9)
		}
	}, "use after free: byte 3 of the block of 100 bytes")
	v.Set(sp, 0, 7)
	memtest.MustCheck(t, g)
	if v.Free(sp); g.Stats().Live != 0 {
		t.Errorf("%+v", g.Stats())
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
