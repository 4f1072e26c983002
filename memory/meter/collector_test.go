package meter

import (
	"testing"
	"time"
)

// What is allocated while a collection marks is no part of the live size that is judged.
func TestCollector_FloatingIsWhatWasAllocatedWhileItMarked(t *testing.T) {
	type frame struct {
		cycles, pauses, allocated uint64
		look, ended               bool
		floating                  uint64
	}
	for name, frames := range map[string][]frame{
		"in one frame": {{0, 0, 100, false, false, 0}, {1, 2, 200, true, true, 0}, {1, 2, 300, false, false, 0}},
		"in several":   {{0, 0, 100, false, false, 0}, {0, 1, 200, true, false, 0}, {0, 1, 350, true, false, 0}, {0, 1, 500, true, false, 0}, {1, 2, 900, true, true, 300}, {1, 2, 950, false, false, 0}},
		"in two":       {{0, 0, 100, false, false, 0}, {0, 1, 200, true, false, 0}, {1, 2, 900, true, true, 0}},
		"one that stops the world again before its end": {{0, 0, 100, false, false, 0}, {0, 1, 200, true, false, 0}, {0, 2, 350, true, false, 0}, {1, 3, 900, true, true, 150}},
		"the stop at the end is counted late":           {{0, 0, 100, false, false, 0}, {1, 1, 200, true, true, 0}, {1, 2, 300, false, false, 0}, {1, 2, 400, false, false, 0}, {1, 3, 500, true, false, 0}, {1, 3, 600, true, false, 0}, {2, 4, 700, true, true, 100}},
		"one after the other":                           {{0, 0, 100, false, false, 0}, {1, 2, 200, true, true, 0}, {2, 4, 300, true, true, 0}, {2, 4, 400, false, false, 0}, {2, 5, 500, true, false, 0}, {2, 5, 550, true, false, 0}, {3, 6, 600, true, true, 50}},
	} {
		var c collector
		c.follow(true, 0, 0)
		for i, f := range frames {
			if look := c.follow(false, f.cycles, f.pauses); look != f.look {
				t.Errorf("%s, frame %d: looks: %v, want %v", name, i, look, f.look)
			}
			if floating, ended := c.mark(f.allocated); floating != f.floating || ended != f.ended {
				t.Errorf("%s, frame %d: %d floating, ended: %v, want %d, %v", name, i, floating, ended, f.floating, f.ended)
			}
			if _, again := c.mark(f.allocated); again {
				t.Errorf("%s, frame %d: it ends twice", name, i)
			}
		}
	}
}

// A program whose collections take longer from a moment on does not grow, though the runtime reports more in use.
func TestLive_SlowerCollectionsAreNoGrowth(t *testing.T) {
	p := newProgram()
	allocated, pauses := uint64(0), uint64(0)
	frame := func(seconds float64) {
		p.at += seconds
		allocated += uint64(seconds * 50 * mib)
		if p.live.follow(false, p.cycles, pauses) || int(4*p.at) != int(4*(p.at-seconds)) {
			p.live.note(time.Unix(1000, 0).Add(time.Duration(p.at*1e9)), p.at, uint64(p.size), allocated, &p.points)
		}
	}
	for k := range 40 {
		for range 60 * 8 {
			frame(1.0 / 60)
		}
		before := allocated
		pauses++
		for range 6 * max(1, min(k-15, 10)) {
			frame(1.0 / 60)
		}
		p.cycles, pauses = p.cycles+1, pauses+1
		p.size = 400*mib + float64(allocated-before)
		frame(1.0 / 60)
		if p.live.rate >= leastLive {
			t.Fatalf("collection %d: growing by %.0f bytes a second", k, p.live.rate)
		}
	}
	if h := p.live.heap; h.Live < 440*mib {
		t.Errorf("the live size is %d: it is the runtime's", h.Live)
	}
}
