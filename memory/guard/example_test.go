package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/slab"
)

// A write past the end of a block is found when the block is freed.
func ExampleAllocator() {
	inner, err := slab.New(nil, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := guard.New(inner, guard.Config{
		QuarantineBytes: 1 << 20,
		OnFault: func(m *memory.Misuse) {
			what, _, _ := strings.Cut(m.Reason, ";")
			fmt.Println(m.Op+":", what)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	p, _ := a.Alloc(10, 1)
	name := unsafe.Slice((*byte)(p), 11) // one too many
	copy(name, "Andromeda\x00!")
	a.Free(p, 10)

	name[0] = 'B' // after the free
	a.Flush()
	a.Free(p, 10)
	fmt.Println(a.Close())
	// Output:
	// Free: overflow: byte 10 of the block of 10 bytes was overwritten with 0x21
	// Flush: use after free: byte 0 of the block of 10 bytes was overwritten with 0x42
	// Free: double free or stale pointer: the block of 10 bytes was freed already
	// <nil>
}

// A level is told what it leaves behind, and nothing of what was there before.
func ExampleAllocator_LeaksSince() {
	inner, err := slab.New(nil, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := guard.New(inner, guard.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a.Alloc(1000, 8) // lives as long as the game

	begin := a.Now()
	a.Alloc(100, 8) // forgotten
	p, _ := a.Alloc(200, 8)
	a.Free(p, 200)
	for _, l := range a.LeaksSince(begin) {
		fmt.Println("the level leaks", l.Blocks, "block of", l.Bytes, "bytes")
	}

	a.Reset()
	fmt.Println(a.Close())
	// Output:
	// the level leaks 1 block of 100 bytes
	// <nil>
}

// What is live at Close is a leak, told with the place that allocated it.
func ExampleLeakError() {
	inner, err := slab.New(nil, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := guard.New(inner, guard.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		a.Alloc(100, 8)
	}
	var leaks *guard.LeakError
	if errors.As(a.Close(), &leaks) {
		for _, l := range leaks.Leaks {
			for f := range l.Site.Frames() {
				fmt.Println(l.Blocks, "blocks,", l.Bytes, "bytes,", f.Function[len("github.com/strata-go/strata/memory/"):])
				break
			}
		}
	}
	// Output:
	// 3 blocks, 300 bytes, guard_test.ExampleLeakError
}
