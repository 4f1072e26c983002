package pool_test

import (
	"fmt"

	"github.com/strata-go/strata/memory/pool"
)

type Enemy struct {
	X, Y   float32
	Health int32
}

// A handle is stale after its object was freed.
func ExamplePool() {
	enemies, err := pool.New[Enemy](nil, pool.Config{Capacity: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer enemies.Close()

	target, e, err := enemies.New()
	e.Health = 100
	fmt.Println(target.Index(), err, enemies.Len())

	enemies.Free(target)
	_, ok := enemies.Get(target)
	fmt.Println("still there:", ok)

	reused, _, _ := enemies.New()
	fmt.Println(reused.Index(), reused == target)
	// Output:
	// 0 <nil> 1
	// still there: false
	// 0 false
}

// The loop visits the live objects in the order of their addresses and may free them.
func ExamplePool_Runs() {
	enemies, err := pool.New[Enemy](nil, pool.Config{Capacity: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer enemies.Close()

	for i := range int32(5) {
		if _, e, err := enemies.New(); err == nil {
			e.Health = i % 2
		}
	}
	for run := range enemies.Runs() {
		for i := range run {
			if e := &run[i]; e.Health == 0 {
				enemies.Free(enemies.HandleOf(e))
			}
		}
	}
	for h := range enemies.All() {
		fmt.Println(h.Index())
	}
	// Output:
	// 1
	// 3
}

// Where speed counts, TryGet inlines and Get is called only when it comes back empty.
func ExampleBlocks() {
	chunks, err := pool.NewBlocks(nil, pool.BlocksConfig{Size: 16 << 10, Capacity: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer chunks.Close()

	chunk := chunks.TryGet()
	if chunk == nil {
		if chunk, err = chunks.Get(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(chunks.Len(), chunks.Stats().InUse)
	chunks.Put(chunk)
	fmt.Println(chunks.Len())
	// Output:
	// 1 16384
	// 0
}

// The loop that moves every body reads nothing of the names.
func ExampleSplit() {
	type Body struct{ X, VX float32 }
	type Sheet struct{ Name [64]byte }
	actors, err := pool.NewSplit[Body, Sheet](nil, pool.Config{Capacity: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer actors.Close()

	hero, body, sheet, _ := actors.New()
	body.VX = 2
	copy(sheet.Name[:], "Ada")
	for _, b := range actors.All() {
		b.X += b.VX
	}
	body, sheet, ok := actors.Get(hero)
	fmt.Println(body.X, string(sheet.Name[:3]), ok)
	// Output:
	// 2 Ada true
}

// A new Enemy comes from the pool of enemies.
func ExampleRegistry() {
	type Bullet struct{ X, Y, VX, VY float32 }
	pools := pool.NewRegistry(nil)
	defer pools.Close()
	_, err1 := pool.Register[Enemy](pools, pool.Config{Capacity: 1000, Name: "enemies"})
	_, err2 := pool.Register[Bullet](pools, pool.Config{Capacity: 5000, Name: "bullets"})
	fmt.Println(err1, err2)

	enemy, _, _ := pool.NewIn[Enemy](pools)
	pool.NewIn[Bullet](pools)
	pool.NewIn[Bullet](pools)
	fmt.Println("freed:", pool.FreeIn(pools, enemy), pool.FreeIn(pools, enemy))
	for name, s := range pools.All() {
		fmt.Println(name, s.Live, s.InUse)
	}
	fmt.Println(pools.Stats().Live)
	// Output:
	// <nil> <nil>
	// freed: true false
	// enemies 0 0
	// bullets 2 32
	// 2
}
