package compact

import "math/bits"

// bins holds the records that have a gap, by the size of the gap: each power of two is cut into
// parts equal steps, so that gaps of a bin differ by an eighth at most. Lists are unordered.
//
//	gap, bytes   ... | 1024 | 1152 | 1280 | ... | 1920 | 2048 | 2304 | ...
//	power, part      | 10 0 | 10 1 | 10 2 | ... | 10 7 | 11 0 | 11 1 | ...
type bins struct {
	powers uint                 // bit k: parts[k] != 0
	parts  [bits.UintSize]uint8 // bit p of power k: heads[k][p] != 0
	heads  [bits.UintSize][parts]uint32
}

const (
	// partShift is 3 so that a request is refused only while no gap is an eighth larger: 4 bits
	// take 4 KiB a heap for a sixteenth.
	partShift = 3
	parts     = 1 << partShift
	// looks bounds the search in the one bin where some gaps are large enough and some are
	// not: 32 records, half a microsecond when none of them is in the caches.
	looks = 32
)

// A bin names a list.
type bin struct{ power, part uint }

// binOf returns the bin of a gap, which is a positive multiple of minAlign.
func binOf(gap uintptr) bin {
	power := uint(bits.Len(uint(gap))) - 1
	return bin{power, uint(gap>>(power-partShift)) % parts}
}

// first returns the first record of the list of b.
func (s *bins) first(b bin) *uint32 { return &s.heads[b.power%bits.UintSize][b.part%parts] }

// after returns the lowest bin that is not empty, behind b.
func (s *bins) after(b bin) (bin, bool) {
	if above := s.parts[b.power] >> (b.part + 1) << (b.part + 1); above != 0 {
		return bin{b.power, uint(bits.TrailingZeros8(above))}, true
	}
	above := s.powers >> (b.power + 1) << (b.power + 1)
	if above == 0 {
		return bin{}, false
	}
	power := uint(bits.TrailingZeros(above))
	return bin{power, uint(bits.TrailingZeros8(s.parts[power]))}, true
}

// fit returns a record with a gap of at least room bytes: any of the bin of room if all there
// are large enough, else any of the next bin, and if all those are empty one that is found
// among the first of the bin of room.
func (h *Heap) fit(room uintptr) (uint32, bool) {
	own := binOf(room)
	i := *h.bins.first(own)
	if i != 0 && h.records[i].gap >= room { // luck, or all are
		return i, true
	}
	if next, ok := h.bins.after(own); ok {
		return *h.bins.first(next), true
	}
	for n := 0; i != 0 && n < looks; n++ {
		if h.records[i].gap >= room {
			return i, true
		}
		i = h.records[i].nextGap
	}
	return 0, false
}

// largestGap returns the largest request, in bytes, that fit would find a gap for: the largest
// among the first gaps of the last bin.
func (h *Heap) largestGap() uintptr {
	if h.bins.powers == 0 {
		return 0
	}
	power := uint(bits.Len(h.bins.powers)) - 1
	i := *h.bins.first(bin{power, uint(bits.Len8(h.bins.parts[power])) - 1})
	largest := uintptr(0)
	for n := 0; i != 0 && n < looks; n++ {
		largest = max(largest, h.records[i].gap)
		i = h.records[i].nextGap
	}
	return largest
}

// linkGap puts the gap of record i, if it has one, on the list of its bin.
func (h *Heap) linkGap(i uint32) {
	r := &h.records[i]
	if r.gap == 0 {
		return
	}
	b := binOf(r.gap)
	first := h.bins.first(b)
	r.prevGap, r.nextGap = 0, *first
	if r.nextGap != 0 {
		h.records[r.nextGap].prevGap = i
	}
	*first = i
	h.bins.parts[b.power] |= 1 << b.part
	h.bins.powers |= 1 << b.power
}

// unlinkGap takes the gap of record i, if it has one, off its list.
func (h *Heap) unlinkGap(i uint32) {
	r := &h.records[i]
	if r.gap == 0 {
		return
	}
	if r.nextGap != 0 {
		h.records[r.nextGap].prevGap = r.prevGap
	}
	if r.prevGap != 0 {
		h.records[r.prevGap].nextGap = r.nextGap
		return
	}
	b := binOf(r.gap)
	*h.bins.first(b) = r.nextGap
	if r.nextGap != 0 {
		return
	}
	if h.bins.parts[b.power] &^= 1 << b.part; h.bins.parts[b.power] == 0 {
		h.bins.powers &^= 1 << b.power
	}
}
