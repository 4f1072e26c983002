package slab

import "math"

// An undo remembers the spans that takeSpan takes from other classes, so that they get them back if
// the request is refused after all: a failed Alloc changes nothing that Stats and Classes report.
//
// What the source calls while memory is committed may change the same metadata, by Reset, Trim or a
// nested Alloc. Then nothing is restored.
type undo struct {
	spans                 []condemned // taken so far, reused
	limit, vacant, lowest uintptr     // of the heap, before
	on                    bool        // in takeSpan
	broken                bool        // somebody else has changed the metadata since
}

// A condemned is a span that its class has lost.
type condemned struct {
	first, units uintptr
	carved       uint32 // blocks that existed
	bump, end    uint32 // of the class, if it carved from this span; else equal
	class        uint8
}

// begin starts to remember, unless it has begun already.
func (u *undo) begin(h *Heap) (outermost bool) {
	if u.on {
		u.broken = true
		return false
	}
	u.on, u.broken, u.spans = true, false, u.spans[:0]
	u.limit, u.vacant, u.lowest = h.limit, h.vacant, h.lowest
	return true
}

// note remembers a span that is about to be condemned.
func (u *undo) note(h *Heap, first, units uintptr) {
	if !u.on || u.broken {
		return
	}
	ci := h.owned[first]
	c, start := &h.classes[ci], uint32(first*unitGranules)
	lost := condemned{first: first, units: units, carved: h.carvedIn(first, units), class: ci}
	if c.bump != c.end && c.bump-start < uint32(units*unitGranules) {
		lost.bump, lost.end = c.bump, c.end
	}
	u.spans = append(u.spans, lost)
}

// end stops remembering. Unless the request was met the classes get their spans back.
func (u *undo) end(h *Heap, met bool) {
	u.on = false
	if met || u.broken || h.base == nil || len(u.spans) == 0 {
		return
	}
	for i := range u.spans {
		h.giveBack(&u.spans[i])
	}
	h.limit, h.vacant, h.lowest = u.limit, u.vacant, u.lowest
	h.futile = math.MaxUint64 // what was found is there again
	h.short.forget()
}

// giveBack makes a condemned span one of its class again, with all its blocks free.
func (h *Heap) giveBack(lost *condemned) {
	h.sweep.on = false
	c, s := &h.classes[lost.class], &h.shapes[lost.class]
	for i := range lost.units {
		h.owned[lost.first+i] = lost.class
		h.place[lost.first+i] = uint8(i)
	}
	s.units += uint32(lost.units)
	s.blocks += uint32(lost.units*unitGranules) / s.size
	if lost.bump != lost.end {
		c.bump, c.end = lost.bump, lost.end
	}
	c.n += lost.carved
	c.carved += lost.carved
	free := c.free()[c.n-lost.carved:]
	for i := range free {
		free[i] = uint32(lost.first*unitGranules) + (lost.carved-1-uint32(i))*s.size
	}
	h.carved += uint64(lost.carved*s.size) << granuleShift
}
