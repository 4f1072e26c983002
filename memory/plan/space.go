package plan

import (
	"slices"

	"github.com/strata-go/strata/memory/internal/align"
)

// A space is what is occupied by the buffers placed so far: memory by time. It finds where
// another fits without looking at each of them.
//
// It is a segment tree over the sections of a timeline: node v has the children 2v and 2v+1,
// the leaves are the sections. A buffer that is placed belongs to the O(log n) nodes that make
// up its lifetime. Every node has two strips of occupied addresses:
//
//	through[v]  by buffers that belong to v: they live in all of its sections
//	within[v]   by buffers that belong to v or to a node beneath it: they live in some of them
//
// What a lifetime must keep clear of is within of the nodes that make it up, and through of the
// nodes above those.
type space struct {
	leaves          int // a power of two
	through, within []strip
	watched         []*strip // of the lifetime in question
	probes          int      // how often a strip was asked: the measure of work
}

func newSpace(sections int) *space {
	leaves := leavesFor(sections)
	return &space{leaves: leaves, through: make([]strip, 2*leaves), within: make([]strip, 2*leaves)}
}

// leavesFor returns the number of leaves of a tree over so many sections: a power of two.
func leavesFor(sections int) int {
	leaves := 1
	for leaves < sections {
		leaves *= 2
	}
	return leaves
}

func (s *space) clear() {
	for v := range s.through {
		s.through[v].runs = s.through[v].runs[:0]
		s.within[v].runs = s.within[v].runs[:0]
	}
}

// watch collects the strips that the sections [lo, hi) meet, without the empty ones.
func (s *space) watch(lo, hi int32) {
	s.watched = s.watched[:0]
	l, r := int(lo)+s.leaves, int(hi)+s.leaves
	first, last := l, r-1
	for ; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			s.look(&s.within[l])
			l++
		}
		if r&1 == 1 {
			r--
			s.look(&s.within[r])
		}
	}
	// Above a node that belongs to the lifetime are only those above its ends. Those that
	// belong to it, or are beneath, hold nothing that within does not.
	for first, last = first/2, last/2; first > 0; first, last = first/2, last/2 {
		s.look(&s.through[first])
		if last != first {
			s.look(&s.through[last])
		}
	}
}

func (s *space) look(t *strip) {
	if len(t.runs) > 0 {
		s.watched = append(s.watched, t)
	}
}

// lowest returns the lowest multiple of a from off on at which size bytes are free in all that
// is watched.
func (s *space) lowest(off, size, a uintptr) uintptr {
	off = align.Up(off, a)
	for k, agreed := 0, 0; agreed < len(s.watched); agreed++ {
		s.probes++
		if free := s.watched[k].free(off, size); free != off {
			off, agreed = align.Up(free, a), -1
		}
		if k++; k == len(s.watched) {
			k = 0
		}
	}
	return off
}

// around returns the end of what lies beneath the free address off, and the start of what lies
// above it; never if nothing does.
func (s *space) around(off uintptr) (beneath, above uintptr) {
	above = nowhere
	for _, t := range s.watched {
		s.probes++
		i := t.after(off)
		if i > 0 {
			beneath = max(beneath, t.runs[i-1].end)
		}
		if i < len(t.runs) {
			above = min(above, t.runs[i].off)
		}
	}
	return beneath, above
}

const nowhere = ^uintptr(0)

// tightest returns the offset at which size bytes leave the least of their gap, the lowest of several. If no gap
// fits, it is on top of all.
func (s *space) tightest(size, a uintptr) uintptr {
	best, waste := uintptr(0), nowhere
	for off := uintptr(0); ; {
		off = s.lowest(off, size, a)
		beneath, above := s.around(off)
		if above == nowhere {
			if waste == nowhere {
				return off
			}
			return best
		}
		if w := above - beneath - size; w < waste {
			if best, waste = off, w; w == 0 {
				return best
			}
		}
		off = above
	}
}

// occupy marks the addresses [off, end) in the sections [lo, hi).
func (s *space) occupy(lo, hi int32, off, end uintptr) {
	l, r := int(lo)+s.leaves, int(hi)+s.leaves
	first, last := l, r-1
	for ; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			s.through[l].add(off, end)
			s.within[l].add(off, end)
			l++
		}
		if r&1 == 1 {
			r--
			s.through[r].add(off, end)
			s.within[r].add(off, end)
		}
	}
	for first, last = first/2, last/2; first > 0; first, last = first/2, last/2 {
		s.within[first].add(off, end)
		if last != first {
			s.within[last].add(off, end)
		}
	}
}

// A strip is a set of addresses: runs in ascending order that do not touch.
type strip struct{ runs []run }

type run struct{ off, end uintptr }

// after returns the index of the first run that ends above off.
func (t *strip) after(off uintptr) int {
	lo, hi := 0, len(t.runs)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); t.runs[mid].end > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// free returns the lowest address from off on that is followed by size free bytes.
func (t *strip) free(off, size uintptr) uintptr {
	for _, r := range t.runs[t.after(off):] {
		if r.off >= off && r.off-off >= size {
			return off
		}
		off = r.end
	}
	return off
}

// add puts [off, end) in, which may meet what is there.
func (t *strip) add(off, end uintptr) {
	i := t.after(off)
	if i > 0 && t.runs[i-1].end == off {
		i--
		off = t.runs[i].off
	}
	j := i
	for ; j < len(t.runs) && t.runs[j].off <= end; j++ {
		off, end = min(off, t.runs[j].off), max(end, t.runs[j].end)
	}
	if j == i {
		t.runs = slices.Insert(t.runs, i, run{off, end})
		return
	}
	t.runs[i] = run{off, end}
	t.runs = slices.Delete(t.runs, i+1, j)
}
