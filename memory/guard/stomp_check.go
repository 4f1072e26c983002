package guard

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// Check returns the errors in the metadata, joined into one, or nil. Damage to live blocks is included, as a
// *memory.Misuse for each. Check looks for damage only if the metadata has no errors. After Close it returns nil. Cost:
// proportional to the places, and to the bytes of their canaries.
func (s *Stomp) Check() error {
	if s.gone {
		return nil
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("guard: "+format, args...)) }
	vacant := make([]bool, len(s.slots))
	for _, i := range s.queue {
		if uint64(i) >= uint64(len(s.slots)) || vacant[i] || s.slots[i].live {
			fail("the queue of vacant slots holds slot %d of %d, which is live or there twice", i, len(s.slots))
			return errors.Join(errs...)
		}
		vacant[i] = true
	}
	if s.unit != page.SizeOf(s.src) {
		fail("pages of %d bytes, of a source with pages of %d", s.unit, page.SizeOf(s.src))
		return errors.Join(errs...)
	}
	end, kept, sum := uintptr(0), uintptr(0), memory.Stats{}
	for i := range s.slots {
		x := &s.slots[i]
		if x.off != end+s.unit || x.span%s.unit != 0 || x.span > s.mem.Size-x.off ||
			x.room == 0 || x.room%s.unit != 0 || x.room > x.span ||
			x.at < x.off || x.at-x.off > x.room || x.size > x.room-(x.at-x.off) {
			fail("slot %d at %d with %d bytes, behind %d, does not hold the block of %d bytes at %d", i, x.off, x.room, end, x.size, x.at)
			return errors.Join(errs...)
		}
		end = x.off + x.span
		if n := uint64(len(s.sites.list)); uint64(x.allocSite) >= n || uint64(x.freeSite) >= n {
			fail("slot %d names call sites %d and %d of %d", i, x.allocSite, x.freeSite, n)
			return errors.Join(errs...)
		}
		if k, ok := s.names[x.at]; !ok || int(k) != i || x.live == vacant[i] || x.live && x.kept {
			fail("slot %d, live %t, in the queue %t, is known as %d", i, x.live, vacant[i], k)
		}
		if x.kept {
			kept += x.room
		}
		if x.live {
			sum.Live++
			sum.InUse += uint64(x.room)
			sum.Requested += uint64(x.size)
		}
	}
	if kept != s.kept {
		fail("%d bytes are kept, the slots sum to %d", s.kept, kept)
	}
	st := s.stats
	if end != s.next || len(s.names) != len(s.slots) || len(s.slots) > s.cfg.Blocks {
		fail("%d slots with %d names, of %d, end at %d and not at %d", len(s.slots), len(s.names), s.cfg.Blocks, end, s.next)
	}
	if st.Live != sum.Live || st.InUse != sum.InUse || st.Requested != sum.Requested || st.Allocs-st.Frees != sum.Live || st.InUse > st.Peak {
		fail("the slots sum to %+v, the books say %+v", sum, st)
	}
	if len(errs) == 0 { // else the bytes may not be where the books say
		for i := range s.slots {
			if x := &s.slots[i]; x.live {
				if m := s.damage("Check", x); m != nil {
					errs = append(errs, m)
				}
			}
		}
	}
	return errors.Join(errs...)
}
