package container

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/findings"
)

// Check verifies the metadata and the table. It returns the errors, joined into one, or nil. It lists at most 32 errors
// and counts the others. For Go allocations and other goroutines see [Vec.Check]. Cost: proportional to the slots; each
// entry is hashed at most twice.
func (m *Map[K, V]) Check(sp *Space) error {
	r := report{findings.List{Of: "container: Map"}}
	if m.bits == 0 {
		if m.off != 0 || m.salt != 0 || m.n != 0 || m.care != 0 {
			r.Add("%d entries at offset %d, but there is no block", m.n, m.off)
		}
		return r.Err()
	}
	if m.bits < minBits || m.bits > maxBits {
		r.Add("2^%d slots; from 2^%d to 2^%d are possible", m.bits, minBits, maxBits)
		return r.Err()
	}
	if !byValue[entry[K, V]](&r) {
		return r.Err()
	}
	if int(m.n) > capOf(m.bits) {
		r.Add("%d entries in 2^%d slots, of which %d may be taken", m.n, m.bits, capOf(m.bits))
	}
	if want := saltOf(m.seed, m.bits); m.salt != want {
		r.Add("salt %#x does not follow from seed %#x and 2^%d slots", m.salt, m.seed, m.bits)
	}
	if care := shapeOf[K]() != nil; m.care > 1 || care != (m.care == 1) {
		r.Add("care is %d; keys have floats, padding or blank fields: %t", m.care, care)
	}
	size, err := tableBytes[K, V](m.bits)
	if err != nil {
		r.Add("a table of 2^%d slots has no size: %v", m.bits, err)
		return r.Err()
	}
	if r.block(sp, "table", m.off, 1, size, tableAlign) && r.None() {
		r.guarded(func() { m.checkSlots(sp, &r) })
	}
	return r.Err()
}

// checkSlots verifies what the block holds.
func (m *Map[K, V]) checkSlots(sp *Space, r *report) {
	t, count := m.table(sp), uint32(0)
	for i := range maskOf(t) + 1 {
		if c := *ctrlAt(t, i); c == 0 {
			if !zero(unsafe.Pointer(entryAt(t, i)), unsafe.Sizeof(entry[K, V]{})) {
				r.Add("slot %d is vacant, and not zero", i)
			}
			continue
		}
		count++
		m.checkEntry(t, r, i)
	}
	if count != m.n {
		r.Add("%d slots are taken, by %d entries", count, m.n)
	}
}

// checkEntry verifies that the entry in slot i can be found, and stands where it must.
func (m *Map[K, V]) checkEntry(t table[K, V], r *report, i uint64) {
	e, h := entryAt(t, i), hashAt(t, i)
	if c := *ctrlAt(t, i); c != ctrlOf(t, h) {
		r.Add("control byte %d is %#x; the hash of its key wants %#x", i, c, ctrlOf(t, h))
	}
	if s := shapeOf[K](); s != nil {
		if e.key != e.key {
			r.Add("the key in slot %d holds a NaN", i)
		}
		if !s.normal(unsafe.Pointer(&e.key)) {
			r.Add("the key in slot %d has bytes that no key has: padding that is not 0, or a -0", i)
		}
	}
	away := (i - homeOf(t, h)) & maskOf(t)
	prev := (i - 1) & maskOf(t)
	if away == 0 {
		return
	}
	if *ctrlAt(t, prev) == 0 {
		r.Add("slot %d is vacant, between the entry in slot %d and its home, %d", prev, i, homeOf(t, h))
		return
	}
	before, k := hashAt(t, prev), &entryAt(t, prev).key
	awayBefore := (prev - homeOf(t, before)) & maskOf(t)
	switch {
	case before == h && *k == e.key:
		r.Add("slots %d and %d have the same key", prev, i)
	case awayBefore+1 < away, awayBefore+1 == away && precedes(&e.key, h, k, before):
		r.Add("the entry in slot %d belongs in front of the one in slot %d", i, prev)
	}
}
