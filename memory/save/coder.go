package save

import (
	"fmt"
)

// A State is data that a [Set] saves and loads. SaveState passes all data of the State to methods of c and to functions
// such as [Num], always in the same order. That is called visiting. The Set calls SaveState in several passes: see
// [Coder.Saving], [Coder.Fitting], [Coder.Scanning] and [Coder.Loading]. One method serves all passes, so saving and
// loading cannot disagree.
//
// SaveState reports an error by [Coder.Fail], and the method of the Set returns it. SaveState may return early after an
// error. It must not panic and must not call the Set. SaveState runs on the goroutine that called the Set. If a State
// visits more or fewer bytes than it visited in the pass that counts, Save returns an error that wraps [ErrLayout].
type State interface{ SaveState(c *Coder) }

// A Refuser is a State that cannot always be saved, for example because a type has Go pointers. [Set.Add] and
// [Set.Seal] call CanSave. If CanSave returns an error, Add or Seal fails with an error that wraps it. Save does not
// call CanSave.
type Refuser interface{ CanSave() error }

// A pass is what the Coder does with the data that it visits.
type pass uint8

const (
	measuring pass = iota // counts the bytes; finds out what is closed or busy
	saving                // copies into the slot
	fitting               // compares the layout, and reserves what loading needs
	scanning              // yields the pieces of a slot
	loading               // copies out of the slot
)

// A Coder moves a State into a [Slot] or a file, or out of it. Only a Set makes a Coder. The Coder is valid during the
// call of SaveState.
//
// The values of one call are padded as a whole with zeros, to a multiple of 8 bytes. After the first error of a pass no
// method reads or writes data of the State. Methods that return a number then return 0. But in the pass that counts
// bytes, these methods always return their argument. A State may go on after an error, but must test [Coder.Failed]
// before it changes something.
type Coder struct {
	// Invariant: 0 <= at <= len(buf), except in the pass measuring, which has no buf.

	pass      pass
	canonical bool
	bare      bool
	set       *Set
	buf       []byte // of the slot, as long as its state
	at        int    // the next byte
	again     bool   // another pass fitting is needed
	content   int    // where the length of the contents of BeginContent stands
	lengths   []int  // of parts and contents, in the order of their beginnings: measured, and then saved
	covered   []span // see Covers
	blocks    bool   // a part so far may save the elements of containers
	length    int    // the next one to be saved
	opened    int    // the index of the length of BeginContent
	hashing   bool   // saving hashes what it copies
	hashed    int    // bytes of buf that lanes has
	touched   byte   // the end of a block of buf: see copyBlocks
	lanes     lanes
	noted     int              // numbers of the present part
	notes     [others][2]int64 // that differ: of the state, and of now; see note
	err       error
	depth     int
	labels    [maxDepth]label
	yield     func(Piece) bool // in the pass scanning
	file      *file            // nil unless the bytes are those of a file
}

const maxDepth = 12

// A span is memory that begins at an address.
type span struct{ from, size uintptr }

// A label names a part of a State, with its number if that is not negative.
type label struct {
	name string
	i    int
}

// Saving reports whether this is a pass that reads the values of the State, either to count their bytes or to save
// them.
func (c *Coder) Saving() bool { return c.pass <= saving }

// Fitting reports whether this is a fitting pass: a pass before loading. It returns true after an error, too. In this
// pass the State compares its layout with the saved one. It also commits the memory and reserves the capacity that
// loading needs, so that loading from a slot cannot fail. The State must test [Coder.Failed] first, and must change
// nothing else. It must not use the committed memory before the loading pass. page.Prefix.Fit does all that for a
// page.Prefix. The pass may run several times, see [Coder.Commit], and a loading pass need not follow.
func (c *Coder) Fitting() bool { return c.pass == fitting }

// Commit demands one more fitting pass over all States. A State must call Commit in a fitting pass before it commits
// memory. page.Prefix.Fit calls Commit itself. Committing may call functions of the program, and these may decommit
// memory of another State. If Commit is called in four fitting passes of one load, the load fails with an error that
// wraps memory.ErrOutOfMemory.
//
// The Set calls the function rest at the end of the load or of [Set.Verify], also after an error or a panic. rest must
// decommit the memory that the load did not use. It must not call the Set, and may be nil. In other passes Commit has
// no effect.
func (c *Coder) Commit(rest func()) {
	if c.pass != fitting {
		return
	}
	if c.again = true; rest != nil {
		c.set.rests = append(c.set.rests, rest)
	}
}

// Scanning reports whether this is a scanning pass: the pass of [Set.Scan]. In this pass the State must change nothing.
func (c *Coder) Scanning() bool { return c.pass == scanning }

// Loading reports whether this is the loading pass, which replaces values of the State by those that were saved. After
// an error it returns false. Before a loading pass all States had a pass in which [Coder.Fitting] returned true. There
// is one exception: the loading pass in which a failed [Set.Read] restores the former state.
func (c *Coder) Loading() bool { return c.pass == loading && c.err == nil }

// Canonical reports whether equal states must have equal bytes. If so, a State must save live blocks only, without
// addresses. Types that the State visits should have no padding: Go does not define those bytes, and equal values may
// differ in them. Canonical returns true for slots of [Set.NewCanonical] and for files.
func (c *Coder) Canonical() bool { return c.canonical }

// Whole reports whether a State should copy a span of memory at once. total is the size of the span in bytes. live is
// the number of its bytes that are in use. Whole returns true if at least two-thirds are in use, because one copy is
// faster than a copy of each block. If [Coder.Canonical] returns true, Whole returns false.
func (c *Coder) Whole(live, total uintptr) bool {
	return !c.canonical && 3*uint64(live) >= 2*uint64(total)
}

// Portable reports whether the bytes are those of a file, for other processes. If so, a State must visit only numbers,
// values of known types and streams. It may also fail while it loads: [Set.Read] then restores the former state.
func (c *Coder) Portable() bool { return c.file != nil }

// Failed reports whether the pass has an error. If so, SaveState should return.
func (c *Coder) Failed() bool { return c.err != nil }

// Fail makes the pass fail with an error that wraps err. The error contains the labels of [Coder.Enter]. If the pass
// has failed already, or if err is nil, Fail does nothing. In the loading pass a State may call Fail only if
// [Coder.Portable] returns true.
func (c *Coder) Fail(err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("save: %s: %w", c.where(), err)
	}
}

// Busy calls [Coder.Fail] with an error that wraps [ErrBusy]. what names the thing that is open, such as a query.
func (c *Coder) Busy(what string) { c.Fail(fmt.Errorf("%w: %s", ErrBusy, what)) }

// Differs calls [Coder.Fail] with an error that wraps [ErrLayout]. The text of the error is formatted as by
// [fmt.Sprintf].
func (c *Coder) Differs(format string, args ...any) {
	c.Fail(fmt.Errorf("%w: %s", ErrLayout, fmt.Sprintf(format, args...)))
}

// where returns the labels of the present place.
func (c *Coder) where() string {
	s := ""
	for _, l := range c.labels[:min(c.depth, maxDepth)] {
		if s != "" {
			s += "/"
		}
		s += l.name
		if l.i >= 0 {
			s += fmt.Sprintf("[%d]", l.i)
		}
	}
	return s
}

// Enter sets a label for all data that is visited before the matching [Coder.Leave]. The paths in errors, [Set.Scan]
// and [Set.Diff] begin with these labels. A path has at most 12 of them; the first is the part's name. Deeper labels
// are left out.
func (c *Coder) Enter(name string) { c.EnterAt(name, -1) }

// EnterAt is [Coder.Enter] with a number i, which the path shows in brackets. A negative i is not shown.
func (c *Coder) EnterAt(name string, i int) {
	if c.depth < maxDepth {
		c.labels[c.depth] = label{name, i}
	}
	c.depth++
}

// Leave removes the label of the latest [Coder.Enter]. A Leave without an Enter is a bug of the State, and may panic.
func (c *Coder) Leave() { c.depth-- }
