package plan

import "github.com/strata-go/strata/memory/internal/align"

// A timeline is the logical time of a set of buffers, reduced to its sections.
//
// A section is a stretch of time in which the set of live buffers is maximal. The set of every other moment is
// contained in that of a section, so no other moment matters. Two buffers conflict if they share a section. There are
// at most as many sections as buffers, and a buffer lives in consecutive ones. Buffers of size 0 live in none.
type timeline struct {
	lo, hi   []int32 // by index in the set: the buffer's sections [lo, hi)
	sections int
}

func newTimeline(set []Buffer) *timeline { return newTimelineUnless(untimed, set) }

// newTimelineUnless is newTimeline; nil where gone has said that the time is over.
func newTimelineUnless(gone func() bool, set []Buffer) *timeline {
	n := len(set)
	t := &timeline{lo: make([]int32, n), hi: make([]int32, n)}
	births := make([]int32, 0, n)
	for i, b := range set {
		if b.Size > 0 {
			births = append(births, int32(i))
		}
	}
	deaths := append(make([]int32, 0, n), births...)
	reorder(births, func(i int) uint64 { return moment(set[i].Birth) })
	if gone() {
		return nil
	}
	reorder(deaths, func(i int) uint64 { return moment(set[i].Death) })
	if gone() {
		return nil
	}
	// The live set is maximal whenever a death follows a birth. At one moment deaths come first.
	grown := false
	for len(deaths) > 0 {
		if len(births) > 0 && set[births[0]].Birth < set[deaths[0]].Death {
			t.lo[births[0]] = int32(t.sections)
			births, grown = births[1:], true
			continue
		}
		if grown {
			t.sections++
			grown = false
		}
		t.hi[deaths[0]] = int32(t.sections)
		deaths = deaths[1:]
	}
	return t
}

// loads returns by section the sum of the sizes of those that live in it, each rounded up to u
// bytes, and the largest of these sums.
func (t *timeline) loads(set []Buffer, u uintptr) (sums []uintptr, most uintptr) {
	sums = make([]uintptr, t.sections+1)
	for i, b := range set {
		size := align.Up(b.Size, u)
		sums[t.lo[i]] += size
		sums[t.hi[i]] -= size
	}
	for j := range t.sections {
		most = max(most, sums[j])
		sums[j+1] += sums[j]
	}
	return sums[:t.sections], most
}
