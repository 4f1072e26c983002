package freelist

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// The function of a soft limit is called during the call that commits.
func TestAlloc_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	memtest.SoftMark(t, func(src page.Source) memory.Allocator {
		a, err := New(src, Config{Reserve: 8 << 20})
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
