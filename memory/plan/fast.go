package plan

import (
	"cmp"
	"slices"

	"github.com/strata-go/strata/memory/internal/align"
)

// Fast places the largest buffer first, then the next, each into the tightest gap between the
// buffers already placed whose lifetimes meet its own; of equal gaps the lowest, and on top of
// all where none fits. Equal sizes go by lifetime, longest first, then by ID. The buffers may
// come in any order: the same set gives the same plan. The error says everything that is
// wrong with the set. Cost: O(n²), see the benchmarks.
func Fast(buffers []Buffer) (*Plan, error) {
	set, err := declared(buffers)
	if err != nil {
		return nil, err
	}
	return newPlan(set, largestFirst(set)), nil
}

func largestFirst(set []Buffer) []uintptr {
	order := slices.Clone(set)
	slices.SortFunc(order, func(a, b Buffer) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(lifetime(b), lifetime(a)), cmp.Compare(a.ID, b.ID))
	})
	offsets := make([]uintptr, len(set))
	placed := make([]berth, 0, len(set)) // by offset
	for _, b := range order {
		if b.Size == 0 {
			continue
		}
		off := bestGap(placed, b)
		offsets[b.ID] = off
		at, _ := slices.BinarySearchFunc(placed, off, func(a berth, off uintptr) int { return cmp.Compare(a.off, off) })
		placed = slices.Insert(placed, at, berth{off, off + b.Size, b.Birth, b.Death})
	}
	return offsets
}

// A berth is what bestGap needs of a placed buffer, in one cache line.
type berth struct {
	off, end     uintptr
	birth, death int
}

// bestGap walks the placed buffers upwards. top is the end of those passed so far that b
// would meet: what lies between it and the next such one is a gap.
func bestGap(placed []berth, b Buffer) uintptr {
	top, best := uintptr(0), uintptr(0)
	waste, found := ^uintptr(0), false
	for i := range placed {
		a := &placed[i]
		if a.birth >= b.Death || b.Birth >= a.death {
			continue
		}
		start := align.Up(top, b.Align)
		if start <= a.off && a.off-start >= b.Size && a.off-top-b.Size < waste {
			best, waste, found = start, a.off-top-b.Size, true
		}
		top = max(top, a.end)
	}
	if found {
		return best
	}
	return align.Up(top, b.Align)
}

// lifetime is unsigned: it holds the distance of any two ints.
func lifetime(b Buffer) uint { return uint(b.Death) - uint(b.Birth) }
