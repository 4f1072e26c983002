package sound

import "math"

const (
	// crowdLevel is the power, by channel, from which on a crowd becomes quieter: about -19 LUFS of its own. At full
	// heat, with four layers of music, it is crowdHot.
	crowdLevel = 0.0045
	crowdHot   = 0.0020
	crowdRatio = 8   // of eight decibels more of it one is heard
	crowdRise  = 0.6 // seconds until it has become quieter
	crowdFall  = 0.9 // seconds until it is as loud as before
	aloud      = 7   // priority from which on a sound does not belong to the crowd
)

// A crowd is the sounds of which there are hundreds: they are mixed for themselves, and the more there are the quieter
// is each. So a horde is not much louder than a few, and what the player must hear is heard over it.
type crowd struct {
	power float32 // by channel, in the last second
	gain  float32
	sum   [2 * block]float32
}

// add evens the crowd out and adds it to frames. volume is what its sounds were multiplied by.
func (c *crowd) add(out []float32, volume, heat float32) {
	sum := c.sum[:len(out)]
	n := float32(len(out) / 2)
	from := c.gain
	if volume > 0 {
		p := float32(0)
		for _, x := range sum {
			p += x * x
		}
		p /= 2 * n * volume * volume
		time := float32(crowdRise)
		if p < c.power {
			time = crowdFall
		}
		c.power += (p - c.power) * min(n/(Rate*time), 1)
		level := crowdLevel + (crowdHot-crowdLevel)*heat
		c.gain = float32(math.Pow(float64(level/max(c.power, level)), 0.5*(1-1.0/crowdRatio)))
	}
	g, d := from, (c.gain-from)/n
	for i := 0; i < len(out)-1; i += 2 {
		out[i], out[i+1] = out[i]+sum[i]*g, out[i+1]+sum[i+1]*g
		g += d
	}
}
