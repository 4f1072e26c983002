package engine_test

import (
	"errors"
	"fmt"
	"testing/fstest"
	"unsafe"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// Two seconds of a simulation, without a window. The hash is the same on every machine.
func ExampleLoop() {
	var pos, vel mgl32.Vec2
	var s engine.Schedule
	s.MustAdd("wander", func(t *engine.Tick) error {
		vel = engine.Limit(engine.MulAdd(vel, t.Rand.Circle(), 8*engine.Delta), 40)
		return nil
	})
	s.MustAdd("move", func(*engine.Tick) error {
		pos = engine.MulAdd(pos, vel, engine.Delta)
		return nil
	})

	rnd := engine.NewRand(2026, 0)
	loop := engine.NewLoop(&s, &rnd, 0)
	if err := loop.Run(2*engine.TickRate, &engine.Input{}); err != nil {
		fmt.Println(err)
	}
	var h engine.Hasher
	h.Vec2(pos)
	rnd.Hash(&h)
	fmt.Printf("tick %d, state %016x\n", loop.Tick(), h.Sum())
	// Output:
	// tick 120, state c728d801bce990fc
}

// A file through a worker and back. A game calls Upload and Take once a frame and does not wait.
func ExampleLoader() {
	heap, err := arena.NewGrowing(nil, arena.GrowingConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	loader, err := engine.NewLoader(engine.LoaderConfig{
		FS:      fstest.MapFS{"motto.txt": {Data: []byte("layer by layer")}},
		Workers: 1,
		Heap:    func(int) memory.Allocator { return heap },
		Free:    func(unsafe.Pointer, uintptr) {}, // the arena is reset as a whole
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	motto, _ := loader.RequestFile(engine.ScopeLevel, "motto", "motto.txt", 0)
	wrong, _ := loader.RequestFile(engine.ScopeLevel, "wrong", "wrong.txt", 0)
	for loader.Progress(engine.ScopeLevel).Done < 2 {
		loader.Wait()
		err := loader.Take(motto, func(f engine.File) error {
			fmt.Printf("%s: %s\n", f.Path, f.Data)
			return nil
		})
		if err != nil && !errors.Is(err, engine.ErrNotReady) {
			fmt.Println(err)
		}
	}
	fmt.Println(loader.Err(wrong.Asset))
	if err := errors.Join(loader.Close(), heap.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// motto.txt: layer by layer
	// engine: asset "wrong": reading wrong.txt: file does not exist
}
