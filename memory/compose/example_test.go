package compose_test

import (
	"fmt"
	"sync"

	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// A scratch arena serves most requests and a heap those that do not fit. All blocks are freed through one
// allocator.
func ExampleNewFallback() {
	scratch, _ := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 10})
	heap, _ := tlsf.New(nil, tlsf.Config{})
	both, _ := compose.NewFallback(scratch, heap)
	defer both.Close()

	small, _ := both.Alloc(1000, 8)
	large, _ := both.Alloc(100_000, 8)
	fmt.Println(scratch.Owns(small), heap.Owns(large))
	both.Free(large, 100_000)
	both.Free(small, 1000)
	fmt.Println(both.Stats().Live)
	// Output:
	// true true
	// 0
}

func ExampleNewBySize() {
	small, _ := slab.New(nil, slab.Config{})
	large, _ := tlsf.New(nil, tlsf.Config{})
	heap, _ := compose.NewBySize(4096, small, large)
	defer heap.Close()

	p, _ := heap.Alloc(4096, 8)
	q, _ := heap.Alloc(4097, 8)
	fmt.Println(small.Owns(p), large.Owns(q))
	heap.Free(q, 4097)
	heap.Free(p, 4096)
	// Output: true true
}

func ExampleNewLocked() {
	heap, _ := slab.New(nil, slab.Config{})
	var mu sync.Mutex
	shared, _ := compose.NewLocked(heap, &mu)
	defer shared.Close()

	done := make(chan struct{})
	go func() {
		defer close(done)
		p, _ := shared.Alloc(100, 8)
		shared.Free(p, 100)
	}()
	mu.Lock() // two blocks under one lock
	p, _ := heap.Alloc(100, 8)
	q, _ := heap.Alloc(200, 8)
	heap.Free(p, 100)
	heap.Free(q, 200)
	mu.Unlock()
	<-done
	fmt.Println(shared.Stats().Allocs, shared.Stats().Live)
	// Output: 3 0
}

func ExampleNewCounted() {
	heap, _ := tlsf.New(nil, tlsf.Config{})
	ai, _ := compose.NewCounted(heap, compose.CountedConfig{})
	sound, _ := compose.NewCounted(heap, compose.CountedConfig{
		OnEvent: func(e compose.Event) { fmt.Println("sound:", e.Op, e.Size) },
	})
	defer heap.Close()

	path, _ := ai.Alloc(300, 8)
	clip, _ := sound.Alloc(8000, 8)
	fmt.Println("ai:", ai.Stats().InUse, "sound:", sound.Stats().InUse)
	ai.FreeAny(path)
	sound.FreeAny(clip)
	fmt.Println("ai:", ai.Stats().InUse, "at most:", ai.Stats().Peak)
	// Output:
	// sound: allocated 8000
	// ai: 300 sound: 8000
	// sound: freed 8000
	// ai: 0 at most: 300
}
