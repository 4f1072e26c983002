package memtest

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

func TestMargins_OutsideIsNeverInAReservation(t *testing.T) {
	src := NewMargins()
	var held []page.Memory
	for _, size := range []uintptr{1, page.Granule, 3 * page.Granule, 1 << 20} {
		m, err := src.Reserve(size)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(m.Base)%page.BaseAlign != 0 || m.Size < size || m.Size >= size+page.Granule {
			t.Fatalf("Reserve(%d) = %d bytes at %p", size, m.Size, m.Base)
		}
		held = append(held, m)
		last := m.Size - page.Granule
		if err := src.Commit(m, last, page.Granule); err != nil {
			t.Fatal(err)
		}
		b := (*byte)(unsafe.Add(m.Base, m.Size-1))
		*b = 7
		if err := src.Decommit(m, last, page.Granule); err != nil {
			t.Fatal(err)
		}
		if err := src.Commit(m, last, page.Granule); err != nil || *b != 0 {
			t.Fatalf("committed again, the last byte is %d, %v", *b, err)
		}
	}
	for len(held) > 0 {
		out := src.Outside()
		if len(out) != len(held)*2*21 {
			t.Errorf("%d addresses outside of %d reservations", len(out), len(held))
		}
		for _, m := range held {
			if slices.ContainsFunc(out, m.Contains) {
				t.Errorf("an address outside lies in the %d bytes at %p", m.Size, m.Base)
			}
			for _, p := range []unsafe.Pointer{unsafe.Add(m.Base, -1), unsafe.Add(m.Base, m.Size)} {
				if !slices.Contains(out, p) {
					t.Errorf("%p, just outside of the %d bytes at %p, is missing", p, m.Size, m.Base)
				}
			}
		}
		if err := src.Release(held[0]); err != nil {
			t.Fatal(err)
		}
		held = held[1:]
	}
	if _, err := src.Reserve(0); err == nil {
		t.Error("no bytes can be reserved")
	}
	if _, err := src.Reserve(^uintptr(0)); err == nil {
		t.Error("all of the address space can be reserved")
	}
}

// Under -race a base in front of the reservation ended the process in most runs, where that part of
// the Go heap was unused. It lies in a margin now.
func TestBaseStays_WrongBasesAreLegalPointers(t *testing.T) {
	var between [][]byte // each has a span of its own, whose end is unused
	for range 40 {
		for _, g := range gallery {
			if g.name == "a base that is not aligned" {
				between = append(between, make([]byte, 4864))
				s := tamper(g.tamper)
				if r := record(func(tb testing.TB) { baseStays(tb, s) }); !r.failed {
					t.Errorf("%s: BaseStays passes", g.name)
				}
				runtime.GC() // it looks for bad pointers, too
			}
		}
	}
	runtime.KeepAlive(between)
}
