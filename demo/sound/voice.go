package sound

// A voice is an effect that is heard. Invariants, while clip.PCM is not nil:
//
//	(1) pos>>32 is below the clip's frames
//	(2) the voice is counted in core.refs[slot]
type voice struct {
	clip        Clip
	slot        uint8
	kind        uint8
	prio        uint8
	fading      bool    // gains go to 0, and then the voice ends
	pos, step   uint64  // source frames, 32.32
	left, right float32 // as asked for
	l, r        float32 // as they are, on the way there
	born        uint64  // order of birth
	stamp       uint64
}

func (v *voice) live() bool { return v.clip.PCM != nil }

// loudness is compared to select the voice that is replaced.
func (v *voice) loudness() float32 { return v.l + v.r }

// skip moves n frames on without mixing, and reports whether the voice has ended.
func (v *voice) skip(n int) (ended bool) {
	if v.fading {
		return true
	}
	v.pos += v.step * uint64(n)
	return int(v.pos>>32) >= v.clip.Frames()-1
}

// mix adds up to len(out)/2 frames to out with linearly changing gains, and reports whether the voice has ended. It
// interpolates linearly between samples. The effects are made at 32 kHz and have no frequencies at which that is
// heard.
func (v *voice) mix(out []float32, volume float32) (ended bool) {
	l, r := v.left*volume, v.right*volume
	if v.fading {
		l, r = 0, 0
	}
	frames := len(out) / 2
	dl, dr := (l-v.l)/float32(frames), (r-v.r)/float32(frames)
	gl, gr, pos, last := v.l, v.r, v.pos, v.clip.Frames()-1
	stereo := v.clip.Channels == 2
	for i := 0; i < len(out)-1; i += 2 {
		at := int(pos >> 32)
		if at >= last {
			ended = true
			break
		}
		f := float32(uint32(pos)>>8) * (1.0 / (1 << 24) / 32768)
		const whole = 1.0 / 32768
		if stereo {
			p := v.clip.PCM[2*at : 2*at+4 : 2*at+4]
			out[i] += (float32(p[0])*whole + float32(int32(p[2])-int32(p[0]))*f) * gl
			out[i+1] += (float32(p[1])*whole + float32(int32(p[3])-int32(p[1]))*f) * gr
		} else {
			p := v.clip.PCM[at : at+2 : at+2]
			s := float32(p[0])*whole + float32(int32(p[1])-int32(p[0]))*f
			out[i] += s * gl
			out[i+1] += s * gr
		}
		gl, gr, pos = gl+dl, gr+dr, pos+v.step
	}
	v.l, v.r, v.pos = l, r, pos
	return ended || v.fading
}

// now returns what the voice is about to add: what a listener would miss as a click.
func (v *voice) now() (l, r float32) {
	at := int(v.pos>>32) * v.clip.Channels
	if at >= len(v.clip.PCM) {
		return 0, 0
	}
	s := float32(v.clip.PCM[at]) / 32768
	t := float32(v.clip.PCM[at+v.clip.Channels-1]) / 32768
	return s * v.l, t * v.r
}
