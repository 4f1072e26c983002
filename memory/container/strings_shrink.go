package container

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Reserve makes the index and the list of ids large enough for n more strings, even if all of them need new ids. It
// reserves no memory for the bytes of the strings. If Reserve fails, it returns an error as [Vec.Append] does, and no
// string and no id has changed. A negative n panics.
func (s *Strings) Reserve(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	s.mustBeSound()
	if uint(n) > uint(3<<28-s.live) {
		return memory.ErrTooLarge
	}
	size := s.index.n
	for size-size/4 < s.live+uint32(n) {
		size = max(2*size, minIndex)
	}
	if size > s.index.n {
		if err := s.rehash(sp, uintptr(size)); err != nil {
			return err
		}
	}
	return s.texts.Reserve(sp, n)
}

// Shrink frees the memory that released strings have left, so that it can serve strings of any length. Shrink moves
// strings of up to 987 bytes: results of Text and All that the program has kept become invalid. Ids and counts do not
// change. Shrink of an empty Strings is [Strings.Free].
//
// After a Shrink the pages of a slot size have at most twice the bytes of the used slots, plus 64. If the index has
// more than 64 bytes, more than a quarter of it is taken. At least half of the list of ids and of the list of pages is
// used.
//
// Shrink needs memory only for a smaller index and smaller lists, after it has freed the memory of strings. If the
// allocator refuses it, or is closed, Shrink returns the error; freed memory stays freed. If the allocator panics, no
// string has changed and no block is lost, and another Shrink continues. Shrink panics as [Strings.Clear] does if the
// Strings was overwritten. Cost: proportional to the ids, the pages and the bytes that move; nothing on the Go heap.
func (s *Strings) Shrink(sp *Space) error {
	sp.idle()
	s.mustBeSound()
	if s.live == 0 {
		s.Free(sp)
		return nil
	}
	if err := sp.open(); err != nil {
		return err
	}
	s.mustBeBlocks(sp)
	s.pack(sp)
	for k := range s.rungs {
		s.freeUnused(sp, &s.rungs[k])
	}
	s.chainSpare(sp)
	size := s.index.n
	for size > minIndex && s.live <= size/4 {
		size /= 2
	}
	if size < s.index.n {
		if err := s.rehash(sp, uintptr(size)); err != nil {
			return err
		}
	}
	if s.texts.n < s.texts.cap/2 {
		if err := s.texts.Shrink(sp); err != nil {
			return err
		}
	}
	if s.pages.n < s.pages.cap/2 {
		return s.pages.Shrink(sp)
	}
	return nil
}

// pack moves the texts of each rung to its first pages, as many as they need. The pages behind are left as Clear leaves
// them: in the chain and without a text. The dead ids of their slots become bare.
func (s *Strings) pack(sp *Space) {
	extra := s.markExtra(sp)
	if !extra && s.bare == 0 {
		return
	}
	texts := s.texts.Slice(sp)
	for i := range texts {
		if x := &texts[i]; x.refs == 0 && x.at != nowhere && s.page(sp, x.at).extra != 0 {
			x.at = nowhere
		}
	}
	s.list(sp)
	s.moveTexts(sp, texts)
	s.dropIds(texts)
	s.list(sp)
}

// markExtra marks the pages that the live texts do not need, and reports whether there are any.
func (s *Strings) markExtra(sp *Space) (any bool) {
	var live [rungs]uint32
	texts := s.texts.Slice(sp)
	for i := range texts {
		if x := &texts[i]; s.mustHavePage(x) {
			if k := s.page(sp, x.at).rung; k < rungs {
				live[k]++
			}
		}
	}
	for k := range s.rungs {
		any = s.keep(sp, &s.rungs[k], live[k]) || any
	}
	return any
}

// moveTexts moves the texts of extra pages to the slots of dead ids, which become bare.
func (s *Strings) moveTexts(sp *Space, texts []text) {
	for i := range texts {
		x := &texts[i]
		if x.refs == 0 {
			continue
		}
		if p := s.page(sp, x.at); p.rung < rungs && p.extra != 0 {
			r := &s.rungs[p.rung]
			if r.dead == 0 {
				panic(ruined("Strings", "a page has fewer slots than texts"))
			}
			to := s.text(sp, r.dead)
			copy(unsafe.Slice((*byte)(s.where(sp, to.at)), x.n), unsafe.Slice((*byte)(s.where(sp, x.at)), x.n))
			r.dead, x.at, to.at = to.n, to.at, nowhere
		}
	}
}

// dropIds gives the slots of dead ids to the lowest dead ids, so that the bare ones are at the end of the list, if they
// can be, and drops these.
func (s *Strings) dropIds(texts []text) {
	for low, high := 0, len(texts)-1; ; low, high = low+1, high-1 {
		for low < high && !texts[low].bare() {
			low++
		}
		for low < high && (texts[high].refs != 0 || texts[high].at == nowhere) {
			high--
		}
		if low >= high {
			break
		}
		texts[low].at, texts[high].at = texts[high].at, nowhere
	}
	for s.texts.n > 0 && texts[s.texts.n-1].bare() {
		s.texts.n--
	}
}

// keep decides which pages of a rung its live texts need, and marks the other ones in use as extra. It reports whether
// there are any.
func (s *Strings) keep(sp *Space, r *rung, live uint32) bool {
	last, slots, n := uint32(0), uint32(0), r.first
	for slots < live && n != r.page {
		p := s.pages.slot(sp, int(n-1))
		p.extra = 0
		slots += p.slots
		last, n = n, p.next
	}
	if slots < live || n == 0 {
		if n != 0 {
			s.pages.slot(sp, int(n-1)).extra = 0
		}
		return false
	}
	for end := r.page; ; {
		p := s.pages.slot(sp, int(n-1))
		p.extra = 1
		if n == end {
			break
		}
		n = p.next
	}
	r.page, r.used = r.first, 0
	if last != 0 {
		r.page, r.used = last, s.pages.slot(sp, int(last-1)).slots
	}
	return true
}

// list makes the lists of dead ids new: the lowest is the first to be used again.
func (s *Strings) list(sp *Space) {
	for k := range s.rungs {
		s.rungs[k].dead = 0
	}
	s.bare = 0
	for id := s.texts.n; id > 0; id-- {
		x := s.text(sp, id)
		if x.refs != 0 {
			continue
		}
		dead := &s.bare
		if x.at != nowhere {
			dead = &s.rungs[s.page(sp, x.at).rung%rungs].dead
		}
		x.n, *dead = *dead, id
	}
}

// freeUnused frees the pages of a rung that have no text, as Clear and pack leave them.
func (s *Strings) freeUnused(sp *Space, r *rung) {
	if r.page == 0 {
		return
	}
	p := s.pages.slot(sp, int(r.page-1))
	for p.next != 0 {
		s.freePage(sp, p.next, &p.next, func() {})
	}
	if n := r.page; r.used == 0 {
		r.page = 0
		s.freePage(sp, n, &r.first, func() { r.page = n })
	}
}

// chainSpare chains the pages that have no block, the last first.
func (s *Strings) chainSpare(sp *Space) {
	s.spare = 0
	for s.pages.n > 0 {
		if p := s.pages.slot(sp, int(s.pages.n-1)); p.rung != large || p.slots != 0 {
			break
		}
		s.pages.n--
	}
	for i := uint32(1); i <= s.pages.n; i++ {
		if p := s.pages.slot(sp, int(i-1)); p.rung == large && p.slots == 0 {
			p.next, s.spare = s.spare, i
		}
	}
}
