// Command worstcase runs allocations and frees on a fragmented heap of a given size inside one
// function, Measured, so that a tool that counts instructions can count those alone. See
// README.md of package tlsf.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/strata-go/strata/memory/tlsf"
)

func main() {
	mib := flag.Uint("mib", 1, "size of the heap in MiB")
	pairs := flag.Int("pairs", 10_000, "pairs of Alloc and Free to run in Measured")
	op := flag.String("op", "churn", "churn: replace a random block; worst: split once, merge on both sides")
	flag.Parse()
	runtime.LockOSThread() // the tool counts per thread
	debug.SetGCPercent(-1)
	if err := run(uintptr(*mib)<<20, *pairs, *op); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(bytes uintptr, pairs int, op string) error {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: bytes, Blocks: int(bytes / 512)})
	if err != nil {
		return err
	}
	live := fragment(h, bytes)
	var measured func(h *tlsf.Heap, live []block, n int)
	switch op {
	case "churn":
		measured = Churn
	case "worst":
		measured = Worst
	default:
		return fmt.Errorf("worstcase: -op %q; churn and worst are possible", op)
	}
	measured(h, live, 1000) // warm: descriptors exist
	Measured(measured, h, live, pairs)
	s := h.Stats()
	fmt.Printf("%s: heap %d MiB, %d live blocks, %d pairs in Measured\n", op, s.Reserved>>20, s.Live, pairs)
	return h.Close()
}

type block struct {
	p    unsafe.Pointer
	size uintptr
}

const holeBytes = 256 << 10

// fragment fills the heap with blocks from 256 B to 16 KiB and frees every second one.
// In front of them lies one hole of 256 KiB, by far the largest.
func fragment(h *tlsf.Heap, bytes uintptr) (live []block) {
	hole, err := h.Alloc(holeBytes, 16)
	if err != nil {
		panic(err)
	}
	defer h.Free(hole, holeBytes)
	for {
		size := 256 + uintptr(random()%(16<<10-256))
		p, err := h.Alloc(size, 16)
		if err != nil {
			break
		}
		live = append(live, block{p, size})
	}
	kept := live[:0]
	for i, b := range live {
		if i%2 == 0 {
			h.Free(b.p, b.size)
		} else {
			kept = append(kept, b)
		}
	}
	return kept
}

// Measured is what the tool counts.
//
//go:noinline
func Measured(f func(h *tlsf.Heap, live []block, n int), h *tlsf.Heap, live []block, n int) {
	f(h, live, n)
}

// Churn replaces a random block by one of another size, n times.
func Churn(h *tlsf.Heap, live []block, n int) {
	for range n {
		b := &live[random()%uint64(len(live))]
		h.Free(b.p, b.size)
		b.size = 256 + uintptr(random()%(16<<10-256))
		p, err := h.Alloc(b.size, 16)
		if err != nil {
			panic(err)
		}
		b.p = p
	}
}

// Worst runs n pairs on the longest path: only the hole is large enough, so both Allocs go
// through both bitmaps, empty a list, split and link the rest, and the second Free takes both
// neighbours off their lists and merges with them.
func Worst(h *tlsf.Heap, _ []block, n int) {
	const size = 64 << 10
	for range n / 2 {
		a, _ := h.Alloc(size, 16)
		b, _ := h.Alloc(size, 16)
		h.Free(a, size)
		h.Free(b, size)
	}
}

var seed uint64 = 0x9E3779B97F4A7C15

// random is xorshift64*.
func random() uint64 {
	seed ^= seed >> 12
	seed ^= seed << 25
	seed ^= seed >> 27
	return seed * 0x2545F4914F6CDD1D >> 32
}
