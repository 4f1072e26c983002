package arena

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

func alloc(t *testing.T, r *Region, size uintptr) unsafe.Pointer {
	t.Helper()
	p, err := r.Alloc(size, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRegion_TheLastBlockOfARegionIsResizedInPlace(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: 16 << 10, Reserve: 1 << 20})
	a := alloc(t, r, 100) // 112 bytes
	b := alloc(t, r, 50)
	if r.Resize(a, 100, 113) || !r.Resize(a, 100, 112) || !r.Resize(a, 112, 20) || r.Resize(a, 20, 33) || !r.Resize(a, 20, 32) || r.Used() != 176 {
		t.Errorf("a block with one behind it: %d bytes used", r.Used())
	}
	if !r.Resize(b, 50, 1000) || r.Used() != 112+1008 {
		t.Errorf("growth: %d bytes used", r.Used())
	}
	if !r.Resize(b, 1000, 16<<10-112) || r.Used() != 16<<10 || r.Resize(b, 16<<10-112, 16<<10-111) || r.Resize(b, 16<<10-112, ^uintptr(0)) {
		t.Errorf("growth to the end of the region: %d bytes used", r.Used())
	}
	if !r.Resize(b, 16<<10-112, 0) || r.Used() != 128 || r.Stats().Peak != 16<<10 {
		t.Errorf("cut to nothing: %d bytes used, %d at the peak", r.Used(), r.Stats().Peak)
	}
	if c := alloc(t, r, 16); uintptr(c)-uintptr(b) != 16 {
		t.Errorf("what was cut off serves nobody: the next block is at %d", uintptr(c)-uintptr(b))
	}
	memtest.MustCheck(t, r)
	// A region that is not the current one.
	big := alloc(t, r, 16<<10)
	if r.current != 0 || r.opened != 0 || !r.Resize(big, 16<<10, 64) || r.Used() != 144+64 || r.opened != 1 {
		t.Fatalf("the second region: %d bytes used, region %d is current", r.Used(), r.current)
	}
	d := alloc(t, r, 16<<10-144+16) // the current region is too full for it
	if r.current != 0 || uintptr(d)-uintptr(big) != 64 {
		t.Errorf("what was cut off in a region that was full serves nobody: the block is %d behind", uintptr(d)-uintptr(big))
	}
	if !r.Resize(d, 16<<10-128, 1) || r.Used() != 144+64+16 || !r.Resize(d, 1, 500) || r.Used() != 144+64+512 || r.Resize(big, 64, 65) || !r.Resize(d, 500, 16<<10-64) || r.Resize(d, 16<<10-64, 16<<10-63) || r.opened != 1 {
		t.Errorf("a region that is not the current one: %d bytes used, %d open", r.Used(), r.opened)
	}
	memtest.MustCheck(t, r)
	if !r.Resize(d, 16<<10-64, 500) {
		t.Error("it cannot shrink")
	}
	e := alloc(t, r, 16<<10)
	memtest.MustCheck(t, r)
	r.Free(d, 500)
	r.Free(big, 64)
	r.Free(e, 16<<10)
	memtest.MustCheck(t, r)
}

func TestRegion_ResizeRefusesWhatIsNoBlock(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: 16 << 10, Reserve: 1 << 20})
	a := alloc(t, r, 100)
	b := alloc(t, r, 2000)
	other := alloc(t, r, 16<<10)
	memtest.Misuse(t, func() { r.Resize(unsafe.Add(a, 8), 16, 20) }, "arena.Resize", "interior pointer")
	memtest.Misuse(t, func() { r.Resize(unsafe.Add(r.base, 3<<14), 16, 20) }, "arena.Resize", "not used since")
	memtest.Misuse(t, func() { r.Resize(nil, 16, 20) }, "arena.Resize", "foreign")
	memtest.Misuse(t, func() { r.Resize(a, 16<<10, 20) }, "arena.Resize", "wrong size")
	if invariant.Exact {
		memtest.Misuse(t, func() { r.Resize(unsafe.Add(a, 16), 16, 20) }, "arena.Resize", "freed twice, or interior")
		for _, size := range []uintptr{113, 112 + 2000, 112 + 2000 - 1} {
			memtest.Misuse(t, func() { r.Resize(a, size, 50) }, "arena.Resize", "wrong size")
		}
		r.Free(a, 100)
		memtest.Misuse(t, func() { r.Resize(a, 100, 50) }, "arena.Resize", "freed twice")
	}
	memtest.MustCheck(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { r.Resize(b, 2000, 20) }, "arena.Resize", "closed")
	_ = other
}

// The live bits of a size are looked at to the bit, whatever words they lie in.
func TestRegion_ASizeThatReachesOverAnotherBlockIsFound(t *testing.T) {
	if !invariant.Exact {
		return // there are no live bits
	}
	r := newRegion(t, nil, RegionConfig{RegionBytes: 16 << 10, Reserve: 1 << 20})
	for i := range uintptr(300) {
		r.Reset()
		var starts []uintptr
		for range 1 + i%7 {
			starts = append(starts, uintptr(alloc(t, r, 16*(1+i%97)))-uintptr(r.base))
		}
		end := r.off
		for _, at := range starts {
			for size := uintptr(0); size <= end-at; size += 1 + size/40 {
				want := false
				for _, s := range starts {
					want = want || s > at && s < at+size
				}
				if got := r.covers(at, size); got != want {
					t.Fatalf("%d bytes at %d, blocks at %v: %t", size, at, starts, got)
				}
			}
		}
	}
}

func TestRegion_ResizeKeepsEveryByteAmongOthers(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: 16 << 10, Reserve: 1 << 20})
	rnd := rand.New(rand.NewPCG(3, 5))
	type block struct {
		p    unsafe.Pointer
		size uintptr
		with byte
	}
	var live []block
	paint := func(b block) {
		for i := range b.size {
			*(*byte)(unsafe.Add(b.p, i)) = b.with
		}
	}
	intact := func(b block, n uintptr) {
		t.Helper()
		for i := range n {
			if *(*byte)(unsafe.Add(b.p, i)) != b.with {
				t.Fatalf("byte %d of a block of %d is gone", i, b.size)
			}
		}
	}
	grown := 0
	for step := range 20_000 {
		switch k := rnd.IntN(6); {
		case k < 2 && len(live) < 300 || len(live) == 0:
			b := block{size: uintptr(rnd.IntN(400)), with: byte(step)}
			p, err := r.Alloc(b.size, 1<<rnd.IntN(7))
			if err != nil {
				continue
			}
			b.p = p
			paint(b)
			live = append(live, b)
		case k < 5:
			b := &live[max(0, len(live)-1-rnd.IntN(min(len(live), 3)))]
			to := uintptr(rnd.IntN(900))
			if r.Resize(b.p, b.size, to) {
				if intact(*b, min(b.size, to)); to > b.size {
					grown++
				}
				b.size = to
				paint(*b)
			}
		default:
			i := rnd.IntN(len(live))
			intact(live[i], live[i].size)
			r.Free(live[i].p, live[i].size)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		if step%50 == 0 {
			memtest.MustCheck(t, r)
			for _, b := range live {
				intact(b, b.size)
			}
		}
	}
	if grown < 500 {
		t.Errorf("only %d blocks grew", grown)
	}
	var _ memory.Resizer = r
}
