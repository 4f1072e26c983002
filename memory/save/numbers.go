package save

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory/layout"
)

// Word saves or loads a number as 8 bytes. While [Coder.Saving] returns true, Word returns v. In all other passes it
// returns the number that was saved. After an error it returns 0, except in the pass that counts bytes. If no bytes are
// left, the pass fails with an error that wraps [ErrLayout].
func (c *Coder) Word(v uint64) uint64 {
	at := c.at
	switch {
	case c.pass == measuring:
		c.at = at + 8
		return v
	case (c.err != nil || uint(at)+8 > uint(len(c.buf))) && !c.fits(8):
		return 0
	}
	c.at = at + 8
	if c.pass == saving {
		binary.LittleEndian.PutUint64(c.buf[at:], v)
		return v
	}
	if c.pass == scanning {
		c.piece(Piece{Off: at, Size: 8, Rows: 1})
	}
	return binary.LittleEndian.Uint64(c.buf[at:])
}

// Words visits several numbers: each element of w becomes the number that [Coder.Word] returns for it. So w is
// unchanged while [Coder.Saving] returns true. But after an error the elements become 0, except in the pass that counts
// bytes. w should therefore be a local array and not data of the State.
func (c *Coder) Words(w []uint64) {
	n := 8 * len(w)
	switch {
	case c.pass == measuring:
		c.at += n
	case c.err != nil || c.pass == scanning || n > len(c.buf)-c.at:
		for i, v := range w {
			w[i] = c.Word(v)
		}
	default:
		b := unsafe.Pointer(unsafe.SliceData(c.buf[c.at:][:n]))
		if c.at += n; c.pass == saving {
			for i, v := range w {
				binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(b, 8*i))[:], v)
			}
			return
		}
		for i := range w {
			w[i] = binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(b, 8*i))[:])
		}
	}
}

// Count is [Coder.Word] for the number of values that follow. n must not be negative, and each value must have at least
// one byte. If the saved number exceeds the number of bytes of the state, the pass that reads it fails. The error wraps
// [ErrLayout], and Count returns 0.
func (c *Coder) Count(n int) int {
	v := c.Word(uint64(n))
	if c.pass > saving && v > uint64(len(c.buf)) {
		c.Differs("a count of %d in a state of %d bytes", v, len(c.buf))
		return 0
	}
	return int(v)
}

// Flag is [Coder.Word] for a bool. A saved number other than 0 is true.
func (c *Coder) Flag(v bool) bool {
	return c.Word(boolWord(v)) != 0
}

func boolWord(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// A Number is an integer type: the constraint of [Num].
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Num saves or loads an integer variable as 8 bytes, the same on all architectures. If a saved number does not fit T,
// such as a large int on a 32-bit system, the pass fails with an error that wraps [ErrLayout] before anything is
// loaded.
//
// Num changes the variable in the loading pass only. If the number decides what is visited next, as a length does, use
// [Coder.Count], [Coder.Word] or [List]: they use the saved number in fitting passes, too.
func Num[T Number](c *Coder, v *T) {
	switch n := c.Word(uint64(*v)); {
	case c.pass == loading:
		if c.err == nil {
			*v = T(n)
		}
	case c.pass == fitting && n != uint64(*v):
		c.other(n, uint64(*v), uint64(T(n)), uint64(^T(0)), unsafe.Sizeof(*v))
	}
}

// Bool saves or loads a bool variable as 8 bytes. It changes the variable in the loading pass only. If the variable
// decides what is visited next, use [Coder.Flag]: it returns the saved value in fitting passes, too.
func Bool(c *Coder, v *bool) {
	if n := c.Flag(*v); c.Loading() {
		*v = n
	} else if n != *v && c.pass == fitting {
		c.note(boolWord(n), boolWord(*v))
	}
}

// others is how many numbers a note has.
const others = 4

// other follows a number of the state that differs from the present one, and is fit as a value of its type. The type has
// size bytes and all ones as its largest number or, if it has a sign, as -1.
//
//go:noinline
func (c *Coder) other(n, now, fit, ones uint64, size uintptr) {
	if c.err != nil {
		return
	}
	if c.note(n, now); fit == n {
		return
	}
	if bits := 8 * size; ones == ^uint64(0) && bits < 64 {
		c.Differs("the number %d does not fit the variable; allowed are %d to %d", int64(n), int64(-1)<<(bits-1), int64(1)<<(bits-1)-1)
	} else {
		c.Differs("the number %d does not fit the variable; allowed are 0 to %d", n, ones)
	}
}

// note records that a variable keeps its present number until the load, for advice.
func (c *Coder) note(n, now uint64) {
	if c.err == nil && c.noted < others {
		c.notes[c.noted] = [2]int64{int64(n), int64(now)}
		c.noted++
	}
}

// noteVar is note for a variable of a bool or an integer type, whose value of the state ends before c.at.
//
//go:noinline
func (c *Coder) noteVar(t reflect.Type, p unsafe.Pointer, from int) {
	if k := t.Kind(); c.err != nil || k < reflect.Bool || k > reflect.Uintptr || c.at-from > 16 || c.at-from < 8 {
		return
	}
	var now [8]byte
	copy(now[:], unsafe.Slice((*byte)(p), t.Size()))
	if is, was := binary.NativeEndian.Uint64(now[:]), binary.NativeEndian.Uint64(c.buf[c.at-8:]); is != was {
		c.note(was, is)
	}
}

// advice continues the error of a fitting pass that visits another number of bytes than the state has. The usual reason
// is a length that does not come from the state.
func (c *Coder) advice() string {
	if c.pass != fitting || c.noted == 0 {
		return ""
	}
	var s strings.Builder
	s.WriteString("; Num, Bool and Var keep the present value until the load (")
	for i, n := range c.notes[:c.noted] {
		s.WriteString([]string{", ", ""}[boolWord(i == 0)])
		fmt.Fprintf(&s, "%d instead of %d", n[1], n[0])
	}
	s.WriteString("): a length must come from Count or List, and a condition from Flag")
	return s.String()
}

// Same saves or verifies a number, such as a capacity, that must be equal when the state is saved and when it is
// loaded. If the numbers differ, the pass fails with an error that wraps [ErrLayout]. The error contains both numbers
// and the text what, which names the number. If [Coder.Portable] returns true, Same does nothing: the State must then
// check itself that the loaded values fit, and call [Coder.Differs] if they do not.
func (c *Coder) Same(what string, v uint64) {
	if c.file != nil {
		return // types are converted, and capacities are for the State to compare
	}
	if was := c.Word(v); was != v {
		c.Differs("%s was %d and is %d", what, was, v)
	}
}

// Pointer saves or loads an address in memory that begins at base, as its offset from base. If [Coder.Saving] returns
// true, Pointer returns p. In all other passes it returns base plus the saved offset; base may differ from the saved
// one. Nil stays nil. The address must lie in memory for which [Coder.Covers] was called before in the same pass. If it
// does not, loading fails with an error that wraps memory.ErrConfig, and so does saving to a slot of [Set.NewSlot].
// After an error Pointer returns nil. If [Coder.Portable] returns true, the pass fails with an error that wraps
// [ErrPortable].
func (c *Coder) Pointer(p, base unsafe.Pointer) unsafe.Pointer {
	if c.file != nil {
		c.Fail(errAddress)
		return nil
	}
	off := uint64(0)
	if p != nil {
		off = uint64(uintptr(p)-uintptr(base)) + 1
	}
	if off = c.Word(off); off == 0 || c.err != nil {
		return nil
	}
	p = unsafe.Add(base, uintptr(off-1))
	if c.demands() && !c.covers(p) {
		c.Fail(fmt.Errorf("its data %w", errUncovered))
		return nil
	}
	return p
}

// Covers tells c that the State saves an allocator whose blocks lie in the n bytes from p on. States that call
// [Coder.Pointer] for an address in these bytes must come later in the Set. An allocator that saves a page.Prefix need
// not call Covers. Other allocators must call it in each pass.
func (c *Coder) Covers(p unsafe.Pointer, n uintptr) {
	if c.pass == measuring || c.pass == fitting {
		c.covered = append(c.covered, span{uintptr(p), n})
	}
}

// demands reports whether this is a pass that finds out whether all blocks are saved.
func (c *Coder) demands() bool {
	return c.pass == measuring && !c.canonical || c.pass == fitting
}

func (c *Coder) covers(p unsafe.Pointer) bool {
	for i := len(c.covered) - 1; i >= 0; i-- {
		if s := c.covered[i]; uintptr(p)-s.from < s.size {
			return true
		}
	}
	return false
}

// Elements tells c that the State has values of type t, which may contain a container such as container.Vec. The
// elements of a container lie in a block of an allocator. This part or an earlier one must save that block with its
// contents. Such a part is an allocator that is not in [Metadata], a function of [Set.AddFunc], or a State that is no
// [Portable]. If the Set has such a function or State, an allocator in Metadata counts as well. If t contains a
// container, and no such part exists, loading fails with an error that wraps memory.ErrConfig. Saving to a slot of
// [Set.NewSlot] fails, too. If [Coder.Portable] returns true, Elements does nothing.
//
// Elements looks at types only: it cannot find out which allocator a container uses. engine.Synctest finds a wrong
// allocator if Sync.Check calls Check of the containers.
func (c *Coder) Elements(t reflect.Type) {
	if c.blocks || c.file != nil || !c.demands() || c.err != nil || !hasContainer(t) {
		return
	}
	c.Fail(fmt.Errorf("the elements of a container of %s %w", t, errElements))
}

// contained maps reflect.Type to the result of layout.HasContainer.
var contained sync.Map

func hasContainer(t reflect.Type) bool {
	has, ok := contained.Load(t)
	if !ok {
		has, _ = contained.LoadOrStore(t, layout.HasContainer(t))
	}
	return has.(bool)
}
