package arena

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Check returns the errors in the metadata, or nil. Cost: at most proportional to the marks and the live blocks. In
// [Frames] each Resize that made a [Ref] expire can add a step to the cost.
func (l *Linear) Check() error {
	if l.base == nil {
		return nil
	}
	errs := []error{l.mem.Check()}
	if l.off > l.limit || l.limit > l.mem.Committed() {
		errs = append(errs, fmt.Errorf("arena: off %d, limit %d, committed %d are not in order", l.off, l.limit, l.mem.Committed()))
	}
	if size := uint32(l.book); size != unknown && uintptr(size) > l.off {
		errs = append(errs, fmt.Errorf("arena: the newest block has %d bytes, and the top is at %d", size, l.off))
	}
	if l.peak > l.mem.Reserved() {
		errs = append(errs, fmt.Errorf("arena: peak %d is above the reservation of %d bytes", l.peak, l.mem.Reserved()))
	}
	if l.dropped > l.total() {
		errs = append(errs, fmt.Errorf("arena: %d blocks freed of %d allocated", l.dropped, l.total()))
	}
	errs = append(errs, l.checkMarks(), l.checkCuts())
	if invariant.Debug {
		errs = append(errs, l.checkLedger())
	}
	return errors.Join(errs...)
}

func (l *Linear) checkMarks() error {
	var errs []error
	var before place
	for i, m := range append(l.marks[:len(l.marks):len(l.marks)], place{off: l.off, live: l.live(), hooks: len(l.hooks), serial: l.serial + 1}) {
		if m.serial <= before.serial || m.off < before.off || m.live < before.live || m.hooks < before.hooks || i < len(l.marks) && m.newest != unknown && uintptr(m.newest) > m.off {
			errs = append(errs, fmt.Errorf("arena: mark %d is at %d over %d blocks and %d hooks, not above the one before it", i, m.off, m.live, m.hooks))
		}
		if i < len(l.marks) {
			before = m
		}
	}
	if l.kept != before.live || l.floor != before.off {
		errs = append(errs, fmt.Errorf("arena: %d blocks up to %d are kept, the newest mark is over %d at %d", l.kept, l.floor, before.live, before.off))
	}
	return errors.Join(errs...)
}

func (l *Linear) checkCuts() error {
	var errs []error
	if l.refs > l.off+1 {
		errs = append(errs, fmt.Errorf("arena: Refs name bytes up to %d, above the top at %d", l.refs, l.off))
	}
	var before cut
	for i, c := range l.cuts {
		if i > 0 && (c.epoch <= before.epoch || c.low <= before.low) || c.epoch > l.epoch {
			errs = append(errs, fmt.Errorf("arena: cut %d, to %d in epoch %d of %d, is not above the one before it", i, c.low, c.epoch, l.epoch))
		}
		before = c
	}
	return errors.Join(errs...)
}

// checkLedger compares the ledger of debug builds with the other metadata.
func (l *Linear) checkLedger() error {
	var errs []error
	if n := uint64(len(l.ledger.blocks)); n != l.live() {
		errs = append(errs, fmt.Errorf("arena: %d blocks are live, the ledger has %d", l.live(), n))
	}
	end := uintptr(0)
	for i, b := range l.ledger.blocks {
		if b.off < end || b.size > l.off-b.off || b.off > l.off {
			errs = append(errs, fmt.Errorf("arena: block %d, [%d, %d), does not follow the one before it, below %d", i, b.off, b.off+b.size, l.off))
		}
		end = b.off + b.size
	}
	return errors.Join(errs...)
}
