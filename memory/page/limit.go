package page

import "github.com/strata-go/strata/memory"

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
// mark. f must not allocate from this Limit.
func (l *Limit) OnSoft(mark uintptr, f func(committed, limit uintptr)) { l.soft, l.onSoft = mark, f }

// Committed returns the bytes that are committed now.
func (l *Limit) Committed() uintptr { return l.committed }

// Peak returns the most bytes that were committed at once.
func (l *Limit) Peak() uintptr { return l.peak }

// Budget returns the hard limit in bytes.
func (l *Limit) Budget() uintptr { return l.limit }

// Failures counts the commits that were refused, by the budget or by the system.
func (l *Limit) Failures() uint64 { return l.failures }

// Reserve passes on: addresses are not memory and cost no budget.
func (l *Limit) Reserve(size uintptr) (Memory, error) { return l.src.Reserve(size) }

// Commit passes on what the budget allows, and otherwise fails with a [*memory.Exhausted].
func (l *Limit) Commit(m Memory, off, size uintptr) error {
	if left := l.limit - l.committed; size > left {
		l.failures++
		return &memory.Exhausted{Op: "page: budget", Need: size, Have: left, Limit: l.limit}
	}
	if err := l.src.Commit(m, off, size); err != nil {
		l.failures++
		return err
	}
	before := l.committed
	l.committed += size
	l.peak = max(l.peak, l.committed)
	if l.onSoft != nil && before <= l.soft && l.committed > l.soft {
		l.onSoft(l.committed, l.limit)
	}
	return nil
}

// Decommit passes on and gives the bytes back to the budget.
func (l *Limit) Decommit(m Memory, off, size uintptr) error {
	if err := l.src.Decommit(m, off, size); err != nil {
		return err
	}
	l.committed -= size
	return nil
}

// Release passes on.
func (l *Limit) Release(m Memory) error { return l.src.Release(m) }
