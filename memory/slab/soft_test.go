package slab

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A budget's soft mark is told in the midst of the Alloc that commits, and what a program does
// then is to free.
func TestAlloc_WhatTheSoftMarkFreesIsNeitherLostNorHadTwice(t *testing.T) {
	const size = 512
	for name, relieve := range map[string]func(h *Heap, live map[unsafe.Pointer]bool){
		"Free": func(h *Heap, live map[unsafe.Pointer]bool) {
			for p := range live {
				h.Free(p, size)
			}
			clear(live)
		},
		"Free and Trim": func(h *Heap, live map[unsafe.Pointer]bool) {
			for p := range live {
				h.Free(p, size)
			}
			clear(live)
			if err := h.Trim(); err != nil { // what is being committed stays
				t.Error(err)
			}
		},
		"Reset": func(h *Heap, live map[unsafe.Pointer]bool) { h.Reset(); clear(live) },
		"Close": func(h *Heap, live map[unsafe.Pointer]bool) {
			if err := h.Close(); err == nil {
				t.Error("memory was released while it was being committed")
			}
			clear(live)
		},
	} {
		t.Run(name, func(t *testing.T) {
			limit := page.NewLimit(nil, 0)
			h, err := New(limit, Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			live, told := map[unsafe.Pointer]bool{}, 0
			limit.OnSoft(400<<10, func(uintptr, uintptr) { told++; relieve(h, live) })
			for range 3000 {
				p, err := h.Alloc(size, 8)
				if err != nil || live[p] {
					t.Fatalf("%v, %p is live: %t", err, p, live[p])
				}
				live[p] = true
				*(*byte)(unsafe.Add(p, size-1)) = 1 // it is backed
			}
			if err := h.Check(); err != nil || told != 1 || h.Stats().Live != uint64(len(live)) {
				t.Errorf("%v; told %d times, %d live of %d", err, told, h.Stats().Live, len(live))
			}
		})
	}
}

// It must not allocate, and is refused where that would commit. What lies committed it gets, and
// then that is not handed out twice.
func TestAlloc_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	for before := range memtest.Rounds(20) {
		for _, size := range []uintptr{64 << 10, 20_000, 1000} {
			for _, nested := range []uintptr{500, 6000, size} {
				limit := page.NewLimit(nil, 0)
				h, err := New(limit, Config{MaxSize: 64 << 10, Reserve: 8 << 20})
				if err != nil {
					t.Fatal(err)
				}
				live := map[unsafe.Pointer]uintptr{}
				take := func(size uintptr) {
					p, err := h.Alloc(size, 16)
					if err != nil {
						t.Fatal(err)
					}
					for q, n := range live {
						if uintptr(p)-uintptr(q) < n || uintptr(q)-uintptr(p) < size {
							t.Fatalf("%d bytes at %p, %d live at %p", size, p, n, q)
						}
					}
					live[p] = size
					*(*byte)(unsafe.Add(p, size-1)) = 1 // it is backed
				}
				for range before {
					take(3000)
				}
				h.Reset() // so that much is committed and little is in use
				clear(live)
				take(3000)
				limit.OnSoft(limit.Committed(), func(uintptr, uintptr) {
					limit.OnSoft(0, nil)
					if before%4 == 3 {
						h.Reset()
						clear(live)
					}
					defer func() {
						if m, ok := recover().(*memory.Misuse); ok && m.Op != "Ensure" {
							t.Errorf("what must be committed for it: %v", m)
						}
					}()
					for n := 0; before%8 < 4 || n == 0; n++ { // all that there is, or one
						take(nested)
					}
				})
				for limit.Committed() < 160<<10 {
					take(size)
				}
				for p, n := range live {
					h.Free(p, n)
				}
				if err := h.Check(); err != nil || h.Stats().Live != 0 {
					t.Fatalf("%d before %d bytes, and %d in between: %v", before, size, nested, err)
				}
				if err := h.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// The span that a class took in the midst of another's commit is not forgotten.
func TestAlloc_TheRestOfASpanThatTheSoftMarkTookIsKept(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	h, err := New(limit, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	told, got := 0, map[unsafe.Pointer]bool{}
	limit.OnSoft(16<<10, func(uintptr, uintptr) {
		told++
		h.Reset()
		got[memtest.MustAlloc(t, h, 16, 16)] = true
	})
	for told == 0 {
		if p := memtest.MustAlloc(t, h, 16, 16); told > 0 {
			got[p] = true
		}
	}
	if err := h.Check(); err != nil || told != 1 {
		t.Errorf("told %d times: %v", told, err)
	}
	for range 3000 {
		got[memtest.MustAlloc(t, h, 16, 16)] = true
	}
	if len(got) != 3002 {
		t.Errorf("%d blocks in %d places", 3002, len(got))
	}
}
