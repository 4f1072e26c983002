package overlay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/render"
)

// A Part identifies a panel: one of the constants, or a panel of the game that [Overlay.Add] registered. The table
// lists the default keys. Config.Keys can change them: all comments name the default keys. F5, F6 and F8 open no panel
// and have no Part. In a game without a manager F8 does nothing, and F4 shows no blocks.
//
//	key      shows or does                                          with Shift
//	F1       rates, frame times, Go objects, monitors of the game
//	F2       the keys and the colours
//	F3       tiers, tags and pools: largest, growing, near a limit  keeps or releases the worst frame
//	F4       blocks by address, classes of blocks, pools' fill
//	F5       freezes the game, or lets it go on; while it is        freezes, or runs one tick
//	         frozen, a Timeline lets the player select older ticks
//	F6       writes a dump: JSON, CSV and a picture
//	F7       leaks of the last level, growth, churn                 sets mark A, then mark B, then removes both
//	F8       fault injection, see Overlay.Starve, or its end
//	F9       the process: tiers, Go, other memory, GPU images
//	F10      the Go heap: collections, and who allocates            collects twice
type Part int

const (
	Strip  Part = iota // vital signs, in one or more lines, and messages
	Help               // keys and colours
	Tiers              // tiers, tags and pools: largest, growing, near a limit
	Maps               // addresses of blocks
	Leaks              // blocks left by the last level, and growth since mark A, see meter.Meter.Mark
	Memory             // the whole process
	Heap               // collections of the Go heap, and the functions that allocate there

	partCount = iota
)

// The functions with a key, in the order of Config.Keys: the first one's is F1. Their number is render.FunctionKeys.
const (
	keyStrip = iota
	keyHelp
	keyTiers
	keyMaps
	keyFreeze
	keyDump
	keyLeaks
	keyFaults
	keyMemory
	keyHeap
)

// keyHelps is the line of each in Help.
var keyHelps = [render.FunctionKeys]string{
	keyStrip:  "rates, frame times, Go heap, monitors",
	keyHelp:   "this",
	keyTiers:  "largest, growing · Shift: worst frame",
	keyMaps:   "where blocks lie · arrows or a click",
	keyFreeze: "freezes the game · Shift: one tick",
	keyDump:   "dumps JSON, CSV and a picture",
	keyLeaks:  "leaks, churn · Shift: marks A, B, none",
	keyFaults: "faults: no tier gets another page",
	keyMemory: "the whole process",
	keyHeap:   "Go heap, by function · Shift: collects",
}

// ParsePart returns the part of this package with the given name, such as strip or tiers. The default key of a part,
// such as f1, is also a name. For any other name the error lists the valid names. Panels of Add have no name here.
func ParsePart(name string) (Part, error) {
	for k := range ownParts {
		if p := &ownParts[k]; name == p.name || name == fmt.Sprint("f", p.key+1) {
			return Part(k), nil
		}
	}
	var names, keys [partCount]string
	for k := range ownParts {
		names[k], keys[k] = ownParts[k].name, fmt.Sprint("f", ownParts[k].key+1)
	}
	return 0, fmt.Errorf("overlay: no part %.40q; allowed: %s or %s", name, strings.Join(names[:], ", "), strings.Join(keys[:], ", "))
}

// mostPanels is how many panels a game may add.
const mostPanels = 16

// A part is a panel and what it is made of.
type part struct {
	name   string
	key    int                  // of Config.Keys
	lines  func(o *Overlay) int // how high it is
	draw   func(o *Overlay)
	opened func(o *Overlay) // nil, or called when it is opened
	settle func(o *Overlay) // nil, or called four times a second
	narrow bool             // a second column would be empty
	user   *Panel
}

var ownParts = [partCount]part{
	Strip:  {name: "strip", key: keyStrip, lines: (*Overlay).stripLines, draw: (*Overlay).drawStrip},
	Help:   {name: "help", narrow: true, key: keyHelp, lines: (*Overlay).helpLines, draw: (*Overlay).drawHelp},
	Tiers:  {name: "tiers", key: keyTiers, lines: (*Overlay).tierLines, draw: (*Overlay).drawTiers},
	Maps:   {name: "maps", key: keyMaps, lines: (*Overlay).mapLines, draw: (*Overlay).drawMaps, opened: (*Overlay).openMaps, settle: (*Overlay).sampleMaps},
	Leaks:  {name: "leaks", narrow: true, key: keyLeaks, lines: (*Overlay).leakLines, draw: (*Overlay).drawLeaks, opened: (*Overlay).sampleLeaks, settle: (*Overlay).sampleLeaks},
	Memory: {name: "memory", narrow: true, key: keyMemory, lines: (*Overlay).memoryLines, draw: (*Overlay).drawMemory, opened: (*Overlay).openMemory, settle: (*Overlay).sampleMemory},
	Heap:   {name: "heap", narrow: true, key: keyHeap, lines: (*Overlay).siteLines, draw: (*Overlay).drawSites, opened: (*Overlay).sampleSites, settle: (*Overlay).sampleSites},
}

// A Panel describes a panel of the game.
type Panel struct {
	Title string
	Key   ebiten.Key // opens and closes the panel; the zero Key, which is A, means no key

	Cols, Rows int // size in steps of 8 overlay pixels, without the title: 1 × 1 to 38 × 40; a line of text has 2

	// Draw draws the panel. It is called in each frame that shows the panel, also while [Overlay.Hide] hides it. The
	// origin of p is at the left edge, below the title. On a narrow screen p has fewer columns than Cols. Leave
	// render.Grid free at each side. Shapes outside the panel are not clipped. Draw must not keep p.
	Draw func(p *render.Panel)
}

// Add registers a panel of the game and returns its part for Show, which opens it. Add fails if p.Draw is nil, or if a
// size or the key is out of range, see [Panel]. It also fails if the key is one of Config.Keys or of another panel, or
// if 16 panels were added already.
func (o *Overlay) Add(p Panel) (Part, error) {
	switch {
	case p.Draw == nil:
		return 0, fmt.Errorf("overlay: panel %q has no Draw", p.Title)
	case p.Cols < 1 || p.Cols > narrow || p.Rows < 1 || p.Rows > 40:
		return 0, fmt.Errorf("overlay: panel %q of %d×%d steps; allowed are 1×1 to %d×40", p.Title, p.Cols, p.Rows, narrow)
	case p.Key < 0 || p.Key > ebiten.KeyMax:
		return 0, fmt.Errorf("overlay: panel %q has key %d; allowed are Ebitengine's", p.Title, p.Key)
	case len(o.parts) == partCount+mostPanels:
		return 0, errors.New("overlay: the game has added 16 panels, the most allowed")
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
