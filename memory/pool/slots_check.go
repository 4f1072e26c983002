package pool

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// checkBacking verifies that mem, with size bytes for a slot, is as large as the metadata requires.
func (s *metadata) checkBacking(mem *page.Prefix, size uintptr) error {
	if s.opened > uint(mem.Committed()/size) {
		return fmt.Errorf("pool: %d opened slots of %d bytes exceed the %d bytes committed", s.opened, size, mem.Committed())
	}
	if s.capacity == 0 || s.capacity > uint(mem.Reserved()/size) {
		return fmt.Errorf("pool: a capacity of %d slots of %d bytes, with %d bytes reserved", s.capacity, size, mem.Reserved())
	}
	return nil
}

// check verifies the invariants above the type. g is the memory, which is committed.
func (s *metadata) check(g backing) error {
	opened, entries := s.opened, uint(len(s.gens))
	if opened > entries || s.n > opened || s.retired > opened-s.n || entries != uint(len(s.free)) ||
		entries > s.capacity || uint(len(s.live)) != (entries+63)>>6 {
		return fmt.Errorf("pool: %d vacant, %d retired, %d opened, %d generations, stack of %d, %d words of bits, capacity %d are not in order",
			s.n, s.retired, opened, entries, len(s.free), len(s.live), s.capacity)
	}
	if s.peak > s.capacity || s.soiled > s.capacity || s.key&1 != 0 {
		return fmt.Errorf("pool: peak %d or soiled %d is above capacity %d, or key %#x is odd", s.peak, s.soiled, s.capacity, s.key)
	}
	errs, live, retired := s.checkGenerations()
	for i, bytes := range tableBytes(s.capacity) {
		errs = append(errs, s.tables[i].Check(bytes))
	}
	errs = append(errs, s.checkVacant(g)...)
	if retired != s.retired || s.n+retired+live != opened {
		errs = append(errs, fmt.Errorf("pool: %d opened slots are not %d vacant, %d live and %d retired (%d counted)",
			opened, s.n, live, retired, s.retired))
	}
	return errors.Join(errs...)
}

// checkVacant verifies the stack, and in debug builds the poison of the slots on it.
func (s *metadata) checkVacant(g backing) (errs []error) {
	seen := make([]uint64, len(s.live))
	for at, i := range s.free[:s.n] {
		switch {
		case uint(i) >= s.opened:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d of %d opened", at, i, s.opened))
		case s.gens[i]&1 != 0 || s.gens[i] == worn:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d, which has generation %d", at, i, s.gens[i]))
		case seen[i>>6]>>(i&63)&1 != 0:
			errs = append(errs, fmt.Errorf("pool: slot %d is vacant twice", i))
		default:
			seen[i>>6] |= 1 << (i & 63)
			if invariant.Debug {
				if _, what := g.damage(uint(i)); what != "" {
					errs = append(errs, fmt.Errorf("pool: slot %d: %s", i, what))
				}
			}
		}
	}
	return errs
}

func (s *metadata) checkGenerations() (errs []error, live, retired uint) {
	lives := uint64(0)
	for _, gen := range s.gens {
		lives += (uint64(gen) + 1) / 2
	}
	if lives != s.allocs {
		errs = append(errs, fmt.Errorf("pool: the generations count %d allocations instead of %d", lives, s.allocs))
	}
	for w, word := range s.live {
		for bit := range uint(64) {
			i := uint(w)<<6 | bit
			odd := i < uint(len(s.gens)) && s.gens[i]&1 != 0
			switch {
			case odd != (word>>bit&1 != 0):
				errs = append(errs, fmt.Errorf("pool: the live bit of slot %d differs from its generation", i))
			case odd && i >= s.opened:
				errs = append(errs, fmt.Errorf("pool: slot %d is live, but only %d are opened", i, s.opened))
			case odd:
				live++
			case i < s.opened && s.gens[i] == worn:
				retired++
			}
		}
	}
	return errs, live, retired
}

// checkClosed verifies that closed metadata is empty.
func (s *metadata) checkClosed() error {
	if s.n|s.opened|s.retired|s.capacity|s.soiled != 0 || len(s.gens)+len(s.free)+len(s.live) != 0 {
		return fmt.Errorf("pool: closed, with %d vacant, %d opened, %d retired, capacity %d, metadata for %d",
			s.n, s.opened, s.retired, s.capacity, len(s.gens))
	}
	var errs []error
	for i := range s.tables {
		errs = append(errs, s.tables[i].Check(0))
	}
	return errors.Join(errs...)
}
