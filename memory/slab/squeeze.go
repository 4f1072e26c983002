package slab

// squeezes is how many classes are asked for their empty spans before memory is committed.
const squeezes = 4

// squeezeShare is the share of what is carved that must be free for that: with less the classes
// breathe, and would take each other's spans forever.
const squeezeShare = 16

// squeezeLimit, in bytes committed, is up to where a heap is squeezed: in a small one the classes
// have few blocks each, and what they had at most is far above what they have.
const squeezeLimit = 4 << 20

// A squeeze costs microseconds, and a class that lost its spans soon needs others. So squeezeBurst squeezes may follow
// each other. After these, each squeeze needs as many freed blocks as the heap has committed bytes, divided by
// squeezePace: in a heap of 1 MiB, 65,536 blocks. Until then the heap commits memory instead.
const (
	squeezePace  = 16
	squeezeBurst = 256
)

// squeeze takes the empty spans of the classes that have most free bytes, one class after the
// other, until least units in a row are vacant, and takes those. What the other classes have free
// they keep, so that they go on popping and pushing. Cost: the classes, and the free blocks of
// those that are asked; one that had no empty span is asked again when more than a quarter as many
// blocks as it has free were freed since.
func (h *Heap) squeeze(size, least, most uintptr) run {
	if h.mem.Committed() > squeezeLimit || !h.maySqueeze() {
		return run{}
	}
	for range squeezes {
		ci, ok := h.fattest()
		if !ok {
			break
		}
		if h.release(ci) == 0 {
			continue
		}
		if r := h.takeVacant(size, least, most); r.units > 0 {
			return r
		}
	}
	return run{}
}

// maySqueeze reports whether another squeeze is due, and counts it.
func (h *Heap) maySqueeze() bool {
	frees, pace := h.frees(), uint64(h.mem.Committed()/squeezePace)
	if h.squeezed > frees+squeezeBurst*pace {
		return false
	}
	h.squeezed = max(h.squeezed, frees) + pace
	return true
}

// fattest returns the class with the most free bytes of those that may have an empty span; not ok
// where all together have too few.
func (h *Heap) fattest() (ci uint8, ok bool) {
	most, sum := uint64(0), uint64(0)
	for i := range h.ladder.sizes {
		c, s := &h.classes[i], &h.shapes[i]
		if c.n == 0 {
			continue
		}
		free := uint64(c.n) * uint64(h.ladder.sizes[i])
		sum += free
		if free > most && c.frees()-s.looked > uint64(c.n)/4 {
			ci, most = uint8(i), free
		}
	}
	return ci, most > 0 && sum > h.carved/squeezeShare
}

// frees counts the blocks of the class freed since New.
func (c *class) frees() uint64 { return c.allocs - uint64(c.carved-c.n) }

// release makes the spans of a class that hold no live block vacant, and returns their units.
func (h *Heap) release(ci uint8) (units uintptr) {
	c, s := &h.classes[ci], &h.shapes[ci]
	_ = h.countTo(h.tallied())
	if c.bump != c.end {
		h.tally.of[h.spanOf(c.bump)] = 0
	}
	for _, off := range c.free() {
		h.tally.of[h.spanOf(off)] = 0
	}
	for _, off := range c.free() {
		h.tally.of[h.spanOf(off)]++
	}
	for _, off := range c.free() {
		if first := h.spanOf(off); h.tally.of[first] != emptied {
			units += h.condemnSpan(uintptr(first))
		}
	}
	if s.looked = c.frees(); units == 0 {
		return 0
	}
	s.looked -= min(s.looked, uint64(c.n)) // there was one: there may be one soon
	h.peak = max(h.peak, h.carved)
	all := c.free()
	h.filter(ci)
	for _, off := range all[c.n:] { // at the first block of each
		if off%unitGranules == 0 && h.place[off/unitGranules] == 0 {
			h.vacateSpan(uintptr(off / unitGranules))
		}
	}
	h.lower()
	return units
}
