package arena

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// faults reports whether reading p does.
func faults(p unsafe.Pointer) (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() != nil }()
	sinkByte = *(*byte)(p)
	return false
}

var sinkByte byte

func TestFrames_AStalePointerFaultsOnItsLine(t *testing.T) {
	if RestingFrames == 0 {
		t.Skip("this build has nothing rest, or cannot")
	}
	for _, n := range []int{1, 2, 3} {
		f := newFrames(t, n, 20_000)
		if f.Buffers() != n || f.Stats().Committed != 2*page.Granule {
			t.Errorf("%d buffers, %d bytes committed", f.Buffers(), f.Stats().Committed)
		}
		for lap := range 3 * (n + RestingFrames) {
			p := mustAlloc(t, f, 18_000, 16)
			for range n - 1 {
				f.Advance()
				mustAlloc(t, f, 100, 16)
			}
			if faults(p) {
				t.Fatalf("N=%d, lap %d: a readable frame faults", n, lap)
			}
			f.Advance()
			for age := range RestingFrames {
				if !faults(p) || !faults(unsafe.Add(p, 17_999)) {
					t.Fatalf("N=%d, lap %d: %d frames after its end a stale pointer reads %#x", n, lap, age, sinkByte)
				}
				want := fmt.Sprintf("the block is %d frames old, and a frame stays readable for %d: it has expired", n+age, n-1)
				memtest.Misuse(t, func() { f.Free(p, 18_000) }, "arena.Free", want)
				if c := f.Stats().Committed; c > uint64(n)*2*page.Granule {
					t.Fatalf("%d bytes committed for %d buffers", c, n)
				}
				memtest.MustCheck(t, f)
				if age < RestingFrames-1 {
					f.Advance()
				}
			}
			f.Advance()
			if f.Reset(); lap%2 == 0 {
				f.Advance()
			}
		}
	}
}

func TestFrames_RestingNeedsNoMoreMemoryThanTheBudget(t *testing.T) {
	limit := page.NewLimit(nil, 2*page.Granule)
	f, err := NewFrames(limit, FramesConfig{Buffers: 2, Bytes: page.Granule})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		mustAlloc(t, f, page.Granule, 16)
		f.Advance()
	}
	if limit.Peak() != 2*page.Granule || limit.Failures() != 0 {
		t.Errorf("peak %d, failures %d", limit.Peak(), limit.Failures())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// If the source has space for N buffers only, no addresses rest. If it has no memory when a frame begins, the frame has
// no capacity.
func TestFrames_RestAsFarAsTheSourceHasRoom(t *testing.T) {
	if RestingFrames == 0 {
		t.Skip("this build has nothing rest, or cannot")
	}
	for room := range 4 {
		src := memtest.NewFaulty()
		src.FailAt, src.ForGood = 2+1+room+1, true // a reservation each and the first one's commit, then the resting ones
		f, err := NewFrames(src, FramesConfig{Buffers: 2, Bytes: 1000})
		if err != nil || len(f.ring) != 2+room {
			t.Fatalf("room for %d: %v, %d buffers", room, err, len(f.ring))
		}
		src.FailAt = 0
		for range 20 {
			p := mustAlloc(t, f, 1000, 16)
			f.Advance()
			f.Advance()
			if faults(p) != (room > 0) {
				t.Fatalf("room for %d: a stale pointer faults: %t", room, faults(p))
			}
			if room == 0 && *(*byte)(p) != invariant.FreedByte {
				t.Fatalf("a stale pointer reads %#x", *(*byte)(p))
			}
			memtest.MustCheck(t, f)
		}
		src.FailAt, src.ForGood = src.Calls()+1, false
		f.Advance()
		if _, err := f.Alloc(1000, 16); (err != nil) != (room > 0) || err != nil && !strings.Contains(err.Error(), "out of memory") {
			t.Errorf("room for %d: Alloc without memory: %v", room, err)
		}
		memtest.MustCheck(t, f)
		f.Advance()
		mustAlloc(t, f, 1000, 16)
		if err := f.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("Close: %v, %d reservations left", err, src.Reserved())
		}
	}
}

func TestFrames_WithoutRestAStalePointerReadsPoisonInDebugBuilds(t *testing.T) {
	if !invariant.Debug || RestingFrames > 0 {
		t.Skip("this build does not fill, or has expired frames rest")
	}
	f := newFrames(t, 2, 4096)
	p := mustAlloc(t, f, 100, 1)
	*(*byte)(p) = 1
	f.Advance()
	f.Advance()
	if b := *(*byte)(p); b != invariant.FreedByte {
		t.Errorf("a stale pointer reads %#x", b)
	}
}
