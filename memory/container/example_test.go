package container_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/tlsf"
)

func ExampleVec() {
	level, _ := arena.NewGrowing(nil, arena.GrowingConfig{})
	defer level.Close()
	sp, _ := container.In(level)

	type guard struct { // a component: pointer-free, and so is its list
		Health int32
		route  container.Vec[[2]int16]
	}
	g, _ := memory.New[guard](level)
	for _, p := range [][2]int16{{0, 0}, {8, 0}, {8, 5}} {
		if err := g.route.Append(sp, p); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(g.route.Len(), g.route.At(sp, 2), g.route.Slice(sp)[1:])
	// Output: 3 [8 5] [[8 0] [8 5]]
}

func ExampleRing() {
	heap, _ := tlsf.New(nil, tlsf.Config{})
	defer heap.Close()
	sp, _ := container.In(heap)

	var events container.Ring[int]
	defer events.Free(sp)
	_ = events.PushBack(sp, 1)
	_ = events.PushBack(sp, 2)
	_ = events.PushFront(sp, 0) // urgent
	for {
		e, ok := events.PopFront(sp)
		if !ok {
			break
		}
		fmt.Print(e, " ")
	}
	// Output: 0 1 2
}

func ExampleMap() {
	heap, _ := tlsf.New(nil, tlsf.Config{})
	defer heap.Close()
	sp, _ := container.In(heap)

	type cell struct{ x, y int32 }
	var owners container.Map[cell, uint32]
	defer owners.Free(sp)
	_ = owners.Set(sp, cell{3, 4}, 17)
	_ = owners.Set(sp, cell{3, 5}, 18)
	owners.Delete(sp, cell{3, 5})
	who, ok := owners.Get(sp, cell{3, 4})
	fmt.Println(who, ok, owners.Len())
	// Output: 17 true 1
}

func ExampleStrings() {
	heap, _ := tlsf.New(nil, tlsf.Config{})
	defer heap.Close()
	sp, _ := container.In(heap)

	var names container.Strings
	defer names.Free(sp)
	orc, _ := names.Intern(sp, "orc")
	elf, _ := names.Intern(sp, "elf")
	again, _ := names.Intern(sp, "orc")
	fmt.Println(orc, elf, again, names.Text(sp, elf))
	// Output: 1 2 1 elf
}
