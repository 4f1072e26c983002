package engine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// panics calls f and returns what it panicked with.
func panics(t testing.TB, f func()) (v any) {
	t.Helper()
	defer func() {
		if v = recover(); v == nil {
			t.Error("no panic came through")
		}
	}()
	f()
	return nil
}

func TestUpload_ASinkThatPanicsFailsItsPictureAndTheRestGoesOn(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	a, b := r.picture(t, "a", 1), r.picture(t, "b", 0)
	for r.Stats().Counts[Ready] < 2 {
		r.Wait()
	}
	if v := panics(t, func() { r.Upload(Budget{}, func(Picture) error { panic("no atlas") }) }); v != "no atlas" {
		t.Errorf("panicked with %v", v)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	r.wantState(t, a.Asset, Failed)
	r.wantState(t, b.Asset, Ready)
	if err := r.Err(a.Asset); err == nil || err.Error() != `engine: asset "a": handing over art/a.png: the sink panicked` {
		t.Error(err)
	}
	if ids := r.settle(); !slices.Equal(ids, []string{"b"}) {
		t.Errorf("uploaded %v", ids)
	}
	if p := r.Progress(ScopeLevel); p != (Progress{Done: 2, Failed: 1, Total: 2}) {
		t.Errorf("progress %+v", p)
	}
	r.noLeaks(t)
}

func TestTake_AUseThatPanicsFailsItsFile(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	a, err := r.RequestFile(ScopeLevel, "a", "art/a.png", 0)
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	panics(t, func() { _ = r.Take(a, func(File) error { panic("parse") }) })
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	r.wantState(t, a.Asset, Failed)
	if err := r.Take(a, nil); err == nil || err.Error() != `engine: asset "a": handing over art/a.png: the function that took it panicked` {
		t.Error(err)
	}
	r.noLeaks(t)
}

func TestLoader_CheckNamesAnAssetThatNobodyWillFinish(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	a := r.picture(t, "a", 0)
	r.Wait()
	r.Upload(Budget{}, func(Picture) error { return nil })
	r.set(a.index, Ready)
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "1 assets are ready and without their blocks, and 0 blocks are on their way") {
		t.Error(err)
	}
	r.set(a.index, Uploaded)
}

// refusing is a rig over a heap that panics with a *memory.Misuse in its nth Free, n from 1,
// and in as many after it.
func refusing(t testing.TB, n, times int) (*rig, *memory.Misuse) {
	m := &memory.Misuse{Package: "test", Op: "Free", Reason: "not now"}
	var r *rig
	r = newRig(t, world(t), 1, 0, func(c *LoaderConfig) {
		c.Free = func(p unsafe.Pointer, size uintptr) {
			if n--; n <= 0 && n > -times {
				panic(m)
			}
			r.home(p, size)
		}
	})
	return r, m
}

func TestUpload_ABlockThatFreeRefusesIsKeptAndSentAgain(t *testing.T) {
	r, m := refusing(t, 1, 1)
	a, b := r.picture(t, "a", 1), r.picture(t, "b", 0)
	for r.Stats().Counts[Ready] < 2 {
		r.Wait()
	}
	ok := func(Picture) error { return nil }
	if v := panics(t, func() { r.Upload(Budget{}, ok) }); v != m {
		t.Errorf("panicked with %v", v)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if s := r.Stats().Staging; s != 2048 {
		t.Errorf("%d bytes staged; the refused block and the one that is ready are 2048", s)
	}
	if n := r.Upload(Budget{}, ok); n != 1 {
		t.Errorf("%d uploads after it, want 1", n)
	}
	r.wantState(t, a.Asset, Uploaded)
	r.wantState(t, b.Asset, Uploaded)
	within(t, soon, "CancelLevel", r.CancelLevel)
	r.noLeaks(t)
}

func TestBeginCancel_IsDoneThoughFreePanics(t *testing.T) {
	r, m := refusing(t, 2, 1)
	for _, id := range strings.Split("abcd", "") {
		r.picture(t, id, 0)
	}
	for r.Stats().Counts[Ready] < 4 {
		r.Wait()
	}
	if v := panics(t, r.CancelLevel); v != m {
		t.Errorf("panicked with %v, want %v", v, m)
	}
	if s := r.Stats().Staging; s != 1024 {
		t.Errorf("%d bytes staged; the refused block is 1024", s)
	}
	within(t, soon, "the rest of the cancellation", func() {
		for !r.CancelDone() {
			r.Wait()
		}
	})
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if c := r.Stats().Counts; c[Vacant] != defaultAssets {
		t.Errorf("%v", c)
	}
	r.CancelLevel()
	r.noLeaks(t)
}

func TestClose_NamesTheBlocksThatFreeRefused(t *testing.T) {
	r, _ := refusing(t, 1, 2)
	heap := r.heaps[0]
	r.picture(t, "a", 0)
	r.Wait()
	panics(t, func() { r.Upload(Budget{}, func(Picture) error { return nil }) })
	var err error
	within(t, soon, "Close", func() { err = r.Close() })
	var m *memory.Misuse
	if err == nil || !strings.Contains(err.Error(), "engine: close: 1 blocks are not home: LoaderConfig.Free panicked: test.Free: not now") || !errors.As(err, &m) {
		t.Error(err)
	}
	if err := errors.Join(r.Check(), r.Close()); err != nil {
		t.Error(err)
	}
	if s := r.Stats().Staging; s != 1024 || heap.blocks() != 1 {
		t.Errorf("%d bytes staged, %d blocks out", s, heap.blocks())
	}
	for p, size := range heap.live { // for the end of the test
		heap.Free(p, size)
	}
	r.stats.Staging = 0
	r.strays = nil
}

// Free may end its goroutine, as t.FailNow does: the game goes on with another one.
func TestBeginCancel_IsDoneThoughFreeEndsTheGoroutine(t *testing.T) {
	r := exiting(t)
	within(t, soon, "CancelLevel", r.CancelLevel)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if s := r.Stats().Staging; s != 1024 {
		t.Errorf("%d bytes staged; the block that was not sent is 1024", s)
	}
	within(t, soon, "the second CancelLevel", r.CancelLevel)
	if c := r.Stats().Counts; c[Vacant] != defaultAssets {
		t.Errorf("%v", c)
	}
	r.noLeaks(t)
}

func TestClose_GoesOnWhereFreeEndedTheGoroutine(t *testing.T) {
	r := exiting(t)
	within(t, soon, "Close", func() { _ = r.Close() })
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	var err error
	within(t, soon, "the second Close", func() { err = r.Close() })
	if err == nil || err.Error() != "engine: close: 1 blocks are not home: "+errGoexit.Error() {
		t.Error(err)
	}
	if err := errors.Join(r.Check(), r.Close()); err != nil {
		t.Error(err)
	}
	if c := r.Stats().Counts; c[Vacant] != defaultAssets || r.heaps[0].blocks() != 1 {
		t.Errorf("%v, %d blocks out", c, r.heaps[0].blocks())
	}
	for p, size := range r.heaps[0].live { // for the end of the test
		r.heaps[0].Free(p, size)
	}
	r.stats.Staging = 0
	r.strays = nil
}

// exiting is a rig with three pictures ready, whose next Free ends its goroutine.
func exiting(t testing.TB) *rig {
	armed := true
	var r *rig
	r = newRig(t, gallery(t), 1, 0, func(c *LoaderConfig) {
		c.Free = func(p unsafe.Pointer, size uintptr) {
			if armed {
				armed = false
				runtime.Goexit()
			}
			r.home(p, size)
		}
	})
	for _, id := range strings.Split("abc", "") {
		r.picture(t, id, 0)
	}
	for r.Stats().Counts[Ready] < 3 {
		r.Wait()
	}
	return r
}

// Every call that a worker makes and that is not ours panics once, each in its own run: the
// level starts, and what failed is named.
func TestLoader_AWorkersCallsMayPanic(t *testing.T) {
	for name, c := range map[string]struct {
		arm  func(*rig)
		want string
	}{
		"alloc of a file":     {func(r *rig) { r.alarmOnce("alloc", 1) }, "reading panicked: alloc"},
		"alloc of pixels":     {func(r *rig) { r.alarmOnce("alloc", 2) }, "decoding panicked: alloc"},
		"free of the file":    {func(r *rig) { r.alarmOnce("free", 1) }, "the worker's heap panicked: free"},
		"Drain":               {func(r *rig) { r.Settle() }, "engine: worker 0: Drain panicked: drain"},
		"an alloc that fails": {func(r *rig) { r.heaps[0].fail = errors.New("other") }, "other"},
		"Drain in an asset":   {func(r *rig) { r.BeginCancel() }, "Drain panicked: drain"},
	} {
		t.Run(name, func(t *testing.T) {
			drained := false
			r := newOpenRig(t, gallery(t), 1, func(c *LoaderConfig) {
				c.Drain = func(int) {
					if !drained && strings.HasPrefix(name, "Drain") {
						drained = true
						panic("drain")
					}
				}
			})
			c.arm(r)
			for _, id := range strings.Split("abc", "") {
				r.picture(t, id, 0)
			}
			within(t, soon, "loading", func() {
				r.settle()
				for !r.CancelDone() {
					r.Wait()
				}
			})
			if errs := r.Errors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), c.want) {
				t.Errorf("errors %v; want %q", errs, c.want)
			}
			if p := r.Progress(ScopeLevel); p.Done != 3 {
				t.Errorf("progress %+v", p)
			}
			within(t, soon, "CancelLevel and Close", func() {
				r.CancelLevel()
				if err := errors.Join(r.Check(), r.Close(), r.Check()); err != nil {
					t.Error(err)
				}
			})
			kept := 0
			if name == "free of the file" {
				kept = 1 // refused by its own heap: counted as staged
			}
			if n := r.heaps[0].blocks(); n != kept || (r.Stats().Staging > 0) != (kept > 0) {
				t.Errorf("%d blocks out, %d bytes staged", n, r.Stats().Staging)
			}
		})
	}
}

// alarmOnce has the nth call of op panic.
func (r *rig) alarmOnce(op string, n int) {
	r.heaps[0].alarm = func(o string, _ uintptr) {
		if o == op {
			if n--; n == 0 {
				panic(op)
			}
		}
	}
}

// A panic is injected at each callback of a flow; whoever recovers plays on.
func TestFlow_PlaysOnAfterAPanicOfEachCallback(t *testing.T) {
	for at, want := range map[string]string{
		"sink": "", "free": "",
		"path":  `engine: looking for level "first": it panicked`,
		"enter": `engine: entering level "first": it panicked`,
		"leave": `engine: leaving for level "second": it panicked`,
	} {
		t.Run(at, func(t *testing.T) {
			armed := at
			alarm := func(here string) {
				if armed == here {
					armed = ""
					panic(&memory.Misuse{Package: "test", Op: here, Reason: "injected"})
				}
			}
			var r *rig
			r = newRig(t, world(t), 1, 0, func(c *LoaderConfig) {
				c.Free = func(p unsafe.Pointer, size uintptr) { alarm("free"); r.home(p, size) }
			})
			var entered []string
			f := flowOver(t, r, FlowConfig[*testLevel]{
				Sink:  func(Picture) error { alarm("sink"); return nil },
				Path:  func(name string) string { alarm("path"); return "levels/" + name + ".json" },
				Leave: func() error { alarm("leave"); return nil },
				Enter: func(l *testLevel) error { alarm("enter"); entered = append(entered, l.Name); return nil }})
			played := 0
			play := func(name string) { // as a game does that recovers
				for first := true; ; first = false {
					ended := false
					func() {
						defer func() {
							if recover() != nil {
								played++
							}
						}()
						if first {
							f.Go(name)
						}
						_ = f.Finish()
						ended = true
					}()
					if err := r.Check(); err != nil {
						t.Error(err)
					}
					if ended {
						return
					}
				}
			}
			within(t, soon, "first", func() { play("first") })
			if at != "leave" {
				wantPhase(t, f, want)
			}
			within(t, soon, "second", func() { play("second") })
			if at == "leave" {
				wantPhase(t, f, want)
			}
			within(t, soon, "first again", func() { play("first") })
			wantPhase(t, f, "")
			if played != 1 || entered[len(entered)-1] != "first" {
				t.Errorf("%d panics, entered %v", played, entered)
			}
			within(t, soon, "CancelLevel", r.CancelLevel)
			r.noLeaks(t)
		})
	}
}

// The level file's block is the first that goes home: the panic comes when the file has been
// parsed, and out of Update.
func TestFlow_APanicOfFreeOverTheLevelFileSkipsNoPicture(t *testing.T) {
	r, m := refusing(t, 1, 1)
	var shown []string
	f := flowOver(t, r, FlowConfig[*testLevel]{Sink: func(p Picture) error { shown = append(shown, p.ID); return nil }})
	f.Go("first")
	if v := panics(t, func() { _ = f.Finish() }); v != m {
		t.Errorf("panicked with %v", v)
	}
	if f.Phase() != Loading || f.Level() == nil {
		t.Errorf("%v with level %v", f.Phase(), f.Level())
	}
	if err := f.Finish(); err != nil || f.Phase() != Playing {
		t.Errorf("%v: %v", f.Phase(), err)
	}
	slices.Sort(shown)
	if !slices.Equal(shown, []string{"a", "b"}) {
		t.Errorf("shown %v", shown)
	}
	within(t, soon, "CancelLevel", r.CancelLevel)
	r.noLeaks(t)
}

// wantPhase wants a flow that plays, or one that is broken with an error.
func wantPhase(t testing.TB, f *Flow[*testLevel], broken string) {
	t.Helper()
	got := ""
	if f.Err() != nil {
		got = f.Err().Error()
	}
	if got != broken || (f.Phase() == Playing) != (broken == "") || (f.Phase() == Broken) != (broken != "") {
		t.Errorf("%v with error %q; want %q", f.Phase(), got, broken)
	}
}

func TestNewLoader_AHeapThatPanicsStartsNothing(t *testing.T) {
	if v := panics(t, func() {
		_, _ = NewLoader(LoaderConfig{FS: gallery(t), Free: func(unsafe.Pointer, uintptr) {}, Heap: func(int) memory.Allocator { panic("heap") }})
	}); v != "heap" {
		t.Error(v)
	}
}

func TestSchedule_ASystemThatPanicsLeavesTheScheduleUsable(t *testing.T) {
	var s Schedule
	armed, ran := false, 0
	s.MustAdd("first", func(*Tick) error { ran++; return nil })
	s.MustAdd("second", func(*Tick) error {
		if armed {
			panic("second")
		}
		return nil
	})
	loop := NewLoop(&s, nil, 0)
	if err := loop.Run(1, &Input{}); err != nil {
		t.Fatal(err)
	}
	armed = true
	panics(t, func() { _ = loop.Run(1, &Input{}) })
	if n := len(s.AppendTimes(nil, 0)); n != 1 || loop.Tick() != 1 {
		t.Errorf("%d times after one whole tick, next tick %d", n, loop.Tick())
	}
	armed = false
	if err := loop.Run(1, &Input{}); err != nil || loop.Tick() != 2 || ran != 3 {
		t.Errorf("%v, tick %d, %d runs", err, loop.Tick(), ran)
	}
}
