package sound

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
)

// Close has freed the clip that was removed: a game that ends may still call Update and Flush.
func TestMixer_UpdateAndFlushAfterCloseFreeNothing(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	m.Remove(m.bank[cue.Select][0])
	m.Close()
	m.Update()
	m.Flush()
	if h.Stats().Live != 0 {
		t.Errorf("%d clips are live", h.Stats().Live)
	}
}

func TestMixer_ClipsAreFreedWhenNobodyPlaysThemAndByUpdateOnly(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	id := m.bank[cue.Select][0]
	say(m, 1, cue.Select, one(0, 0))
	listen(m, 500)
	m.Remove(id)
	if h.Stats().Live != 1 {
		t.Fatal("the clip was freed while a voice plays it")
	}
	buf := make([]byte, 8*block)
	for range 20 {
		if _, err := m.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	if h.Stats().Live != 1 {
		t.Fatal("the clip was freed by Read, on the device's goroutine")
	}
	m.Update()
	if h.Stats().Live != 0 {
		t.Error("the clip was not freed by Update")
	}
	m.Remove(id)
	m.Update()
	if err := m.SetMusic([Layers]ClipID{id}, 1); !errors.Is(err, ErrStale) {
		t.Errorf("a stale id as music: %v", err)
	}
	say(m, 50, cue.Select, one(0, 0))
	if p := both(listen(m, 2000)); p > 1e-4 {
		t.Errorf("a stale id is heard: %v", p)
	}
}

func TestMixer_AnIDIsNotThatOfTheNextClipInItsSlot(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	a := add(t, m, tone(t, h, 1000, 10, 0.5), h)
	m.Remove(a)
	listen(m, 1000)
	b := add(t, m, tone(t, h, 1000, 10, 0.5), h)
	if a == b {
		t.Fatal("a slot's second clip has the id of its first")
	}
	m.Remove(a)
	listen(m, 1000)
	if _, ok := m.find(b); !ok {
		t.Error("a stale id removed another clip")
	}
}

func TestMixer_RefusesMoreClipsThanItHolds(t *testing.T) {
	h := newHeap(t)
	m := NewMixer()
	for range MaxClips {
		add(t, m, tone(t, h, 500, 5, 0.5), h)
	}
	c := tone(t, h, 500, 5, 0.5)
	if _, err := m.Add(c, h); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	m.Close()
	if _, err := m.Add(c, h); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := NewMixer().Add(Clip{}, h); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "0 frames, 0 channels, 0 Hz; allowed are 1 frame or more, 1 or 2 channels, 8000 to 48000 Hz") {
		t.Errorf("an empty clip: %v", err)
	}
	if _, err := NewMixer().Add(Clip{PCM: c.PCM, Rate: Rate}, h); !errors.Is(err, ErrFormat) {
		t.Errorf("a clip without a channel: %v", err)
	}
	c.Free(h)
	m.Close()
	m.Update()
}

// Without a reader the queue fills; commands that must not be lost are kept.
func TestMixer_NothingButPlaysIsLostWhenNobodyReads(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	for tick := range uint64(5000) {
		say(m, tick*20, cue.Shot, one(0, 0))
	}
	if m.Stats().Dropped == 0 {
		t.Error("5,000 plays found room")
	}
	for range 1000 {
		id := add(t, m, tone(t, h, 500, 5, 0.5), h)
		m.Remove(id)
		m.Update()
	}
	m.Skip(block)
	m.Update()
	if n := m.Stats().Clips; n != 1 {
		t.Errorf("%d clips are left; want 1", n)
	}
}
