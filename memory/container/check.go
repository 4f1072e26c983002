package container

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A report has what a Check found.
type report struct{ findings.List }

// byValue reports whether a T may be read out of bytes from elsewhere, which is not so where it
// holds a Go pointer: no container has had a block for such a T, and the collector would follow
// what a stranger wrote.
func byValue[T any](r *report) bool {
	err := memory.PointerFree[T]()
	if err != nil {
		r.Add("%w", err)
	}
	return err == nil
}

// guarded runs f, which reads memory that corrupt books name, and reports a touch of addresses
// that are not backed as a fault like any other.
func (r *report) guarded(f func()) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		v := recover()
		if a, ok := v.(interface{ Addr() uintptr }); ok {
			r.Add("no memory at %#x, where a block should be", a.Addr())
		} else if v != nil {
			panic(v)
		}
	}()
	f()
}

// block verifies that a block of count times size bytes can lie at off, as far as the books of
// the allocator tell: all of them know their range, those that are a memory.Sizer the block.
func (r *report) block(sp *Space, name string, off, count uint64, size, align uintptr) bool {
	switch bytes := count * uint64(size); {
	case size > 0 && bytes/uint64(size) != count || bytes > uint64(memory.Extent(sp.a)) || off > uint64(memory.Extent(sp.a))-bytes:
		r.Add("%s: %d bytes, %d times, at offset %d are not within the %d bytes of the allocator", name, size, count, off, memory.Extent(sp.a))
	case off%uint64(align) != 0:
		r.Add("%s: offset %d is not aligned to %d", name, off, align)
	default:
		if why := sp.whyNot(off, uintptr(bytes)); why != "" {
			r.Add("%s: %d bytes at offset %d: %s", name, bytes, off, why)
			return false
		}
		return true
	}
	return false
}

// whyNot says why no live block of size bytes is at off, where the allocator knows its blocks;
// "" where one may be.
func (sp *Space) whyNot(off uint64, size uintptr) (why string) {
	z, ok := sp.a.(memory.Sizer)
	if !ok {
		return ""
	}
	if m := misuse(func() { why = sp.wrongSize(z, off, size) }); m != nil && !inEvent(m) {
		why = m.Error()
	}
	return why
}

// inEvent reports whether m says only that OnEvent of a compose.Counter is running, which answers nothing about blocks
// until OnEvent returns.
func inEvent(m *memory.Misuse) bool {
	return m.Package == "compose" && strings.HasPrefix(m.Reason, "OnEvent calls")
}

// wrongSize says why the block at off was not requested with size bytes; "" where it may have been. An
// allocator that rounds sizes up is asked to resize the block from size to size, which changes nothing
// and is a Misuse if no request of size bytes would have got that block.
func (sp *Space) wrongSize(z memory.Sizer, off uint64, size uintptr) (why string) {
	has := z.SizeOf(sp.at(off))
	if has < size {
		return fmt.Sprintf("the block there has %d bytes", has)
	}
	if r, ok := sp.a.(memory.Resizer); ok && (has > size || invariant.Debug) { // debug builds know sizes to the byte
		if m := misuse(func() { r.Resize(sp.at(off), size, size) }); m != nil {
			return fmt.Sprintf("the block there has %d bytes (%v)", has, m)
		}
	}
	return ""
}

// misuse runs f and returns the *memory.Misuse that it panics with, or nil.
func misuse(f func()) (m *memory.Misuse) {
	defer func() {
		if v := recover(); v != nil {
			var ok bool
			if m, ok = v.(*memory.Misuse); !ok {
				panic(v)
			}
		}
	}()
	f()
	return nil
}

// zero reports whether n bytes from p are all 0.
func zero(p unsafe.Pointer, n uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(p), n) {
		if b != 0 {
			return false
		}
	}
	return true
}
