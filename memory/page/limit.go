package page

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Limit is a Source with a hard and a soft limit on committed bytes. The hard limit, the budget, makes Commit fail;
// the soft limit calls a function. Reserved addresses do not count. A Limit belongs to one goroutine at a time.
type Limit struct {
	src       Source
	limit     uintptr
	soft      uintptr
	onSoft    func(committed, limit uintptr)
	committed uintptr
	peak      uintptr
	failures  uint64
}

// NewLimit returns a Limit on src with a budget of limit bytes; 0 means no budget. It has no soft limit. If src is
// nil, it is [Default].
func NewLimit(src Source, limit uintptr) *Limit {
	if src == nil {
		src = Default()
	}
	if limit == 0 {
		limit = ^uintptr(0)
	}
	return &Limit{src: src, limit: limit, soft: ^uintptr(0)}
}

// OnSoft sets a soft limit of mark bytes. Each time the committed bytes rise above mark, f is called on the goroutine
// that commits, with the committed bytes and the budget. So f is never called if mark is the budget, and is called at
// the first commit if mark is 0. A nil f removes the soft limit.
//
// f may decommit memory of this Limit. It must not allocate from it (see [Prefix.Ensure]). It must not call an
// allocator that holds a lock while it allocates, as a slab.Central does. If f panics or ends its goroutine, the
// commit is undone, and the next commit above mark calls f again.
func (l *Limit) OnSoft(mark uintptr, f func(committed, limit uintptr)) { l.soft, l.onSoft = mark, f }

// Committed returns the bytes that are committed now. Bytes that were committed when the source ended still count, because
// they cannot be decommitted.
func (l *Limit) Committed() uintptr { return l.committed }

// Peak returns the high-water mark of the committed bytes.
func (l *Limit) Peak() uintptr { return l.peak }

// Budget returns the hard limit in bytes. Without a limit it is the largest uintptr.
func (l *Limit) Budget() uintptr { return l.limit }

// SetBudget changes the hard limit to limit bytes, 0 for none. If more bytes are committed, the hard limit is those.
// The soft limit does not change.
func (l *Limit) SetBudget(limit uintptr) {
	if limit == 0 {
		limit = ^uintptr(0)
	}
	l.limit = max(limit, l.committed)
}

// Failures returns the number of commits that failed because of the budget or the system. A CommitSome that commits less
// than want is not a failure.
func (l *Limit) Failures() uint64 { return l.failures }

// Reserve reserves size bytes from the source, and returns its error. Addresses do not count for the budget.
func (l *Limit) Reserve(size uintptr) (Memory, error) { return l.src.Reserve(size) }

// Commit commits bytes from the source. If they exceed the rest of the budget, the error is a [*memory.Exhausted];
// otherwise it is that of the source. A failed Commit counts in Failures and changes nothing else.
func (l *Limit) Commit(m Memory, off, size uintptr) error {
	_, err := l.CommitSome(m, off, size, size)
	return err
}

// CommitSome commits want bytes, or the part of them that the budget allows, but at least least. If the source
// refuses that, it commits least. It returns the bytes that it committed, which are whole granules. If the budget has
// fewer than least bytes left, the error is a [*memory.Exhausted]. Otherwise it is that of the source. With an error,
// nothing is committed.
func (l *Limit) CommitSome(m Memory, off, least, want uintptr) (uintptr, error) {
	left := l.limit - l.committed
	if least > left {
		l.failures++
		return 0, &memory.Exhausted{Op: "page: budget", Need: least, Have: left, Limit: l.limit}
	}
	got, err := commitSome(l.src, m, off, least, max(least, min(want, align.Down(left, Granule))))
	if err != nil {
		l.failures++
		return 0, err
	}
	l.count(m, off, got)
	return got, nil
}

// count counts size committed bytes at off and calls onSoft if they exceed the soft limit. If that panics, it undoes the
// commit, because the caller does not learn of it.
func (l *Limit) count(m Memory, off, size uintptr) {
	before, peak := l.committed, l.peak
	l.committed += size
	l.peak = max(l.peak, l.committed)
	if l.onSoft == nil || before > l.soft || l.committed <= l.soft {
		return
	}
	told := false
	defer func() {
		if told {
			return
		}
		l.committed -= size // not the old value: f may have decommitted other bytes
		l.peak = max(peak, l.committed)
		// If this fails, the source keeps memory that was never accessed. A later Commit gets it.
		_ = l.src.Decommit(m, off, size)
	}()
	l.onSoft(l.committed, l.limit)
	told = true
}

// Decommit decommits at the source and returns the bytes to the budget. If the source fails, it returns that error,
// and the budget does not change. If size exceeds the committed bytes, it panics with a [*memory.Misuse]: the budget
// would be wrong afterwards.
func (l *Limit) Decommit(m Memory, off, size uintptr) error {
	if size > l.committed {
		checkRange("Decommit", m, off, size)
		panic(&memory.Misuse{Package: "page", Op: "Decommit", Addr: uintptr(m.Base) + off, Size: size,
			Reason: fmt.Sprintf("the Limit has only %d committed bytes", l.committed)})
	}
	if err := l.src.Decommit(m, off, size); err != nil {
		return err
	}
	l.committed -= size
	return nil
}

// Release releases m at the source, and returns its error. It returns nothing to the budget: the caller decommits
// first.
func (l *Limit) Release(m Memory) error { return l.src.Release(m) }

// Under returns the source below the limit.
func (l *Limit) Under() Source { return l.src }

// PageSize returns [SizeOf] of the source, in bytes.
func (l *Limit) PageSize() uintptr { return SizeOf(l.src) }

// AheadTo returns the boundary in bytes that the source prefers for commits (see [Ahead]), or 0 if it has none.
func (l *Limit) AheadTo() uintptr { return aheadOf(l.src) }

// Watch registers lost with the source (see [Watched]), and returns nil if the source has ended. If the source cannot
// end, lost is never called, and unwatch does nothing.
func (l *Limit) Watch(lost func()) (unwatch func()) {
	if w, ok := l.src.(Watched); ok {
		return w.Watch(lost)
	}
	return func() {}
}
