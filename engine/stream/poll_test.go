package stream

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// loaded requests pictures a, b, c, ... and waits until they are ready.
func loaded(t testing.TB, r *rig, ids string) (ks []Handle[Picture]) {
	t.Helper()
	for i, id := range strings.Split(ids, "") {
		ks = append(ks, r.picture(id, ETA(float32(i))))
	}
	within(t, soon, "decoding", func() {
		for r.Stats().Ready < len(ids) {
			r.Wait()
		}
	})
	return ks
}

func TestPoll_BudgetOfBytesIsHonouredButOneAlwaysPasses(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	loaded(t, r, "abcdefgh")
	for _, c := range []struct {
		bytes int64
		want  int
	}{{1, 1}, {1023, 1}, {1024, 1}, {2047, 1}, {2048, 2}, {0, 2}, {0, 0}} {
		r.cfg.Upload.Bytes = c.bytes
		if n := r.Poll(); n != c.want {
			t.Errorf("%d bytes: %d pictures of 1024 bytes, want %d", c.bytes, n, c.want)
		}
	}
}

func TestPoll_BudgetOfTimeIsHonouredAndMeasured(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	var now time.Time
	r.now = func() time.Time { return now }
	loaded(t, r, "abcdefgh")
	r.sink = func(string, Picture) error { now = now.Add(time.Millisecond); return nil }
	for _, c := range []struct {
		ms   time.Duration
		want int
	}{{1, 1}, {2, 2}, {3, 3}, {9, 2}} {
		r.cfg.Upload = Budget{Time: c.ms * time.Millisecond}
		if n := r.Poll(); n != c.want {
			t.Errorf("%d ms: %d pictures of 1 ms, want %d", c.ms, n, c.want)
		}
	}
	if h := r.Stats().HandOver; h.Max != 3*time.Millisecond || (h.P50-2*time.Millisecond).Abs() > 60*time.Microsecond {
		t.Errorf("%+v", h)
	}
	if l := r.Stats().Latency; l.Max != 8*time.Millisecond {
		t.Errorf("%+v", l)
	}
}

func TestPoll_DeliverThatRefusesFailsTheAsset(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	full := errors.New("the atlas is full")
	r.sink = func(name string, _ Picture) error {
		if name == art("a") {
			return full
		}
		return nil
	}
	ks := loaded(t, r, "ab")
	r.run()
	if err := ks[0].Err(); !errors.Is(err, full) || err.Error() != `stream: picture "art/a.png": delivering: the atlas is full` {
		t.Error(err)
	}
	want(t, ks[1], Loaded)
	if s := r.Stats(); s.Staging != 0 || s.Resident != 1024 {
		t.Errorf("%+v", s)
	}
}

// panics returns what f panics with.
func panics(t testing.TB, f func()) (v any) {
	t.Helper()
	defer func() {
		if v = recover(); v == nil {
			t.Error("it did not panic")
		}
	}()
	f()
	return nil
}

func TestPoll_ADeliverThatPanicsFailsItsAssetAndTheRestGoesOn(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	ks := loaded(t, r, "abc")
	r.sink = func(name string, _ Picture) error {
		if name == art("b") {
			panic("atlas")
		}
		return nil
	}
	if v := panics(t, func() { r.Poll() }); v != "atlas" {
		t.Errorf("panicked with %v", v)
	}
	r.check(t)
	if r.run() != "c" || !strings.Contains(ks[1].Err().Error(), "delivering: the deliver function panicked") {
		t.Error(ks[1].Err())
	}
	if s := r.Stats(); s.Staging != 0 || s.Loaded != 2 || s.Failed != 1 {
		t.Errorf("%+v", s)
	}
	ks[1].Retry()
	r.sink = nil
	r.run()
	want(t, ks[1], Loaded)
}

func TestPoll_EverythingMayBeCalledInsideDeliver(t *testing.T) {
	for name, f := range map[string]func(r *rig, ks []Handle[Picture]){
		"closing its ticket":  func(r *rig, ks []Handle[Picture]) { ks[0].Close() },
		"closing the next":    func(r *rig, ks []Handle[Picture]) { ks[1].Close() },
		"cancelling all":      func(r *rig, _ []Handle[Picture]) { r.root.Cancel() },
		"polling":             func(r *rig, _ []Handle[Picture]) { r.Poll() },
		"requesting it again": func(r *rig, ks []Handle[Picture]) { ks[0].Close(); r.picture("a", 0) },
		"reloading":           func(r *rig, _ []Handle[Picture]) { r.Reload(art("a")); r.Settle() },
		"closing everything":  func(r *rig, _ []Handle[Picture]) { _ = r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, gallery(t), 1, 0)
			ks := loaded(t, r, "abc")
			first := true
			r.sink = func(string, Picture) error {
				if first {
					first = false
					f(r, ks)
				}
				return nil
			}
			within(t, soon, name, func() { r.run() })
			r.check(t)
			if s := r.Stats(); s.Staging != 0 || s.Ready != 0 || s.counts[delivering]+s.counts[cancelled] != 0 {
				t.Errorf("%+v", s)
			}
			if strings.HasPrefix(name, "closing its") && strings.Join(r.gone, "") != art("a") {
				t.Errorf("released %v: it was delivered and is not wanted", r.gone)
			}
		})
	}
}

// refusing is a rig whose Free panics the nth time it is called, and as often as times says.
func refusing(t testing.TB, n, times int) (*rig, *memory.Misuse) {
	m := &memory.Misuse{Package: "test", Op: "Free", Reason: "not now"}
	var r *rig
	r = newRig(t, gallery(t), 1, 0, func(c *Config) {
		c.Free = func(p unsafe.Pointer, size uintptr) {
			if n--; n <= 0 && n > -times {
				panic(m)
			}
			r.home(p, size)
		}
	})
	return r, m
}

func TestPoll_ABlockThatFreeRefusesIsKeptAndSentAgain(t *testing.T) {
	r, m := refusing(t, 1, 1)
	ks := loaded(t, r, "ab")
	if v := panics(t, func() { r.Poll() }); v != m {
		t.Errorf("panicked with %v", v)
	}
	r.check(t)
	if s := r.Stats().Staging; s != 1024 {
		t.Errorf("%d bytes staged; the refused block is 1024", s)
	}
	r.run()
	want(t, ks[0], Loaded)
	want(t, ks[1], Loaded)
	if s := r.Stats().Staging; s != 1024 {
		t.Errorf("%d bytes staged: Poll sent it again", s)
	}
	r.Settle()
	r.noLeaks(t)
}

func TestCancel_IsDoneThoughFreePanics(t *testing.T) {
	r, m := refusing(t, 2, 1)
	loaded(t, r, "abcd")
	if v := panics(t, r.root.Cancel); v != m {
		t.Errorf("panicked with %v, want %v", v, m)
	}
	if s := r.Stats().Staging; s != 1024 || r.root.Len() != 0 {
		t.Errorf("%d bytes staged; the refused block is 1024", s)
	}
	within(t, soon, "the rest of the cancellation", func() {
		for !r.Settled() {
			r.Wait()
		}
	})
	r.check(t)
	r.root.Cancel()
	r.noLeaks(t)
}

func TestClose_NamesWhatFreeRefusedAndMayBeTriedAgain(t *testing.T) {
	r, _ := refusing(t, 1, 2)
	loaded(t, r, "a")
	panics(t, func() { r.Poll() })
	var err error
	within(t, soon, "Close", func() { err = r.Close() })
	var m *memory.Misuse
	if err == nil || !strings.Contains(err.Error(), "stream: close: Config.Free refused the blocks of 1 assets") || !errors.As(err, &m) {
		t.Error(err)
	}
	r.check(t)
	if s := r.Stats().Staging; s != 1024 || r.heaps[0].blocks() != 1 {
		t.Errorf("%d bytes staged, %d blocks out", s, r.heaps[0].blocks())
	}
	if err := errors.Join(r.Close(), r.Check(), r.Close()); err != nil {
		t.Error(err)
	}
	r.noLeaks(t)
}

// exiting is a rig with three pictures ready, whose next Free ends its goroutine.
func exiting(t testing.TB) *rig {
	armed := true
	var r *rig
	r = newRig(t, gallery(t), 1, 0, func(c *Config) {
		c.Free = func(p unsafe.Pointer, size uintptr) {
			if armed {
				armed = false
				runtime.Goexit()
			}
			r.home(p, size)
		}
	})
	loaded(t, r, "abc")
	return r
}

// Free may end its goroutine, as t.FailNow does: the game goes on with another one.
func TestCancel_IsDoneThoughFreeEndsTheGoroutine(t *testing.T) {
	r := exiting(t)
	within(t, soon, "Cancel", r.root.Cancel)
	r.check(t)
	within(t, soon, "the rest", func() {
		r.Poll()
		for !r.Settled() {
			r.Wait()
		}
	})
	r.noLeaks(t)
}

func TestClose_GoesOnWhereFreeEndedTheGoroutine(t *testing.T) {
	r := exiting(t)
	within(t, soon, "Close", func() { _ = r.Close() })
	r.check(t)
	within(t, soon, "the second Close", func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	r.noLeaks(t)
}

func TestRelease_ThatPanicsLosesNoBlock(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	type bad struct{}
	err := Register(r.Streamer, Kind[bad]{Name: "bad", Stays: true,
		Decode:  func(_ *Reader, h *Heap) (bad, error) { _, err := h.Bytes(10); return bad{}, err },
		Release: func(string, *bad) { panic("release") }})
	if err != nil {
		t.Fatal(err)
	}
	k, other := Request[bad](r, art("a"), 0), Request[bad](r, art("b"), 0)
	r.run()
	if v := panics(t, k.Close); v != "release" {
		t.Errorf("%v", v)
	}
	r.check(t)
	if n := r.heaps[0].blocks(); n != 1 {
		t.Errorf("%d blocks", n)
	}
	err = r.Close()
	if err == nil || !strings.Contains(err.Error(), "Release or Config.Free panicked: release") || other.State() != Vacant {
		t.Error(err)
	}
	r.noLeaks(t)
}

// Every call that a worker makes and that is not ours panics once, each in its own run: the
// rest is loaded, and what failed is named.
func TestWorker_ItsCallsMayPanic(t *testing.T) {
	for name, c := range map[string]struct {
		arm  func(*rig)
		want string
	}{
		"alloc":               {func(r *rig) { r.alarmOnce("alloc") }, "decoding panicked: alloc"},
		"free of a block":     {func(r *rig) { r.alarmOnce("free") }, "the worker's heap panicked: free"},
		"Drain":               {func(r *rig) { r.Settle() }, "stream: worker 0: Drain panicked: drain"},
		"an alloc that fails": {func(r *rig) { r.heaps[0].fail = errors.New("other") }, "other"},
		"Drain in an asset":   {func(r *rig) { r.NewScope("x").Cancel() }, "Drain panicked: drain"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := gallery(t)
			if name == "free of a block" {
				fsys[art("a")].Data = fsys[art("a")].Data[:50] // fails, and frees
			}
			drained := false
			r := newOpenRig(t, fsys, 1, 0, func(c *Config) {
				c.Drain = func(int) {
					if !drained && strings.HasPrefix(name, "Drain") {
						drained = true
						panic("drain")
					}
				}
			})
			c.arm(r)
			for _, id := range strings.Split("abc", "") {
				r.picture(id, 0)
			}
			within(t, soon, "loading", func() { r.run() })
			if errs := r.Errors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), c.want) {
				t.Errorf("errors %v; want %q", errs, c.want)
			}
			if p := r.root.Progress(); p.Done != 3 {
				t.Errorf("progress %+v", p)
			}
			if err := errors.Join(r.Check(), r.Close(), r.Check()); err != nil {
				t.Error(err)
			}
			kept := 0
			if name == "free of a block" {
				kept = 1 // refused by its own heap: counted as staged
			}
			if n := r.heaps[0].blocks(); n != kept || (r.Stats().Staging > 0) != (kept > 0) {
				t.Errorf("%d blocks out, %d bytes staged", n, r.Stats().Staging)
			}
		})
	}
}

// alarmOnce has the next call of op panic.
func (r *rig) alarmOnce(op string) {
	h := r.heaps[0]
	h.alarm = func(o string, _ uintptr) {
		if o == op {
			h.alarm = nil
			panic(op)
		}
	}
}
