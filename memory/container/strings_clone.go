package container

import "unsafe"

// Clone returns a copy of the Strings with its strings, ids, counts and seed. The memory of the copy is from the
// Space `to`, which may be sp. The caller owns the copy. If Clone fails, it returns an error as [Vec.Append]
// does, and an empty Strings with the seed.
func (s *Strings) Clone(sp, to *Space) (Strings, error) {
	sp.at(s.texts.off) // debug builds tell of a closed space here, before there is a block
	var c Strings
	done := false
	defer func() {
		if !done { // on an error, and also where the allocator panics
			c.abandon(to)
		}
	}()
	for {
		if err := c.like(sp, to, s); err != nil {
			return Strings{seed: s.seed}, err
		}
		if c.fits(sp, to, s) {
			break
		}
		c.abandon(to) // the allocator has called what changed the blocks of s
	}
	copy(c.texts.Slice(to), s.texts.Slice(sp))
	copy(c.index.Slice(to), s.index.Slice(sp))
	for i, p := range s.pages.Slice(sp) {
		q := c.pages.slot(to, i)
		copy(unsafe.Slice((*byte)(to.at(q.off)), q.bytes()), unsafe.Slice((*byte)(sp.at(p.off)), p.bytes()))
		q.next = p.next
	}
	all := *s
	all.pages, all.texts, all.index = c.pages, c.texts, c.index
	done = true
	return all, nil
}

// like gives c, which is empty, blocks of the sizes that those of s have. A page without a block has
// none in c either.
func (c *Strings) like(sp, to *Space, s *Strings) error {
	n := s.index.n
	for _, err := range []error{c.texts.SetLen(to, int(s.texts.n)), c.index.Reserve(to, int(n)), c.pages.Reserve(to, int(s.pages.n))} {
		if err != nil {
			return err
		}
	}
	if n > 0 {
		c.index.n = c.index.cap
	}
	for i := 0; i < int(s.pages.n) && c.pages.n < c.pages.cap; i++ {
		p := *s.pages.slot(sp, i)
		if p.off = 0; p.bytes() > 0 {
			off, err := to.take(p.bytes(), 1)
			if err != nil {
				return err
			}
			p.off = off
		}
		*c.pages.slot(to, int(c.pages.n)) = p
		c.pages.n++
	}
	return nil
}

// fits reports whether the blocks of c, which like gave it, have the sizes that those of s have now.
func (c *Strings) fits(sp, to *Space, s *Strings) bool {
	if c.texts.n != s.texts.n || c.index.n != s.index.n || c.pages.n != s.pages.n {
		return false
	}
	for i := range int(c.pages.n) {
		p, q := s.pages.slot(sp, i), c.pages.slot(to, i)
		if p.rung != q.rung || p.slots != q.slots {
			return false
		}
	}
	return true
}

// abandon frees the blocks of a Clone that was not completed.
func (c *Strings) abandon(to *Space) {
	for c.pages.n > 0 {
		p := *c.pages.slot(to, int(c.pages.n-1))
		c.pages.n--
		to.free(p.off, p.bytes())
	}
	c.pages.Free(to)
	c.texts.Free(to)
	c.index.Free(to)
}
