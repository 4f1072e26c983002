package game

import (
	"strconv"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/compact"
)

// A Popup is a score that floats up from the place where it was won. [Game.EachPopup] passes its text.
type Popup struct {
	P    vec
	Life float32 // seconds left
	text compact.Handle
}

// PopupLife is the time for which a popup shows, in seconds.
const PopupLife = 0.9

const (
	popupMost  = 64       // at once
	textsRoom  = 16 << 10 // bytes: one granule of memory, far more than they need
	textsMoved = 256      // bytes that are moved a tick at most
)

// popups are the scores that float.
//
// Invariant (3): the heap of their texts passes its own Check. texts is nil if the pools tier had no space.
type popups struct {
	all   []Popup
	texts *compact.Heap
}

func (ps *popups) build(s *store) error {
	ps.all = make([]Popup, 0, popupMost)
	texts, err := compact.New(s.source(), compact.Config{Reserve: textsRoom, Blocks: popupMost})
	if err != nil {
		return tolerate(err)
	}
	ps.texts = texts
	return s.register("effects", "texts", texts.Stats, nil, texts.Close)
}

func (ps *popups) add(g *Game, at vec, won int64) {
	if len(ps.all) == cap(ps.all) {
		return // enough to read already
	}
	if ps.texts == nil {
		g.Lost.Popups++
		return
	}
	var digits [24]byte
	text := strconv.AppendInt(append(digits[:0], '+'), won, 10)
	h, err := ps.texts.Alloc(uintptr(len(text)))
	if err != nil {
		g.Lost.Popups++
		return
	}
	kept, _ := ps.texts.Bytes(h) // just allocated, so not stale
	copy(kept, text)
	ps.all = append(ps.all, Popup{P: at, Life: PopupLife, text: h})
}

func (ps *popups) update() {
	for i := 0; i < len(ps.all); {
		p := &ps.all[i]
		p.P[1] -= mul(step, 26)
		if p.Life -= step; p.Life > 0 {
			i++
			continue
		}
		ps.drop(i)
	}
	if ps.texts != nil {
		ps.texts.Compact(compact.Budget{Bytes: textsMoved})
	}
}

func (ps *popups) drop(i int) {
	ps.texts.Free(ps.all[i].text)
	last := len(ps.all) - 1
	ps.all[i] = ps.all[last]
	ps.all = ps.all[:last]
}

func (ps *popups) reset() {
	for len(ps.all) > 0 {
		ps.drop(len(ps.all) - 1)
	}
}

func (ps *popups) check() error {
	if ps.texts == nil {
		return nil
	}
	return ps.texts.Check()
}

// EachPopup calls f with every popup and its text. Both are valid during the call.
func (g *Game) EachPopup(f func(p *Popup, text []byte)) {
	for i := range g.popups.all {
		if text, ok := g.popups.texts.Bytes(g.popups.all[i].text); ok {
			f(&g.popups.all[i], text)
		}
	}
}

// hash adds the scores that float, with their texts.
func (ps *popups) hash(h *engine.Hasher) {
	h.Int(len(ps.all))
	for i := range ps.all {
		h.Vec2(ps.all[i].P)
		h.Float32(ps.all[i].Life)
		text, _ := ps.texts.Bytes(ps.all[i].text) // they are given back together
		h.Bytes(text)
	}
}
