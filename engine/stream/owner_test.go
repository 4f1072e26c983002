package stream

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

// eventually waits until ok, which is asked with the streamer's lock held.
func (r *rig) eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(100 * time.Microsecond) {
		r.mu.Lock()
		done := ok()
		r.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s: %+v", what, r.Stats())
		}
	}
}

// An asset names the worker in whose heap its blocks are: a starved worker waits for those.
func TestPublish_AssetsNameTheWorkerOfTheirBlocks(t *testing.T) {
	g := newGate(gallery(t), true)
	r := newRig(t, g, 2, 0)
	ids := strings.Split("abcdefgh", "")
	for _, id := range ids {
		r.picture(id, 0)
	}
	<-g.entered // both workers have an asset in hand
	<-g.entered
	close(g.pass)
	r.eventually(t, "all are ready", func() bool { return r.stats.counts[Ready] == len(ids) })
	owners := map[int32]int{}
	for i := range r.entries {
		e := &r.entries[i]
		for _, b := range e.held.blocks[:e.held.n] {
			h := r.heaps[e.held.worker]
			h.mu.Lock()
			_, ok := h.live[b.p]
			h.mu.Unlock()
			if !ok {
				t.Errorf("%s names worker %d, whose heap has none of its blocks", e.name, e.held.worker)
			}
			owners[e.held.worker]++
		}
	}
	if len(owners) != 2 {
		t.Errorf("blocks by worker: %v; both should have some", owners)
	}
	r.run()
}

func TestAppendLoading_NamesWhatIsDecodedOrReady(t *testing.T) {
	g := newGate(gallery(t), true)
	r := newRig(t, g, 1, 0)
	r.picture("a", 0)
	<-g.entered
	r.picture("b", 1)
	if got := r.AppendLoading([]string{"first"}); !slices.Equal(got, []string{"first", art("a")}) {
		t.Errorf("%q; want what is being decoded, appended", got)
	}
	close(g.pass)
	r.eventually(t, "both are ready", func() bool { return r.stats.counts[Ready] == 2 })
	if got := r.AppendLoading(nil); !slices.Equal(got, []string{art("a"), art("b")}) {
		t.Errorf("%q; want both that are ready", got)
	}
	r.run()
	if got := r.AppendLoading(nil); len(got) != 0 {
		t.Errorf("%q; all are delivered", got)
	}
}

// A watchdog may run late, when its worker is already given up: that counts once.
func TestExpire_AWorkerIsGivenUpOnce(t *testing.T) {
	h := newHang()
	r := newOpenRig(t, hanging(t, "Open", h), 2, 0, impatient(50*time.Millisecond))
	r.picture("a", 0)
	<-h.entered
	r.eventually(t, "a worker is given up", func() bool { return r.stats.Abandoned == 1 })
	for _, w := range r.workers {
		w.expire()
	}
	if s := r.Stats(); s.Abandoned != 1 || r.running != 1 {
		t.Errorf("%d workers given up, %d running; want 1 and 1", s.Abandoned, r.running)
	}
	r.check(t)
	_ = r.Close()
	r.untouchedBy(t, func() { close(h.pass) })
}

func TestConfig_DefaultsAreAsDocumented(t *testing.T) {
	for _, assets := range []int{0, 7} {
		r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Assets = assets })
		want := assets
		if want == 0 {
			want = 512
		}
		if c := r.cfg; c.Assets != want || c.Handles != 4*want || c.MaxBytes != 16<<20 || c.Backoff != 30 {
			t.Errorf("Assets %d: %+v", assets, c)
		}
	}
}

// Readers end a short file with io.EOF or io.ErrUnexpectedEOF: both say how far it goes.
func TestRead_AShortFileSaysWhereItEnds(t *testing.T) {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		f := &hostile{FS: gallery(t), evil: art("a"), read: func(f fs.File, p []byte) (int, error) {
			n, err := f.Read(p[:min(len(p), 10)])
			return n, errors.Join(err, end)
		}}
		r := newRig(t, f, 1, 0)
		a := r.picture("a", 0)
		within(t, soon, "loading", func() { r.run() })
		if err := a.Err(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the file ends after 10 of ") {
			t.Errorf("%v: %v", end, err)
		}
	}
}

// Within Poll, Wait returns while a worker starves: the caller holds what it waits for.
func TestWait_WithinPollReturnsWhileAWorkerStarves(t *testing.T) {
	var r *rig
	within(t, soon, "Wait in a deliver function", func() {
		r, _, _ = starve(t, game)
		waited := false
		r.sink = func(string, Picture) error {
			if !waited {
				waited = true
				r.Wait()
				r.Wait()
			}
			return nil
		}
		if got := r.run(); got != "ab" || !waited {
			t.Errorf("%q delivered, waited %v", got, waited)
		}
	})
}
