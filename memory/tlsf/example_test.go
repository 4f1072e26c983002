package tlsf_test

import (
	"fmt"

	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// Assets of any size come and go; freed neighbours become one free block at once.
func ExampleHeap() {
	assets, err := tlsf.New(nil, tlsf.Config{Reserve: 16 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer assets.Close()

	ship, _ := assets.Alloc(300_000, 64)
	sky, _ := assets.Alloc(2_000_000, 4096)
	s := assets.Stats()
	fmt.Println(s.Live, "blocks,", s.Requested, "bytes requested")

	assets.Free(ship, 300_000)
	assets.FreeAny(sky)
	s = assets.Stats()
	fmt.Println(s.Live, "blocks, fragmented:", s.External() > 0)
	// Output:
	// 2 blocks, 2300000 bytes requested
	// 0 blocks, fragmented: false
}

// A buffer grows in place while the memory after it is free. Later blocks are placed elsewhere as long as possible.
func ExampleHeap_Resize() {
	heap, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	log, _ := heap.Alloc(4096, 16)
	fmt.Println(heap.Resize(log, 4096, 64<<10))
	heap.Alloc(16, 16)
	fmt.Println(heap.Resize(log, 64<<10, 65<<10))
	fmt.Println(heap.Resize(log, 65<<10, 1<<20)) // over that block
	// Output:
	// true
	// true
	// false
}

// A second pool with a budget of its own serves what the first cannot.
func ExampleHeap_AddPool() {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	if err := heap.AddPool(page.NewLimit(nil, 2<<20), 8<<20); err != nil {
		fmt.Println(err)
		return
	}
	_, err = heap.Alloc(2<<20, 16)
	fmt.Println(err)
	_, err = heap.Alloc(2<<20, 16)
	fmt.Println(err)
	// Output:
	// <nil>
	// page: budget: out of memory: need 2097152 bytes, have 0 of 2097152 (tlsf: alloc: need 2097152 bytes, have 0)
}

// A map of the heap, one letter per block.
func ExampleHeap_Blocks() {
	heap, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	a, _ := heap.Alloc(1000, 16)
	heap.Alloc(1000, 16)
	heap.Free(a, 1000)
	for b := range heap.Blocks {
		fmt.Println(b.Offset, b.Size, b.Free)
	}
	// Output:
	// 0 1024 true
	// 1024 1024 false
	// 2048 1046528 true
}
