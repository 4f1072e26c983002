package saved

import (
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

// Committed visits the committed bytes of mem, a page.Prefix, up to the offset end: runs, each after its place and
// length. Debug builds save free memory, too, because it contains poison.
func Committed(c *save.Coder, mem interface {
	Base() unsafe.Pointer
	NextHole(off uintptr) (from, to uintptr)
}, end uintptr) {
	for off := uintptr(0); ; {
		from, to := mem.NextHole(off)
		for from == off && off < min(end, to) { // the run begins behind the hole
			off = to
			from, to = mem.NextHole(off)
		}
		at, n := uintptr(c.Word(uint64(off))), uintptr(c.Word(uint64(min(from, end)-min(off, end))))
		if n == 0 || c.Failed() {
			return
		}
		c.Raw(unsafe.Add(mem.Base(), at), n)
		off = to
	}
}
