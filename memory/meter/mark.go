package meter

import "time"

// A and B select one of the two marks of a Meter: snapshots of all rows, which [Meter.Mark] takes.
const (
	A = iota
	B
)

// A mark is a snapshot of all rows. rows is nil if the mark is not set.
type mark struct {
	at   time.Time
	rows []books
}

// Mark sets mark A or B: it records the bytes and blocks of every row at the last Frame, or 0 before the first Frame.
// A second Mark of A or B replaces the first. Setting A removes B. Mark allocates if the mark is not set, or if there
// are more rows than before. If the argument is neither A nor B, Mark panics with a *memory.Misuse.
func (r *Meter) Mark(which int) {
	if which != A && which != B {
		panic(misuse("Mark", "there are the marks A and B"))
	}
	m := &r.marks[which]
	m.at = r.cfg.Now()
	m.rows = append(m.rows[:0], r.was...)
	if m.rows == nil {
		m.rows = []books{}
	}
	if which == A {
		r.marks[B].rows = nil
	}
}

// Marked reports whether a mark is set. If the argument is neither A nor B, Marked panics with a *memory.Misuse.
func (r *Meter) Marked(which int) bool {
	if which != A && which != B {
		panic(misuse("Marked", "there are the marks A and B"))
	}
	return r.marks[which].rows != nil
}

// Unmark removes the marks A and B: until the next mark A, Changes returns false.
func (r *Meter) Unmark() { r.marks[A].rows, r.marks[B].rows = nil, nil }

// A Change is the change of a row since mark A, see [Meter.Changes].
type Change struct {
	Row    int // index in Meter.Rows
	Bytes  int64
	Blocks int64
}

// Changes appends the changes since mark A to dst, in the order of the rows. The changes end at mark B, or at the last
// Frame if mark B is not set. Rows without a change are left out. Changes returns the extended slice, the time from
// beginning to end, and true. If mark A is not set, Changes appends nothing and returns false.
func (r *Meter) Changes(dst []Change) ([]Change, time.Duration, bool) {
	a, b := &r.marks[A], &r.marks[B]
	if a.rows == nil {
		return dst, 0, false
	}
	until, at := r.was, r.at
	if b.rows != nil {
		until, at = b.rows, b.at
	}
	for i := range until {
		was := books{}
		if i < len(a.rows) {
			was = a.rows[i]
		}
		c := Change{Row: i, Bytes: int64(until[i].inUse - was.inUse), Blocks: int64(until[i].live - was.live)}
		if c.Bytes != 0 || c.Blocks != 0 {
			dst = append(dst, c)
		}
	}
	return dst, max(at.Sub(a.at), 0), true
}
