package remote

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// slots is the target of the tests: equal blocks, a free stack and a live bit, for one owner.
type slots struct {
	mem   page.Memory
	size  uintptr
	free  []uint32
	live  []bool
	freed int
}

func newSlots(tb testing.TB, n int, size uintptr) *slots {
	tb.Helper()
	mem, err := page.Heap().Reserve(uintptr(n) * size)
	if err != nil {
		tb.Fatal(err)
	}
	s := &slots{mem: mem, size: size, free: make([]uint32, n), live: make([]bool, n)}
	for i := range s.free {
		s.free[i] = uint32(n - 1 - i)
	}
	return s
}

func (s *slots) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	k := len(s.free)
	if k == 0 {
		return nil, memory.ErrOutOfMemory
	}
	i := s.free[k-1]
	s.free = s.free[:k-1]
	s.live[i] = true
	return unsafe.Add(s.mem.Base, uintptr(i)*s.size), nil
}

func (s *slots) Free(p unsafe.Pointer, _ uintptr) { s.FreeAny(p) }

func (s *slots) FreeAny(p unsafe.Pointer) {
	off := uintptr(p) - uintptr(s.mem.Base)
	i := off / s.size
	if i >= uintptr(len(s.live)) || off%s.size != 0 {
		panic(&memory.Misuse{Package: "slots", Op: "FreeAny", Addr: uintptr(p), Reason: "not a block"})
	}
	if !s.live[i] {
		panic(&memory.Misuse{Package: "slots", Op: "FreeAny", Addr: uintptr(p), Reason: "double free"})
	}
	s.live[i] = false
	s.free = append(s.free, uint32(i))
	s.freed++
}

func (s *slots) liveCount() int { return len(s.live) - len(s.free) }

// based is slots with a base, so that batches hold offsets.
type based struct{ *slots }

func (b based) Base() unsafe.Pointer { return b.mem.Base }
func (b based) Extent() uintptr      { return b.mem.Size }

// freeRun frees what FreeAny would, and ends in front of what that would refuse.
func (s *slots) freeRun(base unsafe.Pointer, offs []uintptr) int {
	for i, off := range offs {
		at := uintptr(base) + off - uintptr(s.mem.Base)
		if k := at / s.size; at%s.size != 0 || k >= uintptr(len(s.live)) || !s.live[k] {
			return i
		}
		s.FreeAny(unsafe.Add(s.mem.Base, at))
	}
	return len(offs)
}

// running and basedRunning are slots that free by runs.
type (
	running      struct{ *slots }
	basedRunning struct{ based }
)

func (r running) FreeRun(base unsafe.Pointer, offs []uintptr) int { return r.freeRun(base, offs) }

func (r basedRunning) FreeRun(base unsafe.Pointer, offs []uintptr) int { return r.freeRun(base, offs) }

// kinds are the ways in which an inbox sees a target.
var kinds = map[string]func(*slots) Target{
	"pointers":         func(s *slots) Target { return s },
	"offsets":          func(s *slots) Target { return based{s} },
	"runs of pointers": func(s *slots) Target { return &running{s} },
	"runs of offsets":  func(s *slots) Target { return &basedRunning{based{s}} },
}

func eachKind(t *testing.T, test func(*testing.T, func(*slots) Target)) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) { test(t, kind) })
	}
}

func newInbox(tb testing.TB, target Target, batch int) *Inbox {
	tb.Helper()
	in, err := New(target, Config{Batch: batch})
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

func mustAlloc(tb testing.TB, s *slots) unsafe.Pointer {
	tb.Helper()
	p, err := s.Alloc(s.size, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func mustCheck(tb testing.TB, in *Inbox) {
	tb.Helper()
	if err := in.Check(); err != nil {
		tb.Fatal(err)
	}
}

func TestNew_SaysWhatIsWrong(t *testing.T) {
	if _, err := New((*pool)(nil), Config{}); err == nil || !strings.Contains(err.Error(), "target nil") {
		t.Errorf("a nil pointer: %v", err)
	}
	if _, err := New(nil, Config{}); err == nil || !strings.Contains(err.Error(), "target nil") {
		t.Errorf("New without a target: %v", err)
	}
	for _, n := range []int{-1, math.MinInt, 65, math.MaxInt} {
		if _, err := New(newSlots(t, 1, 16), Config{Batch: n}); err == nil || !strings.Contains(err.Error(), "1 to 64") {
			t.Errorf("New with a batch of %d: %v", n, err)
		}
	}
	if in := newInbox(t, newSlots(t, 1, 16), 0); in.size != 32 {
		t.Errorf("the zero Config means a batch of %d, want 32", in.size)
	}
}

func TestDrainSome_StopsAtTheLimitAndKeepsTheRest(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		for _, limit := range []int{1, 2, 3, 4, 5, 7, 8, 9, 100} {
			s := newSlots(t, 40, 16)
			in := newInbox(t, target(s), 4)
			f := in.NewFreer()
			for range 40 {
				f.FreeAny(mustAlloc(t, s))
			}
			for _, none := range []int{0, -1, math.MinInt} {
				if in.DrainSome(none) != 0 || s.freed != 0 {
					t.Fatalf("DrainSome(%d) freed blocks", none)
				}
			}
			for left := 40; left > 0; {
				n := in.DrainSome(limit)
				if n != min(limit, left) {
					t.Fatalf("DrainSome(%d) with %d waiting freed %d", limit, left, n)
				}
				left -= n
				mustCheck(t, in)
				if st := in.Stats(); st.InFlight != uint64(left) || in.Pending() != (left > 0) {
					t.Fatalf("with %d left: %+v, pending %t", left, st, in.Pending())
				}
			}
			if s.liveCount() != 0 {
				t.Errorf("limit %d: %d blocks live", limit, s.liveCount())
			}
		}
	})
}

func TestDrainSome_LimitSpansRemainderAndArrivals(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 40, 16)
		in := newInbox(t, target(s), 4)
		f := in.NewFreer()
		for range 4 {
			f.FreeAny(mustAlloc(t, s))
		}
		in.DrainSome(1)
		for _, none := range []int{0, -1, math.MinInt} {
			if n := in.DrainSome(none); n != 0 || s.freed != 1 {
				t.Fatalf("DrainSome(%d) in the middle of a batch returned %d", none, n)
			}
		}
		for range 8 {
			f.FreeAny(mustAlloc(t, s))
		}
		if n := in.DrainSome(9); n != 9 {
			t.Errorf("DrainSome(9) with 3 kept and 8 arrived freed %d", n)
		}
		mustCheck(t, in)
		if n := in.DrainSome(math.MaxInt); n != 2 {
			t.Errorf("the rest is %d, want 2", n)
		}
	})
}

func TestInbox_DoubleFreeIsFoundByTheDrain(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 8)
		f := in.NewFreer()
		a, b, c := mustAlloc(t, s), mustAlloc(t, s), mustAlloc(t, s)
		for _, p := range []unsafe.Pointer{a, b, a, unsafe.Add(c, 1), c} {
			f.FreeAny(p)
		}
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		finder := "slots.FreeAny"
		if invariant.Debug {
			finder = "remote.Free" // sees that both frees wait, and frees a at the second
		}
		memtest.Misuse(t, func() { in.Drain() }, "remote.Drain", fmt.Sprintf("%#x", uintptr(a)), finder, "double free")
		mustCheck(t, in)
		memtest.Misuse(t, func() { in.DrainSome(10) }, "remote.DrainSome", "not a block")
		mustCheck(t, in)
		if n := in.Drain(); n != 1 || s.liveCount() != 0 || in.Stats().InFlight != 0 {
			t.Errorf("after two refusals: drained %d, %d live, %+v", n, s.liveCount(), in.Stats())
		}
	})
}

// unbased has a Base that is of no use, as a composition of two has.
type unbased struct{ *slots }

func (unbased) Base() unsafe.Pointer { return nil }
func (unbased) Extent() uintptr      { return 0 }

func TestNew_ABaseWithoutMemoryIsNoRange(t *testing.T) {
	s := newSlots(t, 1, 16)
	in := newInbox(t, unbased{s}, 1)
	in.NewFreer().FreeAny(mustAlloc(t, s))
	if in.Drain(); s.liveCount() != 0 {
		t.Errorf("%d blocks are live", s.liveCount())
	}
}

// The allocators of the library have a range, so a pointer from elsewhere never reaches their owner.
func TestNew_AllocatorsHaveTheirRange(t *testing.T) {
	var outside [64]byte
	for name, h := range newHeaps(t) {
		in := newInbox(t, h, 1)
		if _, bare := h.(memory.Baser); !bare {
			if in.span != 0 {
				t.Errorf("%s: a range of %d bytes without a Base", name, in.span)
			}
			continue
		}
		if in.span < 1<<20 {
			t.Errorf("%s: a range of %d bytes", name, in.span)
		}
		memtest.Misuse(t, func() { in.NewFreer().FreeAny(unsafe.Pointer(&outside)) }, "remote.Free", "outside the target's memory")
	}
}

// The refused block is the last of its batch, and Close is what finds it.
func TestInbox_CloseGoesOnAfterARefusal(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 2)
		f := in.NewFreer()
		a, b := mustAlloc(t, s), mustAlloc(t, s)
		for _, p := range []unsafe.Pointer{b, a, b, b} { // newest batch first: b, then b again
			f.FreeAny(p)
		}
		memtest.Misuse(t, func() { _ = in.Close() }, "remote.Close", "double free")
		mustCheck(t, in)
		memtest.Misuse(t, func() { _ = in.Close() }, "remote.Close", "double free")
		if err := in.Close(); err != nil || s.liveCount() != 0 {
			t.Errorf("third Close: %v, %d live", err, s.liveCount())
		}
	})
}

func TestInbox_PanicsThatAreNotMisusePassUnchanged(t *testing.T) {
	odd := errors.New("odd")
	in := newInbox(t, panicker{odd}, 1)
	in.NewFreer().FreeAny(unsafe.Pointer(in))
	defer func() {
		if r := recover(); r != odd {
			t.Errorf("recovered %v", r)
		}
	}()
	in.Drain()
}

type panicker struct{ v any }

func (p panicker) FreeAny(unsafe.Pointer) { panic(p.v) }

// A reentrant target calls something back from FreeAny.
type reentrant struct {
	*slots
	call func()
}

func (r *reentrant) FreeAny(p unsafe.Pointer) {
	r.slots.FreeAny(p)
	if call := r.call; call != nil {
		r.call = nil
		call()
	}
}

func TestInbox_TargetThatCallsBackIsRefusedAndNothingHasChanged(t *testing.T) {
	for name, call := range map[string]func(*Inbox){
		"Drain":     func(in *Inbox) { in.Drain() },
		"DrainSome": func(in *Inbox) { in.DrainSome(1) },
		"Reset":     func(in *Inbox) { in.Reset() },
		"Close":     func(in *Inbox) { _ = in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := &reentrant{slots: newSlots(t, 10, 16)}
			in := newInbox(t, r, 2)
			f := in.NewFreer()
			for range 6 {
				f.FreeAny(mustAlloc(t, r.slots))
			}
			r.call = func() {
				f.FreeAny(mustAlloc(t, r.slots)) // a FreeAny may free, and look
				mustCheck(t, in)
				if !in.Pending() || in.Stats().Pushed != 6 {
					t.Errorf("in a drain: %+v", in.Stats())
				}
				call(in)
			}
			memtest.Misuse(t, func() { in.Drain() }, "remote.Drain", "remote."+name, "FreeAny calls the inbox")
			mustCheck(t, in)
			if st := in.Stats(); st.Drained != 1 || st.InFlight != 5 || st.Stale != 0 {
				t.Errorf("after the refusal: %+v", st)
			}
			if err := f.Flush(); err != nil {
				t.Errorf("the inbox was closed: %v", err)
			}
			if n := in.Drain(); n != 6 || r.liveCount() != 0 {
				t.Errorf("the next drain frees %d, %d live", n, r.liveCount())
			}
		})
	}
}

func TestInbox_OwnerClosesFirst(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 100, 16)
		in := newInbox(t, target(s), 4)
		f := in.NewFreer()
		for range 6 {
			f.FreeAny(mustAlloc(t, s))
		}
		if err := in.Close(); err != nil || s.liveCount() != 2 {
			t.Fatalf("Close: %v, %d live", err, s.liveCount())
		}
		if err := in.Close(); err != nil {
			t.Fatalf("second Close: %v", err)
		}
		for range 3 {
			f.FreeAny(mustAlloc(t, s)) // the second of them fills the batch
		}
		if f.Pending() != 1 {
			t.Errorf("%d blocks pending, want 1", f.Pending())
		}
		for range 2 {
			if err := f.Flush(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "5 blocks") {
				t.Errorf("Flush: %v", err)
			}
		}
		if st := in.Stats(); st.Abandoned != 5 || st.Pushed != 4 || st.Drained != 4 || st.InFlight != 0 {
			t.Errorf("%+v", st)
		}
		if n := f.home.made.Load(); n != 2 {
			t.Errorf("%d batches were made; abandoning must reuse", n)
		}
		for _, p := range f.cur.ptrs {
			if p != nil {
				t.Error("an abandoned pointer stays in the Go heap")
			}
		}
		if err := f.Close(); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		late := in.NewFreer()
		if err := late.Flush(); err != nil {
			t.Errorf("a Freer that abandoned nothing: %v", err)
		}
		late.FreeAny(mustAlloc(t, s))
		if err := late.Close(); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("a Freer made after Close: %v", err)
		}
		if in.Pending() {
			t.Error("a closed inbox has blocks pending")
		}
		memtest.Misuse(t, func() { in.Drain() }, "remote.Drain", "closed")
		memtest.Misuse(t, func() { in.DrainSome(1) }, "remote.DrainSome", "closed")
		memtest.Misuse(t, func() { in.DrainSome(0) }, "remote.DrainSome", "closed")
		memtest.Misuse(t, func() { in.Reset() }, "remote.Reset", "closed")
		mustCheck(t, in)
	})
}

func TestSteadyState_NoGoAllocations(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 256, 16)
		in := newInbox(t, target(s), 0)
		f := in.NewFreer()
		round := func() {
			for range 250 {
				f.FreeAny(mustAlloc(t, s))
			}
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			in.DrainSome(100)
			in.Drain()
		}
		round()
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("250 remote frees cost %v Go allocations", n)
		}
		if n := testing.AllocsPerRun(100, func() { in.Stats() }); n != 0 {
			t.Errorf("Stats costs %v Go allocations", n)
		}
	})
}

func TestInbox_DrainedBatchesHoldNoPointers(t *testing.T) {
	s := newSlots(t, 10, 16)
	in := newInbox(t, s, 4)
	f := in.NewFreer()
	b := f.cur
	for range 4 {
		f.FreeAny(mustAlloc(t, s))
	}
	in.Drain()
	for i, p := range b.ptrs {
		if p != nil {
			t.Errorf("slot %d still points at a freed block", i)
		}
	}
}

func TestInbox_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*Inbox)
	}{
		{"slot 9 is not in the batch", func(in *Inbox) { in.at = 9 }},
		{"slot -1 is not in the batch", func(in *Inbox) { in.at = -1 }},
		{"slot 1 is not in the batch", func(in *Inbox) { in.rest = nil }},
		{"waiting twice", func(in *Inbox) { in.rest.next = in.rest }},
		{"waiting twice", func(in *Inbox) { in.rest.next = in.head.Load() }},
		{"holds 0 blocks", func(in *Inbox) { in.head.Load().n = 0 }},
		{"holds 5 blocks", func(in *Inbox) { in.head.Load().n = 5 }},
		{"in 3 slots of 4", func(in *Inbox) { in.rest.offs = in.rest.offs[:3] }},
		{"slot 2 of a waiting batch is 1600000 bytes into", func(in *Inbox) { in.rest.offs[2] = 1_600_000 }},
		{"is 16384 bytes into a target of 16384", func(in *Inbox) { in.rest.offs[2] = in.span }},
		{"slot 2 of a waiting batch is empty", func(in *Inbox) {
			b := in.rest
			b.offs, b.ptrs = nil, make([]unsafe.Pointer, 4)
			b.ptrs[0], b.ptrs[1], b.ptrs[3] = in.base, in.base, in.base
		}},
		{"home in another inbox", func(in *Inbox) { in.head.Load().home = new(home) }},
		{"12 blocks in 0 batches drained, not 0", func(in *Inbox) { in.drained.Add(11) }},
		{"1 blocks in 1 batches drained", func(in *Inbox) { in.batches.Add(1) }},
		{"slot 4 is not in the batch", func(in *Inbox) { in.at = 4 }},
		{"a batch of epoch 1 is waiting in epoch 0", func(in *Inbox) { in.head.Load().epoch = 1 }},
		{"a batch of epoch 0 is waiting in epoch 1", func(in *Inbox) { in.epoch.Add(1) }},
		{"batches of 65 blocks", func(in *Inbox) { in.size = 65 }},
		{"batches of 0 blocks", func(in *Inbox) { in.size = 0 }},
		{"or 0 bytes", func(in *Inbox) { in.bytes = 0 }},
		{"a target of 16384 bytes at 0x0", func(in *Inbox) { in.addr = 0 }},
		{"for Freers it is", func(in *Inbox) { in.addr += 16 }},
		{"for Freers it is", func(in *Inbox) { in.target = nil }},
		{"an idle home is listed twice", func(in *Inbox) { in.idle = []*home{in.homes[0]} }},
		{"1 idle homes are not of this inbox", func(in *Inbox) { in.idle = []*home{new(home)} }},
		{"a home of another inbox", func(in *Inbox) { in.homes[0].in = nil }},
		{"with 13 of 12 blocks abandoned", func(in *Inbox) { in.homes[0].abandoned.Store(13) }},
		{"11 blocks are waiting, with 12 pushed, 1 drained and 1 stale", func(in *Inbox) { in.stale.Add(1) }},
		{"11 blocks are waiting, with 11 pushed", func(in *Inbox) { in.homes[0].pushed.Add(^uint64(0)) }},
		{"with 0 pushed, 1 drained and 0 stale", func(in *Inbox) { in.homes[0].pushed.Store(0) }},
	} {
		s := newSlots(t, 100, 16)
		in := newInbox(t, based{s}, 4)
		f := in.NewFreer()
		for range 8 {
			f.FreeAny(mustAlloc(t, s))
		}
		in.DrainSome(1)
		for range 4 {
			f.FreeAny(mustAlloc(t, s))
		}
		mustCheck(t, in)
		c.corrupt(in)
		if err := in.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
	}
}

func TestLayout_WordsOfDifferentGoroutinesLieApart(t *testing.T) {
	var in Inbox
	var h home
	if unsafe.Offsetof(in.epoch)-unsafe.Offsetof(in.head) != lineBytes || unsafe.Offsetof(in.rest)-unsafe.Offsetof(in.epoch) != lineBytes || unsafe.Offsetof(h.pushed)-unsafe.Offsetof(h.empty) != lineBytes {
		t.Error("the owner's words share a line with the Freers'")
	}
	if !invariant.Debug && (unsafe.Sizeof(h) != 2*lineBytes || unsafe.Offsetof(batch{}.ptrs)+2*ptrBytes > lineBytes || unsafe.Sizeof(batch{})%lineBytes != 0 || unsafe.Sizeof(Freer{})%lineBytes != 0) {
		t.Errorf("home is %d bytes, batch %d, Freer %d: neighbours share a line", unsafe.Sizeof(h), unsafe.Sizeof(batch{}), unsafe.Sizeof(Freer{}))
	}
}
