package engine

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// A hang is a call that does not return until the test lets it go.
type hang struct {
	entered chan struct{}
	pass    chan struct{}
}

func newHang() *hang { return &hang{make(chan struct{}, 100), make(chan struct{})} }

func (h *hang) wait() { h.entered <- struct{}{}; <-h.pass }

// hanging is a gallery whose file a hangs in one call.
func hanging(t testing.TB, call string, h *hang) *hostile {
	evil := &hostile{FS: gallery(t), evil: "art/a.png"}
	switch call {
	case "Open":
		evil.open = func() (fs.File, error) { h.wait(); return evil.FS.Open("art/b.png") }
	case "Stat":
		evil.stat = func(i fs.FileInfo) (fs.FileInfo, error) { h.wait(); return i, nil }
	case "Read":
		evil.read = func(f fs.File, p []byte) (int, error) { h.wait(); return f.Read(p) }
	case "Close":
		evil.shut = func() error { h.wait(); return nil }
	}
	return evil
}

func impatient(d time.Duration) func(*LoaderConfig) { return func(c *LoaderConfig) { c.Patience = d } }

func TestLoader_ACallThatHangsFailsItsFileAndCostsOneWorker(t *testing.T) {
	for _, call := range []string{"Open", "Stat", "Read", "Close"} {
		h := newHang()
		r := newOpenRig(t, hanging(t, call, h), 2, impatient(50*time.Millisecond))
		a := r.picture(t, "a", 1)
		<-h.entered
		within(t, soon, "loading beside a hanging "+call, func() {
			for _, id := range strings.Split("bcdefgh", "") {
				r.picture(t, id, 0)
			}
			r.settle()
			r.CancelLevel()
		})
		names := r.Errors()
		if len(names) != 1 || !errors.Is(names[0], ErrHangs) || !strings.Contains(names[0].Error(), `asset "a": reading art/a.png: engine: the file system does not answer: `+call+" did not return within") {
			t.Errorf("%s: %v", call, names)
		}
		r.wantState(t, a.Asset, Vacant)
		held := r.Stats().Staging
		if s := r.Stats(); s.Abandoned != 1 || s.Busy != 0 || (held > 0) != (call == "Read" || call == "Close") {
			t.Errorf("%s: %+v", call, s)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		var err error
		within(t, soon, "Close beside a hanging "+call, func() { err = r.Close() })
		if !errors.Is(err, ErrHangs) || !strings.Contains(err.Error(), "art/a.png") || !strings.Contains(err.Error(), "and its heap are given up") {
			t.Errorf("%s: Close: %v", call, err)
		}
		r.untouchedBy(t, func() { close(h.pass) })
		if s := r.Stats(); s.Staging != held {
			t.Errorf("%s: %d bytes staged in the end, %d before", call, s.Staging, held)
		}
	}
}

// untouchedBy lets hanging calls go, and fails where their goroutines then touch a heap.
func (r *rig) untouchedBy(t testing.TB, release func()) {
	t.Helper()
	before := 0
	for _, h := range r.heaps {
		before += h.blocks() + h.total
		h.fail = errors.New("touched") // also a write for the race detector
	}
	release()
	time.Sleep(20 * time.Millisecond)
	for _, h := range r.heaps {
		before -= h.blocks() + h.total
		if h.fail == nil {
			t.Error("a heap was asked after its loader was closed")
		}
	}
	if before != 0 {
		t.Error("a heap was touched after its loader was closed")
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestClose_EndsThoughEveryWorkerHangs(t *testing.T) {
	for name, first := range map[string]func(*rig){
		"at once": func(*rig) {}, "half cancelled": func(r *rig) { r.BeginCancel() },
	} {
		g := newGate(gallery(t), true)
		r := newOpenRig(t, g, 2, impatient(100*time.Millisecond))
		r.picture(t, "a", 0)
		r.pictureOf(t, ScopeGame, "b", 0)
		<-g.entered
		<-g.entered
		first(r)
		var err error
		within(t, soon, "Close, "+name, func() { err = r.Close() })
		if !errors.Is(err, ErrHangs) || !strings.Contains(err.Error(), "art/a.png") || !strings.Contains(err.Error(), "art/b.png") {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if s := r.Stats(); s.Abandoned != 2 || s.Staging != 2*uint64(len(gallery(t)["art/a.png"].Data)) || s.Counts[Vacant] != defaultAssets {
			t.Errorf("%s: %+v", name, s)
		}
		r.untouchedBy(t, func() { close(g.pass) })
	}
}

// With the patience that is the default, Close waits for its own.
func TestClose_DoesNotWaitForThePatienceOfTheLoader(t *testing.T) {
	h := newHang()
	r := newOpenRig(t, hanging(t, "Open", h), 1, impatient(time.Hour))
	r.picture(t, "a", 0)
	<-h.entered
	began := time.Now()
	var err error
	within(t, soon, "Close", func() { err = r.Close() })
	if took := time.Since(began); !errors.Is(err, ErrHangs) || took < closePatience {
		t.Errorf("%v after %v", err, took)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

func TestLoader_WithoutWorkersEverythingFails(t *testing.T) {
	g := newGate(world(t), false)
	r := newOpenRig(t, g, 1, impatient(50*time.Millisecond))
	f := flowOver(t, r, FlowConfig[*testLevel]{})
	a, b := r.pictureOf(t, ScopeGame, "a", 1), r.pictureOf(t, ScopeGame, "b", 0)
	<-g.entered
	within(t, soon, "a level without workers", func() {
		f.Go("first")
		if err := f.Finish(); !errors.Is(err, ErrNoWorkers) || f.Phase() != Broken {
			t.Errorf("%v, %v", f.Phase(), err)
		}
		f.Go("second")
		if err := f.Finish(); !errors.Is(err, ErrNoWorkers) || f.Phase() != Broken {
			t.Errorf("%v, %v", f.Phase(), err)
		}
	})
	if err := r.Err(a.Asset); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	if err := r.Err(b.Asset); !errors.Is(err, ErrNoWorkers) || !strings.Contains(err.Error(), "art/b.png") {
		t.Error(err)
	}
	if err := errors.Join(r.Check(), r.Close()); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(g.pass) })
}

func TestFlow_LeavesALevelThatHangs(t *testing.T) {
	h := newHang()
	evil := &hostile{FS: world(t), evil: "art/a.png", open: func() (fs.File, error) { h.wait(); return nil, fs.ErrNotExist }}
	r := newOpenRig(t, evil, 2, impatient(50*time.Millisecond))
	f := flowOver(t, r, FlowConfig[*testLevel]{})
	within(t, soon, "leaving a level that hangs", func() {
		f.Go("first")
		<-func() chan struct{} {
			for len(h.entered) == 0 {
				f.Update()
			}
			return h.entered
		}()
		f.Go("second")
		if err := f.Finish(); err != nil || f.Level().Name != "second" {
			t.Error(err)
		}
	})
	if err := r.Close(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

// A process that stood still, as in a debugger, is not the file system's fault.
func TestLoader_AWatchdogThatStoodStillItselfWaitsAnew(t *testing.T) {
	h := newHang()
	r := newRig(t, hanging(t, "Read", h), 1, 0, impatient(time.Hour))
	a := r.picture(t, "a", 0)
	<-h.entered
	w := r.workers[0]
	r.mu.Lock()
	w.deadline = time.Now().Add(-2 * stoodStill)
	r.mu.Unlock()
	w.expire()
	r.wantState(t, a.Asset, Reading)
	close(h.pass)
	within(t, soon, "loading", func() { r.settle() })
	r.wantState(t, a.Asset, Uploaded)
}
