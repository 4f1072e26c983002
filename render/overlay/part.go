package overlay

import (
	"errors"
	"fmt"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/render"
)

// A Part is one of the overlay's own panels, or what Add returned.
type Part int

const (
	Strip  Part = iota // one line of vital signs
	Help               // keys, and what the colours mean
	Tiers              // what is large, what grows and whose it is
	Maps               // where blocks lie
	Leaks              // what is left behind, and what has grown since a mark
	Memory             // the whole process

	partCount = iota
)

// ParsePart returns the part of that name: strip, help, tiers, maps, leaks or memory, or its key's, f1 to f9.
func ParsePart(name string) (Part, error) {
	for k := range ownParts {
		if p := &ownParts[k]; name == p.name || name == fmt.Sprint("f", p.key+1) {
			return Part(k), nil
		}
	}
	return 0, fmt.Errorf("overlay: no part %q; allowed: strip, help, tiers, maps, leaks, memory or f1, f2, f3, f4, f7, f9", name)
}

// mostPanels is how many panels a game may add.
const mostPanels = 16

// A part is a panel and what it is made of.
type part struct {
	name   string
	key    int                  // of Config.Keys
	lines  func(o *Overlay) int // how high it is
	draw   func(o *Overlay)
	opened func(o *Overlay) // nil, or what is to be done when it is opened
	settle func(o *Overlay) // nil, or what is to be done four times a second
	narrow bool             // it has no use for more room
	user   *Panel
}

var ownParts = [partCount]part{
	Strip:  {name: "strip", key: 0, lines: (*Overlay).stripLines, draw: (*Overlay).drawStrip},
	Help:   {name: "help", narrow: true, key: 1, lines: (*Overlay).helpLines, draw: (*Overlay).drawHelp},
	Tiers:  {name: "tiers", key: 2, lines: (*Overlay).tierLines, draw: (*Overlay).drawTiers},
	Maps:   {name: "maps", key: 3, lines: (*Overlay).mapLines, draw: (*Overlay).drawMaps, opened: (*Overlay).openMaps, settle: (*Overlay).sampleMaps},
	Leaks:  {name: "leaks", narrow: true, key: 6, lines: (*Overlay).leakLines, draw: (*Overlay).drawLeaks, opened: (*Overlay).sampleLeaks, settle: (*Overlay).sampleLeaks},
	Memory: {name: "memory", narrow: true, key: 8, lines: (*Overlay).memoryLines, draw: (*Overlay).drawMemory, opened: (*Overlay).openMemory, settle: (*Overlay).sampleMemory},
}

// A Panel is a panel of the game's own.
type Panel struct {
	Title string
	Key   ebiten.Key // opens and closes it; the zero Key, which is A, is none

	Cols, Rows int // its size in steps of 8 pixels of the overlay: up to 38 × 40

	// Draw writes it. The panel's origin is below the title; what it draws beyond the size lies over
	// other things. It must not keep p, and allocates nothing if the overlay is not to.
	Draw func(p *render.Panel)
}

// Add registers a panel of the game's own, closed. The part that is returned is for Show. The error says
// what is wrong with it, or that there are 16.
func (o *Overlay) Add(p Panel) (Part, error) {
	switch {
	case p.Draw == nil:
		return 0, fmt.Errorf("overlay: panel %q has no Draw", p.Title)
	case p.Cols < 1 || p.Cols > narrow || p.Rows < 1 || p.Rows > 40:
		return 0, fmt.Errorf("overlay: panel %q of %d×%d steps; allowed are 1×1 to %d×40", p.Title, p.Cols, p.Rows, narrow)
	case p.Key < 0 || p.Key > ebiten.KeyMax:
		return 0, fmt.Errorf("overlay: panel %q has key %d; allowed are Ebitengine's", p.Title, p.Key)
	case len(o.parts) == partCount+mostPanels:
		return 0, errors.New("overlay: there are 16 panels of the game's own")
	}
	for i := range o.parts {
		taken := o.parts[i].user != nil && o.parts[i].user.Key == p.Key
		for _, k := range o.cfg.Keys {
			taken = taken || k == p.Key
		}
		if taken && p.Key != 0 {
			return 0, fmt.Errorf("overlay: panel %q: key %v is taken", p.Title, p.Key)
		}
	}
	o.parts = append(o.parts, part{name: p.Title, key: -1, user: &p})
	return Part(len(o.parts) - 1), nil
}
