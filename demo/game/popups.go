package game

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/strata-go/strata/memory/tiers"
)

// A Popup is a score that floats up from where it was won. Its text is a block of the slab.
type Popup struct {
	P    vec
	Life float32 // seconds left
	Text []byte
}

// PopupLife is how long a popup shows, in seconds.
const PopupLife = 0.9

// popupMost bounds how many show at once.
const popupMost = 64

type popups struct{ all []Popup }

func (ps *popups) add(g *Game, at vec, won int64) {
	if ps.all == nil {
		ps.all = make([]Popup, 0, popupMost)
	}
	if len(ps.all) == cap(ps.all) {
		return // enough to read already
	}
	var digits [24]byte
	text := strconv.AppendInt(append(digits[:0], '+'), won, 10)
	p, err := g.mem.Alloc(uintptr(len(text)), 1)
	if err != nil {
		g.Lost.Popups++
		return
	}
	kept := unsafe.Slice((*byte)(p), len(text))
	copy(kept, text)
	ps.all = append(ps.all, Popup{P: at, Life: PopupLife, Text: kept})
}

func (ps *popups) update(m *tiers.Manager) {
	for i := 0; i < len(ps.all); {
		p := &ps.all[i]
		p.P[1] -= mul(step, 26)
		if p.Life -= step; p.Life > 0 {
			i++
			continue
		}
		ps.drop(m, i)
	}
}

func (ps *popups) drop(m *tiers.Manager, i int) {
	m.Free(unsafe.Pointer(unsafe.SliceData(ps.all[i].Text)), 0)
	last := len(ps.all) - 1
	ps.all[i] = ps.all[last]
	ps.all[last] = Popup{}
	ps.all = ps.all[:last]
}

func (ps *popups) reset(m *tiers.Manager) {
	for len(ps.all) > 0 {
		ps.drop(m, len(ps.all)-1)
	}
}

func (ps *popups) check(m *tiers.Manager) error {
	for i := range ps.all {
		if t, ok := m.TierOf(unsafe.Pointer(unsafe.SliceData(ps.all[i].Text))); !ok || t != tiers.Slab {
			return fmt.Errorf("game: popup %d does not lie in the slab", i)
		}
	}
	return nil
}

// Popups returns the scores that float, for drawing.
func (g *Game) Popups() []Popup { return g.popups.all }

// Scorched returns the ground's heat, for drawing.
func (g *Game) Scorched() *Scorch { return &g.scorch }
