package sound

// A deck plays one realm's music: up to Layers loops at one position, each modulo its own length.
type deck struct {
	on         bool
	slots      [Layers]int16
	clips      [Layers]Clip
	pos, step  uint64 // source frames of the longest layer, 32.32
	length     uint64 // of the longest layer, in frames
	gain, goal float32
	perFrame   float32         // how much of gain a frame played may change
	heard      [Layers]float32 // gains of the layers as they are
}

// layerGain is the gain of a layer at a heat. The layers fade in one after the other and stay. Each becomes a little
// quieter as others come in, so that all are not much louder than one, and the calm one more, because it would disturb
// the last.
func layerGain(layer int, heat float32) float32 {
	full := 1 - 0.25*ease(heat, 0.2, 0.8)
	switch layer {
	case 0:
		return full * (1 - 0.3*ease(heat, 0.55, 0.9))
	case 1:
		return full * ease(heat, 0.05, 0.3)
	case 2:
		return full * ease(heat, 0.3, 0.55)
	}
	return full * ease(heat, 0.6, 0.85)
}

// ease goes from 0 at lo to 1 at hi without a corner.
func ease(x, lo, hi float32) float32 {
	x = max(0, min((x-lo)/(hi-lo), 1))
	return x * x * (3 - 2*x)
}

// wrap keeps the position inside the longest layer; the others' lengths divide it.
func (d *deck) wrap() {
	if whole := d.length << 32; d.pos >= whole {
		d.pos %= whole
	}
}

// fade moves gain towards goal for n frames, and reports whether the deck has faded out.
func (d *deck) fade(n int) (ended bool) {
	by := d.perFrame * float32(n)
	if d.gain < d.goal {
		d.gain = min(d.gain+by, d.goal)
	} else {
		d.gain = max(d.gain-by, d.goal)
	}
	return d.goal == 0 && d.gain == 0
}

// backSpeed is how fast music runs backwards.
const backSpeed = 2

// leastLoop is the shortest layer, in frames: loop goes on by up to three frames at once, and wraps around once.
const leastLoop = 3

// mix adds the deck to out and moves on; out may be nil for silence of n frames. With back the music runs backwards. It
// reports whether the deck has ended.
func (d *deck) mix(out []float32, n int, heat, volume float32, back bool) (ended bool) {
	ended = d.fade(n)
	step := d.step
	if back { // the frames before pos, the last one first
		step *= backSpeed
		d.pos += d.length<<32 - step*uint64(n)%(d.length<<32)
		d.wrap()
	}
	if out != nil {
		for k := range d.clips {
			goal := layerGain(k, heat) * d.gain * volume
			if c := d.clips[k]; c.PCM != nil && (goal != 0 || d.heard[k] != 0) {
				loop(out, c, d.pos, step, d.heard[k], goal, back)
			}
			d.heard[k] = goal
		}
	}
	if !back {
		d.pos += step * uint64(n)
		d.wrap()
	}
	return ended
}

// loop adds frames of a clip that repeats, from position pos. It interpolates with a curve through four samples
// (Catmull and Rom). Music is made at half the rate of the output, and linear interpolation would be heard as a hiss.
// With back it fills out from its end.
func loop(out []float32, c Clip, pos, step uint64, from, to float32, back bool) {
	first, by := 0, 2
	if back {
		first, by, from, to = len(out)-2, -2, to, from
	}
	frames := uint64(c.Frames())
	at, frac := (pos>>32)%frames, uint32(pos)
	gain, d := from/32768, (to-from)/32768/float32(len(out)/2)
	ch := uint64(c.Channels)
	for i := first; i >= 0 && i < len(out)-1; i += by {
		a, b, e := at-1, at+1, at+2
		if at == 0 {
			a = frames - 1
		}
		if b >= frames {
			b -= frames
		}
		if e >= frames {
			e -= frames
		}
		t := float32(frac>>8) * (1.0 / (1 << 24))
		s := curve(float32(c.PCM[a*ch]), float32(c.PCM[at*ch]), float32(c.PCM[b*ch]), float32(c.PCM[e*ch]), t) * gain
		out[i] += s
		if ch == 2 {
			s = curve(float32(c.PCM[a*2+1]), float32(c.PCM[at*2+1]), float32(c.PCM[b*2+1]), float32(c.PCM[e*2+1]), t) * gain
		}
		out[i+1] += s
		gain += d
		next := uint64(frac) + step
		frac = uint32(next)
		if at += next >> 32; at >= frames {
			at -= frames
		}
	}
}

func curve(a, b, c, d, t float32) float32 {
	return b + 0.5*t*(c-a+t*(2*a-5*b+4*c-d+t*(3*(b-c)+d-a)))
}
