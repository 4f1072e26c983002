package save

import (
	"reflect"
	"unsafe"
)

// Raw saves or loads the n bytes at p. They must contain no Go pointers, and n must be equal when the state is saved
// and loaded. If [Coder.Portable] returns true, the pass fails with an error that wraps [ErrPortable].
func (c *Coder) Raw(p unsafe.Pointer, n uintptr) {
	if c.pass == measuring {
		c.at += int(n+7) &^ 7 // padded, and cheap enough to inline
		return
	}
	c.raw("", nil, p, n, 1)
}

// Rows saves or loads count values of type t. The first value is at p, and each begins size bytes after the one before.
// size must be at least the size of t. All size*count bytes from p on must belong to the State: for a [Slot], Rows also
// saves and loads the bytes between the values. These bytes must contain no Go pointers. count must be equal when the
// state is saved and loaded. [Set.Scan] returns name at the end of [Piece.Path], and t as [Piece.Type]. If the values
// of two states differ, [Set.Diff] names the row and the field.
//
// If [Coder.Portable] returns false, t may be nil: then Diff cannot name the field. If Portable returns true, and t is
// nil or contains an address, the pass fails with an error that wraps [ErrPortable]. Values from a file are converted
// if t has changed since the file was written. If they do not convert, or if a function of the Migration or a
// [RowChecker] refuses one, the pass fails with an error that wraps [ErrLayout]. If the Migration renames a field to
// one that t lacks, or two fields to one, the error wraps layout.ErrMigration instead.
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
		switch from := unsafe.Slice((*byte)(p), n); {
		case c.hashing:
			c.copyHashed(b, from)
		case len(c.buf) < smallState:
			copy(c.buf[b:], from)
		default:
			c.copyBlocks(c.buf[b:b+int(n)], from)
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
	c.Differs("%d bytes are needed, the state has %d left%s", n, len(c.buf)-c.at, c.advice())
	return false
}

// Var saves or loads the variable *v. T must be pointer-free; Var checks this only for files. A value from a file is
// converted if T has changed since it was written. Var changes the variable in the loading pass only: for a length use
// [Coder.Count], and for a condition [Coder.Flag].
func Var[T any](c *Coder, v *T) {
	at := c.at
	if c.raw("", fileType[T](c), unsafe.Pointer(v), unsafe.Sizeof(*v), 1); c.pass == fitting && unsafe.Sizeof(*v) <= 8 {
		c.noteVar(reflect.TypeFor[T](), unsafe.Pointer(v), at)
	}
}

// Typed is [Var] with a name and the type, so that [Set.Diff] can name the field at which two states differ.
func Typed[T any](c *Coder, name string, v *T) {
	at := c.at
	if c.Rows(name, reflect.TypeFor[T](), unsafe.Pointer(v), unsafe.Sizeof(*v), 1); c.pass == fitting && unsafe.Sizeof(*v) <= 8 {
		c.noteVar(reflect.TypeFor[T](), unsafe.Pointer(v), at)
	}
}

// Vec saves or loads the elements of s. T must be pointer-free; Vec checks this only for files. Vec does not visit the
// length: use [Coder.Count]. In fitting, scanning and loading passes s must have the length that was saved.
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
	case c.file != nil:
		c.ahead(n) // before n allocates memory
	}
	if c.Loading() {
		if n > cap(*s) {
			*s = make([]T, n)
		}
		*s = (*s)[:n]
	}
	c.Rows("", reflect.TypeFor[T](), unsafe.Pointer(unsafe.SliceData(*s)), size, n)
}
