package plan_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/plan"
)

// The passes of a frame, in order.
const (
	cull = iota
	sort
	expand
	draw
	done
)

// The buffers that the passes hand on to each other.
const (
	visible  uint32 = iota // what the camera sees, written by cull
	keys                   // sort keys of it
	scratch                // the other half of the radix sort
	vertices               // four per sprite
	indices                // six per sprite
)

const sprites = 10_000

var passes = []plan.Buffer{
	{ID: visible, Size: sprites * 4, Birth: cull, Death: draw},
	{ID: keys, Size: sprites * 8, Birth: cull, Death: draw},
	{ID: scratch, Size: sprites * 8, Birth: sort, Death: expand},
	{ID: vertices, Size: sprites * 4 * 32, Birth: expand, Death: done},
	{ID: indices, Size: sprites * 6 * 4, Align: 64, Birth: draw, Death: done},
}

var keyType = memory.MustType[uint64]()

func Example() {
	p, proof, err := plan.Exact(passes, plan.Limits{Steps: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	separate := 0
	for id := range uint32(p.Len()) {
		separate += int(p.Buffer(id).Size)
	}
	fmt.Printf("%d bytes instead of %d, optimal %t\n", p.Total(), separate, proof.Optimal)

	a, err := plan.New(nil, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	for range 3 { // frames
		a.Begin(cull)
		k, err := plan.Slice(a, keyType, keys)
		if err != nil {
			fmt.Println(err)
			return
		}
		k[0] = 42
		a.Advance(sort)
		a.Advance(expand)
		fmt.Println(len(k), k[0], *(*uint64)(a.Get(keys)))
		a.Advance(draw) // visible and keys are dead; indices are born
		a.Reset()
	}
	// Output:
	// 1520000 bytes instead of 1720000, optimal true
	// 10000 42 42
	// 10000 42 42
	// 10000 42 42
}
