package compact

import "math/bits"

// bins holds the records that have a gap, by the power of two below its size: bit and list k
// are for gaps of 2^k to 2^(k+1)-1 bytes. Lists are unordered.
type bins struct {
	nonEmpty uint64
	heads    [bits.UintSize]uint32
}

func binOf(gap uintptr) int { return bits.Len64(uint64(gap)) - 1 }

// fit returns a record with a gap of at least room bytes: any of the smallest bin where all
// are large enough, and else one of the bin where some are.
func (h *Heap) fit(room uintptr) (uint32, bool) {
	enough := bits.Len64(uint64(room - 1)) // the first bin where all gaps have room bytes
	if above := h.bins.nonEmpty >> enough << enough; above != 0 {
		return h.bins.heads[bits.TrailingZeros64(above)], true
	}
	i := h.bins.heads[binOf(room)]
	for i != 0 && h.records[i].gap < room {
		i = h.records[i].nextGap
	}
	return i, i != 0
}

// largestGap returns the largest gap in bytes.
func (h *Heap) largestGap() uintptr {
	if h.bins.nonEmpty == 0 {
		return 0
	}
	largest := uintptr(0)
	for i := h.bins.heads[bits.Len64(h.bins.nonEmpty)-1]; i != 0; i = h.records[i].nextGap {
		largest = max(largest, h.records[i].gap)
	}
	return largest
}

// linkGap puts the gap of record i, if it has one, on the list of its bin.
func (h *Heap) linkGap(i uint32) {
	r := &h.records[i]
	if r.gap == 0 {
		return
	}
	k := binOf(r.gap)
	r.prevGap, r.nextGap = 0, h.bins.heads[k]
	if r.nextGap != 0 {
		h.records[r.nextGap].prevGap = i
	}
	h.bins.heads[k] = i
	h.bins.nonEmpty |= 1 << k
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
	k := binOf(r.gap)
	h.bins.heads[k] = r.nextGap
	if r.nextGap == 0 {
		h.bins.nonEmpty &^= 1 << k
	}
}
