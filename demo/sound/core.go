package sound

import "math"

// block is how many frames are mixed at once: 5.8 ms, the grain of gains and of commands.
const block = 256

const (
	heatTime   = 1.2      // seconds in which the music follows the heat
	duckAttack = 0.03     // seconds
	duckTime   = 0.8      // seconds until the music is back
	declick    = 0.995    // per frame: what is left of a sound that was cut off
	hushTime   = 0.15     // seconds
	makeup     = 2.9      // of the sum of all sounds: files and gains leave space for many, and the limiter does, too
	deadFrames = Rate / 2 // without a heartbeat, after which the game counts as stopped
)

// A core mixes. It belongs to the goroutine that holds Mixer.run: the device's, or without a device the game's.
type core struct {
	voices [Voices]voice
	decks  [2]deck // the one that plays, and the one that fades out
	clips  [MaxClips]Clip
	refs   [MaxClips]uint8
	going  [MaxClips]bool // removed, waiting for refs to be 0
	births uint64

	heat, heatGoal            float32
	duck, duckGoal            float32 // share of the music that is left
	master, effects, music    float32 // volumes
	gain                      float32 // the present gain of master
	hush                      float32 // 1 while the game lives
	quiet                     int     // frames since the last heartbeat
	back                      bool    // the music runs backwards
	clickL, clickR            float32
	begun, stolen, turnedAway uint64

	crowd    crowd
	limiter  limiter
	commands [queueSize]command
	out      [2 * block]float32
	stem     [2 * block]float32 // the music's share of out, if it is measured
	measured bool
}

// obey executes the queued commands and notes the game's heartbeat.
func (c *core) obey(q *queue) {
	n, beat := q.take(&c.commands)
	if beat {
		c.quiet = 0
	}
	for i := range c.commands[:n] {
		c.do(&c.commands[i], q)
	}
	clear(c.commands[:n])
}

func (c *core) do(m *command, q *queue) {
	switch m.op {
	case opAdd:
		c.clips[m.slot], c.going[m.slot] = m.clip, false
	case opRemove:
		c.remove(int(m.slot), q)
	case opPlay:
		c.play(m, q)
	case opCut:
		for i := range c.voices {
			v := &c.voices[i]
			v.fading = v.fading || v.live() && v.stamp > m.stamp
		}
	case opMusic:
		c.change(m, q)
	case opHeat:
		c.heatGoal = m.left
	case opBack:
		c.back = m.left != 0
	case opVolumes:
		c.master, c.effects, c.music = m.left, m.right, m.duck
	}
}

// remove fades out what plays a clip. The slot is released when nothing plays it.
func (c *core) remove(slot int, q *queue) {
	c.going[slot] = true
	for i := range c.voices {
		v := &c.voices[i]
		v.fading = v.fading || v.live() && int(v.slot) == slot
	}
	for i := range c.decks {
		d := &c.decks[i]
		for _, s := range d.slots {
			if d.on && int(s) == slot {
				d.goal = 0
			}
		}
	}
	c.settle(slot, q)
}

// flush ends what plays removed clips.
func (c *core) flush(q *queue) {
	for i := range c.voices {
		if v := &c.voices[i]; v.live() && c.going[v.slot] {
			c.cut(v, q)
		}
	}
	for i := range c.decks {
		d := &c.decks[i]
		for _, s := range d.slots {
			if d.on && s >= 0 && c.going[s] {
				c.stop(d, q)
			}
		}
	}
}

// settle releases a removed slot that nothing plays.
func (c *core) settle(slot int, q *queue) {
	if c.going[slot] && c.refs[slot] == 0 {
		c.going[slot], c.clips[slot] = false, Clip{}
		q.release(slot)
	}
}

func (c *core) play(m *command, q *queue) {
	clip := c.clips[m.slot]
	if clip.PCM == nil || c.going[m.slot] || clip.Frames() < 2 {
		c.turnedAway++
		return
	}
	v := c.place(m)
	if v == nil {
		c.turnedAway++
		return
	}
	if v.live() {
		c.stolen++
		c.cut(v, q)
	}
	c.births++
	c.begun++
	c.refs[m.slot]++
	// A sound begins at its gain at once: an attack that is ramped is no attack.
	*v = voice{clip: clip, slot: m.slot, kind: m.kind, prio: m.prio, step: m.step, left: m.left, right: m.right,
		l: m.left * c.effects, r: m.right * c.effects, born: c.births, stamp: m.stamp}
	if m.duck > 0 {
		c.duckGoal = min(c.duckGoal, 1-m.duck)
	}
}

// place finds a voice. If the kind has its most voices it is the kind's oldest. Otherwise it is a free one, or else
// the quietest of the lowest priority, if that is no higher than the new sound's.
func (c *core) place(m *command) *voice {
	var free, worst, oldest *voice
	same := 0
	for i := range c.voices {
		v := &c.voices[i]
		switch {
		case !v.live():
			free = v
			continue
		case v.kind == m.kind && !v.fading:
			same++
			if oldest == nil || v.born < oldest.born {
				oldest = v
			}
		}
		if worst == nil || v.prio < worst.prio || v.prio == worst.prio && v.loudness() < worst.loudness() {
			worst = v
		}
	}
	switch {
	case same >= int(m.most) && oldest != nil:
		return oldest
	case free != nil:
		return free
	case worst.prio <= m.prio:
		return worst
	}
	return nil
}

// cut ends a voice early. Its last sample decays, to soften the click.
func (c *core) cut(v *voice, q *queue) {
	l, r := v.now()
	c.clickL, c.clickR = c.clickL+l, c.clickR+r
	c.end(v, q)
}

// end frees a voice and its reference to a slot.
func (c *core) end(v *voice, q *queue) {
	slot := int(v.slot)
	v.clip = Clip{}
	c.refs[slot]--
	c.settle(slot, q)
}

// change begins a realm's music while the one that plays fades. A third one that still fades is cut off.
func (c *core) change(m *command, q *queue) {
	c.stop(&c.decks[1], q)
	c.decks[1], c.decks[0] = c.decks[0], deck{}
	old, d := &c.decks[1], &c.decks[0]
	old.goal, old.perFrame = 0, m.fade
	d.slots, d.goal, d.perFrame = m.layers, 1, m.fade
	for k, s := range m.layers {
		if s < 0 || c.clips[s].PCM == nil || c.going[s] {
			d.slots[k] = -1
			continue
		}
		d.on = true
		d.clips[k] = c.clips[s]
		d.length = max(d.length, uint64(d.clips[k].Frames()))
		d.step = uint64(d.clips[k].Rate) << 32 / Rate
		c.refs[s]++
	}
}

// stop ends a deck and its references to slots.
func (c *core) stop(d *deck, q *queue) {
	if !d.on {
		return
	}
	for k, s := range d.slots {
		if s < 0 {
			continue
		}
		clip := d.clips[k]
		at := int(d.pos>>32) % clip.Frames() * clip.Channels
		c.clickL += float32(clip.PCM[at]) / 32768 * d.heard[k]
		c.clickR += float32(clip.PCM[at+clip.Channels-1]) / 32768 * d.heard[k]
		c.refs[s]--
		c.settle(int(s), q)
	}
	*d = deck{}
}

// render mixes n frames, at most a block, into c.out.
func (c *core) render(n int, q *queue) []float32 {
	out := c.out[:2*n]
	clear(out)
	clear(c.stem[:])
	c.quiet += n
	if c.hush == 0 && c.quiet > deadFrames {
		return out // the game stands still, and so does its sound
	}
	c.ease(n)
	music, stem := c.music*c.duck, c.stem[:0]
	for i := range c.decks {
		if d := &c.decks[i]; d.on && d.mix(out, n, c.heat, music, c.back) {
			c.stop(d, q)
		}
	}
	if c.measured {
		stem = c.stem[:copy(c.stem[:], out)]
	}
	clear(c.crowd.sum[:])
	for i := range c.voices {
		v, into := &c.voices[i], out
		if v.prio < aloud {
			into = c.crowd.sum[:len(out)]
		}
		if v.live() && v.mix(into, c.effects) {
			c.end(v, q)
		}
	}
	c.crowd.add(out, c.effects, c.heat)
	c.finish(out, stem)
	return out
}

// skip is render without output: sounds end when they would have ended.
func (c *core) skip(n int, q *queue) {
	c.quiet = 0
	c.ease(n)
	c.gain, c.hush, c.clickL, c.clickR, c.limiter = c.master, 1, 0, 0, limiter{gain: 1}
	for i := range c.decks {
		if d := &c.decks[i]; d.on && d.mix(nil, n, c.heat, 0, c.back) {
			c.stop(d, q)
		}
	}
	for i := range c.voices {
		if v := &c.voices[i]; v.live() && v.skip(n) {
			c.end(v, q)
		}
	}
}

// ease moves heat and duck towards their goals.
func (c *core) ease(n int) {
	share := float32(n) / Rate
	c.heat += (c.heatGoal - c.heat) * min(share/heatTime, 1)
	if c.duck > c.duckGoal {
		c.duck = max(c.duck-share/duckAttack, c.duckGoal)
	} else {
		c.duckGoal = 1
		c.duck = min(c.duck+share/duckTime, 1)
	}
}

// finish applies the master volume, softens cuts, and limits the sum. What is in stem gets the same gains.
func (c *core) finish(out, stem []float32) {
	frames := len(out) / 2
	goal := c.master
	hush := float32(frames) / (Rate * hushTime)
	if c.quiet > deadFrames {
		c.hush = max(c.hush-hush, 0)
	} else {
		c.hush = min(c.hush+hush, 1)
	}
	goal *= c.hush
	d := (goal - c.gain) / float32(frames)
	for i := 0; i < len(out)-1; i += 2 {
		g := makeup * c.gain
		out[i], out[i+1] = (out[i]+c.clickL)*g, (out[i+1]+c.clickR)*g
		if i < len(stem)-1 {
			stem[i], stem[i+1] = stem[i]*g, stem[i+1]*g
		}
		c.clickL, c.clickR, c.gain = c.clickL*declick, c.clickR*declick, c.gain+d
	}
	c.gain = goal
	if abs(c.clickL)+abs(c.clickR) < 1e-6 {
		c.clickL, c.clickR = 0, 0 // no denormal numbers, which are slow
	}
	c.limiter.limit(out, stem)
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
