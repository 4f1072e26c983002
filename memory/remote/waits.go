package remote

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

// waits counts, in debug builds, how often each address is in rest: a block that waits twice
// was freed twice. The owner may use a block again between two drains, and then the second free
// would be somebody else's; so all but the last are refused, and until the last the block lives.
type waits struct{ of map[uintptr]int }

// add counts the blocks of the batches of a list that are of the epoch.
func (w *waits) add(list *batch, epoch uint32) {
	if w.of == nil {
		w.of = map[uintptr]int{}
	}
	for b := list; b != nil; b = b.next {
		if b.epoch != epoch {
			continue
		}
		for _, off := range b.offs[:min(int(b.n), len(b.offs))] {
			w.of[b.home.in.addr+off]++
		}
		for _, p := range b.ptrs[:min(int(b.n), len(b.ptrs))] {
			w.of[uintptr(p)]++
		}
	}
}

// less takes one of addr out.
func (w *waits) less(addr uintptr) {
	if w.of[addr]--; w.of[addr] <= 0 {
		delete(w.of, addr)
	}
}

// once takes addr out, and panics with a *memory.Misuse unless it waited once.
func (w *waits) once(addr uintptr) {
	if n := w.of[addr]; n > 1 {
		w.of[addr] = n - 1
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: addr,
			Reason: fmt.Sprintf("double free: the block was given to Freers %d times before its owner has freed it once", n)})
	}
	if delete(w.of, addr); len(w.of) == 0 {
		clear(w.of) // makes room again where others were deleted: the map need not grow
	}
}

// forget empties the books.
func (w *waits) forget() { clear(w.of) }
