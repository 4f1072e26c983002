package slab_test

import (
	"fmt"
	"sync"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/slab"
)

type waypoint struct {
	X, Y float32
	Next uint32
}

// Blocks of any small size, freed in any order.
func ExampleHeap() {
	heap, err := slab.New(nil, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	path, err := memory.MakeSlice[waypoint](heap, 11)
	fmt.Println(len(path), err, heap.Stats().InUse)
	memory.FreeSlice(heap, path)

	p, _ := heap.Alloc(100, 64)
	fmt.Println(heap.SizeOf(p), uintptr(p)%64)
	heap.FreeAny(p)
	fmt.Println(heap.Stats().Live)
	// Output:
	// 11 <nil> 144
	// 128 0
	// 0
}

// Which ladder fits the sizes of a game is a matter of counting.
func ExampleClassTable_Sizes() {
	fmt.Println(slab.Geometric.Sizes(320))
	fmt.Println(slab.PowerOfTwo.Sizes(320))
	fmt.Println(slab.Fibonacci.Sizes(320))
	// Output:
	// [16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256 288 320]
	// [16 32 64 128 256 320]
	// [16 32 48 80 128 208 320]
}

// Workers share a heap through a cache each.
func ExampleCache() {
	heap, err := slab.New(nil, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	central, err := slab.NewCentral(heap)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer central.Close()

	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			cache := slab.NewCache(central)
			defer cache.Close()
			for range 1000 {
				p, err := cache.Alloc(48, 16)
				if err != nil {
					fmt.Println(err)
					return
				}
				cache.Free(p, 48)
			}
		})
	}
	workers.Wait()
	fmt.Println(central.Stats().Live)
	// Output: 0
}
