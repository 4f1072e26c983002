package save

import (
	"encoding/binary"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// BeginContent begins the contents of blocks. The State must have visited the metadata of these blocks before. If
// BeginContent returns true, the State must visit the contents by [Coder.Raw] and then call [Coder.EndContent]. If
// BeginContent returns false, the State must do neither. Contents must not be nested.
//
// BeginContent returns false after an error, and in passes in which [Coder.Fitting] or [Coder.Scanning] returns true.
// In a part that is the result of [Metadata], it returns false except in debug builds. If [Coder.Portable] returns
// true, the pass fails with an error that wraps [ErrPortable], and BeginContent returns false.
func (c *Coder) BeginContent() bool {
	if c.file != nil {
		c.Fail(errBlocks)
	}
	c.blocks = c.blocks || !c.bare
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

// BeginOwnContent is [Coder.BeginContent] for memory in which no container can have its elements, such as the entries
// of an arena.Window: see [Coder.Elements].
func (c *Coder) BeginOwnContent() bool {
	was := c.blocks
	begun := c.BeginContent()
	c.blocks = was
	return begun
}

// EndContent ends the contents that [Coder.BeginContent] or [Coder.BeginOwnContent] began. Call EndContent only if the
// other method returned true.
func (c *Coder) EndContent() {
	n := uint64(c.at - c.content - 8)
	c.endLength(c.opened, int(n))
	if c.pass == loading {
		if was := binary.LittleEndian.Uint64(c.buf[c.content:]); was != n {
			c.Differs("%d bytes of contents were loaded of %d", n, was)
		}
	}
}

// beginLength returns the index of the next length, and in the pass saving the length as measured. So each word is
// written once, and can be hashed at once.
func (c *Coder) beginLength() (i int, n uint64) {
	switch c.pass {
	case measuring:
		i = len(c.lengths)
		c.lengths = append(c.lengths, 0)
	case saving:
		if c.length == len(c.lengths) {
			c.Differs("there are more parts and contents than were measured")
			break
		}
		i, n = c.length, uint64(c.lengths[c.length])
		c.length++
	}
	return i, n
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
// [Coder.Portable] returns false. The values must contain no Go pointers. [Piece.Path] and the errors of a load contain
// the name.
//
// If [Coder.Whole] returns true for the slots up to the last live one, Slots saves all slots up to that one. When the
// state is loaded, Slots ignores bits and loads the slots that were saved. If one of them is not below end, the loading
// pass fails with an error that wraps [ErrLayout]. For a file the fitting pass fails already. In a part of [Metadata]
// Slots visits slots only in debug builds.
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
