package compose

import (
	"io"

	"github.com/strata-go/strata/memory"
)

// Capabilities are what an allocator can do beyond Alloc and Free, one bit for each interface.
type Capabilities uint16

// The capabilities, and their interfaces.
const (
	Resets   Capabilities = 1 << iota // memory.Resetter
	Resizes                           // memory.Resizer
	Owns                              // memory.Owner
	Sizes                             // memory.Sizer
	FreesAny                          // memory.AnyFreer
	Trims                             // memory.Trimmer
	Reports                           // memory.StatsReporter
	Checks                            // memory.Checker
	Closes                            // io.Closer
	Bases                             // memory.Baser

	// All is every one of them.
	All = Resets | Resizes | Owns | Sizes | FreesAny | Trims | Reports | Checks | Closes | Bases
)

// Capable is an allocator whose methods promise more than it can keep, because what it stands
// on can not. Every composition is one.
type Capable interface{ Can() Capabilities }

// Can returns what works on every block of a: what it says itself if it is Capable, and else
// the interfaces that it has. Cost: ten type assertions.
func Can(a memory.Allocator) Capabilities {
	if c, ok := a.(Capable); ok {
		return c.Can()
	}
	p := partOf(a)
	return p.can()
}

// A part is an allocator below a composition. What it can do is found once: an interface that
// is nil is a capability that it lacks.
type part struct {
	memory.Allocator
	resetter memory.Resetter
	resizer  memory.Resizer
	owner    memory.Owner
	sizer    memory.Sizer
	anyFreer memory.AnyFreer
	trimmer  memory.Trimmer
	reporter memory.StatsReporter
	checker  memory.Checker
	closer   io.Closer
	baser    memory.Baser
}

// partOf finds what a has, less what it says that it cannot do.
func partOf(a memory.Allocator) part {
	can := All
	if c, ok := a.(Capable); ok {
		can = c.Can()
	}
	return part{
		Allocator: a,
		resetter:  having[memory.Resetter](a, can&Resets),
		resizer:   having[memory.Resizer](a, can&Resizes),
		owner:     having[memory.Owner](a, can&Owns),
		sizer:     having[memory.Sizer](a, can&Sizes),
		anyFreer:  having[memory.AnyFreer](a, can&FreesAny),
		reporter:  having[memory.StatsReporter](a, can&Reports), // half a report is none
		baser:     having[memory.Baser](a, can&Bases),
		// These do what they can on the parts that have them.
		trimmer: having[memory.Trimmer](a, All),
		checker: having[memory.Checker](a, All),
		closer:  having[io.Closer](a, All),
	}
}

// having returns a as an I, or nil where it is none or may not.
func having[I any](a memory.Allocator, may Capabilities) (i I) {
	if may != 0 {
		i, _ = a.(I)
	}
	return i
}

func (p *part) can() (c Capabilities) {
	for i, has := range [...]bool{
		p.resetter != nil, p.resizer != nil, p.owner != nil, p.sizer != nil, p.anyFreer != nil,
		p.trimmer != nil, p.reporter != nil, p.checker != nil, p.closer != nil, p.baser != nil,
	} {
		if has {
			c |= 1 << i
		}
	}
	if inner, ok := p.Allocator.(Capable); ok {
		c &= inner.Can()
	}
	return c
}
