package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Plan gives every buffer of a set its offset in one block. It does not change, and may be
// used by several goroutines. Where it is the same set and mode it is the same plan.
//
// Invariants, verified by Verify in this order:
//
//	(1) the buffers are a valid set in order of ID, and there is one offset for each
//	(2) every offset is a multiple of its buffer's alignment
//	(3) offset + size <= total
//	(4) buffers that live together share no byte
//	(5) bound is the largest load of any moment, and bound <= total <= all side by side
type Plan struct {
	buffers []Buffer
	offsets []uintptr // bytes from the base, by ID
	total   uintptr   // bytes
	bound   uintptr   // bytes
}

// newPlan takes a declared set and its offsets.
func newPlan(buffers []Buffer, offsets []uintptr) *Plan {
	p := &Plan{buffers: buffers, offsets: offsets, bound: load(buffers)}
	u := unit(buffers)
	for i, b := range buffers {
		if b.Size > 0 {
			p.total = max(p.total, offsets[i]+align.Up(b.Size, u))
		}
	}
	if invariant.Debug {
		if err := p.Verify(); err != nil {
			panic(err)
		}
	}
	return p
}

// Len returns the number of buffers; their IDs are 0 to Len()-1.
func (p *Plan) Len() int { return len(p.buffers) }

// Buffer returns the declaration of a buffer, with Align 0 replaced by its default. An id
// that is not planned panics.
func (p *Plan) Buffer(id uint32) Buffer { return p.buffers[id] }

// Offset returns where the buffer starts, in bytes from the base of the block. An id that is
// not planned panics.
func (p *Plan) Offset(id uint32) uintptr { return p.offsets[id] }

// Total returns the size in bytes of the block, a multiple of the smallest alignment.
func (p *Plan) Total() uintptr { return p.total }

// Bound returns the load bound in bytes: the largest sum, over all moments, of the sizes of
// the live buffers, each rounded up to the smallest alignment of the set. No plan is smaller.
func (p *Plan) Bound() uintptr { return p.bound }

// Ratio returns Total/Bound: 1 is optimal. It is 1 for a plan without bytes.
func (p *Plan) Ratio() float64 {
	if p.bound == 0 {
		return 1
	}
	return float64(p.total) / float64(p.bound)
}

// Align returns the alignment in bytes that the block needs: the largest of any buffer.
func (p *Plan) Align() uintptr {
	a := uintptr(1)
	for _, b := range p.buffers {
		a = max(a, b.Align)
	}
	return a
}

// sideBySide is what the buffers need that do not share anything.
func sideBySide(buffers []Buffer) uintptr {
	sum := uintptr(0)
	for _, b := range buffers {
		sum += align.Up(b.Size, memory.MaxAlign)
	}
	return sum
}

// load sweeps over births and deaths; at one moment the deaths come first.
func load(buffers []Buffer) uintptr {
	type event struct {
		at   int
		born bool
		size uintptr
	}
	u := unit(buffers)
	events := make([]event, 0, 2*len(buffers))
	for _, b := range buffers {
		size := align.Up(b.Size, u)
		events = append(events, event{b.Birth, true, size}, event{b.Death, false, size})
	}
	slices.SortFunc(events, func(a, b event) int {
		if a.at == b.at && a.born != b.born {
			if a.born {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.at, b.at)
	})
	var now, peak uintptr
	for _, e := range events {
		if e.born {
			now += e.size
			peak = max(peak, now)
		} else {
			now -= e.size
		}
	}
	return peak
}

// Verify proves the equations above the type and reports the violations, joined. Exact,
// Read and Load call it; Fast does in debug builds. Cost: O(n log n), and 4 bytes moved for each
// buffer that lives beside one that is born or dies.
func (p *Plan) Verify() error {
	if err := defects(p.buffers); err != nil {
		return err
	}
	if len(p.offsets) != len(p.buffers) {
		return fmt.Errorf("plan: %d offsets for %d buffers", len(p.offsets), len(p.buffers))
	}
	var errs []error
	for i, b := range p.buffers {
		off := p.offsets[i]
		if int(b.ID) != i {
			errs = append(errs, fmt.Errorf("plan: buffer %d stands at index %d", b.ID, i))
		}
		if off%b.Align != 0 {
			errs = append(errs, fmt.Errorf("plan: buffer %d at offset %d is not aligned to %d", b.ID, off, b.Align))
		}
		if off > p.total || b.Size > p.total-off {
			errs = append(errs, fmt.Errorf("plan: buffer %d of %d bytes at offset %d ends beyond the total of %d", b.ID, b.Size, off, p.total))
		}
	}
	errs = append(errs, p.overlaps()...)
	if want := load(p.buffers); p.bound != want || p.total < want {
		errs = append(errs, fmt.Errorf("plan: bound %d and total %d do not fit the largest load of %d bytes", p.bound, p.total, want))
	}
	if most := sideBySide(p.buffers); p.total > most { // a forged file must not exhaust memory
		errs = append(errs, fmt.Errorf("plan: total %d where %d bytes hold all buffers side by side", p.total, most))
	}
	return errors.Join(errs...)
}

// maxReports keeps the report on a plan that is rotten throughout readable.
const maxReports = 100

// overlaps sweeps over births with those still alive in order of their offsets, where only the
// neighbours on either side can share a byte with one that is born while none of them do. Of
// several that share a byte with each other not every pair is told.
func (p *Plan) overlaps() (errs []error) {
	births := slices.Clone(p.buffers)
	slices.SortFunc(births, byBirth)
	deaths := slices.Clone(births)
	slices.SortStableFunc(deaths, func(a, b Buffer) int { return cmp.Compare(a.Death, b.Death) })
	var live []uint32 // IDs
	for _, b := range births {
		for len(deaths) > 0 && deaths[0].Death <= b.Birth {
			if i := p.place(live, deaths[0]); deaths[0].Size > 0 {
				i += slices.Index(live[i:], deaths[0].ID) // others start there only where they overlap
				live = slices.Delete(live, i, i+1)
			}
			deaths = deaths[1:]
		}
		if b.Size == 0 {
			continue
		}
		i := p.place(live, b)
		for _, id := range live[max(i-1, 0):min(i+1, len(live))] {
			// Differences, because a sum of offset and size may wrap in a forged plan.
			a, x, y := p.buffers[id], p.offsets[id], p.offsets[b.ID]
			if y >= x && y-x >= a.Size || x > y && x-y >= b.Size {
				continue
			}
			errs = append(errs, fmt.Errorf("plan: buffers %d (%d bytes at %d) and %d (%d bytes at %d) overlap while both live in [%d, %d)",
				a.ID, a.Size, x, b.ID, b.Size, y, b.Birth, min(a.Death, b.Death)))
		}
		if len(errs) >= maxReports {
			return append(errs, fmt.Errorf("plan: more overlaps than the %d reported", len(errs)))
		}
		live = slices.Insert(live, i, b.ID)
	}
	return errs
}

// place returns the index of the first of live, which are in order of their offsets, that does
// not start in front of b.
func (p *Plan) place(live []uint32, b Buffer) int {
	i, _ := slices.BinarySearchFunc(live, p.offsets[b.ID], func(id uint32, off uintptr) int {
		return cmp.Compare(p.offsets[id], off)
	})
	return i
}
