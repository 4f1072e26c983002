package memtest

import (
	"io"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// trimmer is what an allocator has that can give memory back and keep its addresses.
type trimmer interface{ Trim() error }

func closeTwice(t testing.TB, s Subject) {
	src := NewFaulty()
	a, err := s.New(src)
	if err != nil {
		t.Fatal(err)
	}
	MustAlloc(t, a, s.size(16), 16)
	closeIt(t, a)
	closeIt(t, a)
	check(t, a)
	if _, ok := a.(io.Closer); ok && (src.Watched() != 0 || src.Reserved() != 0) {
		t.Errorf("closed, it holds %d reservations and waits for the end of its source %d times", src.Reserved(), src.Watched())
	}
}

// useAfterClose holds a closed allocator to its errors and panics, and to empty books.
func useAfterClose(t testing.TB, s Subject) {
	a, err := s.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := a.(io.Closer); !ok {
		closeIt(t, a)
		return
	}
	p := MustAlloc(t, a, s.size(10), 1)
	closeIt(t, a)
	isClosed(t, s, a, p)
	st := stats(t, a)
	if s.Closed != nil && (st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.LargestFree != 0) {
		t.Errorf("closed, yet the books are %+v", st)
	}
	if o, ok := a.(memory.Owner); ok && o.Owns(p) {
		t.Error("a closed allocator owns what it handed out")
	}
	a.Free(nil, s.size(10))
	if f, ok := a.(memory.AnyFreer); ok {
		f.FreeAny(nil)
	}
	if after := stats(t, a); after != st {
		t.Errorf("use after Close changed the books from %+v to %+v", st, after)
	}
	check(t, a)
}

// isClosed verifies that every call fails as it must on a closed allocator; p, which was
// live before Close, has s.size(10) bytes.
func isClosed(t testing.TB, s Subject, a memory.Allocator, p unsafe.Pointer) {
	t.Helper()
	size := s.size(10)
	for _, n := range []uintptr{0, 1, size, s.MaxSize, math.MaxUint} {
		if q, err := a.Alloc(n, 1); q != nil || err == nil || s.Closed != nil && err != s.Closed {
			t.Errorf("Alloc(%d) after Close = %v, %v; want nil and an error (%v)", n, q, err, s.Closed)
		}
	}
	if b, ok := a.(memory.Baser); ok && b.Base() != nil {
		t.Errorf("Base is %p after Close; want nil", b.Base())
	}
	word := ""
	if s.Closed != nil {
		word = "closed"
	}
	refused := func(op string, f func()) {
		t.Helper()
		m := Misuse(t, f, word)
		if m.Op != op || s.Package != "" && m.Package != s.Package {
			t.Errorf("%s after Close names %s.%s", op, m.Package, m.Op)
		}
	}
	if !s.KeepsFreed {
		refused("Free", func() { a.Free(p, size) })
	}
	if f, ok := a.(memory.AnyFreer); ok {
		refused("FreeAny", func() { f.FreeAny(p) })
	}
	if z, ok := a.(memory.Sizer); ok {
		refused("SizeOf", func() { z.SizeOf(p) })
	}
	if r, ok := a.(memory.Resizer); ok {
		refused("Resize", func() { r.Resize(p, size, 2*size) })
	}
	if r, ok := a.(memory.Resetter); ok {
		refused("Reset", r.Reset)
	}
	if r, ok := a.(trimmer); ok {
		if err := r.Trim(); err != memory.ErrClosed {
			t.Errorf("Trim after Close: %v; want ErrClosed", err)
		}
	}
}

// systemKeepsMemory has the system refuse to take memory back: Trim and Close must say so,
// and Close must work once the system does.
func systemKeepsMemory(t testing.TB, s Subject) {
	src := NewFaulty()
	a, err := s.New(src)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := a.(io.Closer)
	if !ok {
		return
	}
	p := MustAlloc(t, a, s.size(10), 1)
	reserved := src.Reserved()
	src.FailReturns = true
	failingTrim(t, s, a, src)
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), s.Package) {
		t.Errorf("Close = %v, though the system kept the memory", err)
	}
	if src.Reserved() != reserved {
		t.Errorf("the failed Close left %d reservations of %d", src.Reserved(), reserved)
	}
	check(t, a)
	if st := stats(t, a); st.Live != 0 || st.InUse != 0 {
		t.Errorf("the failed Close left the books %+v", st)
	}
	switch {
	case s.ClosesAnyway:
		isClosed(t, s, a, p)
	case s.Closed != nil:
		p = MustAlloc(t, a, s.size(10), 1)
	}
	src.FailReturns = false
	closeIt(t, a)
	if src.Reserved() != 0 {
		t.Errorf("the second Close left %d reservations", src.Reserved())
	}
	isClosed(t, s, a, p)
}

// failingTrim trims while the system keeps its memory, which must change nothing, and may
// not go unsaid where there is memory to return.
func failingTrim(t testing.TB, s Subject, a memory.Allocator, src *Faulty) {
	t.Helper()
	r, ok := a.(trimmer)
	if !ok {
		return
	}
	before := stats(t, a)
	err := r.Trim()
	if after := stats(t, a); after != before {
		t.Errorf("a failed Trim changed the books from %+v to %+v", before, after)
	}
	if err == nil && !s.KeepsFreed {
		a.Free(MustAlloc(t, a, s.MaxSize, 1), s.MaxSize) // something to return
		before = stats(t, a)
		err = r.Trim()
	}
	check(t, a)
	src.FailReturns = false
	if err := r.Trim(); err != nil {
		t.Errorf("Trim once the system takes memory back: %v", err)
	}
	src.FailReturns = true
	if after := stats(t, a); err == nil && after.Committed < before.Committed {
		t.Errorf("Trim hid that the system kept %d bytes", before.Committed-after.Committed)
	}
	if err != nil && !strings.Contains(err.Error(), s.Package+": trim") {
		t.Errorf("Trim = %v, which does not say who trims", err)
	}
	check(t, a)
}

// CloseAtFaults verifies Close of an allocator whose source fails or panics. It makes two runs for each call of
// Decommit or Release in Close: in one the call fails, in the other it panics. Each run calls open, which returns an
// allocator with live blocks, and functions that use the allocator and write to its blocks. After the fault Check
// must return nil. Each of the functions must work or panic with a *memory.Misuse, and another Close must return all
// memory. A violation fails the test.
func CloseAtFaults[A interface {
	memory.Checker
	io.Closer
}](t testing.TB, open func(src page.Source) (a A, use []func())) {
	t.Helper()
	for _, arm := range []func(f *Faulty, n int){
		func(f *Faulty, n int) { f.FailReturnAt = n },
		func(f *Faulty, n int) { f.PanicReturnAt = n },
	} {
		for n, last := 1, false; !last; n++ {
			src := NewFaulty()
			a, use := open(src)
			arm(src, src.Returns()+n)
			at := src.String()
			var err error
			last = !survive(func() { err = a.Close() }) && err == nil
			MustCheck(t, a)
			for k, f := range use {
				if r := misused(f); r != nil {
					t.Errorf("%s in Close: use %d panics with %v", at, k, r)
				}
			}
			MustCheck(t, a)
			if err := a.Close(); err != nil || src.Reserved() != 0 {
				t.Errorf("%s in Close: the second one leaves %d reservations, %v", at, src.Reserved(), err)
			}
			MustCheck(t, a)
		}
	}
}

// misused runs f and returns what it panics with other than a *memory.Misuse, such as the fault
// of a touch of what is not there.
func misused(f func()) (r any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r = recover(); r != nil {
			if _, ok := r.(*memory.Misuse); ok {
				r = nil
			}
		}
	}()
	f()
	return nil
}
