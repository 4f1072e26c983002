package container

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/findings"
)

// Check verifies the metadata and the strings. It returns the errors, joined into one, or nil. It lists at most 32
// errors and counts the others. It reads the strings only if the metadata has no error. The other rules are those of
// [Vec.Check], but Check also allocates a few bytes on the Go heap for each id and each page. Cost: proportional to the
// index, the ids and the bytes of the strings, and to n·log n for n pages.
func (s *Strings) Check(sp *Space) error {
	r := report{findings.List{Of: "container: Strings"}}
	s.pages.check(sp, &r, "pages")
	s.texts.check(sp, &r, "texts")
	s.index.check(sp, &r, "index")
	if n := s.index.n; n&(n-1) != 0 || s.live > n-n/4 || s.live > s.texts.n || s.pages.n > maxPages {
		r.Add("%d texts of %d ids in an index of %d, on %d pages", s.live, s.texts.n, n, s.pages.n)
	}
	if r.None() {
		r.guarded(func() {
			v := visit{s: s, sp: sp, r: &r, most: make([]uint32, s.pages.n), first: make([]uint32, s.pages.n)}
			v.pages()
			v.apart()
			v.chains()
			if r.None() {
				v.texts()
				v.dead()
			}
			if r.None() {
				v.index()
			}
		})
	}
	return r.Err()
}

// A visit is a Check under way.
type visit struct {
	s     *Strings
	sp    *Space
	r     *report
	most  []uint32 // by page: slots that have texts
	first []uint32 // by page: slots on pages before it
	seen  []uint32 // a bit by id: met on its page's list
}

// pages verifies each page by itself.
func (v *visit) pages() {
	for i, p := range v.s.pages.Slice(v.sp) {
		switch {
		case p.rung > large:
			v.r.Add("page %d is of rung %d of %d", i+1, p.rung, large)
		case p.rung == large && p.slots == 0:
			if p.off != 0 {
				v.r.Add("page %d has no bytes at offset %d", i+1, p.off)
			}
		case p.rung == large:
			v.most[i] = 1
			v.r.block(v.sp, "text", p.off, 1, uintptr(p.slots), 1)
		case p.slots == 0 || p.slots > pageBytes/ladder[p.rung]:
			v.r.Add("page %d has %d slots of %d bytes", i+1, p.slots, ladder[p.rung])
		default:
			v.r.block(v.sp, "page", p.off, uint64(p.slots), uintptr(ladder[p.rung]), 1)
		}
	}
}

// apart verifies that no two of the blocks share a byte: where the allocator does not know its
// blocks, nothing else would find a page that lies over another one until a text is written there.
func (v *visit) apart() {
	type block struct{ off, end uint64 }
	s := v.s
	blocks := []block{
		{s.pages.off, s.pages.off + uint64(s.pages.cap)*uint64(unsafe.Sizeof(page{}))},
		{s.texts.off, s.texts.off + uint64(s.texts.cap)*uint64(unsafe.Sizeof(text{}))},
		{s.index.off, s.index.off + uint64(s.index.cap)*uint64(unsafe.Sizeof(link{}))},
	}
	for _, p := range s.pages.Slice(v.sp) {
		blocks = append(blocks, block{p.off, p.off + uint64(p.bytes())})
	}
	blocks = slices.DeleteFunc(blocks, func(b block) bool { return b.off == b.end })
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.off, b.off) })
	for i := range blocks[1:max(len(blocks), 1)] {
		if a, b := blocks[i], blocks[i+1]; a.end > b.off {
			v.r.Add("the blocks at offsets %d and %d share bytes", a.off, b.off)
		}
	}
}

// chains verifies which pages are in use, and how far. A Free that was interrupted has left some
// that are in no chain.
func (v *visit) chains() {
	met := make([]bool, len(v.most)) // in a chain
	walk := func(k int, first, last, used uint32) {
		behind := false
		for n := first; n != 0; {
			if n > v.s.pages.n || met[n-1] || int(v.s.pages.slot(v.sp, int(n-1)).rung) != k {
				v.r.Add("page %d is chained to rung %d, and is not there, of another rung, or chained twice", n, k)
				return
			}
			met[n-1] = true
			p := v.s.pages.slot(v.sp, int(n-1))
			switch {
			case k == large && p.slots != 0:
				v.r.Add("page %d is spare and has %d bytes", n, p.slots)
			case k == large:
			case n == last:
				if v.most[n-1], behind = used, true; used > p.slots {
					v.r.Add("rung %d has used %d of %d slots", k, used, p.slots)
				}
			case !behind:
				v.most[n-1] = p.slots
			}
			n = p.next
		}
		if k != large && behind != (first != 0) || first == 0 && last|used != 0 {
			v.r.Add("rung %d cuts up page %d, which is not in its chain", k, last)
		}
	}
	for k, g := range v.s.rungs {
		walk(k, g.first, g.page, g.used)
	}
	walk(large, v.s.spare, 0, 0)
	for i := range met {
		p := v.s.pages.slot(v.sp, i)
		if !met[i] && p.rung == large && p.slots == 0 {
			v.r.Add("page %d has no block and is not chained to those without one", i+1)
		}
		if !met[i] && p.next != 0 && p.rung == large {
			v.r.Add("page %d has a text and a next page, %d", i+1, p.next)
		}
	}
}

// bare reports whether a text is dead and has no slot.
func (x *text) bare() bool { return x.refs == 0 && x.at == nowhere }

// texts verifies that each text that is not bare has a slot, and each slot a text.
func (v *visit) texts() {
	slots, live, bare := uint64(0), uint32(0), uint64(0)
	for i, n := range v.most {
		v.first[i] = uint32(slots)
		slots += uint64(n)
	}
	for _, x := range v.s.texts.Slice(v.sp) {
		if x.refs != 0 {
			live++
		} else if x.bare() {
			bare++
		}
	}
	if slots+bare != uint64(v.s.texts.n) || live != v.s.live {
		v.r.Add("%d texts, %d of them live, %d bare, in %d slots; the books say %d live", v.s.texts.n, live, bare, slots, v.s.live)
		return
	}
	owner := make([]uint32, slots)
	for i, x := range v.s.texts.Slice(v.sp) {
		if x.bare() {
			continue
		}
		p, slot := x.at>>slotBits, x.at%(1<<slotBits)
		if p >= uint32(len(v.most)) || slot >= v.most[p] {
			v.r.Add("id %d is on page %d, in slot %d, which is not in use", i+1, p+1, slot)
			continue
		}
		if o := &owner[v.first[p]+slot]; *o != 0 {
			v.r.Add("ids %d and %d share slot %d of page %d", *o, i+1, slot, p+1)
		} else {
			*o = uint32(i + 1)
		}
		pg := v.s.pages.slot(v.sp, int(p))
		if x.refs == 0 {
			if pg.rung == large {
				v.r.Add("id %d is dead, and page %d still has %d bytes for it", i+1, p+1, pg.slots)
			}
			continue
		}
		if x.n == 0 || x.n > maxCount || rungOf(int(x.n)) != int(pg.rung) || pg.rung == large && x.n != pg.slots {
			v.r.Add("id %d has %d bytes on a page of rung %d", i+1, x.n, pg.rung)
		}
	}
}

// dead verifies the lists of dead ids.
func (v *visit) dead() {
	if !v.r.None() {
		return
	}
	v.seen = make([]uint32, v.s.texts.n/32+1)
	count := uint32(0)
	walk := func(k int, id uint32) {
		for id != 0 {
			if id > v.s.texts.n || !v.mark(id) || v.s.text(v.sp, id).refs != 0 || v.rungOf(id) != k {
				v.r.Add("id %d is on the list of dead ids of rung %d, and is live, of another one, or there twice", id, k)
				return
			}
			count++
			id = v.s.text(v.sp, id).n
		}
	}
	for k, g := range v.s.rungs {
		walk(k, g.dead)
	}
	walk(large, v.s.bare)
	if count != v.s.texts.n-v.s.live {
		v.r.Add("%d ids are dead, %d of them on lists", v.s.texts.n-v.s.live, count)
	}
}

// rungOf returns the rung of the slot of a dead id, or large if it has none.
func (v *visit) rungOf(id uint32) int {
	if x := v.s.text(v.sp, id); !x.bare() {
		return int(v.s.page(v.sp, x.at).rung)
	}
	return large
}

// mark reports whether id is met for the first time.
func (v *visit) mark(id uint32) bool {
	w, bit := &v.seen[id/32], uint32(1)<<(id%32)
	first := *w&bit == 0
	*w |= bit
	return first
}

// index verifies that a search finds every live text, and nothing else is in its way.
func (v *visit) index() {
	clear(v.seen)
	count := uint32(0)
	for at, l := range v.s.index.Slice(v.sp) {
		if l.id == 0 {
			if l.hash != 0 {
				v.r.Add("place %d of the index is vacant with hash %#x", at, l.hash)
			}
			continue
		}
		count++
		if l.id > v.s.texts.n || !v.mark(l.id) || v.s.text(v.sp, l.id).refs == 0 {
			v.r.Add("place %d of the index has id %d, which is dead, unknown or there twice", at, l.id)
			continue
		}
		t := v.s.Text(v.sp, l.id)
		if h := v.s.hash(t); h != l.hash {
			v.r.Add("id %d is in the index with hash %#x; its text has %#x", l.id, l.hash, h)
		}
	}
	if count != v.s.live {
		v.r.Add("%d ids in the index, %d texts", count, v.s.live)
	}
	if !v.r.None() || count == 0 {
		return // a search ends where a place is vacant
	}
	for at, l := range v.s.index.Slice(v.sp) {
		if l.id == 0 {
			continue
		}
		if id, found := v.s.find(v.sp, v.s.Text(v.sp, l.id), l.hash); id != l.id || found != uint32(at) {
			v.r.Add("id %d in place %d of the index: a search finds id %d in place %d", l.id, at, id, found)
		}
	}
}
