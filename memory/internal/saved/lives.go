// Package saved visits what the saved states of several allocators have.
package saved

import (
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

// Lives visits the generations and requested sizes that debug builds record for each granule of an allocator. In other
// builds it does nothing.
func Lives(c *save.Coder, l *invariant.Lives) {
	if !invariant.Debug {
		return
	}
	known := l.Pages()
	for known > 0 && !used(l, known-1) { // a load leaves pages that were made since
		known--
	}
	pages := uintptr(c.Count(int(known)))
	for i := range max(pages, l.Pages()) {
		has := i < pages && c.Flag(used(l, i))
		for g := i * invariant.LifePage; g < (i+1)*invariant.LifePage; g++ {
			v := uint64(0) // in a page that was made after the state was saved
			if has {
				v = c.Word(l.Life(g))
			}
			if c.Loading() {
				l.SetLife(g, v)
			}
		}
	}
}

// used reports whether a block has started in page i.
func used(l *invariant.Lives, i uintptr) bool {
	for g := i * invariant.LifePage; g < (i+1)*invariant.LifePage; g++ {
		if l.Life(g) != 0 {
			return true
		}
	}
	return false
}
