package render

// A slot is a rectangle of whole texels that the packer allocated. A kept one survives rewind.
type slot struct {
	x, y, w, h int
	kept       bool
}

// A shelf is a row of slots, filled from the left.
type shelf struct{ y, h, used int }

// A packer hands out slots of a square page.
//
//	y = 0 ┌────────────┬───────┬──────────┐
//	      │ slot       │ slot  │   free   │ shelf 0
//	      ├──────┬─────┴─┬─────┴──────────┤
//	      │ slot │ slot  │      free      │ shelf 1
//	 next ├──────┴───────┴────────────────┤
//	      │              free             │
//	 size └───────────────────────────────┘
//
// Invariants, verified in this order by check in shelf_test.go:
//
//	(1) shelves lie below each other without gaps: y + h is the next shelf's y
//	(2) the last shelf ends at next, and next <= size
//	(3) 0 <= used <= size on every shelf
//	(4) every freed slot lies on one shelf, left of its used
//	(5) no two freed slots overlap
type packer struct {
	size, next int
	shelves    []shelf
	freed      []slot // given back one by one, for requests that nearly fill them

	keptNext    int // what rewind returns to
	keptShelves []shelf
}

// take allocates w × h: the tightest freed slot, the tightest shelf, or a new shelf. The slot may be larger than
// requested.
func (p *packer) take(w, h int) (slot, bool) {
	if w <= 0 || h <= 0 || w > p.size || h > p.size {
		return slot{}, false
	}
	if s, ok := p.reuse(w, h); ok {
		return s, true
	}
	// A shelf more than a quarter too high wastes more than a new one costs, as long as a new one fits.
	if i := p.lowest(w, h, h+h/4+4); i >= 0 {
		return p.put(i, w, h), true
	}
	if p.size-p.next >= h {
		p.shelves = append(p.shelves, shelf{y: p.next, h: h})
		p.next += h
		return p.put(len(p.shelves)-1, w, h), true
	}
	if i := p.lowest(w, h, p.size); i >= 0 {
		return p.put(i, w, h), true
	}
	return slot{}, false
}

// lowest returns the lowest shelf with space for w × h that is at most limit high, or -1.
func (p *packer) lowest(w, h, limit int) int {
	found := -1
	for i, s := range p.shelves {
		fits := s.h >= h && s.h <= limit && p.size-s.used >= w
		if fits && (found < 0 || s.h < p.shelves[found].h) {
			found = i
		}
	}
	return found
}

func (p *packer) put(i, w, h int) slot {
	sh := &p.shelves[i]
	s := slot{x: sh.used, y: sh.y, w: w, h: h}
	sh.used += w
	return s
}

// reuse takes the smallest freed slot of which w × h fills at least half. It is not split, so that it can be
// freed as a whole.
func (p *packer) reuse(w, h int) (slot, bool) {
	found := -1
	for i, f := range p.freed {
		fits := f.w >= w && f.h >= h && f.w*f.h <= 2*w*h
		if fits && (found < 0 || f.w*f.h < p.freed[found].w*p.freed[found].h) {
			found = i
		}
	}
	if found < 0 {
		return slot{}, false
	}
	s, last := p.freed[found], len(p.freed)-1
	p.freed[found] = p.freed[last]
	p.freed = p.freed[:last]
	return s, true
}

// give frees a slot.
func (p *packer) give(s slot) { p.freed = append(p.freed, s) }

// keep makes the present state the one that rewind returns to. The caller marks its live
// slots as kept.
func (p *packer) keep() {
	p.keptNext = p.next
	p.keptShelves = append(p.keptShelves[:0], p.shelves...)
	for i := range p.freed {
		p.freed[i].kept = true
	}
}

// rewind drops every slot taken from fresh space since keep. The caller has freed the kept slots that were
// reused.
func (p *packer) rewind() {
	p.next = p.keptNext
	p.shelves = append(p.shelves[:0], p.keptShelves...)
	n := 0
	for _, f := range p.freed {
		if f.kept {
			p.freed[n] = f
			n++
		}
	}
	p.freed = p.freed[:n]
}

// free returns the texels outside all slots.
func (p *packer) free() int {
	n := (p.size - p.next) * p.size
	for _, s := range p.shelves {
		n += (p.size - s.used) * s.h
	}
	for _, f := range p.freed {
		n += f.w * f.h
	}
	return n
}
