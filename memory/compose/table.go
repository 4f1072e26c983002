package compose

import (
	"errors"
	"fmt"
	"math/bits"
)

// A table maps the addresses of live blocks to their sizes: open addressing with linear probing. remove
// moves the following blocks back, so there are no tombstones. It is as fast as Go's map (BenchmarkSizes),
// which reallocates from time to time. The table allocates only if more blocks are live than ever before.
//
//	hash(addr) ---> | · | a | b | · |     b hashes to a's slot or to its own
//
// Invariants, verified by check:
//
//	(1) n slots are taken, at most 3/4 of a power of two
//	(2) no slot is free between the one that an address hashes to and its own
//	(3) no address occurs twice
//	(4) sum is the sum of the sizes
type table struct {
	slots []slot
	n     int
	sum   uint64
}

type slot struct {
	addr uintptr // 0 if the slot is free
	size uintptr // requested bytes
}

const leastSlots = 16

// home returns the slot that addr hashes to: both halves of a product, folded. The top half alone
// (Knuth, volume 3, 6.4) may leave blocks at equal distances in clumps.
func (t *table) home(addr uintptr) int {
	hi, lo := bits.Mul64(uint64(addr), 0x9E3779B97F4A7C15)
	return int(hi^lo) & (len(t.slots) - 1)
}

// find returns the slot of addr and true, or the free slot for it and false. The table must have a free slot.
func (t *table) find(addr uintptr) (i int, ok bool) {
	mask := len(t.slots) - 1
	for i = t.home(addr); t.slots[i&mask].addr != 0; i++ {
		if t.slots[i&mask].addr == addr {
			return i & mask, true
		}
	}
	return i & mask, false
}

// add adds a block that is not in the table.
func (t *table) add(addr, size uintptr) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	i, _ := t.find(addr)
	t.slots[i] = slot{addr, size}
	t.n++
	t.sum += uint64(size)
}

// grow doubles the table.
func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(2*len(old), leastSlots))
	for _, s := range old {
		if s.addr != 0 {
			i, _ := t.find(s.addr)
			t.slots[i] = s
		}
	}
}

// remove removes the block in slot i and moves back the blocks behind it that belong there.
func (t *table) remove(i int) {
	t.n--
	t.sum -= uint64(t.slots[i].size)
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].addr != 0; j = (j + 1) & mask {
		if home := t.home(t.slots[j].addr); (j-home)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot{}
}

// resize changes the size of the block in slot i.
func (t *table) resize(i int, size uintptr) {
	t.sum += uint64(size) - uint64(t.slots[i].size)
	t.slots[i].size = size
}

// clear empties the table and keeps its slots.
func (t *table) clear() {
	clear(t.slots)
	t.n, t.sum = 0, 0
}

// check verifies the invariants above the type. It allocates nothing unless they are broken, and ends on any
// contents: no loop is longer than the table.
func (t *table) check() error {
	taken, sum, mask := 0, uint64(0), len(t.slots)-1
	var errs []error
	for i, s := range t.slots {
		if s.addr == 0 {
			continue
		}
		taken++
		sum += uint64(s.size)
		at := t.home(s.addr)
		for at != i && t.slots[at].addr != 0 && t.slots[at].addr != s.addr {
			at = (at + 1) & mask
		}
		if at != i {
			errs = append(errs, fmt.Errorf("compose: slot %d, of the block at %#x, is not where a search for it ends, at %d", i, s.addr, at))
		}
	}
	if taken != t.n || 4*taken > 3*len(t.slots) {
		errs = append(errs, fmt.Errorf("compose: %d blocks in a table of %d slots, %d of them taken", t.n, len(t.slots), taken))
	}
	if sum != t.sum {
		errs = append(errs, fmt.Errorf("compose: the blocks have %d bytes, the sum is %d", sum, t.sum))
	}
	return errors.Join(errs...)
}
