package gcpace_test

import (
	"fmt"
	"runtime/debug"

	"github.com/strata-go/strata/memory/gcpace"
)

// A game without a manager paces the collector itself.
func Example() {
	debug.SetGCPercent(100) // as in a program that sets nothing
	p, err := gcpace.New(gcpace.Config{Headroom: 64 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		p.BeginLevel()
		for frame := range 60 {
			_ = fmt.Sprint("frame ", frame) // what it leaves on the Go heap
		}
		p.EndLevel()
	}
	fmt.Println(p.Stats().InPlay, "collections in play")
	if err := p.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("GOGC is", debug.SetGCPercent(100))
	// Output:
	// 0 collections in play
	// GOGC is 100
}
