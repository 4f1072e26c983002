package save_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// A game that saves a pool of enemies and its score, and returns to that moment.
func Example() {
	type enemy struct{ X, Y float32 }
	enemies, err := pool.New[enemy](nil, pool.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	defer enemies.Close()
	score := 0

	var set save.Set
	if err := set.Add("enemies", enemies); err != nil {
		panic(err)
	}
	if err := save.Value(&set, "score", &score); err != nil {
		panic(err)
	}
	if err := set.Seal(); err != nil {
		panic(err)
	}

	h, e, _ := enemies.New()
	e.X, score = 10, 5
	slot := set.NewSlot(64 << 10)
	if err := set.Save(slot); err != nil {
		panic(err)
	}

	enemies.Free(h)
	score = 7
	if err := set.Load(slot); err != nil {
		panic(err)
	}
	e, ok := enemies.Get(h)
	fmt.Println(e.X, ok, score)
	// Output: 10 true 5
}

// Diff names the first difference of two states by part, row and field.
func ExampleSet_Diff() {
	type unit struct{ X, Y float32 }
	units := []unit{{1, 1}, {2, 2}, {3, 3}}
	var set save.Set
	if err := save.Slice(&set, "units", &units); err != nil {
		panic(err)
	}
	if err := set.Seal(); err != nil {
		panic(err)
	}
	a, b := set.NewCanonical(1<<10), set.NewCanonical(1<<10)
	if err := set.Save(a); err != nil {
		panic(err)
	}
	units[1].Y = 5
	if err := set.Save(b); err != nil {
		panic(err)
	}
	d, differ, err := set.Diff(a, b)
	fmt.Println(d, differ, err)
	// Output: units row 1 .Y: 2, and 5 true <nil>
}

// AddFunc saves data that code must visit: here a map, in the order of its keys.
func ExampleSet_AddFunc() {
	stock := map[uint32]uint32{7: 70, 3: 30}
	var set save.Set
	err := set.AddFunc("stock", func(c *save.Coder) {
		keys := slices.Sorted(maps.Keys(stock))
		values := make([]uint32, len(keys))
		for i, k := range keys {
			values[i] = stock[k]
		}
		save.List(c, &keys)
		save.List(c, &values)
		if c.Loading() {
			clear(stock)
			for i, k := range keys {
				stock[k] = values[i]
			}
		}
	})
	if err != nil {
		panic(err)
	}
	if err := set.Seal(); err != nil {
		panic(err)
	}
	slot := set.NewSlot(1 << 10)
	if err := set.Save(slot); err != nil {
		panic(err)
	}
	stock[9] = 90
	delete(stock, 3)
	if err := set.Load(slot); err != nil {
		panic(err)
	}
	fmt.Println(stock)
	// Output: map[3:30 7:70]
}

// A slot that is too small is refused, with the bytes that are needed, and keeps its state.
func ExampleSet_Size() {
	level := make([]byte, 1000)
	var set save.Set
	if err := save.Slice(&set, "level", &level); err != nil {
		panic(err)
	}
	if err := set.Seal(); err != nil {
		panic(err)
	}
	err := set.Save(set.NewSlot(100))
	fmt.Println(errors.Is(err, memory.ErrOutOfMemory))
	size, err := set.Size()
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Save(set.NewSlot(size)))
	// Output:
	// true
	// <nil>
}
