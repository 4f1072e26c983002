package freelist_test

import (
	"fmt"

	"github.com/strata-go/strata/memory/freelist"
)

// A loader's buffers of any size; freed neighbours become one free run at once.
func ExampleHeap() {
	loader, err := freelist.New(nil, freelist.Config{Reserve: 16 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer loader.Close()

	header, _ := loader.Alloc(512, 16)
	pixels, _ := loader.Alloc(300_000, 4096)
	s := loader.Stats()
	fmt.Println(s.Live, "blocks,", s.Requested, "bytes requested")

	loader.Free(header, 512)
	loader.FreeAny(pixels)
	s = loader.Stats()
	fmt.Println(s.Live, "blocks, fragmented:", s.External() > 0)
	// Output:
	// 2 blocks, 300512 bytes requested
	// 0 blocks, fragmented: false
}

// The policies choose different holes for the same request.
func ExamplePolicy() {
	for _, p := range []freelist.Policy{freelist.FirstFit, freelist.NextFit, freelist.BestFit, freelist.WorstFit} {
		h, err := freelist.New(nil, freelist.Config{Policy: p})
		if err != nil {
			fmt.Println(err)
			return
		}
		large, _ := h.Alloc(4096, 64) // a hole of 4 KiB, then one of 1 KiB, then the rest
		h.Alloc(64, 64)
		small, _ := h.Alloc(1024, 64)
		h.Alloc(64, 64)
		h.FreeAny(large)
		h.FreeAny(small)

		q, _ := h.Alloc(1000, 64)
		fmt.Println(p, "takes the large hole:", q == large, "the small one:", q == small)
		h.Close()
	}
	// Output:
	// FirstFit takes the large hole: true the small one: false
	// NextFit takes the large hole: false the small one: false
	// BestFit takes the large hole: false the small one: true
	// WorstFit takes the large hole: false the small one: false
}

// A text buffer grows in place while there is free memory behind it.
func ExampleHeap_Resize() {
	h, err := freelist.New(nil, freelist.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()

	text, _ := h.Alloc(100, 1)
	fmt.Println(h.Resize(text, 100, 5000))
	h.Alloc(1, 1) // takes the place behind it
	fmt.Println(h.Resize(text, 5000, 6000))
	// Output:
	// true
	// false
}
