package ecs

import (
	"slices"

	"github.com/strata-go/strata/memory"
)

// A loop over All or Chunks does not lock the world: nothing of it could run when its body
// panics, as it is inlined into its caller wholly, and a world would stay locked for good. It
// carries a ticket instead, which a structural change takes away: the loop then panics at its
// next step, before it touches a row that may have moved. That costs the loop nothing, because
// a bound that is read from the ticket takes the place of one that is not.

// A ticket is the permission of one loop to go on.
type ticket struct {
	rows int // of the chunk or run that it may step through; 0 once the world has changed
	f    *filter
}

// tickets are those of the loops under way.
//
// Invariants, verified in this order by check:
//
//	(1) walking holds no nil, and behind it, up to its capacity, lie tickets to be used again,
//	    or nil
//	(2) no ticket is there twice, and those in walking have rows
type tickets struct{ walking []*ticket }

// take returns a ticket for a loop over f.
func (k *tickets) take(f *filter, rows int) *ticket {
	n := len(k.walking)
	if n == cap(k.walking) {
		k.walking = append(k.walking, nil)
	}
	k.walking = k.walking[:n+1]
	t := k.walking[n]
	if t == nil {
		t = new(ticket)
		k.walking[n] = t
	}
	if t.rows = rows; t.f != f {
		t.f = f
	}
	return t
}

// giveBack ends the loop that has t. It is the newest one, unless a body has panicked: then
// those of the loops that it left lie above it until the world changes.
func (k *tickets) giveBack(t *ticket) {
	if n := len(k.walking); n > 0 && k.walking[n-1] == t {
		k.walking = k.walking[:n-1]
		return
	}
	for i := len(k.walking) - 1; i >= 0; i-- {
		if last := len(k.walking) - 1; k.walking[i] == t {
			k.walking[i], k.walking[last] = k.walking[last], t
			k.walking = k.walking[:last]
			return
		}
	}
}

// takeAway stops all loops under way, or those over f alone. Their tickets are not used again,
// as a loop may hold one still.
//
//go:noinline
func (k *tickets) takeAway(f *filter) {
	k.walking = slices.DeleteFunc(k.walking, func(t *ticket) bool {
		if f != nil && t.f != f {
			return false
		}
		t.rows = 0
		return true
	})
}

// A walk is the part of a loop over All or Chunks that does not depend on types.
type walk struct {
	ticket *ticket
	es     address
	cols   [maxFilter]address
	spot
	last bool // no chunk with rows can come behind this one
}

// step brings the next chunk with rows into s, or the next run of changed ones, whose ticket then says
// how many there are.
//
//go:noinline
func (f *filter) step(s *walk) bool {
	w := f.w
	if s.ticket == nil {
		w.alone("All")
		if f.seen != len(w.tables) {
			f.update(len(w.tables))
		}
	} else if s.ticket.rows == 0 {
		panic(&memory.Misuse{Package: "ecs", Op: "All", Reason: "the world was changed within the loop; use World.Commands, or leave the loop after the change"})
	} else if s.last {
		w.giveBack(s.ticket)
		return false
	}
	k, first, n := (*tableChunk)(nil), 0, 0
	if f.watchful {
		k, first, n = f.nextRun(&s.spot)
	} else {
		k, n = f.chunk(&s.m, &s.c)
		s.last = int(s.m)+1 == len(f.matches) && int(s.c) > f.matches[s.m].tail
	}
	if k == nil {
		if s.ticket != nil {
			w.giveBack(s.ticket)
		}
		return false
	}
	if s.ticket == nil {
		s.ticket = w.take(f, n)
	} else {
		s.ticket.rows = n
	}
	s.es = address(uintptr(w.chunks[k.number].base))
	columns := w.row(k.number)
	for i := 0; i < f.n; i++ {
		s.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]]
	}
	if first > 0 {
		f.shift(s, uintptr(first))
	}
	if n >= aheadRows && !s.last && !f.watchful {
		f.lookAhead(s)
	}
	return true
}

// shift steps from row 0 to the given one.
//
//go:noinline
func (f *filter) shift(s *walk, row uintptr) {
	s.es += address(row * entityBytes)
	for i := 0; i < f.n; i++ {
		s.cols[i&(maxFilter-1)] += address(row * f.w.comps[f.ids[i&(maxFilter-1)]].size)
	}
}

// leave ends the loop before its end.
//
//go:noinline
func (f *filter) leave(s *walk) { f.w.giveBack(s.ticket) }

// chunk returns the chunk of match *m at position *c, or the next one with rows, and steps on;
// nil at the end.
func (f *filter) chunk(m, c *uint32) (k *tableChunk, n int) {
	for ; int(*m) < len(f.matches); *m, *c = *m+1, 0 {
		t := f.matches[*m]
		if int(*c) > t.tail || t.tailN == 0 {
			continue
		}
		k = &t.chunks[*c]
		if n = int(k.cap); int(*c) == t.tail {
			n = int(t.tailN)
		}
		*c++
		return k, n
	}
	return nil, 0
}
