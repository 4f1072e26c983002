package save

import "math/bits"

// runs calls f for each run of set bits below end. If whole returns true for the number of set bits, and of all bits up
// to the last set one, it calls f once, for all of them.
func runs(set []uint64, end uint, whole func(live, total uintptr) bool, f func(first, n uint)) {
	set = set[:min(uint(len(set)), (end+63)/64)]
	count, last := uint(0), uint(0)
	for i, w := range set {
		if w != 0 {
			count += uint(bits.OnesCount64(w))
			last = uint(i)*64 + uint(bits.Len64(w))
		}
	}
	if count > 0 && whole(uintptr(count), uintptr(last)) {
		f(0, min(last, end))
		return
	}
	for at := uint(0); at < end; {
		first := next(set, at, end, 0)
		if first >= end {
			return
		}
		at = next(set, first, end, ^uint64(0))
		f(first, at-first)
	}
}

// next returns the first bit from at on that is set, or that is not set if flip is all ones; end if there is none below.
func next(set []uint64, at, end uint, flip uint64) uint {
	for at < end {
		i := at / 64
		w := flip // beyond the words all bits are clear
		if i < uint(len(set)) {
			w = set[i] ^ flip
		}
		if w &= ^uint64(0) << (at % 64); w != 0 {
			return min(i*64+uint(bits.TrailingZeros64(w)), end)
		}
		at = (i + 1) * 64
	}
	return end
}
