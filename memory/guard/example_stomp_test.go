//go:build unix || windows

package guard_test

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/page"
)

// A read after the free faults on its line, where memory is the system's. By default such a
// fault ends the process with the stack of whoever did it; here it is made a panic to be shown.
func ExampleStomp() {
	s, err := guard.NewStomp(page.OS(), guard.StompConfig{Blocks: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := s.Alloc(16, 8)
	name := unsafe.Slice((*byte)(p), 16)
	copy(name, "Andromeda")
	fmt.Println(string(name[:9]))
	s.Free(p, 16)

	func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { fmt.Println("it faults:", recover() != nil) }()
		fmt.Println(name[0])
	}()
	fmt.Println(s.Close())
	// Output:
	// Andromeda
	// it faults: true
	// <nil>
}
