package memtest

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// canGoFar: with address space of 64 bits that the system does not back until it is touched;
// builds that fill blocks would touch all of it.
const canGoFar = math.MaxUint > math.MaxUint32 && runtime.GOARCH != "wasm" && !invariant.Debug

func addBytes(p unsafe.Pointer, n uintptr) unsafe.Pointer { return unsafe.Add(p, n) }

// goroutines has four goroutines allocate, each through a view of its own, and free both what
// they made and what the others did. At the end nothing may be lost.
func goroutines(t testing.TB, s Subject) {
	if s.Shared == nil {
		return
	}
	a := s.make(t, page.Default())
	const workers, rounds = 4, 3000
	mail := make(chan Block, workers*16)
	fault := make(chan string, workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			view, end := s.Shared(a)
			defer end()
			if said := exchange(view, s, uint32(k), rounds, mail); said != "" {
				fault <- said
			}
		})
	}
	wg.Wait()
	close(mail)
	close(fault)
	for said := range fault {
		t.Error(said)
	}
	view, end := s.Shared(a)
	for b := range mail {
		view.Free(b.Ptr, b.Size)
	}
	end()
	check(t, a)
	if st := stats(t, a); st.Live != 0 || st.InUse != 0 {
		t.Errorf("all goroutines have freed what they had; live %d, %d bytes in use", st.Live, st.InUse)
	}
}

// exchange is one goroutine: every third block is sent away, and one from elsewhere freed.
func exchange(view memory.Allocator, s Subject, k uint32, rounds int, mail chan Block) (fault string) {
	own := NewShadow(nil)
	for i := range uint32(rounds) {
		size := s.size(i*2_654_435_761 ^ k*977)
		p, err := view.Alloc(size, s.align(i))
		if err != nil {
			if !exhausts(err) {
				return err.Error()
			}
		} else if b := own.stamped(p, size); i%3 == 0 {
			b.fill()
			select {
			case mail <- b:
			default:
				own.blocks = append(own.blocks, b)
			}
		} else {
			b.fill()
			own.blocks = append(own.blocks, b)
		}
		for len(own.blocks) > 60 || err != nil && len(own.blocks) > 0 {
			b := own.blocks[0]
			own.Forget(0)
			if !b.intact() {
				return "a block was written to by another goroutine"
			}
			view.Free(b.Ptr, b.Size)
			err = nil
		}
		select {
		case b := <-mail:
			if !b.intact() {
				return "a block changed on its way between goroutines"
			}
			view.Free(b.Ptr, b.Size)
		default:
		}
	}
	for _, b := range own.blocks {
		view.Free(b.Ptr, b.Size)
	}
	return ""
}
