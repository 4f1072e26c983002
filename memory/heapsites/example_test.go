package heapsites_test

import (
	"fmt"
	"runtime"

	"github.com/strata-go/strata/memory/heapsites"
)

var hold [][]byte

//go:noinline
func load() {
	for range 64 {
		hold = append(hold, make([]byte, 1<<20))
	}
}

// Two collections make the profile current.
func Example() {
	load()
	runtime.GC()
	runtime.GC()
	var p heapsites.Profile
	p.Read()
	fmt.Println(p.Sites[0].Function, "has", p.Sites[0].Live>>20, "MiB")
	hold = nil
	// Output: load has 64 MiB
}
