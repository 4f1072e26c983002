package save

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A State is data that a [Set] saves and loads. SaveState passes all data of the State to methods of c and to functions
// such as [Num], always in the same order. That is called visiting. The Set calls SaveState in several passes: see
// [Coder.Saving], [Coder.Fitting], [Coder.Scanning] and [Coder.Loading]. One method serves all passes, so saving and
// loading cannot disagree.
//
// SaveState may return early after an error. It must not panic and must not call the Set. SaveState runs on the
// goroutine that called the Set. If a State visits more or fewer bytes than it visited in the pass that counts, Save
// returns an error that wraps [ErrLayout].
type State interface{ SaveState(c *Coder) }

// A Refuser is a State that cannot always be saved. CanSave returns nil if it can be saved now. Otherwise [Set.Add] and
// [Set.Seal] return an error that wraps that of CanSave.
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
// The values of one call are padded together, with zeros to a multiple of 8 bytes. After the first error of a pass no
// method reads or writes data of the State, and methods that return a number return 0. Only in the pass that counts
// bytes do they return the number that was passed. So a State needs to test [Coder.Failed] only before it changes
// something.
type Coder struct {
	// Invariant: 0 <= at <= len(buf), except in the pass measuring, which has no buf.

	pass      pass
	canonical bool
	bare      bool
	buf       []byte // of the slot, as long as its state
	at        int    // the next byte
	again     bool   // another pass fitting is needed
	content   int    // where the length of the contents of BeginContent stands
	lengths   []int  // of parts and contents, in the order of their beginnings: measured, and then saved
	length    int    // the next one to be saved
	opened    int    // the index of the length of BeginContent
	hashing   bool   // saving hashes what it copies
	hashed    int    // bytes of buf that lanes has
	touched   byte   // the end of a block of buf: see copyBlocks
	lanes     lanes
	err       error
	depth     int
	labels    [maxDepth]label
	yield     func(Piece) bool // in the pass scanning
	file      *file            // nil unless the bytes are those of a file
}

const maxDepth = 12

// A label names a part of a State, with its number if that is not negative.
type label struct {
	name string
	i    int
}

// Saving reports whether this is a pass that reads the values of the State, either to count their bytes or to save
// them.
func (c *Coder) Saving() bool { return c.pass <= saving }

// Fitting reports whether this is a pass before loading. It returns true after an error, too. In this pass the State
// compares its layout with what was saved. It also commits the memory and extends the metadata that loading needs, so
// that loading from a slot cannot fail. The State must test [Coder.Failed] first, and must change nothing else. The
// pass may run several times, see [Coder.Again], and a loading pass need not follow.
func (c *Coder) Fitting() bool { return c.pass == fitting }

// Again demands one more fitting pass over all States. A State must call it if it has committed memory in a fitting
// pass. Committing may call functions of the program, and these may decommit memory of another State. If Again is
// called in four fitting passes of one load, the error wraps memory.ErrOutOfMemory. In other passes Again has no
// effect.
func (c *Coder) Again() { c.again = true }

// Scanning reports whether this is a pass of [Set.Scan]. In this pass the State must change nothing.
func (c *Coder) Scanning() bool { return c.pass == scanning }

// Loading reports whether this is the pass that replaces values of the State by those that were saved. After an error
// it returns false. All States had a fitting pass before, see [Coder.Fitting], unless a failed [Set.Read] restores
// the former state.
func (c *Coder) Loading() bool { return c.pass == loading && c.err == nil }

// Canonical reports whether equal states must have equal bytes. If so, a State must save live blocks only, without
// addresses. Types that it visits should have no padding: Go does not define those bytes, and equal values may
// differ in them. Canonical returns true for slots of [Set.NewCanonical] and for files.
func (c *Coder) Canonical() bool { return c.canonical }

// Whole reports whether a State should copy a span of total bytes at once, of which live bytes are in use. Whole
// returns true if at least two-thirds are live, because one copy is faster than a copy of each block. So the copy has
// at most one and a half times the live bytes. If [Coder.Canonical] returns true, Whole returns false.
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

// Busy makes the pass fail with an error that wraps [ErrBusy]. what names the thing that is open, such as a query.
func (c *Coder) Busy(what string) { c.Fail(fmt.Errorf("%w: %s", ErrBusy, what)) }

// Differs makes the pass fail with an error that wraps [ErrLayout]. Its text is formatted as by [fmt.Sprintf].
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

// Raw saves or loads the n bytes at p. They must contain no Go pointers, and n must be equal when the state is
// saved and loaded. For a file the pass fails with an error that wraps [ErrPortable].
func (c *Coder) Raw(p unsafe.Pointer, n uintptr) { c.raw("", nil, p, n, 1) }

// Rows saves or loads count values of type t. The first value is at p, and each begins size bytes after the one
// before. The values must contain no Go pointers. count must be equal when the state is saved and loaded. [Set.Scan]
// returns name at the end of [Piece.Path], and t as [Piece.Type]. If the values of two slots differ, [Set.Diff] names
// the row and the field.
//
// If [Coder.Portable] returns false, t may be nil: then Diff cannot name the field. If Portable returns true, and t is
// nil or contains an address, the pass fails with an error that wraps [ErrPortable]. Values from a file are converted
// if t has changed since the file was written. If they do not convert, or if a function of the Migration or a
// [RowChecker] refuses one, the pass fails with an error that wraps [ErrLayout]. If the Migration does not fit, the
// error wraps layout.ErrMigration.
func (c *Coder) Rows(name string, t reflect.Type, p unsafe.Pointer, size uintptr, count int) {
	c.raw(name, t, p, size*uintptr(count), count)
}

func (c *Coder) raw(name string, t reflect.Type, p unsafe.Pointer, n uintptr, rows int) {
	if c.file != nil {
		c.fileRows(name, t, p, n, rows)
		return
	}
	if c.pass == measuring {
		c.at += padded(n)
		return
	}
	if c.err != nil || n == 0 || n > uintptr(len(c.buf)-c.at)&^7 && !c.fits(n) {
		return
	}
	b := c.at
	c.at += padded(n)
	switch c.pass {
	case saving:
		if n%8 != 0 {
			clear(c.buf[c.at-8 : c.at])
		}
		if c.hashing {
			c.copyHashed(b, unsafe.Slice((*byte)(p), n))
		} else {
			c.copyBlocks(c.buf[b:b+int(n)], unsafe.Slice((*byte)(p), n))
		}
	case loading:
		c.copyBlocks(unsafe.Slice((*byte)(p), n), c.buf[b:b+int(n)])
	case scanning:
		c.piece(Piece{Off: b, Size: int(n), Rows: rows, Type: t, name: name})
	}
}

// copyBlocks copies from to to, which has the same length. One call of copy takes longer if the bytes are in no cache.
// When copyBlocks saves, it first reads the end of each block of the slot. That was measured to be faster, and may be
// so because the processor then finds the page during the copy.
func (c *Coder) copyBlocks(to, from []byte) {
	for len(to) > copyBlock {
		n := block(len(to))
		if c.pass == saving {
			c.touched = to[n-1]
		}
		copy(to[:n], from)
		to, from = to[n:], from[n:]
	}
	copy(to, from)
}

// padded returns n rounded up to whole words.
func padded(n uintptr) int { return int((n + 7) &^ 7) }

// fits reports whether n bytes are left, padded. Otherwise the State visits more than it was measured to have, or than
// was saved.
func (c *Coder) fits(n uintptr) bool {
	switch {
	case c.err != nil:
		return false
	case n <= uintptr(len(c.buf)-c.at)&^7:
		return true
	case c.pass == saving && c.file != nil:
		c.buf = append(c.buf, make([]byte, c.at+padded(n)-len(c.buf))...)
		return true
	}
	c.Differs("%d bytes are needed, the state has %d left", n, len(c.buf)-c.at)
	return false
}

// Var saves or loads the variable *v. T must be pointer-free; Var checks this only for files. A value from a file is
// converted if T has changed since it was written.
func Var[T any](c *Coder, v *T) { c.raw("", fileType[T](c), unsafe.Pointer(v), unsafe.Sizeof(*v), 1) }

// Typed is [Var] with a name and the type, so that [Set.Diff] can name the field at which two slots differ.
func Typed[T any](c *Coder, name string, v *T) {
	c.Rows(name, reflect.TypeFor[T](), unsafe.Pointer(v), unsafe.Sizeof(*v), 1)
}

// Vec saves or loads the elements of s. T must be pointer-free; Vec checks this only for files. Vec does not
// visit the length: use [Coder.Count]. When the state is loaded, s must have the length that was saved.
func Vec[T any](c *Coder, s []T) {
	c.raw("", fileType[T](c), unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(*new(T))*uintptr(len(s)), len(s))
}

// List saves or loads the length and the elements of a slice. T must be pointer-free; List checks this only for files.
// When the state is loaded, the elements are copied into the array of the slice. If the capacity of the slice is below
// the saved length, List allocates a new array.
func List[T any](c *Coder, s *[]T) {
	size := unsafe.Sizeof(*new(T))
	n := 0
	if size == 0 {
		n = int(c.Word(uint64(len(*s))))
	} else {
		n = c.Count(len(*s))
	}
	switch {
	case c.err != nil:
		return
	case c.Saving():
		Vec(c, *s)
		return
	case c.file != nil && !c.ahead(n):
		return
	case c.Loading():
		if n > cap(*s) {
			*s = make([]T, n)
		}
		*s = (*s)[:n]
	}
	c.Rows("", reflect.TypeFor[T](), unsafe.Pointer(unsafe.SliceData(*s)), size, n)
}

// BeginContent begins the contents of blocks. Before that the State must visit the metadata of these blocks. If
// BeginContent returns true, the State must visit the contents by Raw and then call [Coder.EndContent]. If it returns
// false, the State must skip them. It returns false in fitting and scanning passes, after an error, and for [Metadata]
// except in debug builds. For a file the pass fails with an error that wraps [ErrPortable]. Contents must not be nested.
func (c *Coder) BeginContent() bool {
	if c.file != nil {
		c.Fail(errBlocks)
	}
	if c.err != nil || c.bare && !invariant.Debug {
		return false
	}
	c.content = c.at
	length := uint64(0)
	c.opened, length = c.beginLength()
	n := c.Word(length)
	if c.Saving() || c.Loading() {
		return c.err == nil
	}
	if n%8 != 0 || n > uint64(len(c.buf)-c.at) {
		c.Differs("contents of %d bytes, the state has %d left", n, len(c.buf)-c.at)
		return false
	}
	b := c.at
	c.at += int(n)
	if c.pass == scanning && n > 0 {
		c.piece(Piece{Off: b, Size: int(n), Rows: 1, Contents: true})
	}
	return false
}

// EndContent ends the contents that [Coder.BeginContent] began. Call it only if BeginContent returned true.
func (c *Coder) EndContent() {
	n := uint64(c.at - c.content - 8)
	c.endLength(c.opened, int(n))
	if c.pass == loading {
		if was := binary.LittleEndian.Uint64(c.buf[c.content:]); was != n {
			c.Differs("%d bytes of contents were loaded of %d", n, was)
		}
	}
}

// beginLength returns the index of the next length, and in the pass saving the length as measured. So each word is written
// once, and can be hashed at once.
func (c *Coder) beginLength() (i int, n uint64) {
	switch c.pass {
	case measuring:
		c.lengths = append(c.lengths, 0)
		return len(c.lengths) - 1, 0
	case saving:
		if i = c.length; i < len(c.lengths) {
			c.length++
			return i, uint64(c.lengths[i])
		}
		c.Differs("there are more parts and contents than were measured")
	}
	return 0, 0
}

// endLength records or verifies a length. beginLength has returned i without an error.
func (c *Coder) endLength(i, n int) {
	switch {
	case c.pass == measuring:
		c.lengths[i] = n
	case c.pass == saving && c.lengths[i] != n:
		c.Differs("%d bytes were measured, and %d visited", c.lengths[i], n)
	}
}

// Slots saves or loads live slots of an array at base. A slot has size bytes. Slot i is live if bit i of bits is set
// and i is below end. Adjacent slots are copied together. t is the type of the values, and may be nil if
// [Coder.Portable] returns false. The values must contain no Go pointers. Paths contain the name, and so do errors of
// a load.
//
// If [Coder.Whole] returns true for the slots up to the last live one, Slots saves all of them. When the state is loaded,
// Slots ignores bits and loads the slots that were saved. For [Metadata] it visits no slots, except in debug builds.
func (c *Coder) Slots(name string, t reflect.Type, base unsafe.Pointer, size uintptr, bits []uint64, end uint) {
	if c.bare && !invariant.Debug {
		return
	}
	if c.Saving() {
		runs(bits, end, c.Whole, func(first, n uint) {
			c.Word(uint64(first))
			c.Word(uint64(n))
			c.Rows("", t, unsafe.Add(base, uintptr(first)*size), size, int(n))
		})
		c.Word(0)
		c.Word(0)
		return
	}
	for c.err == nil {
		first, n := uint(c.Word(0)), c.Count(0)
		if n == 0 {
			return
		}
		if (c.Loading() || c.file != nil) && (first > end || uint(n) > end-first) {
			c.Differs("slot %d of %d", first, end)
			return
		}
		c.EnterAt(name, int(first))
		c.Rows("", t, unsafe.Add(base, uintptr(first)*size), size, n)
		c.Leave()
	}
}
