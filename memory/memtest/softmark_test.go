package memtest

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// What happens within the outer Alloc happens while the mark's function runs.
func TestSoftMark_NoticesWhatIsHadTwice(t *testing.T) {
	type calls struct {
		*tampered
		depth int
	}
	shared := "share some with"
	if invariant.Debug {
		shared = "use after free or overflow" // the heap below is the first to notice
	}
	for name, c := range map[string]struct {
		alloc func(x *calls, size, align uintptr) (unsafe.Pointer, error)
		heap  func(x *calls)
		want  string
	}{
		"right": {nil, nil, ""},
		"a nested Alloc has the last block": {func(x *calls, size, align uintptr) (unsafe.Pointer, error) {
			if x.depth > 1 && x.last != nil {
				return x.last, nil
			}
			p, err := x.Heap.Alloc(size, align)
			x.last = p
			return p, err
		}, nil, shared},
		"a nested Alloc has nothing": {func(x *calls, size, align uintptr) (unsafe.Pointer, error) {
			if x.depth > 1 {
				return nil, nil
			}
			return x.Heap.Alloc(size, align)
		}, nil, ": <nil>"},
		"a nested Alloc has an error of nobody's": {func(x *calls, size, align uintptr) (unsafe.Pointer, error) {
			if x.depth > 1 {
				return nil, errFull
			}
			return x.Heap.Alloc(size, align)
		}, nil, ": full"},
		"a nested Alloc is refused for another reason": {func(x *calls, size, align uintptr) (unsafe.Pointer, error) {
			if x.depth > 1 {
				panic(&memory.Misuse{Package: "tlsf", Op: "Alloc", Reason: "busy"})
			}
			return x.Heap.Alloc(size, align)
		}, nil, "where more must be committed: tlsf.Alloc: busy"},
		"a nested Alloc panics with no Misuse": {func(x *calls, size, align uintptr) (unsafe.Pointer, error) {
			if x.depth > 1 {
				panic(errFull)
			}
			return x.Heap.Alloc(size, align)
		}, nil, "where more must be committed: full"},
		"the books break": {nil, func(x *calls) { x.check = func(*tampered) error { return errFull } }, "full"},
		"Close fails":     {nil, func(x *calls) { x.close = func(*tampered) error { return errFull } }, "full"},
		"Resize grants what it has not": {nil, func(x *calls) {
			x.resize = func(*tampered, unsafe.Pointer, uintptr, uintptr) bool { return true }
		}, shared},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			SoftMark(tb, func(src page.Source) memory.Allocator {
				h, err := tlsf.New(src, tlsf.Config{Reserve: 8 << 20, Step: 16 << 10})
				if err != nil {
					t.Fatal(err)
				}
				x := &calls{tampered: &tampered{Heap: h}}
				if c.heap != nil {
					c.heap(x)
				}
				if c.alloc != nil {
					x.tampered.alloc = func(_ *tampered, size, align uintptr) (unsafe.Pointer, error) {
						x.depth++
						defer func() { x.depth-- }()
						return c.alloc(x, size, align)
					}
				}
				return x
			})
		})
	}
}

func TestSoftMarkCloses_WantsTheAllocToSaySo(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(x *tampered)
		want   string
	}{
		"right": {untouched, ""},
		"it is only out of memory": {func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err != nil {
					err = memory.ErrOutOfMemory
				}
				return p, err
			}
		}, "Alloc = 0x0, memory: out of memory; want nil and ErrClosed"},
		"a block comes with it": {func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				_, err := x.Heap.Alloc(size, align)
				return unsafe.Pointer(x), err
			}
		}, "want nil and ErrClosed"},
		"Close fails":     {func(x *tampered) { x.close = func(x *tampered) error { return errors.Join(x.Heap.Close(), errFull) } }, "Close: full"},
		"the books break": {func(x *tampered) { x.check = func(*tampered) error { return errFull } }, "Check: full"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			SoftMarkCloses(tb, func(src page.Source) memory.Allocator {
				h, err := heap(src)
				if err != nil {
					t.Fatal(err)
				}
				x := &tampered{Heap: h}
				c.tamper(x)
				return x
			})
		})
	}
	saysOnly(t, "a page stays", "closed, 16384 bytes are committed", func(tb testing.TB) {
		SoftMarkCloses(tb, func(src page.Source) memory.Allocator {
			h, err := heap(src)
			if err != nil {
				t.Fatal(err)
			}
			x := &tampered{Heap: h}
			x.close = func(x *tampered) error {
				if !x.closed {
					x.closed = true
					m, _ := src.Reserve(page.Granule)
					_ = src.Commit(m, 0, page.Granule)
				}
				return x.Heap.Close()
			}
			return x
		})
	})
}
