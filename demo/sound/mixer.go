package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
)

const (
	Rate     = 44100 // frames a second that a mixer renders
	Voices   = 32    // effects at once
	MaxClips = 64    // clips that a mixer holds
)

// A ClipID names a clip of a mixer; the zero ClipID names none. One whose clip was removed is
// stale, and what is asked of it is an error or nothing.
type ClipID uint32

// The errors of a mixer.
var (
	ErrFull  = errors.New("sound: the mixer holds as many clips as it can")
	ErrStale = errors.New("sound: no such clip")
	ErrLoops = errors.New("sound: the layers do not go together")
)

// Volumes are what the player has set, from 0 to 1; they are squared, as ears want it.
type Volumes struct {
	Master, Effects, Music float32
	Mute                   bool
}

// A Listener is where the world is heard from, in its units.
type Listener struct{ X, Y float32 }

// Distances in the world's units: at near a sound begins to fade, at far it is not played, and
// wide to the side it comes from that side alone, nearly.
const (
	near = 160
	far  = 900
	wide = 360
)

// A slot is the game's side of a clip.
type slot struct {
	clip Clip
	home memory.Allocator
	gen  uint32
	live bool // named by an id
}

// A Mixer turns events, clips and a heat into samples.
//
// Its methods belong to the game goroutine, but Read, which is the device's. They meet in a queue
// whose lock is held for copies only. Neither side allocates on the Go heap once the clips are
// in. What the mixer plays never reaches the simulation: it has its own chance and its own clock.
//
// A clip is freed by Update or Close, on the game goroutine, once it was removed and no voice
// plays it any more.
type Mixer struct {
	q    queue
	run  sync.Mutex // holds core; taken before q.mu, never inside it
	core core

	slots   [MaxClips]slot
	bank    [cue.Count][4]ClipID
	begun   [cue.Count]uint64 // tick + 1 of the last event that was played
	turn    [cue.Count]uint8  // variant
	chance  uint64
	dropped uint64
	back    [MaxClips]bool
	device  bool // one is open
	closed  bool
}

// NewMixer makes a mixer with all volumes at 1, some 49 KiB of the Go heap.
func NewMixer() *Mixer {
	m := &Mixer{chance: 0x9e3779b97f4a7c15}
	c := &m.core
	c.master, c.effects, c.music, c.gain, c.hush, c.duck, c.duckGoal = 1, 1, 1, 1, 1, 1, 1
	return m
}

// Add takes a clip over, whose block goes back to home when it is no longer needed. On an error,
// ErrFull or [memory.ErrClosed], the clip remains the caller's.
func (m *Mixer) Add(c Clip, home memory.Allocator) (ClipID, error) {
	if m.closed {
		return 0, fmt.Errorf("sound: the mixer: %w", memory.ErrClosed)
	}
	if c.Frames() < 1 || c.Channels > 2 || c.Rate < MinRate || c.Rate > MaxRate {
		return 0, fmt.Errorf("%w: a clip of %d frames, %d channels, %d Hz", ErrFormat, c.Frames(), c.Channels, c.Rate)
	}
	i := m.vacant()
	if i < 0 { // where nobody reads, what was removed has not come back
		m.run.Lock()
		m.core.obey(&m.q)
		m.run.Unlock()
		m.Update()
		if i = m.vacant(); i < 0 {
			return 0, ErrFull
		}
	}
	s := &m.slots[i]
	*s = slot{clip: c, home: home, gen: s.gen + 1, live: true}
	m.tell(&command{op: opAdd, slot: uint8(i), clip: c})
	return ClipID(s.gen<<8 | uint32(i+1)), nil
}

func (m *Mixer) vacant() int {
	for i := range m.slots {
		if m.slots[i].clip.PCM == nil {
			return i
		}
	}
	return -1
}

// Remove lets a clip go: nothing new plays it, what does fades out, and then it is freed.
// A stale id is nothing.
func (m *Mixer) Remove(id ClipID) {
	if i, ok := m.find(id); ok {
		m.slots[i].live = false
		m.tell(&command{op: opRemove, slot: uint8(i)})
	}
}

func (m *Mixer) find(id ClipID) (int, bool) {
	i := int(id&0xff) - 1
	if i < 0 || i >= MaxClips || !m.slots[i].live || m.slots[i].gen != uint32(id)>>8 {
		return 0, false
	}
	return i, true
}

// tell passes on what must not be lost: where the queue is full, the game does the core's share.
func (m *Mixer) tell(c *command) {
	for !m.q.put(c, 0) {
		m.run.Lock()
		m.core.obey(&m.q)
		m.run.Unlock()
	}
}

// SetEffect says which clip a variant of a kind is; the zero ClipID means none. Where a kind has
// several they take turns. It panics for a kind or variant that does not exist.
func (m *Mixer) SetEffect(k cue.Kind, variant int, id ClipID) { m.bank[k][variant] = id }

// SetMusic begins the layers together while what plays fades out, both for the given seconds.
// A zero ClipID is a layer that is not there; all zero is silence. The error is ErrStale, or
// ErrLoops where the rates differ or a length does not divide the longest; nothing changes then.
func (m *Mixer) SetMusic(layers [Layers]ClipID, seconds float32) error {
	c := command{op: opMusic, fade: 1 / (Rate * max(finite(seconds), 0.005))}
	longest, rate := 0, 0
	for k, id := range layers {
		c.layers[k] = -1
		if id == 0 {
			continue
		}
		i, ok := m.find(id)
		if !ok {
			return fmt.Errorf("%w: layer %d", ErrStale, k)
		}
		c.layers[k] = int16(i)
		longest, rate = max(longest, m.slots[i].clip.Frames()), m.slots[i].clip.Rate
	}
	for k, i := range c.layers {
		if i < 0 {
			continue
		}
		if clip := m.slots[i].clip; clip.Rate != rate || longest%clip.Frames() != 0 {
			return fmt.Errorf("%w: layer %d has %d frames at %d Hz, the longest has %d at %d", ErrLoops, k, clip.Frames(), clip.Rate, longest, rate)
		}
	}
	m.tell(&c)
	return nil
}

// SetHeat says how much of the music is heard, from 0 to 1. The music follows within seconds.
func (m *Mixer) SetHeat(heat float32) {
	m.ask(&command{op: opHeat, left: max(0, min(finite(heat), 1))})
}

// SetVolumes sets the volumes; what is beyond their range is cut off.
func (m *Mixer) SetVolumes(v Volumes) {
	square := func(x float32) float32 { x = max(0, min(finite(x), 1)); return x * x }
	master := square(v.Master)
	if v.Mute {
		master = 0
	}
	m.tell(&command{op: opVolumes, left: master, right: square(v.Effects), duck: square(v.Music)})
}

// CutAfter fades the effects out that were begun by a Hear with a later tick: a state was loaded
// in which they have not happened.
func (m *Mixer) CutAfter(tick uint64) {
	m.tell(&command{op: opCut, stamp: tick})
	for k := range m.begun {
		if m.begun[k] > tick+1 {
			m.begun[k] = 0
		}
	}
}

// ask passes on what may be lost in a queue that nobody empties.
func (m *Mixer) ask(c *command) {
	if !m.q.put(c, keepFree) {
		m.dropped++
	}
}

// Update is to be called once a tick, also while the game is paused: it frees the clips that
// came back, and tells the device's side that the game is alive. Without it the sound fades out
// within a second, as where a window is hidden or a debugger holds the game.
func (m *Mixer) Update() {
	if !m.q.heartbeat(&m.back) {
		return
	}
	for i, yes := range m.back {
		if yes {
			m.free(i)
		}
	}
}

// Flush cuts off what still plays clips that were removed, and frees those: for the end of a
// realm, which counts live blocks. It waits for the device's side, up to the time of a block.
func (m *Mixer) Flush() {
	m.run.Lock()
	m.core.obey(&m.q)
	m.core.flush(&m.q)
	m.run.Unlock()
	m.Update()
}

func (m *Mixer) free(i int) {
	s := &m.slots[i]
	c, home := s.clip, s.home
	s.clip, s.home, s.live = Clip{}, nil, false
	c.Free(home)
}

// Skip lets n frames pass unheard. It is for a game without a device, where nobody calls Read.
func (m *Mixer) Skip(n int) {
	m.run.Lock()
	defer m.run.Unlock()
	m.core.obey(&m.q)
	m.core.skip(n, &m.q)
}

// Read fills p with stereo frames of two little-endian float32, from -1 to 1. It never fails,
// and fills whole frames only. It is the device's, on any one goroutine.
func (m *Mixer) Read(p []byte) (int, error) {
	const frame = 8
	done := 0
	for len(p)-done >= frame {
		n := min(block, (len(p)-done)/frame)
		m.run.Lock()
		m.core.obey(&m.q)
		for _, s := range m.core.render(n, &m.q) {
			binary.LittleEndian.PutUint32(p[done:], math.Float32bits(s))
			done += 4
		}
		m.run.Unlock()
	}
	return done, nil
}

// Close frees all clips, playing or not. No device may read any more. It may be called twice.
func (m *Mixer) Close() {
	m.run.Lock()
	defer m.run.Unlock()
	m.core.obey(&m.q)
	m.core = core{}
	m.closed = true
	for i := range m.slots {
		if m.slots[i].clip.PCM != nil {
			m.free(i)
		}
	}
}

// Stats are counts since NewMixer, and what is there now.
type Stats struct {
	Begun, Stolen uint64 // effects; effects cut off for a more important one
	TurnedAway    uint64 // effects that found no voice
	Dropped       uint64 // commands that found no room: nobody plays
	Voices, Clips int
}

// Stats waits for the device's side, up to the time of a block: not for every tick.
func (m *Mixer) Stats() Stats {
	m.run.Lock()
	defer m.run.Unlock()
	s := Stats{Begun: m.core.begun, Stolen: m.core.stolen, TurnedAway: m.core.turnedAway, Dropped: m.dropped}
	for i := range m.core.voices {
		if m.core.voices[i].live() {
			s.Voices++
		}
	}
	for i := range m.slots {
		if m.slots[i].clip.PCM != nil {
			s.Clips++
		}
	}
	return s
}

func finite(x float32) float32 {
	if x != x || x-x != 0 {
		return 0
	}
	return x
}
