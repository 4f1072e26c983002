package tlsf

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

func TestHeap_YoungAreTheBlocksOfThisEpochWhateverWasFreed(t *testing.T) {
	for _, quick := range []uintptr{0, 64 << 10} {
		h, err := New(nil, Config{Reserve: 4 << 20, Step: 64 << 10, QuickBytes: quick})
		memtest.Opened(t, h, err)
		if err := h.AddPool(nil, 1<<20); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		type held struct {
			p     unsafe.Pointer
			size  uintptr
			young bool
		}
		var live []held
		for step := range 20_000 {
			switch op := r.IntN(500); {
			case op == 0:
				h.BeginEpoch()
				for i := range live {
					live[i].young = false
				}
			case op == 1:
				if err := h.Trim(); err != nil {
					t.Fatal(err)
				}
			case op < 20 && len(live) > 0:
				b := &live[r.IntN(len(live))]
				if size := uintptr(r.IntN(20_000)); h.Resize(b.p, b.size, size) {
					b.size = size
				}
			case op < 260 || len(live) == 0:
				size := uintptr(r.IntN(20_000))
				p, err := h.Alloc(size, 1<<r.IntN(13))
				if err != nil {
					if !errors.Is(err, memory.ErrOutOfMemory) {
						t.Fatal(err)
					}
					continue
				}
				live = append(live, held{p, size, true})
			default:
				i := r.IntN(len(live))
				h.Free(live[i].p, live[i].size)
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
			if step%97 != 0 {
				continue
			}
			memtest.MustCheck(t, h)
			got := map[unsafe.Pointer]uintptr{}
			for p, size := range h.Young {
				got[p] = size
			}
			for _, b := range live {
				size, ok := got[b.p]
				if ok != b.young || ok && (size < b.size || size%256 != 0) {
					t.Fatalf("step %d: the block at %p is young %t with %d bytes, want %t", step, b.p, ok, size, b.young)
				}
				delete(got, b.p)
			}
			if len(got) > 0 {
				t.Fatalf("step %d: %d blocks are young and not live", step, len(got))
			}
		}
	}
}

func TestHeap_EpochsEndWithTheHeap(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	memtest.MustAlloc(t, h, 100, 1)
	memtest.MustAlloc(t, h, 100, 1)
	n := 0
	for range h.Young { // without an epoch all blocks are young
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d blocks were yielded before the break", n)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, h.BeginEpoch, "BeginEpoch", "closed")
	for range h.Young {
		t.Error("a closed heap has young blocks")
	}
}

func TestHeap_OnShortIsAskedBeforeARefusal(t *testing.T) {
	for _, quick := range []uintptr{0, 1 << 20} {
		h, err := New(nil, Config{Reserve: 1 << 20, QuickBytes: quick})
		memtest.Opened(t, h, err)
		coming := memtest.MustAlloc(t, h, 1000<<10, 1)
		asked := 0
		h.OnShort(func() {
			if asked++; coming != nil {
				h.FreeAny(coming)
				coming = nil
			}
		})
		memtest.MustAlloc(t, h, 100<<10, 1)
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		if _, err := h.Alloc(1000<<10, 1); !errors.Is(err, memory.ErrOutOfMemory) || asked != 2 || h.Stats().Failures != 1 {
			t.Errorf("with nothing on its way: %v, asked %d times, %d failures", err, asked, h.Stats().Failures)
		}
		h.OnShort(func() { panic("hook") })
		before := h.Stats()
		func() {
			defer func() { _ = recover() }()
			_, _ = h.Alloc(1000<<10, 1)
			t.Error("no panic")
		}()
		if h.Stats() != before {
			t.Errorf("a panic out of OnShort changed the books from %+v to %+v", before, h.Stats())
		}
		memtest.MustCheck(t, h)
	}
}
