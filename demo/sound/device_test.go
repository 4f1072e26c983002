package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A fake is an output that reads as a sound card does: on its own goroutine, all the time.
type fake struct {
	mu              sync.Mutex
	err             error
	paused, started bool
	wider           bool // what the next Widen returns
	reads           int  // begun
	loud            bool // something but silence was read
	stop            chan struct{}
	done            sync.WaitGroup
}

func newFake() *fake { return &fake{stop: make(chan struct{})} }

func (f *fake) Start(r io.Reader) {
	f.started = true
	f.done.Go(func() {
		buf := make([]byte, 8*700)
		for {
			select {
			case <-f.stop:
				return
			case <-time.After(200 * time.Microsecond):
			}
			f.mu.Lock()
			paused := f.paused
			if !paused {
				f.reads++ // with the lock: after Pause(true) none begins
			}
			f.mu.Unlock()
			if paused {
				continue
			}
			if _, err := r.Read(buf); err != nil {
				panic(err)
			}
			f.mu.Lock()
			f.loud = f.loud || !bytes.Equal(buf, make([]byte, len(buf)))
			f.mu.Unlock()
		}
	})
}

func (f *fake) Pause(on bool) { f.mu.Lock(); f.paused = on; f.mu.Unlock() }
func (f *fake) Stop()         { close(f.stop); f.done.Wait() }
func (f *fake) Widen() (Delay, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.wider
	f.wider = false
	return delayOf(playerMost), w
}
func (f *fake) Err() error   { f.mu.Lock(); defer f.mu.Unlock(); return f.err }
func (f *fake) lose(e error) { f.mu.Lock(); f.err = e; f.mu.Unlock() }
func (f *fake) seen() (reads int, loud bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads, f.loud
}

func (f *fake) find(ready chan struct{}) opener {
	return func() (output, <-chan struct{}, error) { return f, ready, nil }
}

func closed() chan struct{} { c := make(chan struct{}); close(c); return c }

// until plays ticks until something is so.
func until(t *testing.T, d *Device, what string, so func() bool) {
	t.Helper()
	testenv.Until(t, what, time.Millisecond, func() bool {
		if so() {
			return true
		}
		d.Update()
		return false
	})
}

func TestDevice_PlaysWhatTheMixerHas(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	f := newFake()
	var said strings.Builder
	d, err := open(m, &said, f.find(closed()))
	if err != nil || !d.Live() {
		t.Fatal(err, d.Live())
	}
	say(m, 1, cue.Select, one(0, 0))
	until(t, d, "a sound was read", func() bool { _, loud := f.seen(); return loud })
	d.Close()
	d.Close()
	if said.Len() != 0 {
		t.Errorf("it says %q", said.String())
	}
}

// In a browser the system waits for a touch: until then time passes unheard, and what began
// before is not heard later.
func TestDevice_WaitsForTheSystemAndPlaysNothingStale(t *testing.T) {
	m, _ := newMixer(t, Rate/10, 0.5)
	f, ready := newFake(), make(chan struct{})
	d, err := open(m, io.Discard, f.find(ready))
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(60) {
		if tick < 40 {
			say(m, tick, cue.Select, one(0, 0))
		}
		d.Update()
	}
	if d.Live() || f.started || m.Stats().Voices != 0 || m.Stats().Begun == 0 {
		t.Fatalf("live %v, started %v, %+v", d.Live(), f.started, m.Stats())
	}
	close(ready)
	until(t, d, "it was read", func() bool { n, _ := f.seen(); return n > 20 })
	if _, loud := f.seen(); loud {
		t.Error("what began before the touch is heard after it")
	}
	d.Close()
}

func TestDevice_WithoutOneTheGameGoesOnAndIsToldOnce(t *testing.T) {
	m, h := newMixer(t, Rate/10, 0.5)
	var said strings.Builder
	d, err := open(m, &said, func() (output, <-chan struct{}, error) { return nil, nil, errors.New("no card") })
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(300) {
		say(m, tick, cue.Hit, one(0, 0))
		d.Update()
	}
	m.Remove(m.bank[cue.Hit][0])
	d.Update()
	d.Update()
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d clips are kept in silence", n)
	}
	d.Close()
	if said.String() != "sound: the game goes on in silence: no card\n" {
		t.Errorf("it says %q", said.String())
	}
	if s := m.Stats(); s.Dropped != 0 || s.Begun == 0 {
		t.Errorf("%+v: time does not pass in silence", s)
	}
}

// So it is where the library finds out late, as it does on Linux.
func TestDevice_ThatIsNeverReadyIsSilent(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	f := newFake()
	f.lose(errors.New("nothing to play on"))
	var said strings.Builder
	d, err := open(m, &said, f.find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.Update()
	}
	if d.Live() || f.started || d.Err() == nil || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("live %v, started %v, %v; it says %q", d.Live(), f.started, d.Err(), said.String())
	}
	d.Close()
}

func TestDevice_LostInPlayIsSilentAndSaysSoOnce(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	f := newFake()
	var said strings.Builder
	d, err := open(m, &said, f.find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	until(t, d, "it was read", func() bool { n, _ := f.seen(); return n > 3 })
	f.lose(errors.New("unplugged"))
	until(t, d, "it is silent", func() bool { return !d.Live() })
	n, _ := f.seen()
	for range 200 {
		d.Update()
	}
	if k, _ := f.seen(); k != n {
		t.Error("the mixer is read after the device was lost")
	}
	m.Remove(m.bank[cue.Hit][0])
	d.Update()
	d.Update()
	if h.Stats().Live != 0 {
		t.Error("clips are kept after the device was lost")
	}
	if said.String() != "sound: the game goes on in silence: unplugged\n" {
		t.Errorf("it says %q", said.String())
	}
	d.Close()
}

func TestDevice_PausesWithTheFocus(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	f := newFake()
	d, err := open(m, io.Discard, f.find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	d.Focus(true)
	until(t, d, "it was read", func() bool { n, _ := f.seen(); return n > 3 })
	d.Focus(false)
	d.Focus(false)
	n, _ := f.seen()
	for tick := range uint64(2 * queueSize) {
		say(m, tick*10, cue.Select, one(0, 0))
		d.Update()
	}
	time.Sleep(20 * time.Millisecond)
	if k, _ := f.seen(); k != n {
		t.Errorf("%d reads without the focus", k-n)
	}
	if s := m.Stats(); s.Dropped != 0 {
		t.Errorf("%+v: commands pile up without the focus", s)
	}
	d.Focus(true)
	until(t, d, "it was read again", func() bool { k, _ := f.seen(); return k > n })
	d.Close()
}

func TestDevice_AMixerHasOneAtATime(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	d, err := open(m, io.Discard, newFake().find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(m, io.Discard, newFake().find(closed())); !errors.Is(err, ErrOpen) {
		t.Errorf("a second device: %v", err)
	}
	d.Close()
	if d, err = open(m, io.Discard, newFake().find(closed())); err != nil {
		t.Errorf("after Close: %v", err)
	}
	d.Close()
	if _, err := Open(nil, nil); err == nil {
		t.Error("Open takes no mixer at all")
	}
}

// stacks tells whether a goroutine runs code of this package, tests aside.
func ours() bool {
	buf := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "demo/sound.") && !strings.Contains(g, "testing.") {
			return true
		}
	}
	return false
}

// On a machine with a card this plays a second of silence; without one it is the proof that the
// game goes on. Neither leaves a goroutine of ours.
func TestDevice_OpensOnThisMachineOrSaysWhyNot(t *testing.T) {
	for _, find := range []struct {
		name string
		open opener
	}{{"probed", openOutput}, {"asked", openReal}} {
		m, h := newMixer(t, Rate, 0)
		var said strings.Builder
		d, err := open(m, &said, find.open)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(5 * time.Second); !d.Live() && d.Err() == nil && time.Now().Before(end); {
			d.Update()
			time.Sleep(time.Millisecond)
		}
		for tick := range uint64(100) {
			say(m, tick, cue.Shot, one(0, 0))
			d.Update()
			time.Sleep(time.Millisecond)
		}
		if lines := strings.Count(said.String(), "\n"); (d.Err() != nil) != (lines == 1) || lines > 1 {
			t.Errorf("%s: %v; it says %q", find.name, d.Err(), said.String())
		}
		d.Close()
		m.Close()
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%s: %d clips are left", find.name, n)
		}
		if ours() {
			t.Errorf("%s: a goroutine of ours is left", find.name)
		}
		t.Log(find.name, "says", fmt.Sprintf("%q", said.String()))
	}
}

// Everything at once, for the race detector.
func TestDevice_GameAndCardMeetWithoutHarm(t *testing.T) {
	m, h := newMixer(t, 800, 0.3)
	f := newFake()
	d, err := open(m, io.Discard, f.find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	var music [Layers]ClipID
	for tick := range uint64(1500) {
		for k := range cue.Count {
			say(m, tick, k, one(float32(tick%700), 0), one(4, 4))
		}
		m.SetHeat(float32(tick%90) / 90)
		if tick%40 == 0 {
			for _, id := range music {
				m.Remove(id)
			}
			music = four(t, m, h, 400)
			if err := m.SetMusic(music, 0.05); err != nil {
				t.Fatal(err)
			}
		}
		if tick%100 == 50 {
			d.Focus(false)
			m.CutAfter(tick - 10)
			d.Focus(true)
		}
		d.Update()
		if tick%16 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	d.Close()
	for i := range m.core.voices {
		if v := &m.core.voices[i]; v.live() && m.slots[v.slot].clip.PCM == nil {
			t.Errorf("voice %d plays a clip that was freed", i)
		}
	}
}

func TestDevice_SaysThatItsBuffersWereEnlarged(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	f := newFake()
	f.wider = true
	var said strings.Builder
	d, err := open(m, &said, f.find(closed()))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.Update()
	}
	d.Close()
	if want := "sound: the system takes much at once: it is heard within 223 ms now\n"; said.String() != want {
		t.Errorf("it says %q; want %q", said.String(), want)
	}
}
