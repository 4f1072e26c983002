package container

import (
	"math"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Map is a hash table with keys and values in one block. The zero Map is empty and ready; [NewMap] sets a seed.
//
//	| 8 control bytes | 8 slots | 8 control bytes | 8 slots | ...       groups
//	  0x93 0xF0 0 ...   k v k v 0 ...     0, or 0x80 and 7 bits of the key's hash
//
// At most three quarters of the slots are taken. Entries of a cluster, a run of taken slots, lie in the order of their
// hashes, and Delete closes the gap. A Map therefore has no tombstones, and does not get slower with age.
//
// The order of the entries does not depend on history. Two Maps with equal entries, seeds and numbers of slots iterate
// in one order. The bytes of their tables are equal, except for padding and signs of zeros in V, which are stored as
// they were set.
//
// A Map has 32 bytes and no pointer. Lifetimes, errors, panics and goroutines are as for [Vec]. After an entry was
// added or removed, copies of the Map must not be used: make copies with [Map.Clone]. Beyond 3·2^28 entries, and for
// entries of 128 MiB or more, the error is memory.ErrTooLarge. Growth and Shrink allocate a new block and free the old
// block afterwards, because every entry changes its slot. In an allocator that frees newest first (stack,
// arena.StepBack) they panic with a *memory.Misuse. There, call Reserve for all entries before the first Set.
//
// Two keys are one key if == reports that they are equal. 0 and -0 are one key, stored as 0. Padding and blank fields
// do not count, and are stored as zeros. A NaN is not equal to any key: Get does not find it, and Set fails with
// [ErrNaN]. If the keys have floats, padding or blank fields, a call needs a lookup in a table of types. Neither keys
// nor values may contain a Go pointer. To use strings as keys, intern them in a [Strings] and use their ids.
//
// The hash depends only on the seed, the number of slots and the bytes of the key. It does not change between versions.
// A person who chooses the keys and knows the seed can make all keys collide. For keys from strangers use a secret
// seed.
type Map[K comparable, V any] struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) bits is 0 and there is no block, or from 3 to 30; n is at most three quarters of 2^bits
	//	(2) salt follows from seed and bits, care from K, and unused bytes are 0
	//	(3) K, V and the block are as those of a Vec
	//	(4) a control byte is 0, and then its slot too, or 0x80 and the bits of its key's hash below those of its home
	//	(5) no vacant slot lies between an entry and its home; entries of a cluster ascend in the
	//	    distance of their homes, with one home in their hashes, and with one hash in the bytes of their keys
	//	(6) n slots are taken
	//lint:ignore U1000 it is there for its type
	of   [0]*entry[K, V] // a Map of other types does not convert to this one
	off  uint64          // bytes from the base of the space
	seed uint64
	salt uint64 // what hashes begin with
	n    uint32 // entries
	bits uint8  // log2 of the number of slots; 0: no block
	care uint8  // 1: K has a shape
	_    [2]uint8
}

// An entry is what a slot holds.
type entry[K comparable, V any] struct {
	key K
	val V
}

const (
	minBits = 3  // one load of control bytes
	maxBits = 30 // the slots are counted in 32 bits, with an int to spare

	// tableAlign is the alignment of a table: that of a load of control bytes, and of any type.
	tableAlign = 8
	// maxEntry bounds the size of an entry, so that eight of them have a size.
	maxEntry = math.MaxInt32 / 16

	taken  = 0x80               // the bit of a control byte whose slot is taken
	eights = 0x8080808080808080 // taken, in each byte
	ones   = 0x0101010101010101
)

// NewMap returns an empty Map with a seed for its hashes. The zero Map has seed 0.
func NewMap[K comparable, V any](seed uint64) Map[K, V] { return Map[K, V]{seed: seed} }

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return int(m.n) }

// Cap returns the number of entries that fit in total without growth.
func (m *Map[K, V]) Cap() int { return capOf(m.bits) }

// capOf returns the most entries in 2^b slots: three quarters.
func capOf(b uint8) int {
	if b == 0 {
		return 0
	}
	return 1<<b - 1<<b>>2
}

// bitsFor returns the size of the smallest table for n entries, at least 0.
func bitsFor(n int) uint8 {
	if n == 0 {
		return 0
	}
	b := uint8(max(bits.Len(uint(n))-1, minBits))
	for capOf(b) < n {
		b++
	}
	return b
}

// Get returns the value of k and true. If there is no entry for k, it returns the zero value and false.
func (m *Map[K, V]) Get(sp *Space, k K) (v V, ok bool) {
	if m.n == 0 {
		return v, false
	}
	if m.care != 0 {
		normalise(&k)
	}
	t := m.table(sp)
	if e := find(t, &k, hashKey(&k, m.salt)); e != nil {
		return e.val, true
	}
	return v, false
}

// Has reports whether there is an entry for k. For a NaN, Has returns false.
func (m *Map[K, V]) Has(sp *Space, k K) bool { return m.Ptr(sp, k) != nil }

// Ptr returns the address of the value of k, or nil if there is no entry for k. The address is valid until the next
// Set or GetOrSet of a new key, Delete, DeleteFunc, Clear, Reserve, Shrink or Free, or until the allocator frees the
// block.
func (m *Map[K, V]) Ptr(sp *Space, k K) *V {
	if m.n == 0 {
		return nil
	}
	if m.care != 0 {
		normalise(&k)
	}
	t := m.table(sp)
	if e := find(t, &k, hashKey(&k, m.salt)); e != nil {
		return &e.val
	}
	return nil
}

// Set makes v the value of k. If there is no entry for k, Set adds one. If k contains a NaN, the error is [ErrNaN].
// If the Map must grow and cannot, Set returns an error as [Vec.Append] does. If Set fails, nothing has changed.
func (m *Map[K, V]) Set(sp *Space, k K, v V) error {
	p, _, err := m.put(sp, k)
	if err == nil {
		*p = v
	}
	return err
}

// GetOrSet returns the address of the value of k, and whether k had an entry before the call. If k had none, GetOrSet
// adds an entry with the value v. The address is valid until the next call that adds, deletes or moves entries (see
// [Map.Ptr]). The errors are those of [Map.Set]. If GetOrSet fails, the address is nil and nothing has changed.
func (m *Map[K, V]) GetOrSet(sp *Space, k K, v V) (p *V, was bool, err error) {
	if p, was, err = m.put(sp, k); err == nil && !was {
		*p = v
	}
	return p, was, err
}

// put returns the address of the value of k. If there was no entry, put adds one, and the caller must write the value.
func (m *Map[K, V]) put(sp *Space, k K) (p *V, was bool, err error) {
	if m.care != 0 {
		normalise(&k)
	}
	t, h := m.table(sp), hashKey(&k, m.salt)
	if m.n > 0 {
		if e := find(t, &k, h); e != nil {
			return &e.val, true, nil
		}
	}
	if (m.care != 0 || m.bits == 0) && k != k {
		return nil, false, ErrNaN
	}
	if int(m.n) == capOf(m.bits) {
		if err := m.Reserve(sp, 1); err != nil {
			return nil, false, err
		}
		return m.put(sp, k) // as the table is now, and as the first one says how to treat K
	}
	e := openSlot(t, &k, h)
	e.key = k // gaps are zero in k, and in what was there: so they are now, whether or not they are copied
	m.n++
	return &e.val, false, nil
}

// Delete removes the entry of k and returns true. If there is no entry for k, it returns false.
func (m *Map[K, V]) Delete(sp *Space, k K) bool {
	if m.n == 0 {
		return false
	}
	if m.care != 0 {
		normalise(&k)
	}
	t := m.table(sp)
	e := find(t, &k, hashKey(&k, m.salt))
	if e == nil {
		return false
	}
	closeSlot(t, slotOf(t, e))
	m.n--
	return true
}

// Clear removes every entry and keeps the memory. Cost: proportional to the memory.
func (m *Map[K, V]) Clear(sp *Space) {
	if m.n > 0 {
		clear(unsafe.Slice((*byte)(sp.at(m.off)), m.bytes()))
		m.n = 0
	}
}

// Free frees the memory and leaves the Map empty and ready. The Map keeps its seed. Free panics as [Vec.Free] does.
func (m *Map[K, V]) Free(sp *Space) {
	m.mustBeSound()
	was := *m
	m.Forget()
	sp.giveBack(was.off, was.bytes(), func() { *m = was })
}

// mustBeSound panics if the header of the Map was overwritten, as [Vec.mustBeSound].
func (m *Map[K, V]) mustBeSound() {
	noBlock(m.bits == 0 && (m.off != 0 || m.n != 0) || m.bits != 0 && (m.bits < minBits || m.bits > maxBits) || int(m.n) > capOf(m.bits&31), "Map")
}

// Forget leaves the Map empty and ready without freeing the memory. The Map keeps its seed. Call Forget after the
// allocator was reset.
func (m *Map[K, V]) Forget() { *m = Map[K, V]{seed: m.seed} }

// Reserve makes the Map large enough for n more entries. If Reserve fails, it returns an error as [Vec.Append] does,
// and nothing has changed. A negative n panics.
func (m *Map[K, V]) Reserve(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	m.mustBeSound()
	if uint(n) > uint(capOf(maxBits)-int(m.n)) {
		return memory.ErrTooLarge
	}
	if need := int(m.n) + n; need > m.Cap() {
		return m.rebuild(sp, bitsFor(need))
	}
	return nil
}

// Shrink makes the table as small as its entries allow. Shrink needs the memory of the new table in addition to the old
// one. If the allocator is closed or refuses this memory, Shrink returns the error, and nothing has changed. Shrink of
// an empty Map is [Map.Free].
func (m *Map[K, V]) Shrink(sp *Space) error {
	if b := bitsFor(int(m.n)); b < m.bits {
		return m.rebuild(sp, b)
	}
	return nil
}

// rebuild moves all entries to a table of 2^b slots; b 0 means none.
func (m *Map[K, V]) rebuild(sp *Space, b uint8) error {
	m.mustBeSound()
	if b == 0 {
		m.Free(sp)
		return nil
	}
	if err := memory.PointerFree[entry[K, V]](); err != nil {
		return err
	}
	if err := sp.open(); err != nil {
		return err
	}
	sp.mustBeBlock(m.off, m.bytes())
	sp.mustBeSized(m.off, m.bytes())
	if m.bits > 0 && countTaken(m.table(sp)) != uint64(m.n) {
		panic(ruined("Map", "the table does not have as many entries as the Map"))
	}
	next := Map[K, V]{seed: m.seed, salt: saltOf(m.seed, b), bits: b}
	if shapeOf[K]() != nil {
		next.care = 1
	}
	size, err := tableBytes[K, V](b)
	if err != nil {
		return err
	}
	if next.off, err = sp.alloc(size, tableAlign); err != nil {
		return err
	}
	if int(m.n) > capOf(b) {
		sp.free(next.off, size)
		panic(added("Map"))
	}
	was := *m
	m.pour(sp, next)
	sp.replace(was.off, was.bytes(), next.off, size, func() bool {
		if int(m.n) > capOf(was.bits) {
			return false
		}
		clear(unsafe.Slice((*byte)(sp.at(was.off)), was.bytes()))
		m.pour(sp, was)
		return true
	})
	return nil
}

// pour moves the entries, of which a function of the allocator may have removed some, to a vacant table.
func (m *Map[K, V]) pour(sp *Space, next Map[K, V]) {
	next.n = m.n
	from, to := m.table(sp), next.table(sp)
	var hashes [8]uint64
	for i := uint64(0); i < m.slots(); i += 8 {
		p, read := groupOf(from, i), uint64(0)
		live := read64(p) & eights
		for x := live; x != 0; x &= x - 1 { // the groups of all eight arrive in the cache at the same time
			bit := bits.TrailingZeros64(x)
			h := hashKey(&inGroup[K, V](p, bit).key, next.salt)
			hashes[bit/8] = h
			read |= read64(groupOf(to, homeOf(to, h)))
		}
		runtime.KeepAlive(read)
		for x := live; x != 0; x &= x - 1 {
			bit := bits.TrailingZeros64(x)
			e := inGroup[K, V](p, bit)
			*openSlot(to, &e.key, hashes[bit/8]) = *e
		}
	}
	*m = next
}

// slots returns the number of slots.
func (m *Map[K, V]) slots() uint64 {
	if m.bits == 0 {
		return 0
	}
	return 1 << m.bits
}

// bytes returns the size of the block, or 0 if there is none.
func (m *Map[K, V]) bytes() uintptr {
	if m.bits == 0 {
		return 0
	}
	n, _ := tableBytes[K, V](m.bits)
	return n
}

// tableBytes returns the size of a table of 2^b slots.
func tableBytes[K comparable, V any](b uint8) (uintptr, error) {
	if unsafe.Sizeof(entry[K, V]{}) > maxEntry {
		return 0, memory.ErrTooLarge
	}
	return bytesOf(1<<b/8, groupBytes[K, V]())
}

// Clone returns a copy of the Map with its entries and its seed. The memory of the copy is from the Space `to`, which
// may be sp. The caller owns the copy. The table of the copy has the same bytes, so the copy iterates in the same
// order. If Clone fails, it returns an error as [Vec.Append] does, and an empty Map with the seed.
func (m *Map[K, V]) Clone(sp, to *Space) (Map[K, V], error) {
	m.mustBeSound()
	size := m.bytes()
	if size == 0 {
		return *m, nil
	}
	sp.at(m.off) // panics in debug builds if the space is closed, before there is a block
	off, err := to.alloc(size, tableAlign)
	if err != nil {
		return Map[K, V]{seed: m.seed}, err
	}
	if m.bytes() != size { // a function that the allocator has called has changed the table of m
		to.free(off, size)
		return m.Clone(sp, to)
	}
	copy(unsafe.Slice((*byte)(to.at(off)), size), unsafe.Slice((*byte)(sp.at(m.off)), size))
	c := *m // not before: it may have fewer entries now
	c.off = off
	return c, nil
}
