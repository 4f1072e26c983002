package arena

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A state is an entry of three words.
type state struct{ tick, a, b uint64 }

var stateType = memory.MustType[state]()

func newWindow(t testing.TB, keep, capacity int) *Window[state] {
	t.Helper()
	w, err := NewWindow(nil, stateType, WindowConfig{Keep: keep, Capacity: capacity})
	return memtest.Opened(t, w, err)
}

func TestWindow_KeepsTheLastOnesAsOneSliceAlways(t *testing.T) {
	for _, c := range [][2]int{{1, 2}, {1, 9}, {2, 3}, {5, 6}, {5, 9}, {5, 10}, {5, 11}, {64, 256}} {
		keep := c[0]
		w := newWindow(t, keep, c[1])
		if w.Keep() != keep || w.Len() != 0 || w.At(0) != nil || len(w.All()) != 0 {
			t.Error("not empty")
		}
		for i := range uint64(1000) {
			w.Push(state{tick: i, a: ^i})
			if w.Len() != min(int(i)+1, keep) || w.Pushed() != i+1 {
				t.Fatalf("%v: %d entries of %d after push %d", c, w.Len(), keep, i)
			}
			all := w.All()
			if len(all) != w.Len() || cap(all) != len(all) {
				t.Fatalf("%v: a slice of %d, capacity %d, for %d entries", c, len(all), cap(all), w.Len())
			}
			for age := range w.Len() {
				if e := w.At(age); e.tick != i-uint64(age) || e.a != ^e.tick || e != &all[len(all)-1-age] {
					t.Fatalf("%v: the entry of age %d is %v after push %d", c, age, *e, i)
				}
			}
			if w.At(w.Len()) != nil || w.At(-1) != nil || w.At(math.MinInt) != nil {
				t.Fatal("an entry that is not kept")
			}
			if n := len(w.Last(2)); n != min(2, w.Len()) || len(w.Last(-1)) != 0 || len(w.Last(0)) != 0 || len(w.Last(math.MaxInt)) != w.Len() {
				t.Fatal("Last", n)
			}
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// One push in Capacity-Keep+1 copies Keep-1 entries.
func TestWindow_CopiesAsRarelyAsItSays(t *testing.T) {
	for _, c := range [][2]int{{1, 2}, {4, 5}, {4, 16}, {60, 240}, {100, 150}} {
		keep, capacity := c[0], c[1]
		w := newWindow(t, keep, capacity)
		moves, copied, n := 0, 0, 100*(capacity-keep+1)
		for range capacity {
			w.Push(state{})
		}
		for range n {
			before := w.next
			w.Push(state{})
			if w.next <= before {
				moves++
				copied += w.next - 1
			}
		}
		if moves != 100 || copied != 100*(keep-1) || float64(copied)/float64(n) >= float64(keep)/float64(capacity-keep) {
			t.Errorf("%v: %d moves and %d entries copied in %d pushes", c, moves, copied, n)
		}
	}
}

func TestWindow_DropsTheNewestAndNothingComesBack(t *testing.T) {
	w := newWindow(t, 4, 9)
	ticks := func() (s []uint64) {
		for _, e := range w.All() {
			s = append(s, e.tick)
		}
		return s
	}
	for i := range uint64(6) {
		w.Push(state{tick: i})
	}
	w.Drop(0)
	w.Drop(3)
	if got := ticks(); !slices.Equal(got, []uint64{2}) { // 1 was gone before
		t.Errorf("%v", got)
	}
	for i := uint64(13); i < 16; i++ {
		w.Push(state{tick: i})
	}
	if got := ticks(); !slices.Equal(got, []uint64{2, 13, 14, 15}) {
		t.Errorf("%v", got)
	}
	if s := w.Stats(); s.Live != 4 || s.Allocs != 9 || s.Frees != 5 || s.InUse != 4*24 || s.Peak != 4*24 || s.Requested != s.InUse || s.Measured != s.InUse || s.Committed < 9*24 || s.Reserved < s.Committed {
		t.Errorf("%+v", s)
	}
	w.Drop(99)
	if w.Len() != 0 || w.Stats().Peak != 4*24 || w.Stats().InUse != 0 {
		t.Errorf("%d entries, %+v", w.Len(), w.Stats())
	}
	memtest.Misuse(t, func() { w.Drop(-1) }, "arena.Drop: -1 entries: want 0 or more")
	w.Push(state{tick: 20})
	w.Reset()
	w.Reset()
	if w.Len() != 0 || w.Stats().Frees != 10 || w.Pushed() != 10 {
		t.Errorf("after Reset: %+v", w.Stats())
	}
	memtest.MustCheck(t, w)
}

func TestWindow_WhatIsGoneIsFilledInDebugBuilds(t *testing.T) {
	if !invariant.Debug {
		return
	}
	const gone = 0xDDDDDDDDDDDDDDDD
	w := newWindow(t, 3, 5)
	for i := range uint64(3) {
		w.Push(state{tick: i})
	}
	first := w.All()
	w.Push(state{tick: 3})
	if first[0].tick != gone || first[1].tick != 1 {
		t.Errorf("the oldest is %#x, the next %#x", first[0].tick, first[1].tick)
	}
	w.Push(state{tick: 4})
	last := w.Last(1)
	w.Push(state{tick: 5}) // moves
	if last[0].tick != gone || w.At(2).tick != 3 {
		t.Errorf("what moved is %#x", last[0].tick)
	}
	last = w.All()
	w.Drop(1)
	if last[2].tick != gone || last[1].tick != 4 {
		t.Errorf("what was dropped is %#x", last[2].tick)
	}
	w.Reset()
	if last[1].tick != gone {
		t.Errorf("after Reset there is %#x", last[1].tick)
	}
	w.Push(state{tick: 6})
	last = w.All()
	if w.Reset(); last[0].tick != gone {
		t.Errorf("after another one, in the first slot, %#x", last[0].tick)
	}
}

func TestWindow_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	const wanted = " want a Keep of 1 or more and a larger Capacity"
	construct := func(src page.Source, cfg WindowConfig) (*Window[state], error) { return NewWindow(src, stateType, cfg) }
	memtest.Refuses(t, construct, map[string]WindowConfig{
		"Keep -1 of Capacity -4:" + wanted: {Keep: -1},
		"Keep 5 of Capacity 5:" + wanted:   {Keep: 5, Capacity: 5},
		"Keep 64 of Capacity 64:" + wanted: {Capacity: 64},
		"Keep 64 of Capacity -9:" + wanted: {Capacity: -9},
		"arena: new Window: Capacity":      {Keep: 3, Capacity: math.MaxInt},
	})
	if _, err := construct(nil, WindowConfig{Capacity: math.MaxInt}); !errors.Is(err, memory.ErrTooLarge) {
		t.Error(err)
	}
	wraps := WindowConfig{Keep: 11 << (bits.UintSize - 5)} // four times that is more than Keep again
	if _, err := NewWindow(nil, memory.MustType[struct{}](), wraps); !errors.Is(err, memory.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := NewWindow(nil, memory.Type[state]{}, WindowConfig{}); !errors.Is(err, memory.ErrConfig) {
		t.Error(err)
	}
	w, err := NewWindow(nil, stateType, WindowConfig{})
	if err != nil || w.Keep() != 64 || len(w.slots) != 256 {
		t.Errorf("%v: %d of %d", err, w.keep, len(w.slots))
	}
	_ = w.Close()
}

func TestWindow_ClosedItIsEmptyAndSaysSo(t *testing.T) {
	src := memtest.NewFaulty()
	w, err := NewWindow(src, stateType, WindowConfig{Keep: 4})
	if err != nil {
		t.Fatal(err)
	}
	w.Push(state{})
	p := unsafe.Pointer(w.At(0))
	if !w.Owns(p) {
		t.Error("it does not own an entry")
	}
	src.FailReturns = true
	if err := w.Close(); err == nil || err.Error()[:13] != "arena: close:" {
		t.Error(err)
	}
	memtest.Misuse(t, func() { w.Push(state{}) }, "arena.Push: the window is closed")
	memtest.MustCheck(t, w)
	src.FailReturns = false
	if err := errors.Join(w.Close(), w.Close(), w.Check()); err != nil || src.Reserved() != 0 {
		t.Errorf("%v, %d reservations", err, src.Reserved())
	}
	closedWindow(t, w, p)
}

// closedWindow holds w, into which one entry was pushed, at p, to what a closed Window does.
func closedWindow(t *testing.T, w *Window[state], p unsafe.Pointer) {
	t.Helper()
	memtest.Misuse(t, func() { w.Push(state{}) }, "arena.Push: the window is closed")
	memtest.Misuse(t, func() { w.Drop(0) }, "arena.Drop: the window is closed")
	memtest.Misuse(t, w.Reset, "arena.Reset: the window is closed")
	if w.Len() != 0 || w.At(0) != nil || len(w.All()) != 0 || len(w.Last(3)) != 0 || w.Owns(p) || w.Pushed() != 1 {
		t.Error("closed, it has entries")
	}
	if s := w.Stats(); s.Live != 0 || s.Committed != 0 || s.Reserved != 0 || s.Peak != 24 || s.Frees != 1 {
		t.Errorf("%+v", s)
	}
}

func TestWindow_MayOutliveItsSource(t *testing.T) {
	src := memtest.NewMortal(t, nil, 1<<20)
	w, err := NewWindow(src, stateType, WindowConfig{Keep: 4})
	if err != nil {
		t.Fatal(err)
	}
	w.Push(state{})
	p := unsafe.Pointer(w.At(0))
	src.End(t)
	closedWindow(t, w, p)
	if err := errors.Join(w.Check(), w.Close(), w.Check()); err != nil {
		t.Error(err)
	}
}

// Every call to the system fails, or panics: nothing is kept.
func TestWindow_ANewThatFailsKeepsNothing(t *testing.T) {
	for call := 1; ; call++ {
		for _, arm := range []func(*memtest.Faulty){
			func(f *memtest.Faulty) { f.FailAt = call }, func(f *memtest.Faulty) { f.FailAt, f.ForGood = call, true },
			func(f *memtest.Faulty) { f.PanicAt = call },
		} {
			src := memtest.NewFaulty()
			arm(src)
			var w *Window[state]
			var err error
			panicked := func() (r any) {
				defer func() { r = recover() }()
				w, err = NewWindow(src, stateType, WindowConfig{Keep: 4})
				return nil
			}()
			if panicked == nil && err == nil {
				if src.Calls() >= call {
					t.Errorf("%s: nobody noticed", src)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				continue
			}
			if panicked == nil && !errors.Is(err, memory.ErrOutOfMemory) || src.Reserved() != 0 {
				t.Errorf("%s: %v, %d reservations", src, err, src.Reserved())
			}
		}
		probe := memtest.NewFaulty()
		w, _ := NewWindow(probe, stateType, WindowConfig{Keep: 4})
		_ = w.Close()
		if call > probe.Calls() {
			return
		}
	}
}

func TestWindow_EntriesOfNoSizeAreCounted(t *testing.T) {
	w, err := NewWindow(nil, memory.MustType[struct{}](), WindowConfig{Keep: 3, Capacity: 4})
	memtest.Opened(t, w, err)
	for range 10 {
		w.Push(struct{}{})
	}
	if len(w.All()) != 3 || w.At(2) == nil || w.Stats().InUse != 0 || w.Stats().Live != 3 {
		t.Errorf("%+v", w.Stats())
	}
}

func TestWindow_PushNeverAllocatesOnTheGoHeap(t *testing.T) {
	w := newWindow(t, 8, 12)
	if n := testing.AllocsPerRun(1000, func() { w.Push(state{tick: 1}); _ = w.Last(3); _ = w.Stats() }); n != 0 {
		t.Errorf("%v Go allocations", n)
	}
}

func TestWindow_CheckNamesWhatIsCorrupt(t *testing.T) {
	w := newWindow(t, 4, 9)
	for range 7 {
		w.Push(state{})
	}
	memtest.EveryBit(t, w.Check, w)
	empty, err := NewWindow(nil, memory.MustType[struct{}](), WindowConfig{Keep: 4}) // nothing but metadata
	memtest.Opened(t, empty, err)
	empty.Push(struct{}{})
	if f := memtest.EveryBit(t, empty.Check, empty); f.Named*2 < f.Flipped {
		t.Errorf("%+v: Check names less than half", f)
	}
	for name, corrupt := range map[string]func(){
		"keep of none": func() { w.keep = 0 }, "keep of all": func() { w.keep = 9 }, "length below 0": func() { w.length = -1 },
		"length above keep": func() { w.length = 5 }, "length above next": func() { w.next = 3 }, "next above room": func() { w.next = 10 },
		"fewer pushed": func() { w.pushed = 3 }, "peak": func() { w.peak = 5 }, "a peak below nothing": func() { w.peak = -1 }, "slots elsewhere": func() { w.slots = w.slots[1:] },
		"slots beyond": func() { w.slots = unsafe.Slice(&w.slots[0], 4000) },
	} {
		if name == "slots beyond" && (invariant.Debug || w.mem.Committed() >= 4000*24) {
			continue // checkptr would name the test
		}
		restore := [...]func(){memtest.Keep(&w.slots), memtest.Keep(&w.next), memtest.Keep(&w.length), memtest.Keep(&w.keep), memtest.Keep(&w.pushed), memtest.Keep(&w.peak)}
		corrupt()
		if err := w.Check(); err == nil {
			t.Errorf("%s: Check sees nothing", name)
		}
		for _, f := range restore {
			f()
		}
	}
}

// runWindow runs a program on a Window beside a model: a slice of all that was pushed.
func runWindow(t testing.TB, keep, capacity int, program []byte) {
	w, err := NewWindow(nil, stateType, WindowConfig{Keep: keep, Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var model []uint64
	pushed := uint64(0)
	for _, op := range program {
		switch {
		case op < 200:
			w.Push(state{tick: pushed, b: pushed * 3})
			model = append(model, pushed)
			model = model[max(len(model)-keep, 0):]
			pushed++
		case op < 250:
			n := int(op - 200)
			w.Drop(n)
			model = model[:max(len(model)-n, 0)]
		default:
			w.Reset()
			model = model[:0]
		}
		got := w.All()
		if len(got) != len(model) || w.Pushed() != pushed {
			t.Fatalf("%d entries, want %d", len(got), len(model))
		}
		for i, tick := range model {
			if got[i].tick != tick || got[i].b != tick*3 || *w.At(len(model) - 1 - i) != got[i] {
				t.Fatalf("entry %d of %d is %v, want %d", i, len(model), got[i], tick)
			}
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWindow_IsASliceOfTheLastOnes(t *testing.T) {
	for seed := range uint64(12) {
		runWindow(t, int(seed)+1, int(seed*seed)%40+int(seed)+2, memtest.RandomProgram(seed, 300))
	}
}

func FuzzWindow(f *testing.F) {
	f.Add(uint8(4), uint8(5), memtest.RandomProgram(1, 20))
	f.Fuzz(func(t *testing.T, keep, more uint8, program []byte) {
		runWindow(t, int(keep)+1, int(keep)+2+int(more), program[:min(len(program), 2000)])
	})
}

// BenchmarkWindow pushes a state and reads the newest of them: in a window as a slice, in a ring
// by modulo, and by a mask.
func BenchmarkWindow(b *testing.B) {
	const keep, read = 64, 16
	sum := uint64(0)
	for _, capacity := range []int{keep + keep/4, 2 * keep, 4 * keep, 16 * keep} {
		b.Run("window/capacity="+map[int]string{80: "1.25", 128: "2", 256: "4", 1024: "16"}[capacity], func(b *testing.B) {
			w := newWindow(b, keep, capacity)
			for i := uint64(0); b.Loop(); i++ {
				w.Push(state{tick: i})
				for _, e := range w.Last(read) {
					sum += e.tick
				}
			}
		})
	}
	b.Run("ring/modulo", func(b *testing.B) {
		ring := make([]state, keep)
		for i := 0; b.Loop(); i++ {
			ring[i%len(ring)] = state{tick: uint64(i)}
			for j := i + len(ring) - read; j < i+len(ring); j++ {
				sum += ring[(j+1)%len(ring)].tick
			}
		}
	})
	b.Run("ring/mask", func(b *testing.B) { // keep is a power of two, by luck
		ring := new([keep]state)
		for i := 0; b.Loop(); i++ {
			ring[i%keep] = state{tick: uint64(i)}
			for j := i + keep - read; j < i+keep; j++ {
				sum += ring[(j+1)%keep].tick
			}
		}
	})
	b.Run("slice/append", func(b *testing.B) { // what one writes first, on the Go heap
		var s []state
		for i := uint64(0); b.Loop(); i++ {
			s = append(s, state{tick: i})
			s = s[max(len(s)-keep, 0):]
			for _, e := range s[max(len(s)-read, 0):] {
				sum += e.tick
			}
		}
	})
	if sum == 1 {
		b.Log(sum)
	}
}
