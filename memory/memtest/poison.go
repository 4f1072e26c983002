package memtest

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Poisoned verifies that an allocator fills free memory during a program of 2,000 steps. Call Poisoned only in builds
// that fill free memory. a must be empty, and a memory.Trimmer and memory.Resetter: the program calls Trim every 100
// steps and Reset every 700 steps. The program allocates blocks, frees them in any order and, if a is a memory.Resizer,
// resizes them in place. After every step Poisoned calls the function poisoned, which must return an error if free
// memory is not filled. If it returns an error, the test fails.
func Poisoned(t testing.TB, a memory.Allocator, poisoned func() error) {
	t.Helper()
	r, shadow := rand.New(rand.NewPCG(3, 5)), NewShadow(t)
	resizer, canResize := a.(memory.Resizer)
	for step := range 2000 {
		n := len(shadow.Live())
		switch what := r.IntN(10); {
		case what < 5:
			size, al := uintptr(r.UintN(8000)), uintptr(1)<<r.UintN(13)
			if p, err := a.Alloc(size, al); err == nil {
				shadow.Add(p, size, al)
			}
		case what < 8 && n > 0:
			b := shadow.Take(r.IntN(n))
			a.Free(b.Ptr, b.Size)
		case n > 0 && canResize:
			k := r.IntN(n)
			b, size := shadow.Live()[k], uintptr(r.UintN(9000))
			if resizer.Resize(b.Ptr, b.Size, size) {
				shadow.Resize(k, size)
			}
		}
		if step%100 == 99 {
			if err := a.(memory.Trimmer).Trim(); err != nil {
				t.Fatal(err)
			}
		}
		if step%700 == 699 {
			shadow.Clear()
			a.(memory.Resetter).Reset()
		}
		if err := poisoned(); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
	}
}

// WriteIsTold verifies that Alloc of a debug build reports a write to a freed block. a must be a memory.StatsReporter.
// p must be a freed block that the next Alloc of size bytes, aligned to al, would return. WriteIsTold writes 0x41 at
// the offset `at` of p, and calls this Alloc. The Alloc must panic with a *memory.Misuse whose Addr is p, and whose
// text contains ".Alloc", "use after free" and all strings of want. The Alloc must not change Stats, and Check must
// return nil. A second Alloc must return p.
func WriteIsTold(t testing.TB, a memory.Allocator, p unsafe.Pointer, size, al, at uintptr, want ...string) {
	t.Helper()
	*(*byte)(unsafe.Add(p, at)) = 0x41
	before := stats(t, a)
	m := Misuse(t, func() { _, _ = a.Alloc(size, al) }, append(want, ".Alloc", "use after free")...)
	if m.Addr != uintptr(p) {
		t.Errorf("it names %#x, the block is %p", m.Addr, p)
	}
	if after := stats(t, a); after != before {
		t.Errorf("it changed the books from %+v to %+v", before, after)
	}
	check(t, a)
	if q := MustAlloc(t, a, size, al); q != p {
		t.Errorf("the block was lost: %p, want %p", q, p)
	}
}

// OverflowIsToldByResize verifies that Resize of a debug build reports a write after the end of a block. It allocates a
// block of 256 bytes and writes the byte at offset 300. a must be a memory.Resizer and a memory.StatsReporter, with 768
// free bytes after this block. A Resize to 1024 bytes must panic with a *memory.Misuse whose text names the byte and
// contains all strings of want. This Resize must not change Stats, and Check must return nil. A second Resize must
// succeed.
func OverflowIsToldByResize(t testing.TB, a memory.Allocator, want ...string) {
	t.Helper()
	r := a.(memory.Resizer)
	p := MustAlloc(t, a, 256, 1)
	*(*byte)(unsafe.Add(p, 300)) = 7
	before := stats(t, a)
	Misuse(t, func() { r.Resize(p, 256, 1024) }, append(want, "byte 44 of 768 free bytes was written, with 0x7")...)
	if after := stats(t, a); after != before {
		t.Errorf("it changed the books from %+v to %+v", before, after)
	}
	check(t, a)
	if !r.Resize(p, 256, 1024) {
		t.Error("the block does not grow any more")
	}
}

// CopiesAreNamed verifies that each type is or contains an invariant.Owner, so that `go vet` reports copies. It does
// not run `go vet`.
func CopiesAreNamed(t testing.TB, types ...reflect.Type) {
	t.Helper()
	for _, of := range types {
		if !embedsOwner(of) {
			t.Errorf("a copy of %s hands out the same bytes, and vet says nothing", of)
		}
	}
}

func embedsOwner(t reflect.Type) bool {
	if t == reflect.TypeFor[invariant.Owner]() {
		return true
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if embedsOwner(t.Field(i).Type) {
			return true
		}
	}
	return false
}
