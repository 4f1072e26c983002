package slab

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

func TestStats_LargestFreeIsOfAClassThatEveryRequestMayUse(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20, MaxSize: 3216, Classes: Step16})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	memtest.MustAlloc(t, h, 2, 4096) // of a class above MaxSize, which has free blocks from here on
	for err == nil {
		_, err = h.Alloc(3216, 1)
	}
	if n := uintptr(h.Stats().LargestFree); n > 0 {
		if _, err := h.Alloc(n, 1); err != nil {
			t.Errorf("LargestFree is %d: %v", n, err)
		}
	}
}
