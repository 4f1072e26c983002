package container

import (
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// text returns what an id stands for.
func (s *Strings) text(sp *Space, id uint32) *text { return s.texts.slot(sp, int(id)-1) }

// page returns the page of a place.
func (s *Strings) page(sp *Space, at uint32) *page { return s.pages.slot(sp, int(at>>slotBits)) }

// where returns the address of a place.
func (s *Strings) where(sp *Space, at uint32) unsafe.Pointer {
	p := s.page(sp, at)
	if p.rung == large {
		return sp.at(p.off)
	}
	return sp.at(p.off + uint64(at%(1<<slotBits))*uint64(ladder[p.rung%rungs]))
}

// bytes returns the size of the page's block.
func (p *page) bytes() uintptr {
	if p.rung == large {
		return uintptr(p.slots)
	}
	return uintptr(p.slots) * uintptr(ladder[p.rung%rungs])
}

// add gives a text that is not there an id. What can fail comes first: where it does, there is
// room to spare, and nothing else has changed.
func (s *Strings) add(sp *Space, t string, h uint32) (id uint32, err error) {
	if len(t) > math.MaxInt32 || s.live == maxCount {
		return 0, memory.ErrTooLarge
	}
	s.mustBeSound()
	sp.idle() // one that is half added has its place already, which another one would take
	if err := s.widen(sp); err != nil {
		return 0, err
	}
	k := rungOf(len(t))
	if k != large {
		id = s.rungs[k].dead
	}
	if id != 0 {
		s.rungs[k].dead = s.text(sp, id).n
	} else if id, err = s.place(sp, k, len(t)); err != nil {
		return 0, err
	}
	x := s.text(sp, id)
	x.n, x.refs = uint32(len(t)), 1
	copy(unsafe.Slice((*byte)(s.where(sp, x.at)), len(t)), t)
	s.enter(sp, link{h, id})
	s.live++
	return id, nil
}

// place gives a bare id, or a new one, a slot for n bytes: on a new page if the rung has no slot left.
func (s *Strings) place(sp *Space, k, n int) (id uint32, err error) {
	if s.bare == 0 {
		if err := s.texts.more(sp, 1); err != nil {
			return 0, err
		}
	}
	at := uint32(0)
	if k == large {
		p, err := s.newPage(sp, page{rung: large, slots: uint32(n)})
		if err != nil {
			return 0, err
		}
		at = (p - 1) << slotBits
	} else if at, err = s.cut(sp, k); err != nil {
		return 0, err
	}
	if id = s.bare; id != 0 {
		s.bare = s.text(sp, id).n
	} else {
		s.texts.n++
		id = s.texts.n
	}
	*s.text(sp, id) = text{at: at}
	return id, nil
}

// cut takes the next slot of rung k.
func (s *Strings) cut(sp *Space, k int) (at uint32, err error) {
	r := &s.rungs[k]
	slots := uint32(0)
	if r.page != 0 {
		p := s.pages.slot(sp, int(r.page-1))
		if r.used == p.slots && p.next != 0 { // Clear has left it
			r.page, r.used = p.next, 0
			p = s.pages.slot(sp, int(r.page-1))
		}
		slots = p.slots
	}
	if r.used == slots {
		n, err := s.newPage(sp, page{rung: uint16(k), slots: slotsAfter(k, slots)})
		if err != nil {
			return 0, err
		}
		if r.page == 0 {
			r.first = n
		} else {
			s.pages.slot(sp, int(r.page-1)).next = n
		}
		r.page, r.used = n, 0
	}
	r.used++
	return (r.page-1)<<slotBits | (r.used - 1), nil
}

// newPage takes a block for p and returns the number of the page, from 1.
func (s *Strings) newPage(sp *Space, p page) (uint32, error) {
	if s.spare == 0 {
		if s.pages.n == maxPages {
			return 0, memory.ErrTooLarge
		}
		if err := s.pages.more(sp, 1); err != nil {
			return 0, err
		}
	}
	off, err := sp.take(p.bytes(), 1)
	if err != nil {
		return 0, err
	}
	p.off = off
	number := s.spare
	if number != 0 {
		s.spare = s.pages.slot(sp, int(number-1)).next
	} else {
		s.pages.n++
		number = s.pages.n
	}
	*s.pages.slot(sp, int(number-1)) = p
	return number, nil
}

// freePage frees the block of page n, to which link points. If the allocator panics, undo is called, and the page has
// its block again.
func (s *Strings) freePage(sp *Space, n uint32, link *uint32, undo func()) {
	p := s.pages.slot(sp, int(n-1))
	was := *p
	*link = p.next
	*p = page{rung: large, next: s.spare}
	s.spare = n
	sp.giveBack(was.off, was.bytes(), func() {
		s.spare = p.next
		*p = was
		*link = n
		undo()
	})
}

// drop frees the text of a live id. A slot stays with the id. A block is freed after its entry is unlinked. If the
// allocator panics, the entry is restored: no other page can have got or lost its block in the meantime.
func (s *Strings) drop(sp *Space, id uint32) {
	x := s.text(sp, id)
	rung := s.page(sp, x.at).rung
	h := s.hash(s.Text(sp, id))
	_, at := s.find(sp, s.Text(sp, id), h)
	s.leave(sp, at)
	s.live--
	if rung != large {
		dead := &s.rungs[rung%rungs].dead
		x.n, x.refs = *dead, 0
		*dead = id
		return
	}
	was, n := *x, x.at>>slotBits+1
	*x = text{at: nowhere, n: s.bare}
	s.bare = id
	s.freePage(sp, n, &n, func() {
		s.bare = x.n
		*x = was
		s.enter(sp, link{h, id})
		s.live++
	})
}
