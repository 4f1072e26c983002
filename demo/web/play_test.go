package main

import (
	"flag"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

var (
	playFor   = flag.Duration("play", 12*time.Second, "how long TestPlay plays; an hour in .ci/nightly")
	playRealm = flag.String("realm", "tide", "the realm that TestPlay plays")
)

// A player is a restless one with keys and a mouse: it goes anywhere, fires round about, takes any gift and begins
// anew when it has fallen.
type player struct {
	*chrome
	r      *rand.Rand
	down   map[string]bool
	fires  bool
	angle  float64
	turn   time.Time // when it goes another way
	dash   time.Time
	fallen int
}

// hold presses the key of a letter, or lets it go.
func (p *player) hold(letter string, down bool) {
	p.t.Helper()
	if p.down[letter] == down {
		return
	}
	p.down[letter] = down
	kind := "keyUp"
	if down {
		kind = "keyDown"
	}
	n := int(letter[0] - 'a' + 'A')
	p.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "code": "Key" + string(rune(n)), "key": letter, "windowsVirtualKeyCode": n}, nil)
}

// point moves the mouse to a place of the logical screen, which is that of the page, with its button down or up.
func (p *player) point(x, y float64, kind string) {
	p.t.Helper()
	p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}, nil)
}

// play does what is to be done on the screen that is shown.
func (p *player) play(s state) {
	p.t.Helper()
	switch s.Screen {
	case "playing":
		now := time.Now()
		if now.After(p.turn) {
			p.turn = now.Add(400*time.Millisecond + time.Duration(p.r.Int64N(int64(900*time.Millisecond))))
			y, x := math.Sincos(2 * math.Pi * p.r.Float64())
			p.hold("d", x > .35)
			p.hold("a", x < -.35)
			p.hold("s", y > .35)
			p.hold("w", y < -.35)
		}
		p.angle += .25
		y, x := math.Sincos(p.angle)
		x, y = render.LogicalW/2+120*x, render.LogicalH/2+120*y
		if !p.fires {
			p.point(x, y, "mousePressed")
			p.fires = true
		}
		p.point(x, y, "mouseMoved")
		if now.After(p.dash) {
			p.dash = now.Add(2*time.Second + time.Duration(p.r.Int64N(int64(3*time.Second))))
			p.key("Space", " ", 32)
		}
	case "title", "paused":
		p.key("Enter", "Enter", 13)
	case "over", "ending":
		p.fallen++
		p.key("KeyR", "r", 'R')
		time.Sleep(time.Second)
	default: // gifts, once the cards lie
		time.Sleep(time.Second)
		n := 1 + p.r.IntN(3)
		p.key("Digit"+strconv.Itoa(n), strconv.Itoa(n), '0'+n)
	}
}

// memory returns the page's linear memory.
func (c *chrome) memory() (bytes int64) {
	c.t.Helper()
	c.eval("strata.bytes()", &bytes)
	return bytes
}

// TestPlay_AnHourTakesNoMoreMemoryThanFiveMinutes plays with keys and mouse for as long as -play says, with the overlay
// now and then, and compares what linear memory is in the end with what it was after a twelfth of that.
func TestPlay_AnHourTakesNoMoreMemoryThanFiveMinutes(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(handler(dir))
	defer server.Close()
	c.open(server.URL+"/?config=none&seed=7&level="+*playRealm, render.LogicalW, render.LogicalH, false)
	c.until("a realm is there", func(s state) bool { return s.Ticks > 0 })
	p := &player{chrome: c, r: rand.New(rand.NewPCG(7, 7)), down: map[string]bool{}}
	var early, most int64
	// A page on a busy machine can take seconds for a frame.
	ticks, last, steps, deadline := uint64(0), uint64(0), 0, testenv.Deadline(t)
	busy := func() bool { return ticks < 20 && time.Now().Before(deadline) }
	for began, said := time.Now(), time.Duration(0); time.Since(began) < *playFor || busy(); time.Sleep(60 * time.Millisecond) {
		s := c.state()
		if p.play(s); s.Ticks < last { // anew
			last = 0
		}
		ticks, last = ticks+s.Ticks-last, s.Ticks
		if steps++; steps%600 == 0 {
			c.key("F1", "F1", 112)
		}
		at := time.Since(began)
		if early == 0 && at >= *playFor/12 {
			early = c.memory()
		}
		if at >= said {
			said += *playFor / 12
			t.Logf("%s: %d ticks, fallen %d times, %.1f MiB, of which Go %.1f and live %.1f", at.Round(time.Second), ticks, p.fallen,
				float64(c.memory())/(1<<20), float64(s.Go)/(1<<20), float64(s.Live)/(1<<20))
		}
		if s.Failures > 0 {
			t.Fatalf("%d assets failed", s.Failures)
		}
	}
	most = c.memory() // it never shrinks
	t.Logf("%d ticks, fallen %d times; linear memory %d bytes after %v, %d after %v: %.3f", ticks, p.fallen, early, *playFor/12, most, *playFor,
		float64(most)/float64(early))
	if ticks < 20 || float64(most) > 1.1*float64(early) {
		t.Error("it has grown, or nobody has played")
	}
	c.picture("hour")
	c.nothingWrong("in play")
}
