//go:build unix || windows

package page_test

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// faults reports whether the byte at off of m cannot be read.
func faults(m page.Memory, off uintptr) (is bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { is = recover() != nil }()
	sink = *(*byte)(unsafe.Add(m.Base, off))
	return false
}

var sink byte

func TestOS_WhatIsNotCommittedFaults(t *testing.T) {
	for _, src := range []page.Source{page.OS(), page.OSWith(page.Options{HugePages: true, Prefault: true})} {
		m := reserve(t, src, 1<<20)
		if err := src.Commit(m, 128<<10, 128<<10); err != nil {
			t.Fatal(err)
		}
		for off, want := range map[uintptr]bool{
			0: true, 128<<10 - 1: true, 128 << 10: false, 256<<10 - 1: false, 256 << 10: true,
			1<<20 - 1: true, 1 << 20: true, 1<<20 + page.Granule - 1: true, // the guard
		} {
			if got := faults(m, off); got != want {
				t.Errorf("the byte at %d faults: %t", off, got)
			}
		}
		if err := errors.Join(src.Decommit(m, 128<<10, 128<<10), src.Commit(m, 0, 0), src.Decommit(m, 0, 0)); err != nil || !faults(m, 128<<10) || !faults(m, 0) {
			t.Errorf("what was decommitted can be read, %v", err)
		}
	}
}

// On a kernel with pages of 64 KiB four granules share a page. A call for one of them must not change the others,
// and must use whole pages.
func TestOS_GranulesThatShareAPageDoNotDisturbEachOther(t *testing.T) {
	const g, pageBytes = page.Granule, 64 << 10
	var advised []uintptr
	look := func(b []byte) bool {
		advised = append(advised, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%pageBytes, uintptr(len(b)))
		return true
	}
	refuse := func(b []byte) bool { return !look(b) }
	src := page.OSOn(page.Options{HugePages: true, Prefault: true}, pageBytes, look, refuse)
	m := reserve(t, src, 11*g)
	fill := func(off, n uintptr, b byte) {
		t.Helper()
		if err := src.Commit(m, off, n); err != nil {
			t.Fatal(err)
		}
		for i, got := range bytesOf(m, off, n) {
			if got != 0 {
				t.Fatalf("byte %d of the granules at %d is %#x", i, off, got)
			}
			bytesOf(m, off, n)[i] = b
		}
	}
	holds := func(off, n uintptr, b byte) {
		t.Helper()
		for i, got := range bytesOf(m, off, n) {
			if got != b {
				t.Fatalf("byte %d of the granules at %d is %#x, want %#x", i, off, got, b)
			}
		}
	}
	fill(g, g, 1)
	if faults(m, 0) || faults(m, 4*g-1) || !faults(m, 4*g) {
		t.Error("not the whole page of the first granule is committed")
	}
	fill(2*g, 7*g, 2) // the rest of this page, the next, one of the last
	fill(9*g, 2*g, 3) // up to the end, which is inside a page
	if !faults(m, 12*g) || !faults(m, 15*g-1) {
		t.Error("the guard can be read")
	}
	if err := src.Decommit(m, 2*g, 7*g); err != nil {
		t.Fatal(err)
	}
	holds(g, g, 1)
	holds(9*g, 2*g, 3)
	if !faults(m, 4*g) || !faults(m, 8*g-1) {
		t.Error("a page that nobody shares is still there")
	}
	fill(2*g, 7*g, 4)
	if err := errors.Join(src.Decommit(m, 5*g, g), src.Decommit(m, 6*g, g)); err != nil {
		t.Fatal(err)
	}
	holds(2*g, 3*g, 4)
	holds(7*g, 2*g, 4)
	fill(5*g, 2*g, 5)
	if want := []uintptr{0, pageBytes, 0, pageBytes, 0, 3 * pageBytes}; !slices.Equal(advised[:6], want) {
		t.Errorf("advice about %d; want whole pages", advised)
	}
	if err := src.Decommit(m, 0, 8*g); err != nil || !faults(m, 0) || !faults(m, 8*g-1) {
		t.Errorf("whole pages are still there, %v", err)
	}
}

// What the options ask for reaches the system, of each committed byte, and only if they ask.
func TestOSWith_AsksForWhatTheOptionsSay(t *testing.T) {
	for _, o := range []page.Options{{}, {HugePages: true}, {Prefault: true}, {HugePages: true, Prefault: true}} {
		var huge, populated [][]byte
		src := page.OSOn(o, page.Granule, func(b []byte) bool { huge = append(huge, b); return len(huge) < 3 }, func(b []byte) bool {
			populated = append(populated, b)
			return true
		})
		m := reserve(t, src, 1<<20)
		if err := src.Commit(m, 64<<10, 128<<10); err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			got  [][]byte
			want bool
		}{"huge pages": {huge, o.HugePages}, "prefault": {populated, o.Prefault}} {
			if asked := len(c.got) == 1 && &c.got[0][0] == &bytesOf(m, 64<<10, 1)[0] && len(c.got[0]) == 128<<10; asked != c.want || !c.want && len(c.got) != 0 {
				t.Errorf("%+v: %s asked for %d times", o, what, len(c.got))
			}
		}
		var want page.Granted
		if o.HugePages {
			want.Huge = 128 << 10
		}
		if o.Prefault {
			want.Populated = 128 << 10
		}
		if got := page.GrantedBy(page.NewLimit(src, 0)); got != want {
			t.Errorf("%+v: granted are %+v", o, got)
		}
	}
}

func TestOS_ARefusalHasItsNumbers(t *testing.T) {
	src := page.OS()
	size := (^uintptr(0)>>1 - 2*page.BaseAlign) &^ (page.Granule - 1)
	var err error
	for range 3 { // 4 GiB of addresses may hold one of them
		var m page.Memory
		if m, err = src.Reserve(size); err != nil {
			break
		}
		defer src.Release(m)
	}
	var full *memory.Exhausted
	if !errors.As(err, &full) || full.Need != size+page.BaseAlign+max(page.Granule, uintptr(os.Getpagesize())) || full.Limit != full.Need || full.Cause == nil || !errors.Is(err, full.Cause) {
		t.Errorf("half the address space: %v", err)
	}
	if _, err := src.Reserve(size + page.Granule); !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "page: reserve ") || !strings.Contains(err.Error(), "want 1 to ") {
		t.Errorf("a granule more: %v; want ErrTooLarge", err)
	}
	m := reserve(t, src, 64<<10)
	if err := src.Release(m); err != nil {
		t.Fatal(err)
	}
	if err := src.Release(page.Memory{Base: m.Base, Size: m.Size}); err != nil {
		t.Errorf("a part of a reservation: %v; want nothing done", err)
	}
}

func TestOnDropped_NilIsALineOnStandardError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	page.OnDropped(func(page.Dropped) { t.Error("told after nil") })
	page.OnDropped(nil)
	was := os.Stderr
	os.Stderr = w
	page.ReportDropped(page.Dropped{Bytes: 12, Site: "here"})
	os.Stderr = was
	w.Close()
	said, err := io.ReadAll(r)
	if want := "page: 12 bytes of address space were reserved and never closed, by here\n"; err != nil || !strings.Contains(string(said), want) {
		t.Errorf("said %q, %v; want %q", said, err, want)
	}
}
