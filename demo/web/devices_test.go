package main

import (
	"fmt"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A hand does with one device what the autopilot would do.
type hand interface {
	enter(s state, item string) // presses an item of a menu
	fly(s state)
	rest() // lets go of everything
}

// keys is a keyboard. With mouse it also has a mouse, which aims, fires and points.
type keys struct {
	player
	mouse bool
	w, h  int // of the page
}

func (k *keys) enter(s state, item string) {
	if !k.mouse {
		k.key("Enter", "Enter", 13)
		return
	}
	x, y := onPage(k.w, k.h, s.Items[item])
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		k.point(x, y, kind)
		time.Sleep(200 * time.Millisecond)
	}
}

func (k *keys) fly(s state) {
	way := s.Move
	if near := math.Hypot(s.Goal[0], s.Goal[1]) < 150; near && !k.mouse { // without aim it stays on the seal
		way = [2]float64{s.Goal[0] / 20, s.Goal[1] / 20}
	}
	const press = 0.38
	k.hold("d", way[0] > press)
	k.hold("a", way[0] < -press)
	k.hold("s", way[1] > press)
	k.hold("w", way[1] < -press)
	if !k.mouse {
		return
	}
	x, y := onPage(k.w, k.h, [2]float64{s.Ship[0] + 100*s.Aim[0], s.Ship[1] + 100*s.Aim[1]})
	if k.point(x, y, "mouseMoved"); s.Fire != k.fires {
		k.point(x, y, map[bool]string{true: "mousePressed", false: "mouseReleased"}[s.Fire])
		k.fires = s.Fire
	}
}

func (k *keys) rest() {
	for letter := range k.down {
		k.hold(letter, false)
	}
	if k.fires {
		k.point(5, 5, "mouseReleased")
		k.fires = false
	}
}

// A pad is a gamepad as the page sees it.
type pad struct{ *chrome }

const plugPad = `globalThis.pad = { axes: [0, 0, 0, 0], buttons: Array(17).fill(0) };
navigator.getGamepads = () => [{ id: "a pad", index: 0, connected: true, mapping: "standard", axes: pad.axes,
	buttons: pad.buttons.map(value => ({ value, pressed: value > .5 })) }];`

func (p *pad) enter(state, string) {
	p.eval("void (pad.buttons[0] = 1)", nil)
	time.Sleep(200 * time.Millisecond)
	p.eval("void (pad.buttons[0] = 0)", nil)
}

func (p *pad) fly(s state) {
	p.eval(fmt.Sprintf("pad.axes = [%v, %v, %v, %v]; void (pad.buttons[7] = Number(%v))", s.Move[0], s.Move[1], s.Aim[0], s.Aim[1], s.Fire), nil)
}

func (p *pad) rest() { p.eval("pad.axes = [0, 0, 0, 0]; void pad.buttons.fill(0)", nil) }

// onPage converts logical pixels to those of a page of w × h.
func onPage(w, h int, p [2]float64) (x, y float64) {
	v := viewport(w, h)
	return float64(v.X) + p[0]*float64(v.Scale), float64(v.Y) + p[1]*float64(v.Scale)
}

// Each device plays from the title until a seal breaks, with events as the browser sends them.
func TestDevices_EachBreaksASeal(t *testing.T) {
	testenv.Longest(t)
	dir := site(t)
	desk := func(c *chrome, mouse bool) hand {
		return &keys{player{chrome: c, down: map[string]bool{}}, mouse, 854, 480}
	}
	for name, of := range map[string]func(c *chrome) hand{
		"keys":           func(c *chrome) hand { return desk(c, false) },
		"keys and mouse": func(c *chrome) hand { return desk(c, true) },
		"gamepad":        func(c *chrome) hand { return &pad{c} },
	} {
		t.Run(name, func(t *testing.T) {
			c := newChrome(t)
			server := httptest.NewServer(handler(dir))
			defer server.Close()
			h := of(c)
			if _, ok := h.(*pad); ok {
				c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": plugPad}, nil)
			}
			c.open(server.URL+"/?config=none&seed=1", 854, 480, false)
			c.until("the title is there", func(s state) bool { return s.Playing })
			c.breakSeal(h)
			c.picture("broken")
			c.nothingWrong(name)
		})
	}
}

// breakSeal plays until a seal breaks.
func (c *chrome) breakSeal(h hand) {
	c.t.Helper()
	for fell, end := 0, testenv.Deadline(c.t); ; {
		s := c.state()
		switch {
		case fell > 4 || time.Now().After(end):
			c.picture("whole")
			c.t.Fatalf("no seal breaks: fallen %d times, %+v", fell, s)
		case s.Screen == "playing" && s.Broken > 0:
			h.rest()
			c.t.Logf("the %s broke a seal in tick %d, hull %d, fallen %d times", s.Hand, s.Ticks, s.Hull, fell)
			return
		case s.Screen == "playing":
			h.fly(s)
			continue
		}
		h.rest()
		time.Sleep(time.Second) // at first a screen takes no press
		item := ""
		switch s.Screen {
		case "title":
			item = "PLAY"
		case "over":
			fell, item = fell+1, "PLAY AGAIN"
		case "gifts":
			for item = range s.Items {
				break
			}
		default:
			c.t.Fatalf("it is not played: %+v", s)
		}
		h.enter(s, item)
		time.Sleep(500 * time.Millisecond)
	}
}
