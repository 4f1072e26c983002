package guard

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// fault raises m.
func (a *Allocator) fault(m *memory.Misuse) {
	if a.cfg.OnFault == nil {
		panic(m)
	}
	a.cfg.OnFault(m)
}

// raise raises what was found in several blocks or in one; all in one where a panic can say but one thing. If OnFault
// panics, the next call raises the rest.
func (a *Allocator) raise() {
	if a.cfg.OnFault == nil && len(a.found) > 0 {
		first, others := a.found[0], a.found[1:]
		a.found = nil
		for _, m := range others {
			first.Reason += "; and "
			if m.Addr != first.Addr {
				first.Reason += fmt.Sprintf("at %#x: ", m.Addr)
			}
			first.Reason += m.Reason
		}
		panic(first)
	}
	for len(a.found) > 0 {
		m := a.found[0]
		a.found = a.found[1:]
		a.cfg.OnFault(m)
	}
}

// misuse is a finding about record i.
func (a *Allocator) misuse(op string, i uint32, reason string) *memory.Misuse {
	r := &a.records[i]
	return &memory.Misuse{Package: "guard", Op: op, Addr: r.addr, Size: r.size, Reason: reason}
}

// underway says that inner is freeing or cutting record i, and has called a function that uses a.
func (a *Allocator) underway(op string, i uint32) *memory.Misuse {
	return a.misuse(op, i, "the block is being freed or resized"+a.history(i))
}

// stranger says what is wrong with p, which is no live block's start. It may walk the books:
// the program is about to stop.
func (a *Allocator) stranger(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	m := &memory.Misuse{Package: "guard", Op: op, Addr: uintptr(p), Size: size}
	if i, ok := a.names[uintptr(p)]; ok {
		m.Reason = fmt.Sprintf("double free or stale pointer: the block of %d bytes was freed already%s", a.records[i].size, a.history(i))
		return m
	}
	i := a.covering(p)
	switch r := &a.records[i]; {
	case a.closed:
		m.Reason = "the allocator is closed"
	case i == 0:
		m.Reason = "foreign pointer: no block that is live, in quarantine or among the last freed ones starts here"
	default:
		m.Reason = fmt.Sprintf("interior pointer: it lies %d bytes from the start of the block of %d bytes at %#x, which is %s%s",
			int(uintptr(p)-r.addr), r.size, r.addr, r.state, a.history(i))
	}
	return m
}

// history names the call sites of record i.
func (a *Allocator) history(i uint32) string {
	r := &a.records[i]
	s := "; allocated at " + a.sites.list[r.allocSite].String()
	if r.freeSite != 0 {
		s += "; first freed at " + a.sites.list[r.freeSite].String()
	}
	return s
}

// damage compares the canaries of record i, and its bytes if it is in quarantine, with what
// they must be. nil: it is whole.
func (a *Allocator) damage(op string, i uint32) []*memory.Misuse {
	r := &a.records[i]
	var found []*memory.Misuse
	if k := mismatch(r.frontCanary(), &canaryPage); k >= 0 {
		found = append(found, a.written(op, i, "underflow", k-int(r.front), r.frontCanary()[k]))
	}
	if r.state == quarantined {
		if k := mismatch(r.bytes(), &freedPage); k >= 0 {
			found = append(found, a.written(op, i, "use", k, r.bytes()[k]))
		}
	}
	if k := mismatch(r.backCanary(), &canaryPage); k >= 0 {
		found = append(found, a.written(op, i, "overflow", int(r.size)+k, r.backCanary()[k]))
	}
	return found
}

// written says that the byte at off, counted from the block's first, was overwritten.
func (a *Allocator) written(op string, i uint32, what string, off int, value byte) *memory.Misuse {
	r := &a.records[i]
	if r.state == quarantined {
		what += " after free"
	}
	where := "inside the block"
	switch {
	case off < 0:
		where = "before the block, in the front canary"
	case off >= int(r.size):
		where = "behind the block, in the back canary"
	}
	return a.misuse(op, i, fmt.Sprintf("%s: byte %d of the block of %d bytes was overwritten with 0x%02X; it lies %s%s",
		what, off, r.size, value, where, a.history(i)))
}

// damages is damage of every block, as errors.
func (a *Allocator) damages(op string) []error {
	var errs []error
	for i := range a.records {
		if a.records[i].block == nil || a.records[i].busy {
			continue
		}
		if a.lost(uint32(i)) {
			return errs
		}
		for _, m := range a.damage(op, uint32(i)) {
			errs = append(errs, m)
		}
	}
	return errs
}
