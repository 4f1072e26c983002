package stream

import (
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// oneRoom is room for one and a half pictures of the gallery.
const oneRoom = 1536

// starve makes a rig whose only worker waits for room: a is ready, and b in its hands.
func starve(t testing.TB, in func(*rig) In, change ...func(*Config)) (r *rig, a, b Handle[Picture]) {
	t.Helper()
	r = newRig(t, gallery(t), 1, oneRoom, change...)
	a, b = Request[Picture](in(r), art("a"), 1), Request[Picture](in(r), art("b"), 2)
	r.starving(t)
	return r, a, b
}

func game(r *rig) In { return r }

// starving waits until the only worker is out of room.
func (r *rig) starving(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(100 * time.Microsecond) {
		r.mu.Lock()
		n := r.starved
		r.mu.Unlock()
		if n == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the worker does not starve: %+v", r.Stats())
		}
	}
}

func TestHeap_AFullOneWaitsForDeliveries(t *testing.T) {
	r, _, _ := starve(t, game)
	for _, id := range []string{"c", "d", "e"} {
		r.picture(id, 5)
	}
	within(t, soon, "loading", func() {
		if got := r.run(); got != "abcde" {
			t.Errorf("%q", got)
		}
	})
}

func TestHeap_NoRoomIsAFailureWhereNothingWillGoHome(t *testing.T) {
	r := newRig(t, gallery(t), 1, 1000)
	a := r.picture("a", 0)
	within(t, soon, "loading", func() { r.run() })
	if want := "no space for 1024 bytes in the worker's heap: memory: out of memory"; a.State() != Failed || a.Err().Error() != `stream: picture "art/a.png": decoding: `+want {
		t.Errorf("%v", a.Err())
	}
	r = newRig(t, gallery(t), 1, 1023+uintptr(len(gallery(t)[art("a")].Data)))
	held := Request[File](r, art("a"), 0) // stays
	r.run()
	a = r.picture("a", 0)
	within(t, soon, "loading", func() { r.run() })
	want(t, held, Loaded)
	want(t, a, Failed)
	held.Close()
	a.Retry()
	within(t, soon, "loading", func() { r.run() })
	want(t, a, Loaded)
}

func TestHeap_AFullOneEvictsWhatIsCached(t *testing.T) {
	size := uintptr(len(gallery(t)[art("a")].Data))
	r := newRig(t, gallery(t), 1, 3*size+size/2, func(c *Config) { c.Resident = 1 << 20 })
	for _, id := range []string{"a", "b", "c"} {
		k := Request[File](r, art(id), 0)
		r.run()
		k.Close()
	}
	if s := r.Stats(); s.Cached != int64(3*size) || s.Loaded != 3 {
		t.Errorf("%+v", s)
	}
	b := Request[File](r, art("b"), 0) // used lately
	b.Close()
	d := Request[File](r, art("d"), 0)
	within(t, soon, "loading", func() { r.run() })
	want(t, d, Loaded)
	if s := r.Stats(); s.Evicted != 1 || s.Hits != 1 {
		t.Errorf("%+v", s)
	}
	before := r.Stats().BytesRead
	Request[File](r, art("b"), 0)
	Request[File](r, art("c"), 0)
	r.run()
	if r.Stats().BytesRead != before {
		t.Error("a was without a ticket for the longest, and something else went")
	}
}

// The first version's deadlock: a worker waits for room that only a delivery gives, and the
// game waits for the worker.
func TestCancel_SettlesWhileAnAssetOfAnotherScopeWaitsForRoom(t *testing.T) {
	r, a, b := starve(t, game)
	level := r.NewScope("level")
	Request[Picture](level, art("c"), 0)
	level.Cancel()
	within(t, soon, "settling", func() {
		for !r.Settled() { // nobody calls Poll
			r.Wait()
		}
	})
	r.check(t)
	within(t, soon, "loading", func() { r.run() })
	want(t, a, Loaded)
	want(t, b, Loaded)
}

func TestCancel_OfTheStarvedAssetItself(t *testing.T) {
	var level *Scope
	r, a, b := starve(t, func(r *rig) In {
		if level == nil {
			level = r.NewScope("level")
		}
		return level
	})
	level.Cancel()
	within(t, soon, "settling", func() {
		for !r.Settled() {
			r.Wait()
		}
	})
	want(t, a, Vacant)
	want(t, b, Vacant)
	r.noLeaks(t)
}

func TestClose_EndsWhileAWorkerWaitsForRoom(t *testing.T) {
	r, _, _ := starve(t, game)
	within(t, soon, "Close", func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	r.noLeaks(t)
}

func TestWait_ReturnsInsideADeliveryThatHoldsTheLastRoom(t *testing.T) {
	r, _, _ := starve(t, game)
	waited := false
	r.sink = func(string, Picture) error {
		if !waited {
			waited = true
			r.Wait()
		}
		return nil
	}
	within(t, soon, "loading", func() { r.run() })
	if !waited {
		t.Error("nothing was delivered")
	}
}

// An asset that its own deliver function cancels is in the hands of no worker: Wait must not wait for it.
func TestWait_ReturnsInsideADeliveryThatWasCancelled(t *testing.T) {
	for name, cancel := range map[string]func(*rig, Handle[Picture]){
		"its handle": func(_ *rig, k Handle[Picture]) { k.Close() },
		"its scope":  func(r *rig, _ Handle[Picture]) { r.root.Cancel() },
	} {
		r := newRig(t, gallery(t), 1, 0)
		k := r.picture("a", 0)
		r.sink = func(string, Picture) error {
			cancel(r, k)
			r.check(t)
			for range 3 { // the first ones may return for what has been
				r.Wait()
			}
			return nil
		}
		within(t, soon, name, func() { r.run() })
	}
}

// A look for changed files ends without any, and Wait with it.
func TestWait_ReturnsWhenALookForChangesHasFoundNone(t *testing.T) {
	h := newHang()
	var armed atomic.Bool
	evil := &hostile{FS: gallery(t), evil: art("a"), stat: h.when(&armed)}
	r := newRig(t, evil, 1, 0, func(c *Config) { c.Watch, c.Assets = time.Millisecond, 10 })
	r.picture("b", 1) // in the last place, which is looked at first
	r.picture("c", 1)
	r.picture("d", 1)
	r.picture("a", 1)
	within(t, soon, "loading", func() { r.run() })
	armed.Store(true)
	for looking := false; !looking; {
		r.Poll()
		select {
		case <-h.entered:
			looking = true
		case <-time.After(time.Millisecond):
		}
	}
	r.mu.Lock()
	left := r.look
	r.mu.Unlock()
	if left == 0 {
		t.Fatal("nothing is left to be looked at: the test waits for nothing")
	}
	time.AfterFunc(20*time.Millisecond, func() { close(h.pass) })
	within(t, soon, "Wait beside a look", func() {
		for range 3 { // the first may return for what has been
			r.Wait()
		}
	})
}

// While an asset waited for its retry, Wait returned at once: a loop of Wait and Poll kept a core busy, and made all
// retries before another file was read.
func TestWait_PausesWhileARetryCountsPolls(t *testing.T) {
	for name, slow := range map[string]bool{"alone": false, "beside a slow file": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				evil := &hostile{FS: gallery(t), evil: art("b")}
				evil.open = func() (fs.File, error) { time.Sleep(time.Second); return evil.FS.Open(art("b")) }
				r := newRig(t, evil, 2, 0, func(c *Config) { c.Retries, c.Backoff = 1, 100 })
				missing := r.picture("missing", 0)
				if slow {
					r.picture("b", 1)
				}
				for missing.State() != Waiting {
					r.Wait()
					r.Poll()
				}
				began := time.Now()
				for range 50 {
					r.Wait()
					r.Poll()
				}
				if took := time.Since(began); took < 45*time.Millisecond || took > 60*time.Millisecond {
					t.Errorf("fifty waits took %v; want a millisecond each", took)
				}
			})
		})
	}
}

func TestScope_SwitchesUnderStarvationForever(t *testing.T) {
	r := newRig(t, gallery(t), 2, oneRoom)
	level := r.NewScope("level")
	within(t, 3*soon, "two hundred levels", func() {
		for i := range 200 {
			for _, id := range []string{"a", "b", "c", "d"} {
				Request[Picture](level, art(id), ETA(float32(i%3)))
			}
			r.picture([]string{"e", "f", "g"}[i%3], 9)
			for range i % 7 {
				r.Poll()
			}
			level.Cancel()
			if i%5 == 0 {
				r.root.Cancel()
			}
			for !r.Settled() {
				r.Wait()
			}
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
