package container

import (
	"math/bits"
	"unsafe"
)

// A table is the block of a Map at its present address. It has no more than four words, which is
// what the compiler keeps in registers: with a fifth one a search takes twice as long.
type table[K comparable, V any] struct {
	base  unsafe.Pointer
	salt  uint64
	shift uint64 // 64 less the log2 of the number of slots
}

func (m *Map[K, V]) table(sp *Space) table[K, V] {
	return table[K, V]{base: sp.at(m.off), salt: m.salt, shift: 64 - uint64(m.bits)}
}

// groupBytes returns the size of a group: eight control bytes and eight entries.
func groupBytes[K comparable, V any]() uintptr { return 8 + 8*unsafe.Sizeof(entry[K, V]{}) }

// firstEntry returns where in a group the entries begin. Those of no size lie on the control
// bytes: behind them would be behind the block, in the last group.
func firstEntry[K comparable, V any]() uintptr { return min(8, 8*unsafe.Sizeof(entry[K, V]{})) }

// mask returns the number of slots less 1.
func (t table[K, V]) mask() uint64 { return ^uint64(0) >> (t.shift & 63) }

// group returns the address of the group of slot i.
func (t table[K, V]) group(i uint64) unsafe.Pointer {
	return unsafe.Add(t.base, uintptr(i/8)*groupBytes[K, V]())
}

// entry returns slot i.
func (t table[K, V]) entry(i uint64) *entry[K, V] {
	return (*entry[K, V])(unsafe.Add(t.group(i), firstEntry[K, V]()+uintptr(i%8)*unsafe.Sizeof(entry[K, V]{})))
}

// ctrl returns the address of the control byte of slot i.
func (t table[K, V]) ctrl(i uint64) *uint8 { return (*uint8)(unsafe.Add(t.group(i), i%8)) }

// home returns the slot where a hash belongs, the first of a group. It follows from the high
// bits, since the low ones are in the control byte.
func (t table[K, V]) home(h uint64) uint64 { return h >> (t.shift & 63) &^ 7 }

// hash returns the hash of the key in slot i.
func (t table[K, V]) hash(i uint64) uint64 { return hashKey(&t.entry(i).key, t.salt) }

// find returns the entry of the key with hash h, or nil. It ends also where, against the
// invariants, no slot is vacant.
func (t table[K, V]) find(k *K, h uint64) *entry[K, V] {
	want := (h | taken) & 0xFF * ones
	i, mask := t.home(h), t.mask()
	for range mask/8 + 1 {
		p := t.group(i)
		g := read64(p)
		x := g ^ want
		for hits := (x - ones) &^ x & eights; hits != 0; hits &= hits - 1 { // a false one costs a comparison
			e := (*entry[K, V])(unsafe.Add(p, firstEntry[K, V]()+uintptr(bits.TrailingZeros64(hits)/8)*unsafe.Sizeof(entry[K, V]{})))
			if e.key == *k {
				return e
			}
		}
		if ^g&eights != 0 {
			return nil
		}
		i = (i + 8) & mask
	}
	return nil
}

// slotOf returns the slot of an entry.
func (t table[K, V]) slotOf(e *entry[K, V]) uint64 {
	off := uintptr(unsafe.Pointer(e)) - uintptr(t.base)
	group := off / groupBytes[K, V]()
	return uint64(group*8 + (off-group*groupBytes[K, V]()-firstEntry[K, V]())/max(unsafe.Sizeof(*e), 1))
}

// insert opens a slot for a hash that the table lacks, marks it taken and returns it, with
// bytes of what was there. One slot is vacant.
func (t table[K, V]) insert(h uint64) *entry[K, V] {
	home := t.home(h)
	at := t.vacant(home)
	for at != home {
		prev := (at - 1) & t.mask()
		if !t.follows(prev, home, h) {
			break
		}
		*t.entry(at) = *t.entry(prev)
		*t.ctrl(at) = *t.ctrl(prev)
		at = prev
	}
	*t.ctrl(at) = uint8(h) | taken
	return t.entry(at)
}

// follows reports whether the entry in slot i, at home or in front of it in the cluster of
// home, has its place behind a new one with hash h.
func (t table[K, V]) follows(i, home, h uint64) bool {
	other := t.hash(i)
	ahead := (t.home(other) - home) & t.mask()
	return ahead == 0 && other > h || ahead > 0 && ahead <= (i-home)&t.mask()
}

// vacant returns the first vacant slot from i on, the first of a group.
func (t table[K, V]) vacant(i uint64) uint64 {
	for range t.mask()/8 + 1 {
		if free := ^read64(t.group(i)) & eights; free != 0 {
			return i + uint64(bits.TrailingZeros64(free))/8
		}
		i = (i + 8) & t.mask()
	}
	panic(ruined("Map", "no slot is vacant"))
}

// count returns how many slots are taken.
func (t table[K, V]) count() (n uint64) {
	for i := uint64(0); i <= t.mask(); i += 8 {
		n += uint64(bits.OnesCount64(read64(t.group(i)) & eights))
	}
	return n
}

// remove vacates slot i: what follows in its cluster and is not at home moves down by one.
func (t table[K, V]) remove(i uint64) {
	for range t.mask() {
		next := (i + 1) & t.mask()
		if *t.ctrl(next) == 0 || t.home(t.hash(next)) == next {
			break
		}
		*t.entry(i) = *t.entry(next)
		*t.ctrl(i) = *t.ctrl(next)
		i = next
	}
	*t.ctrl(i) = 0
	clear(unsafe.Slice((*byte)(unsafe.Pointer(t.entry(i))), unsafe.Sizeof(entry[K, V]{})))
}
