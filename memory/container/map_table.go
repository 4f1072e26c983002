package container

import (
	"bytes"
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

// maskOf returns the number of slots less 1.
func maskOf[K comparable, V any](t table[K, V]) uint64 { return ^uint64(0) >> (t.shift & 63) }

// groupOf returns the address of the group of slot i.
func groupOf[K comparable, V any](t table[K, V], i uint64) unsafe.Pointer {
	return unsafe.Add(t.base, uintptr(i/8)*groupBytes[K, V]())
}

// inGroup returns the entry of a group whose control byte begins at a bit of the group's first word.
func inGroup[K comparable, V any](group unsafe.Pointer, bit int) *entry[K, V] {
	return (*entry[K, V])(unsafe.Add(group, firstEntry[K, V]()+uintptr(bit)/8*unsafe.Sizeof(entry[K, V]{})))
}

// entryAt returns slot i.
func entryAt[K comparable, V any](t table[K, V], i uint64) *entry[K, V] {
	return (*entry[K, V])(unsafe.Add(groupOf(t, i), firstEntry[K, V]()+uintptr(i%8)*unsafe.Sizeof(entry[K, V]{})))
}

// ctrlAt returns the address of the control byte of slot i.
func ctrlAt[K comparable, V any](t table[K, V], i uint64) *uint8 {
	return (*uint8)(unsafe.Add(groupOf(t, i), i%8))
}

// homeOf returns the slot where a hash belongs, the first of a group. It follows from the highest bits.
func homeOf[K comparable, V any](t table[K, V], h uint64) uint64 { return h >> (t.shift & 63) &^ 7 }

// ctrlOf returns the control byte of a hash: the seven bits below those of homeOf. So among entries of one home the
// control bytes ascend as the hashes do.
func ctrlOf[K comparable, V any](t table[K, V], h uint64) uint8 {
	return uint8(h>>((t.shift-4)&63)) | taken
}

// hashAt returns the hash of the key in slot i.
func hashAt[K comparable, V any](t table[K, V], i uint64) uint64 {
	return hashKey(&entryAt(t, i).key, t.salt)
}

// find returns the entry of the key with hash h, or nil. It ends also where, against the
// invariants, no slot is vacant.
func find[K comparable, V any](t table[K, V], k *K, h uint64) *entry[K, V] {
	want := uint64(ctrlOf(t, h)) * ones
	i, mask := homeOf(t, h), maskOf(t)
	for range mask/8 + 1 {
		p := groupOf(t, i)
		g := read64(p)
		x := g ^ want
		for hits := (x - ones) &^ x & eights; hits != 0; hits &= hits - 1 { // a false one costs a comparison
			e := inGroup[K, V](p, bits.TrailingZeros64(hits))
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
func slotOf[K comparable, V any](t table[K, V], e *entry[K, V]) uint64 {
	off := uintptr(unsafe.Pointer(e)) - uintptr(t.base)
	group := off / groupBytes[K, V]()
	return uint64(group*8 + (off-group*groupBytes[K, V]()-firstEntry[K, V]())/max(unsafe.Sizeof(*e), 1))
}

// openSlot opens a slot for a key that the table lacks, with hash h, marks it taken and returns it, with
// bytes of what was there. One slot is vacant.
//
// Entries of other homes lie in front of those of a group. If the group has none, and a vacant slot, the control bytes
// alone say where the new entry belongs, and no entry leaves the group.
func openSlot[K comparable, V any](t table[K, V], k *K, h uint64) *entry[K, V] {
	home, c := homeOf(t, h), uint64(ctrlOf(t, h))
	p := groupOf(t, home)
	g := read64(p)
	vacant := ^g & eights
	if vacant == 0 || g != 0 && homeOf(t, hashAt(t, home)) != home {
		return openFar(t, k, h, home)
	}
	end := bits.TrailingZeros64(vacant) &^ 7                                // 8 times the index in the group
	at := bits.TrailingZeros64((g|eights-c&^taken*ones)&eights|vacant) &^ 7 // the first whose byte is not below c
	for at < end && g>>(at&63)&0xFF == c {
		if other := &inGroup[K, V](p, at).key; !precedes(other, hashKey(other, t.salt), k, h) {
			break
		}
		at += 8
	}
	for i := end; i > at; i -= 8 {
		*inGroup[K, V](p, i) = *inGroup[K, V](p, i-8)
	}
	below := uint64(1)<<(at&63) - 1
	write64(p, g&below|c<<(at&63)|g&^below<<8)
	return inGroup[K, V](p, at)
}

// openFar is openSlot for the other groups.
func openFar[K comparable, V any](t table[K, V], k *K, h, home uint64) *entry[K, V] {
	at := vacantFrom(t, home)
	for at != home {
		prev := (at - 1) & maskOf(t)
		if !follows(t, prev, home, k, h) {
			break
		}
		*entryAt(t, at) = *entryAt(t, prev)
		*ctrlAt(t, at) = *ctrlAt(t, prev)
		at = prev
	}
	*ctrlAt(t, at) = ctrlOf(t, h)
	return entryAt(t, at)
}

// follows reports whether an entry belongs behind a new one with key k and hash h. It is in slot i, at home or in front
// of it in the cluster of home.
func follows[K comparable, V any](t table[K, V], i, home uint64, k *K, h uint64) bool {
	other := hashAt(t, i)
	ahead := (homeOf(t, other) - home) & maskOf(t)
	return ahead == 0 && precedes(k, h, &entryAt(t, i).key, other) || ahead > 0 && ahead <= (i-home)&maskOf(t)
}

// precedes reports whether key a belongs in front of b, which has the same home: by hash, and then by bytes.
func precedes[K comparable](a *K, ha uint64, b *K, hb uint64) bool {
	return ha < hb || ha == hb && compare(unsafe.Pointer(a), unsafe.Pointer(b), unsafe.Sizeof(*a)) < 0
}

//go:noinline
func compare(a, b unsafe.Pointer, n uintptr) int {
	return bytes.Compare(unsafe.Slice((*byte)(a), n), unsafe.Slice((*byte)(b), n))
}

// vacantFrom returns the first vacant slot from i on, the first of a group.
func vacantFrom[K comparable, V any](t table[K, V], i uint64) uint64 {
	for range maskOf(t)/8 + 1 {
		if free := ^read64(groupOf(t, i)) & eights; free != 0 {
			return i + uint64(bits.TrailingZeros64(free))/8
		}
		i = (i + 8) & maskOf(t)
	}
	panic(ruined("Map", "no slot is vacant"))
}

// countTaken returns how many slots are taken.
func countTaken[K comparable, V any](t table[K, V]) (n uint64) {
	for i := uint64(0); i <= maskOf(t); i += 8 {
		n += uint64(bits.OnesCount64(read64(groupOf(t, i)) & eights))
	}
	return n
}

// closeSlot vacates slot i: what follows in its cluster and is not at home moves down by one.
//
// Within a group every entry behind slot i moves, because only the first slot is a home.
func closeSlot[K comparable, V any](t table[K, V], i uint64) {
	for range maskOf(t)/8 + 1 {
		p, at := groupOf(t, i), int(i%8*8)
		g, below := read64(p), uint64(1)<<at-1
		last := bits.TrailingZeros64(^g&eights&^below)&^7 - 8 // what follows without a gap, up to here
		for ; at < last; at += 8 {
			*inGroup[K, V](p, at) = *inGroup[K, V](p, at+8)
		}
		write64(p, g&below|g>>8&^below)
		if i = (i&^7 + 8) & maskOf(t); last < 56 || *ctrlAt(t, i) == 0 || homeOf(t, hashAt(t, i)) == i {
			clear(unsafe.Slice((*byte)(unsafe.Pointer(inGroup[K, V](p, at))), unsafe.Sizeof(entry[K, V]{})))
			return
		}
		*inGroup[K, V](p, at) = *entryAt(t, i)
		*(*uint8)(unsafe.Add(p, 7)) = *ctrlAt(t, i)
	}
	panic(ruined("Map", "no slot is vacant"))
}
