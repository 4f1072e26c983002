package page

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Limit is a Source with a hard and a soft limit on committed bytes. A commit above the hard limit, the budget,
// fails. A commit that rises above the soft limit calls a function. Reserved addresses do not count. A Limit belongs to
// one goroutine at a time.
type Limit struct {
	src       Source
	name      string
	advice    Advice
	limit     uintptr
	soft      uintptr
	onSoft    func(committed, limit uintptr)
	committed uintptr
	peak      uintptr
	failures  uint64
}

// NewLimit returns a Limit on src with a budget of `limit` bytes, and no soft limit. If the parameter limit is 0,
// there is no budget. If src is nil, NewLimit uses [Default].
func NewLimit(src Source, limit uintptr) *Limit {
	src = cmp.Or(src, Default())
	limit = cmp.Or(limit, ^uintptr(0))
	return &Limit{src: src, limit: limit, soft: ^uintptr(0)}
}

// Name sets the name of l, and returns l. A new Limit has no name. Errors contain the name if the budget of l is used
// up, or if a [Carve] directly below l has no addresses left. If the source has no memory for a commit, the error
// contains the name, and wraps the source's error. If an allocator that was made on l after Name is full, its error
// contains the name, too. An allocator with a name of its own, such as a pool.Pool, uses its own name instead.
func (l *Limit) Name(name string) *Limit {
	l.name = name
	return l
}

// Advice has the texts that errors contain in memory.Exhausted.Advice, as "raise tiers.Config.Budget[Level]".
type Advice struct {
	Budget  string // if the budget of the Limit is used up
	Carve   string // if the [Carve] below the Limit has no addresses left
	Reserve string // if an allocator that was made on the Limit is full, or could never serve the request
}

// Advise sets the texts for the errors of l, and of allocators that are made on l. It returns l. If a.Reserve is not
// empty, a request that exceeds the reservation of an arena.Growing or a tlsf.Heap fails with an error that wraps
// memory.ErrTooLarge, and not with memory.ErrTooLarge itself. A new Limit has no texts.
func (l *Limit) Advise(a Advice) *Limit {
	l.advice = a
	return l
}

// OnSoft sets a soft limit of mark bytes. Each time the committed bytes rise above mark, f is called on the goroutine
// that commits, with the committed bytes and the budget. OnSoft itself never calls f, even if the committed bytes are
// above mark already. If the budget is not above mark, f is never called. If mark is 0, f is called at each commit that
// begins with 0 committed bytes. A nil f removes the soft limit.
//
// f may decommit memory of this Limit. f must not allocate from this Limit (see [Prefix.Ensure]). If the allocator that
// commits has a lock, as a slab.Central has, the lock is held, and f must not call this allocator. If f panics or ends
// its goroutine, the commit is undone, and the next commit that rises above mark calls f again.
func (l *Limit) OnSoft(mark uintptr, f func(committed, limit uintptr)) { l.soft, l.onSoft = mark, f }

// Committed returns the number of bytes that are committed now. Bytes that were committed when the source ended still
// count, because they cannot be decommitted.
func (l *Limit) Committed() uintptr { return l.committed }

// Peak returns the high-water mark of the committed bytes. A commit that was undone does not count: see [Limit.OnSoft].
func (l *Limit) Peak() uintptr { return l.peak }

// Budget returns the hard limit in bytes. If there is no hard limit, it returns the largest uintptr.
func (l *Limit) Budget() uintptr { return l.limit }

// SetBudget changes the hard limit to `limit` bytes. If the parameter limit is 0, there is no hard limit. If more
// bytes are committed than `limit`, the hard limit becomes the number of committed bytes. The soft limit stays.
func (l *Limit) SetBudget(limit uintptr) {
	limit = cmp.Or(limit, ^uintptr(0))
	l.limit = max(limit, l.committed)
}

// Failures returns the number of commits that failed because of the budget or an error of the source. A CommitSome
// that commits less than want is not a failure. An allocator may try several commits for one request, for example
// again after it has freed memory. Its Stats().Failures counts the requests that it refused.
func (l *Limit) Failures() uint64 { return l.failures }

// Reserve reserves size bytes from the source, and returns the error of the source. Addresses do not count for the
// budget.
func (l *Limit) Reserve(size uintptr) (Memory, error) {
	m, err := l.src.Reserve(size)
	if e, ok := err.(*memory.Exhausted); ok && e.Cause == nil && l.name != "" {
		if _, ok := l.src.(*Carve); ok {
			e.Op, e.Advice = l.name+": reservation", l.advice.Carve
		}
	}
	return m, err
}

// Commit commits size bytes of m through the source, from the offset off. If size exceeds the rest of the budget, the
// error is a [*memory.Exhausted]. If the source fails, Commit returns its error (see [Limit.Name]). A failed Commit
// counts in Failures and changes nothing else. If the committed bytes rise above the soft limit, Commit calls the
// function of [Limit.OnSoft]. If the source or this function panics, Commit panics with the same value, and nothing is
// committed.
func (l *Limit) Commit(m Memory, off, size uintptr) error {
	_, err := l.CommitSome(m, off, size, size)
	return err
}

// CommitSome commits at most `want` bytes and at least `least` bytes of m, from the offset off: as many as the budget
// allows. If the source refuses this number, CommitSome tries `least` bytes. It returns the number of committed
// bytes, a multiple of [Granule].
//
// If the budget has fewer than `least` bytes left, the error is a [*memory.Exhausted]. If the source refuses `least`
// bytes, CommitSome returns its error. A failed CommitSome counts in Failures and changes nothing else. CommitSome
// calls the function of [Limit.OnSoft] and panics as [Limit.Commit] does.
func (l *Limit) CommitSome(m Memory, off, least, want uintptr) (uintptr, error) {
	left := l.limit - l.committed
	if least > left {
		l.failures++
		return 0, &memory.Exhausted{Op: cmp.Or(l.name, "page") + ": budget", Need: least, Have: left, Limit: l.limit, Advice: l.advice.Budget}
	}
	got, err := commitSome(l.src, m, off, least, max(least, min(want, align.Down(left, Granule))))
	if err != nil {
		l.failures++
		if l.name != "" && errors.Is(err, memory.ErrOutOfMemory) {
			err = fmt.Errorf("%s: %w", l.name, err)
		}
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

// Decommit decommits size bytes of m through the source, from the offset off, and returns them to the budget. If the
// source fails, Decommit returns its error, and the budget does not change. If size exceeds the committed bytes of
// the Limit, Decommit panics with a [*memory.Misuse]. It also panics if the source does.
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

// Release releases m through the source, and returns the error of the source. Release returns no bytes to the budget:
// the caller must decommit before.
func (l *Limit) Release(m Memory) error { return l.src.Release(m) }

// Under returns the source below the limit.
func (l *Limit) Under() Source { return l.src }

// Watch registers the function lost with the source (see [Watched]). If the source has ended, Watch returns nil. If
// the source cannot end, lost is never called, and unwatch does nothing.
func (l *Limit) Watch(lost func()) (unwatch func()) {
	if w, ok := l.src.(Watched); ok {
		return w.Watch(lost)
	}
	return func() {}
}
