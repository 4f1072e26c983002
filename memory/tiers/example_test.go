package tiers_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

type bullet struct{ X, Y, VX, VY float32 }

type contact struct{ A, B uint32 }

var contactType = memory.MustType[contact]()

// A foreign engine keeps its loop and gives its memory to a manager. The zero Config is for a
// process that is a game: the manager then raises GOGC for all of it, until Close. A server or
// an editor with a game inside sets GC.Keep, and its collector is left alone.
func Example() {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	bullets, err := tiers.NewPool[bullet](m, pool.Config{Name: "bullets", Capacity: 4096})
	if err != nil {
		fmt.Println(err)
		return
	}

	m.BeginLevel()
	for range 3 { // your loop
		m.BeginFrame()
		h, b, _ := bullets.New()
		b.VX = 4
		contacts, _ := arena.MakeSlice(m.Frame(), contactType, 100) // gone by itself, two frames later
		_ = contacts
		if b, ok := bullets.Get(h); ok {
			b.X += b.VX
		}
		m.EndFrame()
	}
	fmt.Println(bullets.Len(), "bullets live")
	leaks, _ := m.EndLevel() // the pool, the level arena and all their handles
	fmt.Println(bullets.Len(), "bullets live;", leaks)
	// Output:
	// 3 bullets live
	// 0 bullets live; level 1 left nothing behind
}
