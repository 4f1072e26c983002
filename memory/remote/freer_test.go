package remote

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

func TestFreer_PushesWhenTheBatchIsFull(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		for _, batch := range []int{1, 2, 3, 32, 63, 64} {
			s := newSlots(t, 200, 16)
			in := newInbox(t, target(s), batch)
			f := in.NewFreer()
			for i := 1; i <= 3*batch; i++ {
				f.FreeAny(mustAlloc(t, s))
				if f.Pending() != i%batch {
					t.Fatalf("batch %d: %d blocks pending after %d frees", batch, f.Pending(), i)
				}
				if st := in.Stats(); st.InFlight != uint64(i/batch*batch) {
					t.Fatalf("batch %d: after %d frees: %+v", batch, i, st)
				}
			}
			mustCheck(t, in)
			if n := in.Drain(); n != 3*batch || s.liveCount() != 0 || in.Stats().Batches != 3 {
				t.Errorf("batch %d: drained %d of %d, %d live", batch, n, 3*batch, s.liveCount())
			}
			mustCheck(t, in)
		}
	})
}

func TestFreer_FlushPushesWhatHasGathered(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 0)
		f := in.NewFreer()
		f.FreeAny(mustAlloc(t, s))
		if in.Pending() || in.Drain() != 0 {
			t.Error("a block arrived before Flush")
		}
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		if !in.Pending() || f.Pending() != 0 {
			t.Error("Flush pushed nothing")
		}
		if err := f.Flush(); err != nil {
			t.Errorf("an empty Flush: %v", err)
		}
		if in.Drain() != 1 || in.Pending() || s.liveCount() != 0 || in.Stats().Batches != 1 {
			t.Error("the block was not freed")
		}
	})
}

func TestFreer_NilIsANoOp(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 10, 16)
		in := newInbox(t, target(s), 1)
		f := in.NewFreer()
		f.FreeAny(nil)
		if f.Pending() != 0 || in.Pending() {
			t.Error("nil was passed on")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f.FreeAny(nil)
	})
}

// What lies outside the range of a target never reaches the owner: the culprit's own call panics.
func TestFreer_ForeignPointerIsRefusedAtOnce(t *testing.T) {
	s, other := newSlots(t, 10, 16), newSlots(t, 10, 16)
	for _, batch := range []int{1, 32} {
		in := newInbox(t, based{s}, batch)
		f := in.NewFreer()
		for _, p := range []unsafe.Pointer{mustAlloc(t, other), unsafe.Add(s.mem.Base, s.mem.Size), unsafe.Pointer(s)} {
			memtest.Misuse(t, func() { f.FreeAny(p) }, "remote.Free", fmt.Sprintf("%#x", uintptr(p)), "outside the target's memory")
		}
		f.FreeAny(unsafe.Add(s.mem.Base, s.mem.Size-1)) // in the range: the target's to refuse
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		memtest.Misuse(t, func() { in.Drain() }, "remote.Drain", "not a block")
		mustCheck(t, in)
	}
}

func TestFreer_ClosesFirst(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 100, 16)
		in := newInbox(t, target(s), 4)
		f := in.NewFreer()
		for range 6 {
			f.FreeAny(mustAlloc(t, s))
		}
		if err := f.Close(); err != nil || f.Pending() != 0 {
			t.Fatalf("Close: %v, %d pending", err, f.Pending())
		}
		mustCheck(t, in)
		if n := in.Drain(); n != 6 || s.liveCount() != 0 {
			t.Errorf("drained %d, %d live", n, s.liveCount())
		}
		p := mustAlloc(t, s)
		memtest.Misuse(t, func() { f.FreeAny(p) }, "remote.Free", "Freer is closed")
		memtest.Misuse(t, func() { _ = f.Flush() }, "remote.Flush", "Freer is closed")
	})
}

// A Freer that was forgotten keeps what it never flushed, and hinders nobody.
func TestFreer_DiesWithAnUnflushedBatch(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 100, 16)
		in := newInbox(t, target(s), 4)
		func() {
			f := in.NewFreer()
			for range 5 {
				f.FreeAny(mustAlloc(t, s))
			}
		}()
		if err := in.Close(); err != nil || s.liveCount() != 1 {
			t.Errorf("Close: %v, %d live, want 1", err, s.liveCount())
		}
	})
}

func TestFreer_ShortLivedOnesShareAHome(t *testing.T) {
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		s := newSlots(t, 100, 16)
		in := newInbox(t, target(s), 4)
		for range 50 {
			f := in.NewFreer()
			for range 10 {
				f.FreeAny(mustAlloc(t, s))
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			mustCheck(t, in)
			if in.Drain() != 10 {
				t.Fatal("blocks are missing")
			}
		}
		if n := in.homes[0].made.Load(); len(in.homes) != 1 || n > 4 {
			t.Errorf("50 Freers one after the other left %d homes and %d batches", len(in.homes), n)
		}
		if st := in.Stats(); st.Freers != 0 || st.Pushed != 500 || st.Books == 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestFreer_CloseKeepsTheBatchesInHand(t *testing.T) {
	s := newSlots(t, 100, 16)
	in := newInbox(t, based{s}, 4)
	for range 50 {
		f := in.NewFreer()
		for _, n := range []int{12, 4} { // after the drain, one batch of three comes into use
			for range n {
				f.FreeAny(mustAlloc(t, s))
			}
			in.Drain()
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := in.homes[0].made.Load(); n != 4 {
		t.Errorf("%d batches were made, want 4", n)
	}
}

// A Freer that is dropped may go: without a base its batch points at blocks that may be gone.
func TestFreer_DroppedOneIsCollected(t *testing.T) {
	s := newSlots(t, 10, 16)
	in := newInbox(t, s, 4)
	func() { in.NewFreer().FreeAny(mustAlloc(t, s)) }()
	for range 10 {
		if runtime.GC(); in.homes[0].user.Value() == nil {
			in.Reset() // finds nobody
			mustCheck(t, in)
			return
		}
	}
	t.Error("the inbox holds a Freer that nobody else knows")
}

func TestNewFreer_CostsSixGoAllocations(t *testing.T) {
	in := newInbox(t, newSlots(t, 1, 16), 0)
	in.homes = make([]*home, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { in.NewFreer() }); n > 6 {
		t.Errorf("a Freer costs %v Go allocations", n)
	}
	closed := in.NewFreer()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = in.NewFreer().Close() }); n > 2 {
		t.Errorf("a Freer in the home of another costs %v Go allocations", n)
	}
}
