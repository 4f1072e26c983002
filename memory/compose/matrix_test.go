package compose_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// The optional interfaces, one bit each.
const (
	resets = 1 << iota
	resizes
	trims
	sizes
	freesAny
	bases
	all = 1<<iota - 1
)

// optional returns the interfaces that a type assertion finds in a.
func optional(a memory.Allocator) (found int) {
	bit := func(ok bool, b int) {
		if ok {
			found |= b
		}
	}
	_, ok := a.(memory.Resetter)
	bit(ok, resets)
	_, ok = a.(memory.Resizer)
	bit(ok, resizes)
	_, ok = a.(memory.Trimmer)
	bit(ok, trims)
	_, ok = a.(memory.Sizer)
	bit(ok, sizes)
	_, ok = a.(memory.AnyFreer)
	bit(ok, freesAny)
	_, ok = a.(memory.Baser)
	bit(ok, bases)
	return found
}

// partsOf returns allocators in a heap that have all optional interfaces, none, all but one, and only one.
func partsOf(h *tlsf.Heap) []memory.Allocator {
	type required interface {
		memory.Allocator
		memory.Owner
		memory.StatsReporter
		memory.Checker
		io.Closer
	}
	return []memory.Allocator{
		h,
		struct{ required }{h},
		struct {
			required
			memory.Resizer
			memory.Trimmer
			memory.Sizer
			memory.AnyFreer
			memory.Baser
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
			memory.Trimmer
			memory.Sizer
			memory.AnyFreer
			memory.Baser
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
			memory.Resizer
			memory.Sizer
			memory.AnyFreer
			memory.Baser
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			memory.AnyFreer
			memory.Baser
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			memory.Sizer
			memory.Baser
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			memory.Sizer
			memory.AnyFreer
		}{h, h, h, h, h, h},
		struct {
			required
			memory.Resetter
		}{h, h},
		struct {
			required
			memory.Resizer
		}{h, h},
		struct {
			required
			memory.Trimmer
		}{h, h},
		struct {
			required
			memory.Sizer
		}{h, h},
		struct {
			required
			memory.AnyFreer
		}{h, h},
		struct {
			required
			memory.Baser
		}{h, h},
	}
}

// lacking returns allocators in a heap that lack one method that a part needs, by its name.
func lacking(h *tlsf.Heap) map[string]memory.Allocator {
	return map[string]memory.Allocator{
		"Owns": struct {
			memory.Allocator
			memory.StatsReporter
			memory.Checker
			io.Closer
		}{h, h, h, h},
		"Stats": struct {
			memory.Allocator
			memory.Owner
			memory.Checker
			io.Closer
		}{h, h, h, h},
		"Check": struct {
			memory.Allocator
			memory.Owner
			memory.StatsReporter
			io.Closer
		}{h, h, h, h},
		"Close": struct {
			memory.Allocator
			memory.Owner
			memory.StatsReporter
			memory.Checker
		}{h, h, h, h},
		"Owns, Stats, Check, Close": struct{ memory.Allocator }{h},
	}
}

func openHeap(t *testing.T) *tlsf.Heap {
	return memtest.Opened(t, must(tlsf.New(nil, tlsf.Config{Reserve: 256 << 10, Step: 16 << 10, Granule: 16})), nil)
}

// together returns the optional interfaces that a composition of parts with a and b has: those of both, and
// SizeOf only with FreeAny.
func together(a, b int) int {
	c := a & b
	if c&(sizes|freesAny) != sizes|freesAny {
		c &^= sizes | freesAny
	}
	return c
}

// works calls each optional method of a that a type assertion finds, on blocks of both sizes, which are those
// of the parts.
func works(t *testing.T, what string, a compose.Allocator) {
	t.Helper()
	blocks := map[uintptr]unsafe.Pointer{}
	for _, size := range []uintptr{50, 5000} {
		blocks[size] = memtest.MustAlloc(t, a, size, 16)
	}
	if r, ok := a.(memory.Resizer); ok {
		for size, p := range blocks {
			if !r.Resize(p, size, size-1) || !r.Resize(p, size-1, size) || r.Resize(p, size, ^uintptr(0)>>1) {
				t.Errorf("%s: Resize of %d bytes", what, size)
			}
		}
	}
	if s, ok := a.(memory.Sizer); ok {
		for size, p := range blocks {
			if got := s.SizeOf(p); got < size || got > size+16 {
				t.Errorf("%s: SizeOf is %d, want %d", what, got, size)
			}
		}
	}
	if f, ok := a.(memory.AnyFreer); ok {
		for size, p := range blocks {
			f.FreeAny(p)
			blocks[size] = memtest.MustAlloc(t, a, size, 16)
		}
		if s := a.Stats(); s.Live != 2 {
			t.Errorf("%s: FreeAny: %d live", what, s.Live)
		}
	}
	if b, ok := a.(memory.Baser); ok {
		from, reach := uintptr(b.Base()), a.(interface{ Extent() uintptr }).Extent()
		for size, p := range blocks {
			if from == 0 || uintptr(p) < from || uintptr(p)+size > from+reach {
				t.Errorf("%s: a block lies outside %d bytes from Base", what, reach)
			}
		}
	}
	for size, p := range blocks {
		if !a.Owns(p) {
			t.Errorf("%s: does not own a block of %d bytes", what, size)
		}
	}
	if r, ok := a.(memory.Resetter); ok {
		r.Reset()
	} else {
		for size, p := range blocks {
			a.Free(p, size)
		}
	}
	if s := a.Stats(); s.Live != 0 {
		t.Errorf("%s: %d live", what, s.Live)
	}
	if tr, ok := a.(memory.Trimmer); ok {
		if err := tr.Trim(); err != nil || a.Stats().Committed != 0 {
			t.Errorf("%s: Trim: %v, %d bytes committed", what, err, a.Stats().Committed)
		}
	}
	if err := a.Check(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// A type assertion on a composition finds an interface if and only if it works: over parts with and without
// each interface.
func TestCompositions_HaveExactlyWhatWorks(t *testing.T) {
	first, second := openHeap(t), openHeap(t)
	firsts, seconds := partsOf(first), partsOf(second)
	for i, p := range firsts {
		for name, c := range map[string]struct {
			a    compose.Allocator
			want int
		}{
			"Locked":  {must(compose.NewLocked(p, nil)), together(optional(p), all)},
			"Counted": {must(compose.NewCounted(p, compose.CountedConfig{})), optional(p) | sizes | freesAny},
		} {
			what := fmt.Sprintf("%s of part %d", name, i)
			if got := optional(c.a); got != c.want {
				t.Errorf("%s: %06b, want %06b", what, got, c.want)
			}
			works(t, what, c.a)
		}
		for j, q := range seconds {
			want := together(optional(p), optional(q)) &^ bases
			for name, a := range map[string]compose.Allocator{
				"Fallback": must(compose.NewFallback(p, q)),
				"BySize":   must(compose.NewBySize(100, p, q)),
			} {
				what := fmt.Sprintf("%s of parts %d and %d", name, i, j)
				if got := optional(a); got != want {
					t.Errorf("%s: %06b, want %06b", what, got, want)
				}
				works(t, what, a)
			}
		}
	}
}

func TestCompositions_NameTheMethodThatAPartLacks(t *testing.T) {
	h, other := openHeap(t), openHeap(t)
	for method, p := range lacking(h) {
		for name, err := range map[string]error{
			"first":  second(compose.NewFallback(p, other)),
			"second": second(compose.NewFallback(other, p)),
			"small":  second(compose.NewBySize(8, p, other)),
			"large":  second(compose.NewBySize(8, other, p)),
			"inner":  second(compose.NewLocked(p, nil)),
		} {
			if err == nil || !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "the "+name+" allocator") ||
				!strings.Contains(err.Error(), "has no "+method+"; NewCounted adds it") {
				t.Errorf("%s without %s: %v", name, method, err)
			}
		}
		c := must(compose.NewCounted(p, compose.CountedConfig{}))
		if got := optional(c); got != sizes|freesAny {
			t.Errorf("Counted without %s: %06b", method, got)
		}
		works(t, "Counted without "+method, c)
		works(t, "Locked of it", must(compose.NewLocked(c, nil)))
	}
}
