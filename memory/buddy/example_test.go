package buddy_test

import (
	"fmt"

	"github.com/strata-go/strata/memory/buddy"
)

// Square textures of 4 bytes a pixel are powers of two: nothing is wasted, and each lies at a
// multiple of its size.
func ExampleHeap() {
	textures, err := buddy.New(nil, buddy.Config{Reserve: 16 << 20, MinBlock: 4096})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer textures.Close()

	for side := uintptr(32); side <= 512; side *= 2 {
		if _, err := textures.Alloc(side*side*4, 4096); err != nil {
			fmt.Println(err)
		}
	}
	s := textures.Stats()
	fmt.Println(s.Live, "textures,", s.InUse-s.Requested, "bytes wasted")
	// Output:
	// 5 textures, 0 bytes wasted
}

// A block of 1100 bytes takes 2048 of a binary heap and 1280 of a Fibonacci one.
func ExampleSystem() {
	for _, system := range []buddy.System{buddy.Binary, buddy.Fibonacci} {
		h, err := buddy.New(nil, buddy.Config{System: system})
		if err != nil {
			fmt.Println(err)
			return
		}
		h.Alloc(1100, 16)
		s := h.Stats()
		fmt.Printf("%v: %d of %d bytes, %.0f %% wasted\n", system, s.Requested, s.InUse, 100*s.Internal())
		h.Close()
	}
	// Output:
	// Binary: 1100 of 2048 bytes, 46 % wasted
	// Fibonacci: 1100 of 1280 bytes, 14 % wasted
}

// The size need not be known to free a block.
func ExampleHeap_FreeAny() {
	h, err := buddy.New(nil, buddy.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()

	mesh, _ := h.Alloc(30_000, 64)
	fmt.Println(h.SizeOf(mesh))
	h.FreeAny(mesh)
	fmt.Println(h.Stats().Live)
	// Output:
	// 30000
	// 0
}
