package memtest

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// A suite is worth what it catches. Each allocator of the gallery is a good one with one
// promise broken, and exactly the tests that are named must notice.

// A tampered heap is a good one some of whose methods are replaced.
type tampered struct {
	*tlsf.Heap
	last   unsafe.Pointer
	n      int
	keep   []byte
	closed bool
	broken bool
	most   uint64
	src    page.Source
	made   func(next *tampered) // called when the next heap is made

	alloc  func(x *tampered, size, align uintptr) (unsafe.Pointer, error)
	free   func(x *tampered, p unsafe.Pointer, size uintptr)
	any    func(x *tampered, p unsafe.Pointer)
	resize func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool
	sizeOf func(x *tampered, p unsafe.Pointer) uintptr
	stats  func(x *tampered, s memory.Stats) memory.Stats
	check  func(x *tampered) error
	reset  func(x *tampered)
	trim   func(x *tampered) error
	close  func(x *tampered) error
	owns   func(x *tampered, p unsafe.Pointer) bool
	base   func(x *tampered) unsafe.Pointer
}

func init() { whole = true }

func (x *tampered) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	x.n++
	if x.alloc != nil {
		return x.alloc(x, size, align)
	}
	return x.Heap.Alloc(size, align)
}

func (x *tampered) Free(p unsafe.Pointer, size uintptr) {
	if x.free != nil && p != nil {
		x.free(x, p, size)
		return
	}
	x.Heap.Free(p, size)
}

func (x *tampered) FreeAny(p unsafe.Pointer) {
	if x.any != nil && p != nil {
		x.any(x, p)
		return
	}
	x.Heap.FreeAny(p)
}

func (x *tampered) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	if x.resize != nil {
		return x.resize(x, p, oldSize, newSize)
	}
	return x.Heap.Resize(p, oldSize, newSize)
}

func (x *tampered) SizeOf(p unsafe.Pointer) uintptr {
	if x.sizeOf != nil {
		return x.sizeOf(x, p)
	}
	return x.Heap.SizeOf(p)
}

func (x *tampered) Stats() memory.Stats {
	if x.stats != nil {
		return x.stats(x, x.Heap.Stats())
	}
	return x.Heap.Stats()
}

func (x *tampered) Check() error {
	if x.check != nil {
		return x.check(x)
	}
	return x.Heap.Check()
}

func (x *tampered) Reset() {
	if x.reset != nil {
		x.reset(x)
		return
	}
	x.Heap.Reset()
}

func (x *tampered) Trim() error {
	if x.trim != nil {
		return x.trim(x)
	}
	return x.Heap.Trim()
}

func (x *tampered) Close() error {
	if x.close != nil {
		return x.close(x)
	}
	return x.Heap.Close()
}

func (x *tampered) Base() unsafe.Pointer {
	if x.base != nil {
		return x.base(x)
	}
	return x.Heap.Base()
}

func (x *tampered) Owns(p unsafe.Pointer) bool {
	if x.owns != nil {
		return x.owns(x, p)
	}
	return x.Heap.Owns(p)
}

// tamper returns the subject of a heap that f has been at.
func tamper(f func(x *tampered)) Subject {
	return Subject{
		MaxSize: 4096, Package: "tlsf", ExactSizes: true, Shrinks: true, Closed: memory.ErrClosed, ClosesAnyway: true,
		New: func(src page.Source) (memory.Allocator, error) {
			h, err := tlsf.New(src, tlsf.Config{Reserve: 192 << 10, Step: 16 << 10, Granule: 16})
			if err != nil {
				return nil, err
			}
			x := &tampered{Heap: h, src: src}
			f(x)
			return x, nil
		},
	}.withDefaults()
}

// fallen returns the names of the tests that s fails, sorted, and what they said.
func fallen(s Subject) (names []string, said map[string]string) {
	said = map[string]string{}
	for _, p := range append(slices.Clone(suite), faults...) {
		if r := record(func(tb testing.TB) { p.test(tb, s) }); r.failed {
			names = append(names, p.name)
			said[p.name] = r.said
		}
	}
	slices.Sort(names)
	return names, said
}

func TestGallery_EachBrokenAllocatorFailsItsTests(t *testing.T) {
	if names, said := fallen(tamper(func(*tampered) {})); len(names) != 0 {
		t.Fatalf("a good allocator fails %v: %v", names, said)
	}
	every := testenv.Step(12)
	switch {
	case testenv.Brief() && invariant.Debug:
		every = 18
	case testenv.Brief(): // under the race detector all of it takes a minute
		every = 12
	case !testenv.Night():
		every = max(every, 3)
	}
	for i := 0; i < len(gallery); i += every {
		failsExactly(t, gallery[i].name, tamper(gallery[i].tamper), gallery[i].fails)
	}
	if len(gallery) < 20 {
		t.Errorf("%d allocators in the gallery", len(gallery))
	}
}

// failsExactly verifies which tests s fails.
func failsExactly(t *testing.T, name string, s Subject, fails []string) {
	t.Helper()
	names, said := fallen(s)
	want := slices.Clone(fails)
	slices.Sort(want)
	if invariant.Debug { // the heap below verifies what it has poisoned: more may notice
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(want, n) })
	}
	if !slices.Equal(names, want) {
		t.Errorf("%s fails\n\t%q,\nwant\n\t%q\n%v", name, names, want, said)
	}
}

var errFull = errors.New("full")
