package container

import (
	"iter"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// All returns an iterator over keys and values. The order depends only on the entries, the seed and the number of
// slots, so two peers with equal Maps see one order. The loop may delete the current entry, and may set the value of a
// key that is in the Map. If the loop deletes another entry or sets a new key, some entries may be missed or visited
// twice. Each visited entry is in the Map. If a new key makes the Map grow, or the loop shrinks or frees the Map, the
// next step of the iteration panics with a *memory.Misuse. Reserve before the loop prevents growth. To delete many
// entries, [Map.DeleteFunc] is cheaper.
func (m *Map[K, V]) All(sp *Space) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		m.each(sp, func(e *entry[K, V]) bool { return yield(e.key, e.val) })
	}
}

// Ptrs returns an iterator over keys and the addresses of their values, in the order and with the rules of [Map.All].
// An address is valid until the next call that adds, deletes or moves entries (see [Map.Ptr]).
func (m *Map[K, V]) Ptrs(sp *Space) iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		m.each(sp, func(e *entry[K, V]) bool { return yield(e.key, &e.val) })
	}
}

// Keys returns an iterator over the keys, in the order and with the rules of [Map.All].
func (m *Map[K, V]) Keys(sp *Space) iter.Seq[K] {
	return func(yield func(K) bool) {
		m.each(sp, func(e *entry[K, V]) bool { return yield(e.key) })
	}
}

// Values returns an iterator over the values, in the order and with the rules of [Map.All].
func (m *Map[K, V]) Values(sp *Space) iter.Seq[V] {
	return func(yield func(V) bool) {
		m.each(sp, func(e *entry[K, V]) bool { return yield(e.val) })
	}
}

// each calls f for every entry until it returns false; with its loop written out in All and its like
// an entry took 9.8 ns instead of 7.8. It goes down from a vacant slot, round
// the end of the table: a deletion moves entries of higher slots down, which were seen, and no
// entry moves across a vacant slot.
func (m *Map[K, V]) each(sp *Space, f func(*entry[K, V]) bool) {
	if m.n == 0 {
		return
	}
	t, off, size := m.table(sp), m.off, m.bits
	start := lastVacant(t)
	low := uint64(1)<<(start%8*8) - 1 // of the bytes of a group, those in front of start
	groups := (maskOf(t) + 1) / 8
	for k := uint64(0); k <= groups; k++ {
		group := (start/8 - k) & (groups - 1)
		p := groupOf(t, group*8)
		live := read64(p) & eights
		if k == 0 {
			live &= low
		} else if k == groups {
			live &^= low
		}
		for live != 0 {
			bit := 63 - bits.LeadingZeros64(live)
			live &^= 1 << bit
			if !f((*entry[K, V])(unsafe.Add(p, firstEntry[K, V]()+uintptr(bit)/8*unsafe.Sizeof(entry[K, V]{})))) {
				return
			}
			if m.off != off || m.bits != size {
				panic(&memory.Misuse{Package: "container", Op: "Map.All", Reason: "the table has moved during the iteration: call Reserve before, or apply the changes afterwards"})
			}
			live &= read64(p) // what f has deleted is not there any more
		}
	}
}

// lastVacant returns the highest slot that is vacant; where, against the invariants, none is, 0.
func lastVacant[K comparable, V any](t table[K, V]) uint64 {
	i := maskOf(t)
	for i > 0 && *ctrlAt(t, i) != 0 {
		i--
	}
	return i
}

// DeleteFunc removes the entries for which del returns true. The function del must not add entries to the Map or
// remove entries. If the number of entries or the table differs after del, DeleteFunc panics with a *memory.Misuse.
// If del panics, the entries for which it has returned true are removed, and all others are unchanged.
func (m *Map[K, V]) DeleteFunc(sp *Space, del func(K, V) bool) {
	t := m.table(sp)
	m.each(sp, func(e *entry[K, V]) bool {
		was := *m
		drop := del(e.key, e.val)
		if *m != was {
			panic(&memory.Misuse{Package: "container", Op: "Map.DeleteFunc", Reason: "the function that selects entries has changed the Map: apply the changes afterwards"})
		}
		if drop {
			closeSlot(t, slotOf(t, e))
			m.n--
		}
		return true
	})
}
