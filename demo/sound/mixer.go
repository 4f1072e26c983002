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
	MaxClips = 64    // clips of a mixer
)

// A ClipID identifies a clip of a mixer. The zero ClipID is no clip. The id of a removed clip is stale: methods fail
// with ErrStale or do nothing.
type ClipID uint32

// The errors of a mixer.
var (
	ErrFull  = errors.New("sound: the mixer has no space for another clip")
	ErrStale = errors.New("sound: no such clip")
	ErrLoops = errors.New("sound: the layers do not fit together")
)

// Volumes are the player's settings, from 0 to 1. Each gain is the square of a setting, so that equal
// steps of the setting sound about equally large.
type Volumes struct {
	Master, Effects, Music float32
	Mute                   bool
}

// A Listener is the place at which the world is heard, in units of the world.
type Listener struct{ X, Y float32 }

// Distances in the world's units. From near on a sound becomes quieter, from far on it is not played. At wide to a
// side it is heard almost only on that side.
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

// A Mixer turns events, clips and a heat into samples. Its methods belong to the game goroutine, except Read and
// Render, which belong to the goroutine of the device. Both goroutines share a queue of commands whose lock is held only
// for copies. If the queue is full, the commands of Hear and SetHeat are lost, and other methods may wait until Read
// has mixed 256 frames. SetEffect and Update never wait. Neither goroutine allocates on the Go heap. The mixer has its
// own random numbers and clock, and never affects the simulation.
//
// A removed clip is freed when nothing plays it: by Update, Add, Flush or Close, on the game goroutine.
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

// NewMixer returns a mixer with all volumes at 1. It has about 54 KiB on the Go heap.
func NewMixer() *Mixer {
	m := &Mixer{chance: 0x9e3779b97f4a7c15}
	c := &m.core
	c.master, c.effects, c.music, c.gain, c.hush, c.duck, c.duckGoal = 1, 1, 1, 1, 1, 1, 1
	c.limiter.gain, c.crowd.gain = 1, 1
	return m
}

// Add takes ownership of a clip. Its block is freed to home after Remove or Close. If MaxClips clips are not freed yet,
// the error is ErrFull. If the clip has no frame, or its rate or number of channels is not allowed, the error wraps
// ErrFormat. After Close the error wraps [memory.ErrClosed]. After an error the caller still owns the clip. If the mixer
// seems full, Add may wait until Read has mixed 256 frames.
func (m *Mixer) Add(c Clip, home memory.Allocator) (ClipID, error) {
	if m.closed {
		return 0, fmt.Errorf("sound: the mixer: %w", memory.ErrClosed)
	}
	if c.Frames() < 1 || c.Channels < 1 || c.Channels > 2 || c.Rate < MinRate || c.Rate > MaxRate {
		return 0, fmt.Errorf("%w: a clip of %d frames, %d channels, %d Hz; allowed are 1 frame or more, 1 or 2 channels, %d to %d Hz", ErrFormat, c.Frames(), c.Channels, c.Rate, MinRate, MaxRate)
	}
	i := m.vacant()
	if i < 0 { // without a reader, removed clips were not released
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

// Remove removes a clip. Effects that play the clip fade out, and no new ones begin. If the clip is a layer of the
// music, all layers fade out, in the time that SetMusic was given. The clip is freed when nothing plays it. Remove
// ignores a stale id.
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

// tell queues a command that must not be lost. If the queue is full the game executes the commands itself.
func (m *Mixer) tell(c *command) {
	for !m.q.put(c, 0) {
		m.run.Lock()
		m.core.obey(&m.q)
		m.run.Unlock()
	}
}

// SetEffect sets the clip of a variant, from 0 to 3, of a kind. The zero ClipID and a stale id mean silence. The
// variants below k.Variants() are played in turn, and others never. SetEffect panics if the kind or variant is out of
// range.
func (m *Mixer) SetEffect(k cue.Kind, variant int, id ClipID) { m.bank[k][variant] = id }

// SetMusic fades the layers in while the present music fades out, both for the given seconds. Music that still fades
// out from an earlier call is cut off. A layer with the zero ClipID is silent. If all are zero, the music ends. The
// least fade takes 0.005 seconds.
//
// If an id is stale, the error wraps ErrStale. All layers must have the same rate. Each must have at least 3 frames, and
// its length must divide the length of the longest layer. Otherwise the error wraps ErrLoops. A failed call changes
// nothing.
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
		if clip := m.slots[i].clip; clip.Rate != rate || longest%clip.Frames() != 0 || clip.Frames() < leastLoop {
			return fmt.Errorf("%w: layer %d has %d frames at %d Hz, the longest has %d at %d", ErrLoops, k, clip.Frames(), clip.Rate, longest, rate)
		}
	}
	m.tell(&c)
	return nil
}

// SetHeat sets how many layers of the music are heard: with heat 0 only the first, with 1 all. Other values are limited
// to this range. The music follows within seconds. Call SetHeat in every tick, because a call may be lost, see [Mixer].
func (m *Mixer) SetHeat(heat float32) {
	m.ask(&command{op: opHeat, left: max(0, min(finite(heat), 1))})
}

// SetBack(true) makes the music run backwards at twice the speed, and SetBack(false) forwards again, both from its
// present position.
func (m *Mixer) SetBack(on bool) {
	c := command{op: opBack}
	if on {
		c.left = 1
	}
	m.tell(&c)
}

// SetVolumes sets the volumes, limited to 0 to 1.
func (m *Mixer) SetVolumes(v Volumes) {
	square := func(x float32) float32 { x = max(0, min(finite(x), 1)); return x * x }
	master := square(v.Master)
	if v.Mute {
		master = 0
	}
	m.tell(&command{op: opVolumes, left: master, right: square(v.Effects), duck: square(v.Music)})
}

// CutAfter fades out the effects that Hear began in ticks after the given one. Call it after loading a state of an
// earlier tick.
func (m *Mixer) CutAfter(tick uint64) {
	m.tell(&command{op: opCut, stamp: tick})
	for k := range m.begun {
		if m.begun[k] > tick+1 {
			m.begun[k] = 0
		}
	}
}

// ask queues a command that may be lost if the queue is not read.
func (m *Mixer) ask(c *command) {
	if !m.q.put(c, keepFree) {
		m.dropped++
	}
}

// Update frees removed clips that Read or [Mixer.Skip] no longer plays, and signals Read that the game runs. Call it
// once a tick, also while the game is paused. A game with a Device calls [Device.Update] instead. Without calls, for
// example in a debugger, the sound fades out within a second. After Close, Update frees nothing.
func (m *Mixer) Update() {
	if !m.q.heartbeat(&m.back) || m.closed {
		return
	}
	for i, yes := range m.back {
		if yes {
			m.free(i)
		}
	}
}

// Flush cuts off the sounds that still play removed clips, and frees these clips. If one layer of the music is removed,
// Flush cuts off all layers. Call it at the end of a realm, before live blocks are counted as leaks. Flush may wait
// until Read has mixed 256 frames.
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

// Skip advances the mixer by n frames without output. Use it in a game without a device, where nothing calls Read.
func (m *Mixer) Skip(n int) {
	m.run.Lock()
	defer m.run.Unlock()
	m.core.obey(&m.q)
	m.core.skip(n, &m.q)
}

// Read fills p with stereo frames of two little-endian float32, from -1 to 1. Read writes whole frames of 8 bytes only,
// returns the bytes written, and never fails. The device calls it, on any one goroutine.
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

// Render fills mix with the next stereo frames, from -1 to 1, instead of [Mixer.Read]. It fills music with the music's
// part of these frames, after the same gains. Both slices must have the same length. Render is for measurements. Call it
// on the goroutine that would call Read.
func (m *Mixer) Render(mix, music []float32) {
	m.run.Lock()
	defer m.run.Unlock()
	m.core.measured = true
	for at := 0; at < len(mix)-1; {
		n := min(block, (len(mix)-at)/2)
		m.core.obey(&m.q)
		copy(mix[at:], m.core.render(n, &m.q))
		copy(music[at:], m.core.stem[:2*n])
		at += 2 * n
	}
	m.core.measured = false
}

// Close ends all sounds and frees all clips. Close the device first, so that Read is not running. Afterwards Add fails,
// all ids are stale, and Read returns silence. Close may be called twice.
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

// Stats are counts since NewMixer, and the present voices and clips.
type Stats struct {
	Begun, Stolen uint64 // effects begun; effects cut off for others
	TurnedAway    uint64 // effects not begun: no voice was free, or the clip was removed or has one frame
	Dropped       uint64 // effects and heats lost because the queue was full: nothing reads the mixer
	Voices, Clips int    // effects that play; clips that are not freed
}

// Stats returns the statistics. It may wait until Read has mixed 256 frames: do not call it every tick. After Close
// only Dropped is kept.
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
