package page

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Limit is a Source with a budget on committed bytes. It is the one place where a hard
// limit and a soft mark are kept. One goroutine at a time.
type Limit struct {
	src       Source
	limit     uintptr
	soft      uintptr
	onSoft    func(committed, limit uintptr)
	committed uintptr
	peak      uintptr
	failures  uint64
}

// NewLimit puts a budget of limit bytes on src (nil means [Default]). 0 means no limit.
func NewLimit(src Source, limit uintptr) *Limit {
	if src == nil {
		src = Default()
	}
	if limit == 0 {
		limit = ^uintptr(0)
	}
	return &Limit{src: src, limit: limit, soft: ^uintptr(0)}
}

// OnSoft has f called, on the goroutine that commits, each time committed bytes rise past
// mark; so a mark of the budget is never passed, and one of 0 with the first commit. f may give
// memory back to this Limit and must not allocate from it (see [Prefix.Ensure]), nor call what
// holds a lock while it allocates, as a slab.Central does. If f panics or ends its goroutine the
// commit is taken back, and the next one that rises past mark calls f again.
func (l *Limit) OnSoft(mark uintptr, f func(committed, limit uintptr)) { l.soft, l.onSoft = mark, f }

// Committed returns the bytes that are committed now. What was when the source ended stays
// counted: nobody can give it back any more.
func (l *Limit) Committed() uintptr { return l.committed }

// Peak returns the most bytes that were committed at once.
func (l *Limit) Peak() uintptr { return l.peak }

// Budget returns the hard limit in bytes.
func (l *Limit) Budget() uintptr { return l.limit }

// SetBudget changes the hard limit to that many bytes, 0 for none; fewer than are committed mean what
// is. The soft mark stays where it is.
func (l *Limit) SetBudget(limit uintptr) {
	if limit == 0 {
		limit = ^uintptr(0)
	}
	l.limit = max(limit, l.committed)
}

// Failures counts the commits that were refused, by the budget or by the system. A step that
// was refused where what was needed could be had is none.
func (l *Limit) Failures() uint64 { return l.failures }

// Reserve passes on: addresses are not memory and cost no budget.
func (l *Limit) Reserve(size uintptr) (Memory, error) { return l.src.Reserve(size) }

// Commit passes on what the budget allows, and otherwise fails with a [*memory.Exhausted].
func (l *Limit) Commit(m Memory, off, size uintptr) error {
	_, err := l.CommitSome(m, off, size, size)
	return err
}

// CommitSome commits want bytes, or what the budget has left of them, or least.
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

// count takes size bytes at off into the books and tells whoever waits for the soft mark. A
// panic there takes the commit back, since the caller above will never know of it.
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
		l.committed -= size // not to what it was: f may have given back something else
		l.peak = max(peak, l.committed)
		// What the source keeps all the same nobody has touched, and whoever asks again gets.
		_ = l.src.Decommit(m, off, size)
	}()
	l.onSoft(l.committed, l.limit)
	told = true
}

// Decommit passes on and gives the bytes back to the budget. More bytes than are committed are
// a [*memory.Misuse]: the budget would be worth nothing afterwards.
func (l *Limit) Decommit(m Memory, off, size uintptr) error {
	if size > l.committed {
		checkRange("Decommit", m, off, size)
		panic(&memory.Misuse{Package: "page", Op: "Decommit", Addr: uintptr(m.Base) + off, Size: size,
			Reason: fmt.Sprintf("the Limit has committed %d bytes only", l.committed)})
	}
	if err := l.src.Decommit(m, off, size); err != nil {
		return err
	}
	l.committed -= size
	return nil
}

// Release passes on.
func (l *Limit) Release(m Memory) error { return l.src.Release(m) }

// Under returns the source that has no limit.
func (l *Limit) Under() Source { return l.src }

// PageSize passes on.
func (l *Limit) PageSize() uintptr { return SizeOf(l.src) }

// AheadTo passes on.
func (l *Limit) AheadTo() uintptr { return aheadOf(l.src) }

// Watch passes on; where the source has no end of its own, lost is never called.
func (l *Limit) Watch(lost func()) (unwatch func()) {
	if w, ok := l.src.(Watched); ok {
		return w.Watch(lost)
	}
	return func() {}
}
