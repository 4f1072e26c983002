package meter

import "time"

// The two marks.
const (
	A = iota
	B
)

// A mark is what all rows held at a moment; nil rows where it is not set.
type mark struct {
	at   time.Time
	rows []books
}

// Mark notes what every row held at the last Frame, which is nothing before the first, as mark A or B,
// over what it was. Setting A takes back B. It allocates when it is first set. It panics with a *memory.Misuse for any other mark.
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

// Marked reports whether a mark is set. For any other than A and B it panics as Mark does.
func (r *Meter) Marked(which int) bool {
	if which != A && which != B {
		panic(misuse("Marked", "there are the marks A and B"))
	}
	return r.marks[which].rows != nil
}

// Unmark takes both marks back.
func (r *Meter) Unmark() { r.marks[A].rows, r.marks[B].rows = nil, nil }

// A Change is what a row holds more, or less, than at mark A.
type Change struct {
	Row    int // of Rows
	Bytes  int64
	Blocks int64
}

// Changes appends what has changed since mark A, until mark B or, where that is not set, until the
// last Frame, in the order of the rows, and returns dst and how long that took; false where mark A is not set. Rows
// that did not change are left out.
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
