package remote

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A round trip: the owner allocates and stamps, freers verify the stamp and free, and each
// side goes at its own pace. slots finds a block freed twice, liveCount one that was lost.
func roundTrip(t *testing.T, target func(*slots) Target, freers, blocks, batch int, drain func(*Inbox)) {
	s := newSlots(t, 5000, 16)
	in := newInbox(t, target(s), batch)
	var wg sync.WaitGroup
	chans := make([]chan []unsafe.Pointer, freers)
	for i := range chans {
		chans[i] = make(chan []unsafe.Pointer, 4)
		wg.Go(func() { freeAll(t, in.NewFreer(), chans[i]) })
	}
	for n := 0; n < blocks; {
		var run []unsafe.Pointer
		for len(run) < 100 {
			p, err := s.Alloc(16, 16)
			if err != nil {
				break
			}
			*(*uint64)(p) = uint64(uintptr(p)) ^ 0x5EED
			run = append(run, p)
		}
		if len(run) == 0 { // all in flight, or unflushed at the freers
			runtime.Gosched()
		}
		drain(in)
		select {
		case chans[n%freers] <- run:
			n += len(run)
		default: // that freer is busy: take the blocks back
			for _, p := range run {
				s.FreeAny(p)
				s.freed--
			}
			runtime.Gosched()
		}
		if n%10_000 == 0 {
			mustCheck(t, in)
		}
	}
	for _, c := range chans {
		close(c)
	}
	wg.Wait()
	mustCheck(t, in)
	if st := in.Stats(); st.InFlight != st.Pushed-uint64(s.freed) || st.Freers != 0 {
		t.Errorf("%d freed, %+v", s.freed, st)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if st := in.Stats(); s.liveCount() != 0 || st.Drained != uint64(s.freed) || st.InFlight != 0 {
		t.Errorf("%d blocks live at the end, %d freed, %+v", s.liveCount(), s.freed, st)
	}
}

// freeAll verifies and frees what arrives; it flushes so that the owner never starves.
func freeAll(t *testing.T, f *Freer, c <-chan []unsafe.Pointer) {
	for run := range c {
		for _, p := range run {
			if *(*uint64)(p) != uint64(uintptr(p))^0x5EED {
				t.Errorf("block %p was overwritten while live", p)
			}
			*(*uint64)(p) = 0 // a write that must happen before the owner's next
			f.FreeAny(p)
		}
		if err := f.Flush(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestInbox_NothingIsLostOrDuplicated(t *testing.T) {
	blocks := 1_000_000
	if testenv.Brief() {
		blocks = 50_000
	}
	eachKind(t, func(t *testing.T, target func(*slots) Target) {
		for _, freers := range []int{1, 2, 4, 8} {
			t.Run(fmt.Sprintf("freers=%d", freers), func(t *testing.T) {
				roundTrip(t, target, freers, blocks, 0, func(in *Inbox) { in.Drain() })
			})
		}
	})
}

func TestInbox_DrainSomeWhileFreersPush(t *testing.T) {
	n := 0
	roundTrip(t, kinds["offsets"], 3, 100_000, 7, func(in *Inbox) {
		n = (n + 1) % 300
		in.DrainSome(n)
	})
}

func TestInbox_StatsWhileEverybodyWorks(t *testing.T) {
	var watch sync.WaitGroup
	stop := make(chan struct{})
	started := false
	roundTrip(t, kinds["pointers"], 2, 50_000, 0, func(in *Inbox) {
		if !started {
			started = true
			watch.Go(func() { watchStats(t, in, stop) })
		}
		in.Drain()
	})
	close(stop)
	watch.Wait()
}

func watchStats(t *testing.T, in *Inbox, stop <-chan struct{}) {
	var last Stats
	for {
		s := in.Stats()
		late := in.Stats().Drained - s.Drained // may have been drained while s was taken
		if s.Pushed != s.Drained+s.InFlight || s.InFlight > 5000+late || s.Pushed < last.Pushed || s.Drained < last.Drained {
			t.Errorf("%+v after %+v", s, last)
			return
		}
		last = s
		select {
		case <-stop:
			return
		default:
			runtime.Gosched()
		}
	}
}

// The owner closes in the middle: each block is freed, or abandoned and reported, never both.
func TestInbox_CloseWhileFreersPush(t *testing.T) {
	const freers, each = 4, 2000
	for deadline := time.Now().Add(time.Second / 2); time.Now().Before(deadline) && !t.Failed(); {
		s := newSlots(t, freers*each, 16)
		in := newInbox(t, based{s}, 5)
		blocks := make([]unsafe.Pointer, freers*each)
		for i := range blocks {
			blocks[i] = mustAlloc(t, s)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		reported := 0
		for i := range freers {
			wg.Go(func() {
				f := in.NewFreer()
				for _, p := range blocks[i*each : (i+1)*each] {
					f.FreeAny(p)
				}
				if err := f.Close(); errors.Is(err, memory.ErrClosed) {
					mu.Lock()
					reported++
					mu.Unlock()
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		for s.freed < each {
			in.DrainSome(300)
			runtime.Gosched()
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		atClose := s.freed
		wg.Wait()
		st := in.Stats()
		if s.freed != atClose || st.Drained != uint64(atClose) || st.Drained+st.Abandoned != freers*each || st.InFlight != 0 {
			t.Errorf("freed %d, %d at Close, %+v", s.freed, atClose, st)
		}
		if (reported > 0) != (st.Abandoned > 0) || s.liveCount() != int(st.Abandoned) {
			t.Errorf("%d Freers reported %d abandoned blocks, %d are live", reported, st.Abandoned, s.liveCount())
		}
	}
}

// Freers come and go while the owner drains: homes change hands with batches still away.
func TestInbox_FreersComeAndGo(t *testing.T) {
	const workers, each = 4, 20_000
	s := newSlots(t, workers*each, 16)
	in := newInbox(t, based{s}, 3)
	blocks := make([]unsafe.Pointer, workers*each)
	for i := range blocks {
		blocks[i] = mustAlloc(t, s)
	}
	var wg sync.WaitGroup
	for i := range workers {
		mine := blocks[i*each : (i+1)*each]
		wg.Go(func() {
			for len(mine) > 0 {
				f := in.NewFreer()
				k := min(len(mine), 1+len(mine)%20)
				for _, p := range mine[:k] {
					f.FreeAny(p)
				}
				mine = mine[k:]
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for s.freed < len(blocks) {
		if in.Drain() == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
	mustCheck(t, in)
	if len(in.homes) > workers || s.liveCount() != 0 {
		t.Errorf("%d homes for %d workers, %d live", len(in.homes), workers, s.liveCount())
	}
}
