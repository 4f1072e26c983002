package engine

import (
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestCancelLevel_WaitsForTheWorkerAndFreesEverything(t *testing.T) {
	for _, reads := range []bool{false, true} {
		g := newGate(gallery(t), reads)
		r := newRig(t, g, 2, 0)
		var assets []PictureAsset
		for c := 'a'; c <= 'h'; c++ {
			assets = append(assets, r.picture(t, string(c), 0))
		}
		<-g.entered
		<-g.entered // both workers are inside the file system
		r.BeginCancel()
		r.wantState(t, assets[0].Asset, Cancelled)
		r.wantState(t, assets[7].Asset, Cancelled)
		if r.CancelDone() {
			t.Error("done while two workers are inside")
		}
		done := make(chan bool)
		go func() { r.CancelLevel(); done <- true }()
		select {
		case <-done:
			t.Error("CancelLevel did not wait")
		case <-time.After(20 * time.Millisecond):
		}
		close(g.pass)
		<-done
		r.noLeaks(t)
		for _, a := range assets {
			r.wantState(t, a.Asset, Vacant) // stale
			if err := r.Err(a.Asset); err != ErrStale {
				t.Error(err)
			}
		}
		if s := r.Stats(); s.Cancels != 8 || s.Uploads != 0 || s.Counts[Vacant] != defaultAssets {
			t.Errorf("stats %+v", s)
		}
	}
}

func TestCancelLevel_SendsReadyPicturesHome(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	for r.Stats().Counts[Ready] < 8 {
		time.Sleep(time.Millisecond)
	}
	r.CancelLevel()
	r.noLeaks(t)
	if n := r.Upload(Budget{}, func(Picture) error { return nil }); n != 0 {
		t.Errorf("%d pictures of the old level", n)
	}
}

func TestCancelLevel_LeavesTheGameScopeAlone(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	keep, err := r.RequestPicture(ScopeGame, "a", "art/a.png", 0)
	if err != nil {
		t.Fatal(err)
	}
	r.picture(t, "b", 1)
	r.CancelLevel()
	r.settle()
	r.wantState(t, keep.Asset, Uploaded)
	r.CancelLevel()
	r.wantState(t, keep.Asset, Uploaded)
}

func TestBeginCancel_NextLevelMayBeRequestedBeforeItIsDone(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	old := r.picture(t, "a", 0)
	<-g.entered
	r.BeginCancel()
	fresh := r.picture(t, "a", 0)
	if p := r.Progress(ScopeLevel); p != (Progress{Total: 1}) {
		t.Errorf("progress %+v counts the old level", p)
	}
	close(g.pass)
	r.settle()
	if !r.CancelDone() {
		t.Error("not done when everything has settled")
	}
	r.wantState(t, old.Asset, Vacant)
	r.wantState(t, fresh.Asset, Uploaded)
}

func TestCancelLevel_FromInsideTheSink(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	a := r.picture(t, "a", 1)
	r.picture(t, "b", 0)
	r.Wait()
	n := r.Upload(Budget{}, func(p Picture) error {
		r.CancelLevel()
		p.Pixels[0] = 1 // still ours
		return nil
	})
	if n != 1 {
		t.Errorf("%d pictures, want 1", n)
	}
	r.wantState(t, a.Asset, Vacant)
	r.noLeaks(t)
}

func TestCancelLevel_DrainComesOncePerWorkerAfterTheBlocksWentHome(t *testing.T) {
	var drained [2]atomic.Int32
	var r *rig
	r = newRig(t, gallery(t), 2, 0, func(c *LoaderConfig) {
		c.Drain = func(w int) {
			drained[w].Add(1)
			if n := r.heaps[w].blocks(); n != 0 {
				t.Errorf("worker %d drains while %d of its blocks are out", w, n)
			}
		}
	})
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	r.Wait()
	r.CancelLevel()
	if a, b := drained[0].Load(), drained[1].Load(); a != 1 || b != 1 {
		t.Errorf("drained %d and %d times, want once each", a, b)
	}
}

func TestClose_WhileWorkersAreBusy(t *testing.T) {
	g := newGate(gallery(t), true)
	r := newRig(t, g, 2, 0)
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	keep, _ := r.RequestPicture(ScopeGame, "keep", "art/a.png", 9)
	<-g.entered
	go func() { time.Sleep(5 * time.Millisecond); close(g.pass) }()
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.noLeaks(t)
	}
	r.wantState(t, keep.Asset, Vacant)
	r.CancelLevel() // and everything else still answers
	r.Wait()
	if n := r.Upload(Budget{}, func(Picture) error { return nil }); n != 0 || !r.CancelDone() {
		t.Errorf("%d pictures after Close", n)
	}
}

func TestRetire_WornOutPlaceIsNeverUsedAgain(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *LoaderConfig) { c.Assets = 1 })
	r.entries[0].gen = 1<<32 - 2
	last := r.picture(t, "a", 0)
	r.settle()
	r.CancelLevel()
	r.wantState(t, last.Asset, Vacant)
	if _, err := r.RequestPicture(ScopeLevel, "a", "art/a.png", 0); err != ErrLoaderFull {
		t.Errorf("the place was used again: %v", err)
	}
}

// Levels come and go while workers are anywhere in their work.
func TestLoader_ManyLevels(t *testing.T) {
	r := newRig(t, gallery(t), 3, 4096)
	rnd := NewRand(1, 1)
	for level := range 200 {
		for c := 'a'; c <= 'h'; c++ {
			r.picture(t, string(c), rnd.Intn(3))
		}
		for range rnd.Intn(6) {
			if rnd.Chance(0.5) {
				r.Wait()
			}
			r.Upload(Budget{Bytes: 2048}, func(Picture) error { return nil })
		}
		if level%2 == 0 {
			r.CancelLevel()
			r.noLeaks(t)
		} else {
			r.BeginCancel()
			for !r.CancelDone() {
				r.Wait()
			}
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if s := r.Stats(); s.Failures != 0 || s.Requests != 1600 {
		t.Errorf("stats %+v, errors %v", s, r.Errors())
	}
}

func TestLoader_SettleDrainsEveryWorkerAndCancelsNothing(t *testing.T) {
	var drained [2]atomic.Int32
	heaps := [2]*testHeap{newHeap(0), newHeap(0)}
	l, err := NewLoader(LoaderConfig{
		FS: fstest.MapFS{"a": {Data: []byte("a")}}, Workers: 2,
		Heap:  func(w int) memory.Allocator { return heaps[w] },
		Free:  func(unsafe.Pointer, uintptr) {},
		Drain: func(w int) { drained[w].Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.RequestFile(ScopeLevel, "a", "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Settle()
	for deadline := time.Now().Add(5 * time.Second); drained[0].Load() == 0 || drained[1].Load() == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("drained %d and %d times", drained[0].Load(), drained[1].Load())
		}
		time.Sleep(time.Millisecond)
	}
	if s := l.Stats(); s.Cancels != 0 {
		t.Errorf("Settle cancelled %d assets", s.Cancels)
	}
	if _, ok := l.State(f.Asset); !ok {
		t.Error("the asset is stale")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	l.Settle() // after Close: nothing happens
}
