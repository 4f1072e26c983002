package remote

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// reset ends every block.
func (s *slots) reset() {
	s.free = s.free[:0]
	for i := range s.live {
		s.live[i] = false
		s.free = append(s.free, uint32(len(s.live)-1-i))
	}
}

// Blocks in every place where they can be when the target is reset: half drained, pushed, in
// an unfinished batch. All addresses are handed out anew before they arrive.
func TestReset_WhatWasFreedBeforeIsNeverFreed(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 16, 16)
		in := newInbox(t, target(s), 4)
		f := in.NewFreer()
		for range 14 {
			f.FreeAny(mustAlloc(t, s))
		}
		in.DrainSome(2)
		s.reset()
		in.Reset()
		mustCheck(t, in)
		mustCheckFreer(t, f)
		if st := in.Stats(); st.Drained != 2 || st.Stale != 10 || st.InFlight != 0 || in.Pending() || f.Pending() != 2 {
			t.Errorf("after Reset: %+v, %d pending", st, f.Pending())
		}
		var fresh []unsafe.Pointer
		for range 16 {
			fresh = append(fresh, mustAlloc(t, s))
		}
		for _, p := range fresh[:3] { // the first of them takes the old ones with it
			f.FreeAny(p)
		}
		mustCheckFreer(t, f)
		if f.Pending() != 3 || in.Stats().InFlight != 2 {
			t.Errorf("%d blocks pending, %+v", f.Pending(), in.Stats())
		}
		if n := in.Drain(); n != 0 || s.liveCount() != 16 || in.Stats().Stale != 12 {
			t.Errorf("blocks from before were freed: %d, %d live of 16, %+v", n, s.liveCount(), in.Stats())
		}
		mustCheck(t, in)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if n := in.Drain(); n != 3 || s.liveCount() != 13 || in.Stats().Batches != 5 {
			t.Errorf("blocks from after were not freed: %d, %d live, %+v", n, s.liveCount(), in.Stats())
		}
		mustCheck(t, in)
	})
}

func mustCheckFreer(tb testing.TB, f *Freer) {
	tb.Helper()
	if err := f.Check(); err != nil {
		tb.Fatal(err)
	}
}

// A Freer that is empty or new, or whose batch just went, has nothing to leave behind.
func TestReset_LosesNothingOfTheNewEpoch(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		for _, before := range []int{0, 1, 3, 4} {
			s := newSlots(t, 100, 16)
			in := newInbox(t, target(s), 4)
			f, other := in.NewFreer(), in.NewFreer()
			for range before {
				f.FreeAny(mustAlloc(t, s))
			}
			for range 3 { // several in a row
				s.reset()
				in.Reset()
			}
			for range 9 {
				f.FreeAny(mustAlloc(t, s))
				other.FreeAny(mustAlloc(t, s))
			}
			late := in.NewFreer()
			late.FreeAny(mustAlloc(t, s))
			for _, f := range []*Freer{f, other, late} {
				mustCheckFreer(t, f)
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				mustCheckFreer(t, f)
			}
			if n := in.Drain(); n != 19 || s.liveCount() != 0 || in.Stats().Stale != uint64(before) {
				t.Errorf("%d before: drained %d of 19, %d live, %+v", before, n, s.liveCount(), in.Stats())
			}
			mustCheck(t, in)
		}
	})
}

// What arrives while Reset runs and is of the new epoch waits on; old batches between new ones
// are taken out of the middle of the list.
func TestReset_OldBatchesAmongNewOnesAreTakenOut(t *testing.T) {
	s := newSlots(t, 100, 16)
	in := newInbox(t, s, 1)
	f, old := in.NewFreer(), in.NewFreer()
	in.begin() // the Freers see the epoch, the owner has not yet looked
	f.FreeAny(mustAlloc(t, s))
	for range 2 {
		old.span.Store(1) // pretends not to have seen it
		old.FreeAny(mustAlloc(t, s))
		f.FreeAny(mustAlloc(t, s))
	}
	in.epoch.Add(^uint32(0)) // and now it looks
	in.Reset()
	mustCheck(t, in)
	if st := in.Stats(); st.Stale != 2 || st.InFlight != 3 {
		t.Errorf("%+v", st)
	}
	if n := in.Drain(); n != 3 || s.liveCount() != 2 {
		t.Errorf("drained %d, %d live", n, s.liveCount())
	}
}

// After a Close that a refusal has ended, Reset drops the rest, and Close has nothing to do.
func TestReset_EndsACloseThatTheTargetRefuses(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 2)
		f := in.NewFreer()
		p := mustAlloc(t, s)
		for range 6 {
			f.FreeAny(p)
		}
		s.reset() // nothing is live: every block will be refused
		memtest.Misuse(t, func() { _ = in.Close() }, "remote.Close", "double free")
		f.FreeAny(p)
		if err := f.Flush(); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("the Freer may push: %v", err)
		}
		in.Reset()
		mustCheck(t, in)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if st := in.Stats(); st.Drained != 1 || st.Stale != 5 || st.Abandoned != 1 || st.InFlight != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// gone is a target whose memory was released.
type gone struct{ *slots }

func (g *gone) FreeAny(p unsafe.Pointer) {
	if g.slots == nil {
		panic(&memory.Misuse{Package: "gone", Op: "FreeAny", Addr: uintptr(p), Reason: "the heap is closed"})
	}
	g.slots.FreeAny(p)
}

func TestInbox_SurvivesATargetThatIsClosed(t *testing.T) {
	s := newSlots(t, 100, 16)
	g := &gone{s}
	in := newInbox(t, g, 4)
	f := in.NewFreer()
	for range 30 {
		f.FreeAny(mustAlloc(t, s))
	}
	g.slots = nil
	for want := uint64(1); want <= 9; want++ {
		memtest.Misuse(t, func() { in.DrainSome(1) }, "remote.DrainSome", "gone.FreeAny", "the heap is closed")
		mustCheck(t, in)
		if st := in.Stats(); st.Drained != want || st.InFlight != 28-want {
			t.Fatalf("after %d refusals: %+v", want, st)
		}
	}
	in.Reset()
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("a Freer that outlives both: %v", err)
	}
	mustCheck(t, in)
}

// Whatever a target panics with: the block counts, and the next drain goes on behind it.
func TestInbox_AnyPanicOfTheTargetLosesNoOtherBlock(t *testing.T) {
	for _, thrown := range []any{errors.New("odd"), "text", &memory.Misuse{Reason: "no"}, memtest.ErrInjected} {
		for batch := 1; batch <= 5; batch++ {
			r := &reentrant{slots: newSlots(t, 10, 16)}
			in := newInbox(t, r, batch)
			f := in.NewFreer()
			for range 10 {
				f.FreeAny(mustAlloc(t, r.slots))
			}
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			drained := 0
			for range 4 {
				r.call = func() { panic(thrown) }
				func() {
					defer func() {
						got := recover()
						if m, ok := got.(*memory.Misuse); got != thrown && (!ok || m.Op != "DrainSome") {
							t.Errorf("recovered %v, want %v", got, thrown)
						}
					}()
					in.DrainSome(2)
				}()
				r.call = nil
				mustCheck(t, in)
				drained += 1 + in.DrainSome(1)
				if st := in.Stats(); int(st.Drained) != drained || r.freed != drained || in.Pending() != (drained < 10) {
					t.Fatalf("%d freed, %d of them known: %+v", r.freed, drained, st)
				}
			}
			in.Drain()
			if err := in.Close(); err != nil || r.liveCount() != 0 {
				t.Errorf("%v, %d live", err, r.liveCount())
			}
		}
	}
}

// Goexit out of FreeAny, as t.FailNow does, is no panic.
func TestInbox_SurvivesGoexitInTheTarget(t *testing.T) {
	r := &reentrant{slots: newSlots(t, 10, 16)}
	in := newInbox(t, r, 2)
	f := in.NewFreer()
	for range 4 {
		f.FreeAny(mustAlloc(t, r.slots))
	}
	r.call = runtime.Goexit
	done := make(chan bool)
	go func() {
		defer close(done)
		in.Drain()
	}()
	<-done
	mustCheck(t, in)
	if n := in.Drain(); n != 3 || r.liveCount() != 0 {
		t.Errorf("drained %d, %d live", n, r.liveCount())
	}
}

// In debug builds the second free of a block is found while the first one waits, and the block
// lives until then: the owner could use it again in between.
func TestInbox_DoubleFreeIsFoundBeforeTheOwnerUsesTheBlockAgain(t *testing.T) {
	if !invariant.Debug {
		t.Skip("other builds do not look: see Inbox")
	}
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 2)
		f, g := in.NewFreer(), in.NewFreer()
		a, b := mustAlloc(t, s), mustAlloc(t, s)
		f.FreeAny(a)
		f.FreeAny(b)
		g.FreeAny(a)
		if err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		memtest.Misuse(t, func() { in.DrainSome(1) }, "remote.DrainSome", fmt.Sprintf("%#x", uintptr(a)), "double free", "given to Freers 2 times")
		if s.liveCount() != 2 {
			t.Errorf("%d blocks are live, want both", s.liveCount())
		}
		mustCheck(t, in)
		in.DrainSome(1)
		f.FreeAny(mustAlloc(t, s))
		f.FreeAny(mustAlloc(t, s)) // one of them a's or b's address: not a double free
		if n := in.Drain(); n != 3 || s.liveCount() != 0 {
			t.Errorf("drained %d, %d live", n, s.liveCount())
		}
		c, d := mustAlloc(t, s), mustAlloc(t, s)
		for _, p := range []unsafe.Pointer{c, c, d, mustAlloc(t, s)} {
			f.FreeAny(p)
		}
		memtest.Misuse(t, func() { in.DrainSome(3) }, fmt.Sprintf("%#x", uintptr(c)), "given to Freers 2 times") // others were drained before it
		if n := in.Drain(); n != 1 || s.liveCount() != 0 {
			t.Errorf("behind the double free: drained %d, %d live", n, s.liveCount())
		}
		f.FreeAny(mustAlloc(t, s))
		f.FreeAny(mustAlloc(t, s))
		s.reset()
		in.Reset() // forgets what waited
		f.FreeAny(mustAlloc(t, s))
		f.FreeAny(mustAlloc(t, s))
		if n := in.Drain(); n != 2 {
			t.Errorf("after Reset: drained %d", n)
		}
	})
}

// The owner resets while workers free blocks of the epoch that it hands them: what it hands
// out after a Reset must all come home, and nothing from before may.
func TestReset_WhileFreersPush(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		const workers, each = 3, 200
		rounds := 300
		if testenv.Brief() {
			rounds = 60
		}
		s := newSlots(t, workers*each, 16)
		in := newInbox(t, target(s), 7)
		for range rounds {
			var wg sync.WaitGroup
			for range workers {
				old := make([]unsafe.Pointer, each)
				for i := range old {
					old[i] = mustAlloc(t, s)
				}
				wg.Go(func() {
					f := in.NewFreer()
					for _, p := range old {
						f.FreeAny(p)
					}
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			in.Drain() // some
			wg.Wait()
			s.reset()
			in.Reset()
			s.freed = 0
			f := make([]*Freer, workers)
			for i := range f {
				f[i] = in.NewFreer()
				for range 5 {
					f[i].FreeAny(mustAlloc(t, s)) // die with the Reset below, unflushed or in flight
				}
			}
			fresh := make(chan unsafe.Pointer, workers*each)
			for i := range f {
				wg.Go(func() {
					for p := range fresh {
						f[i].FreeAny(p)
					}
					if err := f[i].Close(); err != nil {
						t.Error(err)
					}
				})
			}
			s.reset()
			in.Reset()
			for range each {
				fresh <- mustAlloc(t, s)
			}
			close(fresh)
			wg.Wait()
			if n := in.Drain(); n != each || s.liveCount() != 0 {
				t.Fatalf("drained %d of %d, %d live, %+v", n, each, s.liveCount(), in.Stats())
			}
			mustCheck(t, in)
		}
	})
}

// A Reset at the same time as Free: each block is of one epoch, and counted once.
func TestReset_AtAnyMomentCountsEachBlockOnce(t *testing.T) {
	rounds := 2000
	if testenv.Brief() {
		rounds = 200
	}
	s := newSlots(t, 1, 16)
	in := newInbox(t, based{s}, 3)
	p := s.mem.Base
	for range rounds {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				f := in.NewFreer()
				for range 10 {
					f.FreeAny(p)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		for range 3 {
			in.Reset()
			mustCheck(t, in)
			runtime.Gosched()
		}
		wg.Wait()
		in.Reset()
		mustCheck(t, in)
	}
	if st := in.Stats(); st.Pushed != uint64(rounds)*20 || st.Stale != st.Pushed || st.Drained != 0 {
		t.Errorf("%+v", st)
	}
}

// Two batches of blocks of the size of a worker's share: what is freed to it must not wait for
// six more.
func TestFreeSized_LargeBlocksDoNotWait(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		const large = 8 << 20
		s := newSlots(t, 4, large) // a heap of 32 MiB
		in := newInbox(t, target(s), 8)
		f := in.NewFreer()
		for round := range 3 {
			for range 4 {
				f.Free(mustAlloc(t, s), large)
			}
			if _, err := s.Alloc(large, 1); err == nil {
				t.Fatal("the heap is not full")
			}
			if n := in.Drain(); n != 4 || f.Pending() != 0 || s.liveCount() != 0 {
				t.Fatalf("round %d: %d of 4 blocks came home, %d wait in the batch", round, n, f.Pending())
			}
		}
	})
}

func TestFreeSized_PushesAtTheBound(t *testing.T) {
	const bound = 1000
	for _, c := range []struct {
		sizes   []uintptr // 0: by Free
		pending int
	}{
		{[]uintptr{999}, 1},
		{[]uintptr{1000}, 0},
		{[]uintptr{1001}, 0},
		{[]uintptr{^uintptr(0)}, 0},
		{[]uintptr{999, ^uintptr(0)}, 0},
		{[]uintptr{400, 599}, 2},
		{[]uintptr{400, 599, 1}, 0},
		{[]uintptr{400, 0, 0, 600}, 0},
		{[]uintptr{999, 0, 0, 0}, 4},
		{[]uintptr{999, 0, 0, 0, 0}, 0},          // full
		{[]uintptr{10, 10, 10, 10, 980, 989}, 1}, // the fifth fills the batch: its size waits nowhere
		{[]uintptr{1000, 999}, 1},
	} {
		s := newSlots(t, 10, 16)
		in, err := New(s, Config{Batch: 5, Bytes: bound})
		if err != nil {
			t.Fatal(err)
		}
		f := in.NewFreer()
		for _, size := range c.sizes {
			if size == 0 {
				f.FreeAny(mustAlloc(t, s))
			} else {
				f.Free(mustAlloc(t, s), size)
			}
			f.Free(nil, bound)
			mustCheckFreer(t, f)
		}
		if f.Pending() != c.pending {
			t.Errorf("sizes %v: %d pending, want %d", c.sizes, f.Pending(), c.pending)
		}
	}
	if in := newInbox(t, newSlots(t, 1, 16), 0); in.bytes != 64<<10 {
		t.Errorf("the zero Config bounds a batch to %d bytes, want 64 KiB", in.bytes)
	}
}
