package save

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
)

// A History is a ring of states of one Set in one block of memory. Each state has a number, its tick. A newer state has
// a higher tick. States may have different sizes. New states replace the oldest ones. Only [NewHistory] makes a History
// that can be used, and only the goroutine of the Set may use it.
type History struct {
	// Invariants, verified by Check:
	//
	//	(1) 0 <= count <= len(all), and ticks rise from the first state to the last
	//	(2) states lie inside of mem one after the other, except that one lies at 0 if the space behind the last was too
	//	    short; none overlap
	//	(3) used is the sum of their bytes

	set   *Set
	mem   []byte
	all   []moment // a ring
	first int
	count int
	used  int
}

// A moment is a state of a History.
type moment struct {
	tick  uint64
	at, n int // in mem
}

// NewHistory returns an empty History. The parameter most is the largest number of its states. They lie in mem: the
// caller owns mem and must keep it while the History is in use. The memory needs no alignment, need not be zero, and
// must not belong to a part of the Set. If set is nil or most is below 1, the error wraps memory.ErrConfig. NewHistory
// allocates at most about 24*most bytes.
func NewHistory(set *Set, mem []byte, most int) (*History, error) {
	if set == nil || most < 1 {
		return nil, fmt.Errorf("save: history of %d states; at least 1 is needed, of a Set: %w", most, memory.ErrConfig)
	}
	return &History{set: set, mem: mem, all: make([]moment, most)}, nil
}

// Save saves the present state under a tick. If the tick is not above the newest tick, the error wraps
// memory.ErrConfig. After Load of an older state, call [History.DropAfter] before Save.
//
// Save drops the oldest state if the History has as many states as NewHistory allows. It drops further old states if it
// needs their space. If the state alone is larger than the memory of the History, the error is a *memory.Exhausted with
// the bytes that are needed. The other errors are those of [Set.Save]. If the error wraps [ErrLayout], old states may
// have been dropped. After other errors all states are kept. For allocations see Set.Save.
func (h *History) Save(tick uint64) error {
	if newest, ok := h.Newest(); ok && tick <= newest {
		return fmt.Errorf("save: history: tick %d after tick %d: %w", tick, newest, memory.ErrConfig)
	}
	n, err := h.set.measure(false)
	if err != nil {
		return err
	}
	if n > len(h.mem) {
		return &memory.Exhausted{Op: "save: history", Need: uintptr(n), Have: uintptr(len(h.mem)), Limit: uintptr(len(h.mem))}
	}
	if h.count == len(h.all) {
		h.DropOldest()
	}
	at, ok := h.space(n)
	for !ok {
		h.DropOldest()
		at, ok = h.space(n)
	}
	if _, err := h.set.run(saving, false, h.mem[at:at+n]); err != nil {
		return err // a State that visits other bytes than it was measured to have
	}
	h.all[(h.first+h.count)%len(h.all)] = moment{tick, at, n}
	h.count++
	h.used += n
	return nil
}

// space returns where n bytes are free behind the newest state, or at the beginning.
func (h *History) space(n int) (at int, ok bool) {
	if h.count == 0 {
		return 0, n <= len(h.mem)
	}
	oldest, newest := h.get(0), h.get(h.count-1)
	end := newest.at + newest.n
	switch {
	case newest.at < oldest.at:
		return end, oldest.at-end >= n
	case len(h.mem)-end >= n:
		return end, true
	}
	return 0, oldest.at >= n
}

// Spare reports whether the present state can be saved now without dropping an older one. If it cannot be saved at all,
// for example because a part is busy, Spare returns false. Spare costs a pass that counts the bytes.
func (h *History) Spare() bool {
	n, err := h.set.measure(false)
	if err != nil || h.count == len(h.all) {
		return false
	}
	_, ok := h.space(n)
	return ok
}

// get returns state i, from the oldest, 0, to the newest.
func (h *History) get(i int) *moment { return &h.all[(h.first+i)%len(h.all)] }

// find returns the number of states that are not after a tick.
func (h *History) find(tick uint64) int {
	n := h.count
	for n > 0 && h.get(n-1).tick > tick {
		n--
	}
	return n
}

// Load loads the newest state whose tick is not above the given tick, and returns the tick of that state. No state is
// dropped. If there is no such state, the error wraps [ErrEmpty]. The other errors are those of [Set.Load]. The result
// `of` is valid only if err is nil.
func (h *History) Load(tick uint64) (of uint64, err error) {
	n := h.find(tick)
	if !h.set.sealed {
		return 0, ErrUnsealed
	}
	if n == 0 {
		return 0, ErrEmpty
	}
	m := h.get(n - 1)
	state := h.mem[m.at : m.at+m.n]
	return m.tick, h.set.load(false, state)
}

// Before returns the tick of the newest state whose tick is not above the given tick. ok is false if there is no such
// state.
func (h *History) Before(tick uint64) (of uint64, ok bool) {
	if n := h.find(tick); n > 0 {
		return h.get(n - 1).tick, true
	}
	return 0, false
}

// Oldest returns the tick of the oldest state. ok is false if there are no states.
func (h *History) Oldest() (tick uint64, ok bool) {
	if h.count == 0 {
		return 0, false
	}
	return h.get(0).tick, true
}

// Newest returns the tick of the newest state. ok is false if there are no states.
func (h *History) Newest() (tick uint64, ok bool) { return h.Before(^uint64(0)) }

// DropOldest drops the oldest state. Without a state it does nothing.
func (h *History) DropOldest() {
	if h.count > 0 {
		h.used -= h.get(0).n
		h.first = (h.first + 1) % len(h.all)
		h.count--
	}
}

// DropAfter drops the states whose tick is above the given tick, so that other states can be saved under their ticks.
func (h *History) DropAfter(tick uint64) {
	for keep := h.find(tick); h.count > keep; h.count-- {
		h.used -= h.get(h.count - 1).n
	}
}

// Clear drops all states.
func (h *History) Clear() { h.count, h.used = 0, 0 }

// Len returns the number of states.
func (h *History) Len() int { return h.count }

// Bytes returns the number of bytes that all states take together, and the size of the memory in bytes.
func (h *History) Bytes() (used, size int) { return h.used, len(h.mem) }

// Check verifies the metadata of the History and returns every inconsistency that it finds, joined into one error, or
// nil. Its cost is quadratic in the number of states.
func (h *History) Check() error {
	var errs []error
	sum := 0
	for i := range h.count {
		m := h.get(i)
		sum += m.n
		if i > 0 && m.tick <= h.get(i-1).tick {
			errs = append(errs, fmt.Errorf("save: history: invariant 1: tick %d after %d", m.tick, h.get(i-1).tick))
		}
		if m.at < 0 || m.n < 0 || m.at+m.n > len(h.mem) {
			errs = append(errs, fmt.Errorf("save: history: invariant 2: state %d at %d of %d bytes", i, m.at, m.n))
		}
		for k := range i {
			if o := h.get(k); o.at < m.at+m.n && m.at < o.at+o.n {
				errs = append(errs, fmt.Errorf("save: history: invariant 2: states %d and %d overlap", k, i))
			}
		}
	}
	if h.count < 0 || h.count > len(h.all) {
		errs = append(errs, fmt.Errorf("save: history: invariant 1: %d states of %d", h.count, len(h.all)))
	}
	if sum != h.used {
		errs = append(errs, fmt.Errorf("save: history: invariant 3: %d bytes, %d are noted", sum, h.used))
	}
	return errors.Join(errs...)
}
