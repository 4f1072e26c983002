// Package saved visits what only debug builds record, for the saved states of allocators.
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
	for c.Saving() && known > 0 && !used(l, known-1) { // a load leaves pages that were made since
		known--
	}
	pages := c.Count(int(known))
	for i := range uintptr(pages) {
		first := i * invariant.LifePage
		if !c.Flag(c.Saving() && used(l, i)) {
			forget(c, l, first)
			continue
		}
		for g := first; g < first+invariant.LifePage; g++ {
			if v := c.Word(l.Life(g)); c.Loading() {
				l.SetLife(g, v)
			}
		}
	}
	for i := uintptr(pages); i < l.Pages(); i++ {
		forget(c, l, i*invariant.LifePage)
	}
}

// used reports whether a block has started in page i.
func used(l *invariant.Lives, i uintptr) bool {
	first := i * invariant.LifePage
	if !l.Has(first) {
		return false
	}
	for g := first; g < first+invariant.LifePage; g++ {
		if l.Life(g) != 0 {
			return true
		}
	}
	return false
}

// forget clears a page that was made after the state was saved.
func forget(c *save.Coder, l *invariant.Lives, first uintptr) {
	if !c.Loading() || !l.Has(first) {
		return
	}
	for g := first; g < first+invariant.LifePage; g++ {
		l.SetLife(g, 0)
	}
}
