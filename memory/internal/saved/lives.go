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
	pages := c.Count(int(l.Pages()))
	for i := range uintptr(pages) {
		first := i * invariant.LifePage
		if !c.Flag(l.Has(first)) {
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

// forget clears a page that was made after the state was saved.
func forget(c *save.Coder, l *invariant.Lives, first uintptr) {
	if !c.Loading() || !l.Has(first) {
		return
	}
	for g := first; g < first+invariant.LifePage; g++ {
		l.SetLife(g, 0)
	}
}
