//go:build memdebug || race

package invariant

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Lives records for each granule the requested size of the newest block that started there, and how many
// blocks have started there. Debug builds only. Safe for concurrent use.
//
// Its metadata is allocated by the page when a block first starts in it, and never released: a goroutine
// that frees remotely may read it at any time. Cost: 8 bytes for each granule of such a page.
type Lives struct {
	grow  sync.Mutex // held while pages is replaced or a page is made
	pages atomic.Pointer[[]atomic.Pointer[lifePage]]
	of    atomic.Pointer[extent]
}

// An extent is a reservation in granules of 1<<shift bytes.
type extent struct {
	base, size uintptr
	shift      uint
}

// A life describes the newest block that started at a granule.
type life struct {
	generation atomic.Uint32 // blocks that started there, modulo 2^32
	size       atomic.Uint32 // requested bytes, modulo 2^32
}

const lifePageShift = 10

type lifePage [1 << lifePageShift]life

// Open sets the range of the granules, size bytes at base in granules of 1<<shift bytes, for GenerationAt.
func (l *Lives) Open(base unsafe.Pointer, size uintptr, shift uint) {
	l.of.Store(&extent{uintptr(base), size, shift})
}

// GenerationAt returns the Generation of the granule that starts at p, or 0 if none does. It may be called
// by any goroutine, also after the memory was released.
func (l *Lives) GenerationAt(p unsafe.Pointer) uint32 {
	of := l.of.Load()
	if of == nil {
		return 0
	}
	off := uintptr(p) - of.base
	if off >= of.size || off&(1<<of.shift-1) != 0 {
		return 0
	}
	return l.Generation(off >> of.shift)
}

// SizeAt is Size for the granule that starts at p; 0 if none does.
func (l *Lives) SizeAt(p unsafe.Pointer) uintptr {
	if of := l.of.Load(); of != nil && l.GenerationAt(p) != 0 {
		return l.Size((uintptr(p) - of.base) >> of.shift)
	}
	return 0
}

// BeginAt is Begin for the granule that starts at p.
func (l *Lives) BeginAt(p unsafe.Pointer, size uintptr) {
	of := l.of.Load()
	l.Begin((uintptr(p)-of.base)>>of.shift, size)
}

// Begin records that a block of size bytes starts at the granule with number g.
func (l *Lives) Begin(g, size uintptr) {
	e := l.at(g)
	if e == nil {
		e = l.make(g)
	}
	e.generation.Add(1)
	e.size.Store(uint32(size))
}

// Prepare allocates the metadata of the granules below end, so that Begin allocates nothing there.
func (l *Lives) Prepare(end uintptr) {
	for g := uintptr(0); g < end; g += 1 << lifePageShift {
		if l.at(g) == nil {
			l.make(g)
		}
	}
}

// Resize records that the block at granule g now has size bytes. Begin must have been called for g.
func (l *Lives) Resize(g, size uintptr) { l.at(g).size.Store(uint32(size)) }

// Size returns the requested size of the newest block that started at granule g, modulo 2^32; 0 if
// there was none.
func (l *Lives) Size(g uintptr) uintptr {
	if e := l.at(g); e != nil {
		return uintptr(e.size.Load())
	}
	return 0
}

// Generation returns how many blocks have started at granule g, modulo 2^32.
func (l *Lives) Generation(g uintptr) uint32 {
	if e := l.at(g); e != nil {
		return e.generation.Load()
	}
	return 0
}

// at returns the entry of granule g, or nil if its page was never made.
func (l *Lives) at(g uintptr) *life {
	pages := l.pages.Load()
	if pages == nil || g>>lifePageShift >= uintptr(len(*pages)) {
		return nil
	}
	p := (*pages)[g>>lifePageShift].Load()
	if p == nil {
		return nil
	}
	return &p[g%(1<<lifePageShift)]
}

// make makes the page of granule g and returns the entry.
func (l *Lives) make(g uintptr) *life {
	l.grow.Lock()
	defer l.grow.Unlock()
	i := g >> lifePageShift
	var old []atomic.Pointer[lifePage]
	if pages := l.pages.Load(); pages != nil {
		old = *pages
	}
	if i >= uintptr(len(old)) {
		wider := make([]atomic.Pointer[lifePage], max(i+1, 2*uintptr(len(old))))
		for k := range old {
			wider[k].Store(old[k].Load())
		}
		l.pages.Store(&wider)
		old = wider
	}
	if old[i].Load() == nil {
		old[i].Store(new(lifePage))
	}
	return &old[i].Load()[g%(1<<lifePageShift)]
}

// Pages returns the number of pages that there may be, each of LifePage granules.
func (l *Lives) Pages() uintptr {
	if pages := l.pages.Load(); pages != nil {
		return uintptr(len(*pages))
	}
	return 0
}

// LifePage is the number of granules of a page.
const LifePage = 1 << lifePageShift

// Life returns the entry of granule g as one number, or 0 if its page was never made.
func (l *Lives) Life(g uintptr) uint64 {
	if e := l.at(g); e != nil {
		return uint64(e.generation.Load())<<32 | uint64(e.size.Load())
	}
	return 0
}

// SetLife sets the entry of granule g to what Life returned.
func (l *Lives) SetLife(g uintptr, v uint64) {
	e := l.at(g)
	if e == nil {
		if v == 0 {
			return
		}
		e = l.make(g)
	}
	e.generation.Store(uint32(v >> 32))
	e.size.Store(uint32(v))
}
