package stream

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// busyWith gives the only worker something to do, so that requests stay in the queue, until
// the returned function is called.
func busyWith(t testing.TB, r *rig, g *gate) (release func()) {
	t.Helper()
	k := Request[File](r, art("h"), ETA(-100))
	<-g.entered
	return func() { close(g.pass); _ = k }
}

func TestPriority_LowerETAFirstThenOrderOfRequest(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	release := busyWith(t, r, g)
	for i, id := range strings.Split("abcdef", "") {
		r.picture(id, []Priority{ETA(2), ETA(0.5), ETA(0.5), Last, ETA(float32(math.NaN())), ETA(-1)}[i])
	}
	if got := r.queueOrder(); got != "fbcade" {
		t.Error(got)
	}
	release()
	if got := r.run(); len(got) != 6 {
		t.Error(got)
	}
}

// queueOrder returns the ids as the worker would begin them.
func (r *rig) queueOrder() (ids string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	es := append([]entry(nil), r.entries...)
	o := order{append([]uint32(nil), r.queue.heap...)}
	for len(o.heap) > 0 {
		i := o.heap[0]
		ids += strings.TrimSuffix(strings.TrimPrefix(es[i].name, "art/"), ".png")
		o.remove(es, i)
	}
	return ids
}

func TestPriority_ChangesWhileQueued(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	defer busyWith(t, r, g)()
	a, b, c := r.picture("a", ETA(1)), r.picture("b", ETA(2)), r.picture("c", ETA(3))
	same := r.picture("c", ETA(9))
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "abc"},
		{func() { c.Priority(ETA(0.5)) }, "cab"},
		{func() { a.Priority(Last) }, "cba"},
		{func() { same.Priority(ETA(0.1)) }, "cba"},
		{func() { c.Priority(ETA(50)) }, "cba"}, // the other ticket is still at 0.1
		{func() { same.Close() }, "bca"},
		{func() { b.Close(); b.Priority(ETA(-5)) }, "ca"},
		{func() { r.picture("b", ETA(60)) }, "cba"},
	} {
		step.do()
		r.check(t)
		if got := r.queueOrder(); got != step.want {
			t.Errorf("%s; want %s", got, step.want)
		}
	}
}

func TestPriority_ATenthGoesToTheOldest(t *testing.T) {
	data := encode(t, 16, 16) // 1024 bytes of pixels
	fsys := fstest.MapFS{"old": {Data: data}}
	for i := range 200 {
		fsys[fmt.Sprint(i)] = &fstest.MapFile{Data: data}
	}
	r := newRig(t, fsys, 1, 0, func(c *Config) { c.Upload.Bytes = 4096 })
	old := Request[Picture](r, "old", Last)
	next := 0
	ask := func() { Request[Picture](r, fmt.Sprint(next), ETA(0)); next++ }
	for range 100 {
		ask()
	}
	for r.Stats().Ready < 40 { // nothing is delivered; the old one is decoded all the same
		r.Wait()
	}
	r.mu.Lock()
	state := r.entries[r.names[key{r.entries[0].kind, "old"}]].state
	r.mu.Unlock()
	if state != Ready {
		t.Errorf("the oldest request is %v after 40 were decoded", state)
	}
	polls := 0
	for ; old.State() != Loaded && polls < 20; polls++ { // 4 a Poll, and there are always more urgent ones
		if n := r.Poll(); n != 4 {
			t.Fatalf("%d delivered", n)
		}
		r.check(t)
	}
	if polls > 4 { // a tenth of the bytes: within 10 pictures
		t.Errorf("the oldest was delivered in Poll %d", polls)
	}
	s := r.Stats()
	if s.FrameBytesMax != 4096 {
		t.Errorf("%d bytes in one Poll", s.FrameBytesMax)
	}
}

func TestRequest_AskedForTwiceIsLoadedOnce(t *testing.T) {
	c := counting{gallery(t), map[string]int{}}
	r := newRig(t, &c, 1, 0)
	a, b := r.picture("a", 1), r.picture("a", 2)
	file := Request[File](r, art("a"), 1)
	r.run()
	again := r.picture("a", 3)
	want(t, again, Loaded)
	if c.opens[art("a")] != 2 || r.Stats().Requests != 4 { // as a picture and as a file
		t.Errorf("%d opens, %+v", c.opens[art("a")], r.Stats())
	}
	a.Close()
	a.Close()
	again.Close()
	want(t, b, Loaded)
	want(t, a, Vacant)
	if len(r.gone) != 0 {
		t.Errorf("released %v", r.gone)
	}
	b.Close()
	if len(r.gone) != 1 || r.Stats().Loaded != 1 {
		t.Errorf("released %v; %+v", r.gone, r.Stats())
	}
	want(t, file, Loaded)
	r.picture("a", 0) // and once more
	if got := r.run(); got != "a" {
		t.Errorf("%q", got)
	}
}

type counting struct {
	fs.FS
	opens map[string]int // one worker
}

func (c *counting) Open(name string) (fs.File, error) { c.opens[name]++; return c.FS.Open(name) }

func TestTicket_ClosedOnesAreNeverAnotherOne(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Handles = 1 })
	first := r.picture("a", 0)
	first.Close()
	second := r.picture("b", 0)
	first.Close()
	r.run()
	want(t, first, Vacant)
	want(t, second, Loaded)
	second.Close()
	r.mu.Lock()
	r.requests[0].gen = 1<<32 - 2
	r.mu.Unlock()
	last := r.picture("c", 0)
	last.Close()
	if k := r.picture("d", 0); k.Err() == nil {
		t.Error("a worn out ticket was used again")
	}
	want(t, last, Vacant)
}

// chunked is a large file: some reads of 32 KiB.
func chunked(t testing.TB) fstest.MapFS {
	fsys := gallery(t)
	fsys["large"] = &fstest.MapFile{Data: make([]byte, 10*portion)}
	return fsys
}

func TestClose_CancelsInTheMiddleOfADecode(t *testing.T) {
	g := newGate(chunked(t), true)
	r := newRig(t, g, 1, 0)
	k := Request[File](r, "large", 0)
	for range 3 {
		<-g.entered
		g.pass <- struct{}{}
	}
	<-g.entered // in the fourth read
	k.Close()
	r.check(t)
	g.pass <- struct{}{}
	within(t, soon, "the worker", func() {
		for r.Stats().Busy > 0 {
			time.Sleep(time.Millisecond)
		}
	})
	s := r.Stats()
	if len(g.entered) != 0 || s.CancelledDecoding != 1 || s.BytesRead > 4*portion || s.Wasted != 10*portion || s.Staging != 0 || s.Resident != 0 {
		t.Errorf("%d more reads, %+v", len(g.entered), s)
	}
	r.noLeaks(t)
	close(g.pass)
	k = Request[File](r, "large", 0) // and from the start again
	r.run()
	want(t, k, Loaded)
}

func TestClose_CancelsInTheQueueAndBeforeTheDelivery(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	release := busyWith(t, r, g)
	a, b := r.picture("a", 0), r.picture("b", 1)
	a.Close()
	release()
	for r.Stats().Ready < 2 {
		r.Wait()
	}
	b.Close()
	s := r.Stats()
	if s.CancelledQueued != 1 || s.CancelledReady != 1 || s.Wasted != 1024 || len(r.gone) != 0 {
		t.Errorf("%+v, released %v", s, r.gone)
	}
	if got := r.run(); got != "" {
		t.Errorf("delivered %q", got)
	}
}

func TestScope_CancelClosesItsTicketsAndNoOthers(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	level, realm := r.NewScope("level"), r.NewScope("realm")
	a, b := Request[Picture](level, art("a"), 0), Request[Picture](realm, art("b"), 0)
	shared, held := Request[Picture](level, art("c"), 0), Request[Picture](realm, art("c"), 0)
	gone := Request[Picture](level, art("none"), 0)
	game := r.picture("d", 0)
	r.run()
	if p := level.Progress(); p != (Progress{Done: 3, Failed: 1, Total: 3}) || p.Fraction() != 1 || level.Len() != 3 || level.Name() != "level" {
		t.Errorf("%+v", p)
	}
	level.Cancel()
	r.check(t)
	for !r.Settled() {
		r.Wait()
	}
	want(t, a, Vacant)
	want(t, shared, Vacant)
	want(t, gone, Vacant)
	want(t, b, Loaded)
	want(t, held, Loaded)
	want(t, game, Loaded)
	if got := strings.Join(r.gone, " "); got != art("a") {
		t.Errorf("released %s", got)
	}
	if p := level.Progress(); p != (Progress{}) || p.Fraction() != 1 {
		t.Errorf("%+v", p)
	}
	a = Request[Picture](level, art("a"), 0) // at once
	r.run()
	want(t, a, Loaded)
}

func TestScope_CancelWaitsForNobodyAndSettledForEveryWorker(t *testing.T) {
	g := newGate(gallery(t), true)
	drained := make([]int, 2)
	r := newRig(t, g, 2, 0, func(c *Config) { c.Drain = func(w int) { drained[w]++ } })
	level := r.NewScope("level")
	Request[Picture](level, art("a"), 0)
	game := r.picture("b", 0)
	<-g.entered
	<-g.entered // both workers are inside the file system
	level.Cancel()
	if r.Settled() {
		t.Error("settled, and a worker is in the middle of a read")
	}
	close(g.pass)
	within(t, soon, "settling", func() {
		for !r.Settled() {
			r.Wait()
		}
	})
	if drained[0] != 1 || drained[1] != 1 {
		t.Errorf("drained %v", drained)
	}
	r.run()
	want(t, game, Loaded)
	r.Settle()
	within(t, soon, "settling", func() {
		for !r.Settled() {
			r.Wait()
		}
	})
	if drained[0] != 2 || drained[1] != 2 {
		t.Errorf("drained %v", drained)
	}
}

func TestRequest_DoesNotAllocateAndNeitherDoIdlePolls(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Resident, c.Watch = 1<<20, time.Hour })
	name := art("a")
	k := Request[Picture](r, name, 0)
	r.run()
	for what, f := range map[string]func(){
		"Poll": func() { r.Poll() }, "Stats": func() { _ = r.Stats() }, "Progress": func() { r.root.Progress() },
		"Get, State, Err, Priority": func() { k.Get(); k.State(); _ = k.Err(); k.Priority(2) },
		"Request and Close":         func() { Request[Picture](r, name, 0).Close() },
		"a request that is cancelled, or cached": func() {
			Request[Picture](r, "art/b.png", 0).Close()
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v Go allocations", what, n)
		}
	}
}
