package slab

import (
	"testing"
	"unsafe"

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
