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
	dead := &s.above
	k := rungOf(len(t))
	if k != large {
		dead = &s.rungs[k].dead
	}
	id = *dead
	if id == 0 {
		if id, err = s.place(sp, k, len(t)); err != nil {
			return 0, err
		}
	} else {
		x := s.text(sp, id)
		if k == large {
			if err := s.fill(sp, s.page(sp, x.at), len(t)); err != nil {
				return 0, err
			}
		}
		*dead = x.n
	}
	x := s.text(sp, id)
	x.n, x.refs = uint32(len(t)), 1
	copy(unsafe.Slice((*byte)(s.where(sp, x.at)), len(t)), t)
	s.enter(sp, link{h, id})
	s.live++
	return id, nil
}

// fill gives a page above the ladder its block.
func (s *Strings) fill(sp *Space, p *page, n int) error {
	off, err := sp.take(uintptr(n), 1)
	if err != nil {
		return err
	}
	p.off, p.slots = off, uint32(n)
	return nil
}

// place makes a new id with a slot for n bytes, on a new page where the rung has no slot left.
func (s *Strings) place(sp *Space, k, n int) (id uint32, err error) {
	if err := s.texts.more(sp, 1); err != nil {
		return 0, err
	}
	at := uint32(0)
	if k == large {
		p, err := s.wholePage(sp, n)
		if err != nil {
			return 0, err
		}
		at = (p - 1) << slotBits
	} else if at, err = s.cut(sp, k); err != nil {
		return 0, err
	}
	*s.texts.slot(sp, int(s.texts.n)) = text{at: at}
	s.texts.n++
	return s.texts.n, nil
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

// wholePage returns the number of a page with a block of n bytes, from 1.
func (s *Strings) wholePage(sp *Space, n int) (uint32, error) {
	number := s.spare
	if number == 0 {
		return s.newPage(sp, page{rung: large, slots: uint32(n)})
	}
	p := s.pages.slot(sp, int(number-1))
	if err := s.fill(sp, p, n); err != nil {
		return 0, err
	}
	s.spare, p.next = p.next, 0
	return number, nil
}

// newPage takes a block for p and returns the number of the page, from 1.
func (s *Strings) newPage(sp *Space, p page) (uint32, error) {
	if s.pages.n == maxPages {
		return 0, memory.ErrTooLarge
	}
	if err := s.pages.more(sp, 1); err != nil {
		return 0, err
	}
	off, err := sp.take(p.bytes(), 1)
	if err != nil {
		return 0, err
	}
	p.off = off
	*s.pages.slot(sp, int(s.pages.n)) = p
	s.pages.n++
	return s.pages.n, nil
}

// drop frees the text of a live id. Its slot stays with the id; a block goes back, when nobody finds
// the text any more. Where the allocator panics it is there again: no other text above the ladder
// can have come or gone meanwhile.
func (s *Strings) drop(sp *Space, id uint32) {
	x := s.text(sp, id)
	dead, p := &s.above, s.page(sp, x.at)
	if p.rung != large {
		dead = &s.rungs[p.rung%rungs].dead
	}
	h := s.hash(s.Text(sp, id))
	_, at := s.find(sp, s.Text(sp, id), h)
	s.leave(sp, at)
	n, refs := x.n, x.refs
	x.n, x.refs = *dead, 0
	*dead = id
	s.live--
	if p.rung == large {
		off, size := p.off, p.bytes()
		p.off, p.slots = 0, 0
		sp.giveBack(off, size, func() {
			p.off, p.slots = off, uint32(size)
			*dead = x.n
			x.n, x.refs = n, refs
			s.enter(sp, link{h, id})
			s.live++
		})
	}
}
