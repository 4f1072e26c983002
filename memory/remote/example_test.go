package remote_test

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

// staging is an allocator of the game's goroutine: equal blocks and a stack of free ones.
type staging struct {
	mem  page.Memory
	free []unsafe.Pointer
}

func (s *staging) FreeAny(p unsafe.Pointer) { s.free = append(s.free, p) }

// Base and Extent let batches hold offsets instead of pointers.
func (s *staging) Base() unsafe.Pointer { return s.mem.Base }
func (s *staging) Extent() uintptr      { return s.mem.Size }

// A worker frees blocks of the game's allocator; the game takes them back at the frame's
// start, no more than it has time for.
func ExampleInbox() {
	const blocks, blockBytes = 100, 4096
	mem, err := page.Heap().Reserve(blocks * blockBytes)
	if err != nil {
		fmt.Println(err)
		return
	}
	game := &staging{mem: mem}
	inbox, err := remote.New(game, remote.Config{Batch: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer inbox.Close()

	done := make(chan error)
	go func() {
		f := inbox.NewFreer()
		for i := range uintptr(blocks) {
			f.FreeAny(unsafe.Add(mem.Base, i*blockBytes))
		}
		done <- f.Close() // pushes the last four
	}()
	fmt.Println(<-done)

	for inbox.Pending() {
		fmt.Println("this frame:", inbox.DrainSome(40))
	}
	fmt.Println(len(game.free), "blocks are home")
	// Output:
	// <nil>
	// this frame: 40
	// this frame: 40
	// this frame: 20
	// 100 blocks are home
}
