package compact

import "math/bits"

// bins has the records that have a gap, by the size of the gap. Each power of two is divided into parts equal steps,
// so gaps of a bin differ by at most an eighth. Lists are unordered.
//
//	gap, bytes   ... | 1024 | 1152 | 1280 | ... | 1920 | 2048 | 2304 | ...
//	bin              |  80  |  81  |  82  | ... |  87  |  88  |  89  | ...
type bins struct {
	powers uint                 // bit k: sets[k] != 0
	sets   [bits.UintSize]uint8 // bit p of set k: heads[k*parts+p] != 0
	heads  [bits.UintSize * parts]uint32
}

const (
	// With a partShift of 3 a request fails only if no gap is an eighth larger. 4 would be a sixteenth and take 4
	// KiB a heap.
	partShift = 3
	parts     = 1 << partShift
	// looks bounds the search in the one bin in which some gaps are large enough and some are not. 32 records take
	// half a microsecond if none of them is cached.
	looks = 32
)

// binOf returns the bin of a gap of at least parts bytes.
func binOf(gap uintptr) uint {
	power := uint(bits.Len(uint(gap))) - 1
	return power<<partShift + uint(gap>>((power-partShift)%bits.UintSize)) - parts
}

// set and unset mark bin b as having records, and as empty.
func (s *bins) set(b uint) {
	s.sets[b>>partShift] |= 1 << (b % parts)
	s.powers |= 1 << (b >> partShift)
}

func (s *bins) unset(b uint) {
	if s.sets[b>>partShift] &^= 1 << (b % parts); s.sets[b>>partShift] == 0 {
		s.powers &^= 1 << (b >> partShift)
	}
}

// from returns the lowest bin at or above b that has records.
func (s *bins) from(b uint) (uint, bool) {
	power := b >> partShift
	if set := s.sets[power] >> (b % parts); set != 0 {
		return b + uint(bits.TrailingZeros8(set)), true
	}
	above := s.powers >> (power + 1) << (power + 1)
	if above == 0 {
		return 0, false
	}
	power = uint(bits.TrailingZeros(above))
	return power<<partShift + uint(bits.TrailingZeros8(s.sets[power])), true
}

// last returns the highest bin that has records.
func (s *bins) last() (uint, bool) {
	if s.powers == 0 {
		return 0, false
	}
	power := uint(bits.Len(s.powers)) - 1
	return power<<partShift + uint(bits.Len8(s.sets[power])) - 1, true
}

// fit returns a record whose gap has at least that many bytes. It takes any record of the lowest bin in which all
// gaps are large enough, otherwise one of the first in the bin in which some are.
func (h *Heap) fit(room uintptr) (uint32, bool) {
	step := uintptr(1) << (bits.Len(uint(room)) - 1 - partShift) // between two bins, at this size
	if b, ok := h.bins.from(binOf(room + step - 1)); ok {
		return h.bins.heads[b], true
	}
	i := h.bins.heads[binOf(room)]
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
	b, ok := h.bins.last()
	if !ok {
		return 0
	}
	i := h.bins.heads[b]
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
	first := h.bins.heads[b]
	r.prevGap, r.nextGap = 0, first
	h.bins.heads[b] = i
	if first != 0 {
		h.records[first].prevGap = i
		return
	}
	h.bins.set(b)
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
	h.bins.heads[b] = r.nextGap
	if r.nextGap == 0 {
		h.bins.unset(b)
	}
}
