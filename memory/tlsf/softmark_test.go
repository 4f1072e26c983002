package tlsf

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// The function of a soft mark runs during the call that commits.
func TestAlloc_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	memtest.SoftMark(t, func(src page.Source) memory.Allocator {
		a, err := New(src, Config{Reserve: 8 << 20, Step: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		return a
	})
}

func TestAlloc_AHeapThatTheSoftMarkClosesIsClosed(t *testing.T) {
	open := func(src page.Source) memory.Allocator {
		h, err := New(src, Config{Reserve: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	memtest.SoftMarkCloses(t, open)
	memtest.SoftMarkEnds(t, open)
}

// If the heap is closed during Alloc, the retries within Alloc report ErrClosed and not exhaustion.
func TestAlloc_CloseDuringAllocIsErrClosed(t *testing.T) {
	closes := map[string]func(*Heap, *page.Limit){
		"mark": func(h *Heap, l *page.Limit) {
			l.OnSoft(l.Committed(), func(uintptr, uintptr) { _ = h.Close() })
			h.OnShort(func() { t.Error("a closed heap has called the function of OnShort") })
		},
		"short": func(h *Heap, _ *page.Limit) { h.OnShort(func() { _ = h.Close() }) },
	}
	for name, arm := range closes {
		limit := page.NewLimit(nil, 256<<10)
		h := newHeap(t, limit, Config{Reserve: 1 << 20, QuickBytes: 64 << 10})
		arm(h, limit)
		var err error
		for err == nil {
			_, err = h.Alloc(60_000, 8) // which a quick stack rounds up
		}
		if !errors.Is(err, memory.ErrClosed) || errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: Alloc: %v; want ErrClosed", name, err)
		}
	}
}
