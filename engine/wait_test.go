package engine

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// within fails the test, with every goroutine's stack, where f takes longer than d.
func within(t testing.TB, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(d):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s did not end within %v\n%s", what, d, stacks[:runtime.Stack(stacks, true)])
	}
}

// soon is far more than anything here takes, on a machine that is busy with other things.
const soon = 20 * time.Second

// oneRoom is a heap with room for one picture of the gallery and one file.
func oneRoom(t testing.TB) uintptr { return 1024 + uintptr(len(gallery(t)["art/a.png"].Data)) }

// starve makes a rig whose only worker holds a file and waits for room for its pixels: a is
// ready and b in hand. Both are of the scope.
func starve(t testing.TB, scope Scope, change ...func(*LoaderConfig)) (r *rig, a, b PictureAsset) {
	t.Helper()
	r = newRig(t, world(t), 1, oneRoom(t), change...)
	a, b = r.pictureOf(t, scope, "a", 2), r.pictureOf(t, scope, "b", 1)
	r.starving(t)
	return r, a, b
}

func (r *rig) pictureOf(t testing.TB, scope Scope, id string, priority int) PictureAsset {
	t.Helper()
	a, err := r.RequestPicture(scope, id, "art/"+id+".png", priority)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// starving waits until the only worker is out of room.
func (r *rig) starving(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(100 * time.Microsecond) {
		if c := r.Stats().Counts; c[Ready] == 1 && c[Decoding] == 1 {
			time.Sleep(5 * time.Millisecond) // from Decoding to the wait for room
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the worker does not starve: %+v", r.Stats())
		}
	}
}

func TestFlow_LevelSwitchEndsWhileAPictureOfTheGameWaitsForRoom(t *testing.T) {
	r, a, b := starve(t, ScopeGame)
	var entered []string
	f := flowOver(t, r, FlowConfig[*testLevel]{Enter: func(l *testLevel) error { entered = append(entered, l.Name); return nil }})
	f.Go("first") // from Idle: nothing is left
	f.Go("second")
	within(t, soon, "Finish", func() {
		if err := f.Finish(); err != nil {
			t.Error(err)
		}
	})
	if !slices.Equal(entered, []string{"second"}) || f.Phase() != Playing {
		t.Errorf("entered %v, phase %v", entered, f.Phase())
	}
	r.settle()
	r.wantState(t, a.Asset, Uploaded)
	r.wantState(t, b.Asset, Uploaded)
}

func TestFlow_PicturesOfTheGameAreUploadedWhileLeaving(t *testing.T) {
	r := newRig(t, world(t), 1, 0)
	f := flowOver(t, r, FlowConfig[*testLevel]{})
	a := r.pictureOf(t, ScopeGame, "a", 0)
	r.Wait()
	f.Go("first")
	f.Go("second")
	f.Update()
	r.wantState(t, a.Asset, Uploaded)
}

func TestCancelLevel_EndsWhileAPictureOfTheGameWaitsForRoom(t *testing.T) {
	r, a, b := starve(t, ScopeGame)
	within(t, soon, "CancelLevel", r.CancelLevel)
	within(t, soon, "a second CancelLevel", r.CancelLevel)
	r.wantState(t, a.Asset, Ready)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if ids := r.settle(); !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("uploaded %v", ids)
	}
	r.wantState(t, b.Asset, Uploaded)
	r.noLeaks(t)
}

// What the next level asks for first comes first: the starved picture went back to the queue.
func TestCancelLevel_AStarvedPictureStandsBackForTheNextLevel(t *testing.T) {
	r, _, b := starve(t, ScopeGame)
	within(t, soon, "CancelLevel", func() {
		r.BeginCancel()
		first := r.picture(t, "c", 9)
		for !r.CancelDone() {
			r.Wait()
		}
		if ids := r.settle(); !slices.Equal(ids, []string{"a", "c", "b"}) {
			t.Errorf("uploaded %v", ids)
		}
		r.wantState(t, first.Asset, Uploaded)
	})
	r.wantState(t, b.Asset, Uploaded)
}

func TestClose_EndsWhileWorkersWaitForRoom(t *testing.T) {
	for _, scope := range []Scope{ScopeLevel, ScopeGame} {
		for name, first := range map[string]func(*rig){
			"at once": func(*rig) {}, "half cancelled": func(r *rig) { r.BeginCancel() },
			"cancelled": func(r *rig) { r.CancelLevel() }, "cancelled twice": func(r *rig) { r.BeginCancel(); r.BeginCancel() },
		} {
			r, a, _ := starve(t, scope)
			within(t, soon, "Close, "+name, func() {
				first(r)
				for range 2 {
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				}
				r.BeginCancel()
				r.CancelLevel()
				r.Settle()
				r.Wait()
			})
			r.noLeaks(t)
			r.wantState(t, a.Asset, Vacant)
			if !r.CancelDone() {
				t.Errorf("%v, %s: a cancellation is not done after Close", scope, name)
			}
		}
	}
}

// The sink holds the only block that the worker could get: whoever waits in there waits for
// nobody.
func TestWait_ReturnsInsideASinkThatHoldsTheLastRoom(t *testing.T) {
	for name, call := range map[string]func(*rig){
		"Wait": func(r *rig) { r.Wait(); r.Wait() }, "CancelLevel": func(r *rig) { r.CancelLevel() },
		"Close": func(r *rig) { _ = r.Close() },
	} {
		r, _, _ := starve(t, ScopeGame)
		within(t, soon, name+" inside the sink", func() {
			r.Upload(Budget{Bytes: 1}, func(Picture) error {
				r.Wait() // takes note of what was announced so far
				call(r)
				return r.Check()
			})
		})
		within(t, soon, "settling", func() { r.settle() })
		r.noLeaks(t)
	}
}

// A picture of the game that is being read is no reason to wait for the whole of it.
func TestCancelLevel_EndsBetweenTwoReadsOfAPictureOfTheGame(t *testing.T) {
	g := newGate(gallery(t), true)
	r := newRig(t, g, 1, 0)
	a := r.pictureOf(t, ScopeGame, "a", 0)
	<-g.entered
	r.BeginCancel()
	g.pass <- struct{}{} // one read; the next hangs
	<-g.entered
	if !r.CancelDone() {
		t.Error("the worker has read a part and not acknowledged")
	}
	r.wantState(t, a.Asset, Reading)
	close(g.pass)
	r.settle()
	r.wantState(t, a.Asset, Uploaded)
}

func TestLoader_SwitchesUnderStarvationForever(t *testing.T) {
	r := newRig(t, gallery(t), 2, oneRoom(t))
	within(t, 3*soon, "200 levels", func() {
		for level := range 200 {
			keep := "g" + string(rune('0'+level%10)) + string(rune('0'+level/10%10)) + string(rune('0'+level/100))
			if _, err := r.RequestPicture(ScopeGame, keep, "art/a.png", level%5); err != nil {
				t.Error(err)
				return
			}
			for _, c := range "abcd" {
				r.picture(t, string(c), int(c)%3)
			}
			switch level % 4 {
			case 0:
				r.CancelLevel()
			case 1:
				r.Wait()
				r.CancelLevel()
			case 2:
				r.settle()
				r.CancelLevel()
			default:
				r.BeginCancel()
				for !r.CancelDone() {
					r.Upload(Budget{Bytes: 1}, func(Picture) error { return nil })
					r.Wait()
				}
			}
			if err := r.Check(); err != nil {
				t.Error(err)
				return
			}
		}
		r.settle()
	})
	if p := r.Progress(ScopeGame); p.Done != 200 || p.Failed != 0 {
		t.Errorf("%+v; %v", p, r.Errors())
	}
}
