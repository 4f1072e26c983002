package plan

import (
	"errors"
	"fmt"
)

// Verify verifies the plan. It returns nil, or all violations joined into one error, of which at most 100 are overlaps.
// If the buffers are not valid, it reports only their errors. Every offset must be aligned, and every buffer must end
// within Total. Total must be a multiple of the smallest alignment of any buffer. Total must be at most the bytes that
// all buffers need one after the other, with padding. Buffers that live at the same moment must not share a byte, and
// Bound must be the load bound. Cost: O(n log n).
func (p *Plan) Verify() error { return p.verify(nil, untimed) }

// verify takes the timeline of the buffers, or nil, and returns ErrTime once gone reports that the time is over.
func (p *Plan) verify(t *timeline, gone func() bool) error {
	if err := defects(p.buffers); err != nil {
		return err
	}
	if len(p.offsets) != len(p.buffers) {
		return fmt.Errorf("plan: %d offsets for %d buffers", len(p.offsets), len(p.buffers))
	}
	var errs []error
	if want := densePrefix(p.buffers); p.dense != want {
		errs = append(errs, fmt.Errorf("plan: the first %d buffers have their index for an ID, not %d", want, p.dense))
	}
	u, most := unit(p.buffers), uintptr(0)
	for i, b := range p.buffers {
		off := p.offsets[i]
		if off&(b.Align-1) != 0 {
			errs = append(errs, fmt.Errorf("plan: buffer %d at offset %d is not aligned to %d", b.ID, off, b.Align))
		}
		if off > p.total || b.Size > p.total-off {
			errs = append(errs, fmt.Errorf("plan: buffer %d of %d bytes at offset %d ends beyond the total of %d", b.ID, b.Size, off, p.total))
		}
		most += alone(b, u)
	}
	if p.total%u != 0 { // what every offset and size is a multiple of, after rounding up
		errs = append(errs, fmt.Errorf("plan: total %d is no multiple of the smallest alignment, %d", p.total, u))
	}
	if t == nil {
		t = newTimeline(p.buffers)
	}
	overlaps, ended := p.overlaps(t, gone)
	if !ended {
		return ErrTime
	}
	errs = append(errs, overlaps...)
	if _, want := t.loads(p.buffers, u); p.bound != want || p.total < want {
		errs = append(errs, fmt.Errorf("plan: bound %d and total %d do not fit the largest load of %d bytes", p.bound, p.total, want))
	}
	if p.total > most { // a forged file must not exhaust memory
		errs = append(errs, fmt.Errorf("plan: total %d where %d bytes hold all buffers side by side", p.total, most))
	}
	return errors.Join(errs...)
}

// maxReports bounds the length of a report.
const maxReports = 100

// overlaps visits the buffers in order of their offsets. If one starts below the top of an earlier one that it lives
// with, they share a byte. ended is false if the time was over before the end.
func (p *Plan) overlaps(t *timeline, gone func() bool) (errs []error, ended bool) {
	order := inOrder(len(p.buffers), func(i int) uint64 { return uint64(p.offsets[i]) })
	tops := newTops(t.sections)
	for x, i := range order {
		if x%1024 == 1023 && gone() {
			return nil, false
		}
		b, off := &p.buffers[i], p.offsets[i]
		if b.Size == 0 {
			continue
		}
		if tops.over(t.lo[i], t.hi[i]) > off {
			errs = p.culprits(errs, order[:x], i)
		}
		if len(errs) >= maxReports {
			return append(errs, fmt.Errorf("plan: more overlaps than the %d reported", len(errs))), true
		}
		// In a forged plan the end may wrap; verify has reported that as an end beyond the total.
		if end := off + b.Size; end > off {
			tops.raise(t.lo[i], t.hi[i], end)
		}
	}
	return errs, true
}

// culprits names those of before, in order of their offsets, that share a byte with buffer i.
func (p *Plan) culprits(errs []error, before []int32, i int32) []error {
	b, y := &p.buffers[i], p.offsets[i]
	for _, k := range before {
		a, x := &p.buffers[k], p.offsets[k]
		// A difference, because a sum of offset and size may wrap.
		if y-x >= a.Size || a.Birth >= b.Death || b.Birth >= a.Death || len(errs) >= maxReports {
			continue
		}
		errs = append(errs, fmt.Errorf("plan: buffers %d (%d bytes at %d) and %d (%d bytes at %d) overlap while both live in [%d, %d)",
			a.ID, a.Size, x, b.ID, b.Size, y, max(a.Birth, b.Birth), min(a.Death, b.Death)))
	}
	return errs
}
