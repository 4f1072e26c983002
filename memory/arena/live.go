package arena

import "unsafe"

// Live reports whether p lies in the bytes in use, or at their end, where a block of size 0 may be. If the arena has
// no block or is closed, Live returns false. Live does not find block boundaries. It also returns true for padding,
// for an address inside a block, and for an address in a block that was freed but not reclaimed.
func (l *Linear) Live(p unsafe.Pointer) bool {
	return l.base != nil && l.total() > l.dropped && uintptr(p)-uintptr(l.base) <= l.off
}

// Live reports whether p lies in the bytes in use, or at their end, as [Linear.Live].
func (g *Growing) Live(p unsafe.Pointer) bool { return g.lin.Live(p) }

// Live reports whether p lies in the bytes in use of a readable frame, or at their end, as [Linear.Live].
func (f *Frames) Live(p unsafe.Pointer) bool {
	for i := range f.ring {
		if f.ring[i].Live(p) {
			return true
		}
	}
	return false
}
