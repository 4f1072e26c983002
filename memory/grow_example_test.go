package memory_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

// A list of waypoints that gets longer while the level is edited.
func ExampleGrowSlice() {
	heap, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	type point struct{ X, Y float32 }
	path, err := memory.MakeSlice[point](heap, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	path[1] = point{3, 4}
	path, err = memory.GrowSlice(heap, path, 4) // path is whole, also where this fails
	fmt.Println(path, err)
	memory.FreeSlice(heap, path)
	// Output:
	// [{0 0} {3 4} {0 0} {0 0}] <nil>
}
