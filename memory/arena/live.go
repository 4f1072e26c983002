package arena

import "unsafe"

// Live reports whether p lies in the bytes in use, or is what a block of size 0 may have got at
// their end. Blocks have no books of their own: an address inside of one is live, too.
func (l *Linear) Live(p unsafe.Pointer) bool {
	return l.base != nil && l.total() > l.dropped && uintptr(p)-uintptr(l.base) <= l.off
}

// Live is Linear.Live.
func (g *Growing) Live(p unsafe.Pointer) bool { return g.lin.Live(p) }

// Live is [Linear.Live] for any frame of the ring.
func (f *Frames) Live(p unsafe.Pointer) bool {
	for i := range f.ring {
		if f.ring[i].Live(p) {
			return true
		}
	}
	return false
}
