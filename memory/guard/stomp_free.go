package guard

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// Free verifies the canaries of a block and returns its pages to the source. The parameter size is the size that was
// requested. If p is nil, Free does nothing. A later access faults until another block uses the pages. It does not
// fault if the source has refused to take the pages back (see [Stomp.Kept]), or if the memory is the Go heap.
//
// A double free, a foreign or interior pointer, a wrong size and an overwritten canary panic with a *memory.Misuse that
// names the known call sites. A double free is not detected once another block of this size starts at the address.
// Before Free panics because of a canary, it repairs the canary, so that another Free can free the block.
func (s *Stomp) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	i := s.find("Free", p, size)
	if x := &s.slots[i]; x.size != size {
		panic(s.misuse("Free", p, size, fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d%s", x.size, size, s.history(x))))
	}
	s.retire("Free", i, s.sites.caller(s.cfg.Frames))
}

// FreeAny is [Stomp.Free] for a caller who does not know the size. If p is nil, FreeAny does nothing. FreeAny panics
// as Free does, except that it cannot detect a wrong size.
func (s *Stomp) FreeAny(p unsafe.Pointer) {
	if p != nil {
		i := s.find("FreeAny", p, 0)
		s.retire("FreeAny", i, s.sites.caller(s.cfg.Frames))
	}
}

// retire ends the live slot i. Pages that the source does not take back stay accessible.
func (s *Stomp) retire(op string, i, site uint32) {
	s.owner.Touch()
	x := &s.slots[i]
	if m := s.damage(op, x); m != nil {
		fill(s.bytes(x.off, x.at), &canaryPage)
		fill(s.bytes(x.at+x.size, x.off+x.room), &canaryPage)
		panic(m)
	}
	err := s.src.Decommit(s.mem, x.off, x.room)
	if s.mem.Base == nil {
		return // the source has ended meanwhile, and all blocks with it
	}
	if x = &s.slots[i]; err != nil {
		x.kept = true
		s.kept += x.room
	}
	x.live, x.freeSite = false, site
	s.count(x, -1)
	s.stats.Frees++
	s.queue = append(s.queue, i)
}

// find returns the live slot whose block starts at p, or panics.
func (s *Stomp) find(op string, p unsafe.Pointer, size uintptr) uint32 {
	i, ok := s.names[uintptr(p)-uintptr(s.mem.Base)]
	if !s.gone && ok && s.slots[i].live {
		return i
	}
	panic(s.misuse(op, p, size, s.stranger(p, i, ok)))
}

// stranger says what is wrong with p, which is no live block's start.
func (s *Stomp) stranger(p unsafe.Pointer, i uint32, known bool) string {
	off := uintptr(p) - uintptr(s.mem.Base)
	switch {
	case s.gone:
		return "the allocator is closed"
	case known:
		x := &s.slots[i]
		return fmt.Sprintf("double free or stale pointer: the block of %d bytes was freed already%s", x.size, s.history(x))
	case off >= s.mem.Size:
		return "foreign pointer: it does not lie in this allocator's reservation"
	}
	for k := range s.slots {
		if x := &s.slots[k]; off-x.off < x.room {
			return fmt.Sprintf("interior pointer: it lies %d bytes from the start of the block of %d bytes%s", int(off-x.at), x.size, s.history(x))
		}
	}
	return "foreign pointer: no block starts here"
}

func (s *Stomp) misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "guard", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}

// history names the call sites of x.
func (s *Stomp) history(x *slot) string {
	h := "; allocated at " + s.sites.list[x.allocSite].String()
	if x.freeSite != 0 {
		h += "; first freed at " + s.sites.list[x.freeSite].String()
	}
	return h
}

// damage compares the canaries of x with what they must be. nil: they are whole.
func (s *Stomp) damage(op string, x *slot) *memory.Misuse {
	p := unsafe.Add(s.mem.Base, x.at)
	for _, c := range []struct {
		what     string
		from, to uintptr
	}{{"underflow", x.off, x.at}, {"overflow", x.at + x.size, x.off + x.room}} {
		b := s.bytes(c.from, c.to)
		if k := mismatch(b, &canaryPage); k >= 0 {
			return s.misuse(op, p, x.size, fmt.Sprintf("%s: byte %d of the block of %d bytes was overwritten with 0x%02X%s",
				c.what, int(c.from-x.at)+k, x.size, b[k], s.history(x)))
		}
	}
	return nil
}

// SizeOf returns the requested size in bytes of the live block at p. SizeOf panics with a *memory.Misuse if no live
// block starts at p.
func (s *Stomp) SizeOf(p unsafe.Pointer) uintptr { return s.slots[s.find("SizeOf", p, 0)].size }

// Owns reports whether p lies in the reservation. p need not be in a live block. After Close, Owns returns false.
func (s *Stomp) Owns(p unsafe.Pointer) bool { return !s.gone && s.mem.Contains(p) }

// Kept returns the bytes of freed blocks whose pages the source refused to take back. An access to these blocks does
// not fault. [Stomp.Trim] tries again to return the pages. After a Close that failed, Kept also counts the pages of the
// blocks that were live. Another Close tries again to return them.
func (s *Stomp) Kept() uintptr { return s.kept }

// Trim tries again to return the pages that the source refused to take back (see [Stomp.Kept]). If the source refuses
// again, Trim returns the errors, joined. If the source ends during Trim, the error is memory.ErrClosed.
func (s *Stomp) Trim() error {
	if s.gone {
		return memory.ErrClosed
	}
	return s.trim()
}

func (s *Stomp) trim() error {
	var errs []error
	for i := range s.slots {
		if x := &s.slots[i]; x.kept {
			err := s.src.Decommit(s.mem, x.off, x.room)
			if s.mem.Base == nil {
				return memory.ErrClosed // the source has ended meanwhile
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("guard: trim: %w", err))
				continue
			}
			x.kept = false
			s.kept -= x.room
		}
	}
	return errors.Join(errs...)
}

// Leaks returns the live blocks by call site, most bytes first. If no block is live, and after Close, Leaks returns
// nil. Leaks allocates on the Go heap.
func (s *Stomp) Leaks() []Leak {
	var l leakage
	for i := range s.slots {
		if x := &s.slots[i]; x.live {
			l.add(s.sites.list[x.allocSite], x.size)
		}
	}
	return l.sorted()
}

// Stats returns exact statistics. InUse counts whole pages of the source. Committed is InUse plus Kept.
func (s *Stomp) Stats() memory.Stats {
	st := s.stats
	st.Reserved, st.Committed, st.Measured = uint64(s.mem.Size), st.InUse+uint64(s.kept), st.InUse
	return st
}

// Close verifies every block and releases the memory. The error of Close joins a *LeakError if blocks are live, a
// *memory.Misuse for each damaged live block, and the errors of the source. Even if Close returns an error, the
// allocator is closed, and another Close tries again to release the memory. After the memory is released, another Close
// does nothing. If the function of page.Limit.OnSoft calls Close during an Alloc, Close closes the allocator, but
// returns an error and releases nothing. If the source panics, Close panics with the same value, and the next Close
// returns the errors that this one has found.
func (s *Stomp) Close() error {
	if !s.gone {
		s.found = s.abandon()
	}
	errs := s.found
	if s.mem.Base != nil {
		err := errGrowing
		if !s.growing {
			err = s.trim()
		}
		if err == nil {
			err = s.src.Release(s.mem)
		}
		if err != nil && s.mem.Base != nil {
			s.found = nil
			return errors.Join(append(errs, fmt.Errorf("guard: close: %w", err))...)
		}
		if s.unlink != nil {
			s.unlink()
		}
		s.mem = page.Memory{}
	}
	s.end()
	s.found = nil
	return errors.Join(errs...)
}

var errGrowing = errors.New("a Stomp that commits cannot give its memory back: what a budget's mark calls must not close what is growing")

// abandon closes the allocator, with the pages of what is live kept, and returns what is wrong
// with that.
func (s *Stomp) abandon() (errs []error) {
	leaks := s.Leaks()
	for i := range s.slots {
		if x := &s.slots[i]; x.live {
			if m := s.damage("Close", x); m != nil {
				errs = append(errs, m)
			}
			x.live, x.kept = false, true
			s.kept += x.room
		}
	}
	if leaks != nil {
		errs = append(errs, &LeakError{leaks})
	}
	s.gone, s.queue, s.names = true, nil, map[uintptr]uint32{}
	s.forget()
	return errs
}

// forget counts every block as freed.
func (s *Stomp) forget() {
	s.stats.Frees = s.stats.Allocs
	s.stats.Live, s.stats.InUse, s.stats.Requested = 0, 0, 0
}

// end forgets every block, and the slots.
func (s *Stomp) end() {
	s.gone = true
	s.slots, s.queue, s.names, s.next, s.kept = nil, nil, map[uintptr]uint32{}, 0, 0
	s.forget()
}
