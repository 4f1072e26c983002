package sound

import (
	"testing"
	"time"
)

// A card takes frames from a player as the library does: the buffer is filled in quick succession after it.
type card struct {
	s      *supply
	clock  time.Time
	buffer int // frames
	gaps   int
}

// silent is a mixer that always has what is asked for.
type silent struct{}

func (silent) Read(p []byte) (int, error) { return len(p), nil }

func newCard() *card {
	c := &card{}
	c.s = newSupply(silent{}, func() time.Time { return c.clock })
	c.fill()
	return c
}

func (c *card) fill() {
	size := int(c.s.frames.Load())
	p := make([]byte, size*frameBytes)
	for c.buffer < size {
		n, err := c.s.Read(p)
		if err != nil {
			panic(err)
		}
		c.buffer += n / frameBytes
		c.clock = c.clock.Add(80 * time.Microsecond)
	}
}

// play has the card take so many frames at once, for a quarter of a second, and returns the longest buffer.
func (c *card) play(frames int) (most int) {
	for range Rate / 4 / frames {
		most = max(most, c.buffer)
		if c.buffer < frames {
			c.gaps++
		}
		c.buffer = max(0, c.buffer-frames)
		c.clock = c.clock.Add(time.Duration(frames) * time.Second / Rate)
		c.fill()
	}
	return most
}

func TestSupply_ThePlayerHasAGrainMoreAtMost(t *testing.T) {
	c := newCard()
	for _, frames := range []int{64, 441, 500, int(deviceTime * Rate / time.Second)} {
		if most := c.play(frames); most >= playerFrames+grain || c.gaps > 0 {
			t.Errorf("%d frames at once: the player has %d, and %d gaps", frames, most, c.gaps)
		}
		if n, ok := c.s.widen(); ok {
			t.Errorf("%d frames at once: the player is enlarged to %d", frames, n)
		}
	}
}

func TestSupply_GrowsUntilThePlayerIsNotEmptied(t *testing.T) {
	for _, frames := range []int{1200, 2400} {
		c := newCard()
		for range 12 {
			c.play(frames)
			c.s.widen()
		}
		c.gaps = 0
		if c.play(frames); c.gaps > 0 {
			t.Errorf("%d frames at once: %d gaps with a player of %d", frames, c.gaps, c.s.frames.Load())
		}
		if n, ok := c.s.widen(); ok || n > int64(2*frames) {
			t.Errorf("%d frames at once: the player has %d, and is still enlarged: %v", frames, n, ok)
		}
	}
	c := newCard()
	for range 20 {
		c.play(Rate / 4)
		c.play(Rate / 4)
		c.s.widen()
	}
	if n := c.s.frames.Load(); n != playerMost {
		t.Errorf("a card that takes all empties a player of %d; want %d at most", n, playerMost)
	}
}

func TestDelays_SumToFiftyMilliseconds(t *testing.T) {
	if d := Delays(); d.Sum() > 50*time.Millisecond || d.Mixer <= 0 || d.Player <= d.Device {
		t.Errorf("%+v: %v", d, d.Sum())
	}
}
