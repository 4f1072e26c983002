package page_test

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A budget is a Source that refuses commits above its limit.
func ExampleLimit() {
	budget := page.NewLimit(nil, 1<<20)
	ground, err := page.NewPrefix(budget, 16<<20, 0, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ground.Close()

	fmt.Println(ground.Ensure(1_000_000), ground.Committed() <= 1<<20)
	err = ground.Ensure(2 << 20)
	fmt.Println(errors.Is(err, memory.ErrOutOfMemory))
	// Output:
	// <nil> true
	// true
}
