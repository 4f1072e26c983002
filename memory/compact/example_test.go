package compact_test

import (
	"fmt"
	"time"

	"github.com/strata-go/strata/memory/compact"
)

// Assets come and go; each frame compacts a little, until all free memory is one block.
func ExampleHeap() {
	assets, err := compact.New(nil, compact.Config{Reserve: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer assets.Close()

	sky, _ := assets.Alloc(600_000)
	ship, _ := assets.Alloc(300_000)
	if b, ok := assets.Bytes(ship); ok {
		copy(b, "ship")
	}
	assets.Free(sky)
	_, err = assets.Alloc(700_000) // free, but not in one block
	fmt.Println(err)

	frames := 0
	for done := false; !done; frames++ {
		_, done = assets.Compact(compact.Budget{Bytes: 64 << 10, Time: 100 * time.Millisecond})
	}
	_, err = assets.Alloc(700_000)
	b, ok := assets.Bytes(ship)
	fmt.Println(frames, "frames later:", err, string(b[:4]), ok)
	_, ok = assets.Bytes(sky)
	fmt.Println(ok)
	// Output:
	// page: reservation: out of memory: need 698880 bytes, have 147456 of 1048576 (compact: alloc: need 700000 bytes, have 600000)
	// 5 frames later: <nil> ship true
	// false
}

// A locked block stays where it is.
func ExampleHeap_Lock() {
	heap, err := compact.New(nil, compact.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	first, _ := heap.Alloc(1000)
	second, _ := heap.Alloc(1000)
	heap.Free(first)

	p, _ := heap.Lock(second)
	moved, _ := heap.Compact(compact.Budget{})
	q, _ := heap.Lock(second)
	fmt.Println(moved, p == q)

	heap.Unlock(second)
	heap.Unlock(second)
	moved, _ = heap.Compact(compact.Budget{})
	fmt.Println(moved)
	// Output:
	// 0 true
	// 1000
}

// A map of the heap, one line per block.
func ExampleHeap_Blocks() {
	heap, err := compact.New(nil, compact.Config{Step: 16 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	a, _ := heap.Alloc(1000)
	heap.Alloc(1000)
	heap.Free(a)
	for b := range heap.Blocks {
		fmt.Println(b.Offset, b.Size, b.Free)
	}
	// Output:
	// 0 1008 true
	// 1008 1008 false
	// 2016 14368 true
}
