package save_test

import (
	"fmt"

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
