package arena_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

type contact struct {
	A, B  uint32
	Depth float32
}

var contactType = memory.MustType[contact]()

// A scope of scratch memory: what is allocated after the mark is gone after the rewind.
func ExampleLinear() {
	scratch, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer scratch.Close()

	scope := scratch.Mark()
	contacts, err := arena.MakeSlice(scratch, contactType, 100)
	fmt.Println(len(contacts), err, scratch.Used())
	scratch.Rewind(scope)
	fmt.Println(scratch.Used())
	// Output:
	// 100 <nil> 1200
	// 0
}

// With two buffers, what this frame allocates can be read during the next one.
func ExampleFrames() {
	frames, err := arena.NewFrames(nil, arena.FramesConfig{Buffers: 2, Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer frames.Close()

	c, _ := arena.New(frames.Current(), contactType)
	c.Depth = 0.5
	ref := arena.RefTo(frames, c)
	for range 3 {
		if c, ok := ref.Get(frames); ok {
			fmt.Println("readable:", c.Depth)
		} else {
			fmt.Println("gone")
		}
		frames.Advance()
	}
	// Output:
	// readable: 0.5
	// readable: 0.5
	// gone
}

// A level's memory grows without moving and dies in one call.
func ExampleGrowing() {
	level, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 16 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer level.Close()

	level.OnReset(func() { fmt.Println("textures released") })
	walls, err := arena.MakeSliceIn(level, contactType, 10_000)
	fmt.Println(len(walls), err, level.Used())
	level.Reset()
	fmt.Println(level.Used())
	// Output:
	// 10000 <nil> 120000
	// textures released
	// 0
}

// A parser that backs out of an alternative takes back what it allocated for it.
func ExampleStepBack() {
	nodes, err := arena.NewStepBack(nil, arena.StepBackConfig{Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nodes.Close()

	nodes.Alloc(40, 8) // the object, which stays
	attempt := nodes.Len()
	nodes.Alloc(24, 8) // a number,
	nodes.Alloc(24, 8) // and another: no, this is a string
	nodes.UndoTo(attempt)
	text, _ := nodes.Alloc(8, 1)
	fmt.Println("grown in place:", nodes.Resize(text, 8, 20))
	fmt.Println(nodes.Len(), "blocks,", nodes.Used(), "bytes")
	// Output:
	// grown in place: true
	// 2 blocks, 60 bytes
}

// The blocks of an effect die one by one; with the last one its region is empty.
func ExampleRegion() {
	effects, err := arena.NewRegion(nil, arena.RegionConfig{RegionBytes: 16 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer effects.Close()

	spark, _ := effects.Alloc(1000, 16)
	smoke, _ := effects.Alloc(2000, 16)
	effects.Free(spark, 1000)
	fmt.Println(effects.Used(), "bytes in use: the smoke holds the region")
	effects.Free(smoke, 2000)
	fmt.Println(effects.Used(), "bytes in use")
	// Output:
	// 3008 bytes in use: the smoke holds the region
	// 0 bytes in use
}

// The states of the last ticks, to go back to when an input of another player arrives late.
func ExampleWindow() {
	type body struct{ Tick, X, Speed int64 }
	history, err := arena.NewWindow(nil, memory.MustType[body](), arena.WindowConfig{Keep: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer history.Close()
	step := func(b body) body { return body{b.Tick + 1, b.X + b.Speed, b.Speed} }
	b := body{Speed: 10}
	for range 6 {
		b = step(b)
		history.Push(b)
	}
	fmt.Println("kept:", history.All())
	// In tick 4 it was faster: back to the end of tick 3, and again from there.
	late := int(b.Tick - 3)
	b = *history.At(late)
	b.Speed = 100
	history.Drop(late)
	for range late {
		b = step(b)
		history.Push(b)
	}
	fmt.Println("now:", history.All())
	// Output:
	// kept: [{3 30 10} {4 40 10} {5 50 10} {6 60 10}]
	// now: [{3 30 10} {4 130 100} {5 230 100} {6 330 100}]
}
