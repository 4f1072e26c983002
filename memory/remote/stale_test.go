package remote

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	blocks "github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// A heap is a target with all that these tests need.
type heap interface {
	memory.Allocator
	memory.AnyFreer
	memory.Resetter
	memory.StatsReporter
	memory.Checker
	Generational
}

// newHeaps returns heaps of three allocators; each batch holds pointers or offsets.
func newHeaps(t testing.TB) map[string]heap {
	t.Helper()
	heaps := map[string]heap{}
	for i, name := range []string{"pointers", "offsets"} {
		s, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		l, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Granule: 16})
		if err != nil {
			t.Fatal(err)
		}
		b, err := blocks.NewBlocks(nil, blocks.BlocksConfig{Size: 128, Capacity: 1 << 13})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _, _ = s.Close(), l.Close(), b.Close() })
		for kind, h := range map[string]heap{"slab": s, "tlsf": l, "pool": b} {
			heaps[kind+" "+name] = []heap{struct{ heap }{h}, h}[i] // the interface alone has no Base
		}
	}
	return heaps
}

// reuse allocates blocks of h until one is at p, and frees the others.
func reuse(t testing.TB, h heap, p unsafe.Pointer, size uintptr) {
	t.Helper()
	var others []unsafe.Pointer
	defer func() {
		for _, q := range others {
			h.Free(q, size)
		}
	}()
	for range 1000 {
		q := memtest.MustAlloc(t, h, size, 16)
		if q == p {
			return
		}
		others = append(others, q)
	}
	t.Fatalf("1000 blocks, and none at %p", p)
}

// stale runs f for every heap with batches of some sizes, in builds that detect stale frees.
func stale(t *testing.T, f func(t *testing.T, h heap, in *Inbox)) {
	for _, batch := range []int{1, 2, 32} {
		for name, h := range newHeaps(t) {
			t.Run(fmt.Sprintf("%s/batch=%d", name, batch), func(t *testing.T) {
				f(t, h, newInbox(t, h, batch))
			})
		}
	}
}

// mustFlush pushes what the Freers have.
func mustFlush(t testing.TB, freers ...*Freer) {
	t.Helper()
	for _, f := range freers {
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// detected verifies that the drain names the block at p as stale, and leaves the newcomer and drains
// the rest, which is of n blocks.
func detected(t testing.TB, h heap, in *Inbox, p unsafe.Pointer, n int) {
	t.Helper()
	live := h.Stats().Live
	if !invariant.Debug {
		in.Drain() // frees the newcomer: nobody can tell
		return
	}
	for range 2 {
		m, _ := panicOf(func() { n -= in.Drain() }).(*memory.Misuse)
		if m == nil {
			t.Fatalf("a stale free of %p passes", p)
		}
		if m.Addr == uintptr(p) {
			memtest.Misuse(t, func() { panic(m) }, "remote.Drain", "stale free", "freed block", "handed out block", "remote.Test")
			break
		}
	}
	in.Drain()
	if now := h.Stats().Live; now != live-uint64(n) {
		t.Errorf("%d blocks live, want %d less %d", now, live, n)
	}
	memtest.MustCheck(t, h)
	mustCheck(t, in)
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestStale_OwnerFreesAndReusesBeforeTheDrain(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p, q := memtest.MustAlloc(t, h, 100, 16), memtest.MustAlloc(t, h, 100, 16)
		f.FreeAny(p)
		f.FreeAny(q)
		h.Free(p, 100)
		reuse(t, h, p, 100)
		mustFlush(t, f)
		detected(t, h, in, p, 1)
	})
}

func TestStale_FreedBetweenTheFreeAndTheReuse(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p := memtest.MustAlloc(t, h, 100, 16)
		h.Free(p, 100)
		f.Free(p, 100)
		reuse(t, h, p, 100)
		mustFlush(t, f)
		detected(t, h, in, p, 0)
	})
}

func TestStale_TwoFreersWithAReuseBetweenTheirDrains(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		freers := []*Freer{in.NewFreer(), in.NewFreer(), in.NewFreer()}
		p := memtest.MustAlloc(t, h, 100, 16)
		late := in.NewFreer()
		freers[0].FreeAny(p)
		if late.FreeAny(p); late.Pending() == 0 {
			return // a batch of one: both wait, and the other test of double frees applies
		}
		for range 5 {
			freers[1].FreeAny(memtest.MustAlloc(t, h, 100, 16))
			freers[2].Free(memtest.MustAlloc(t, h, 40, 16), 40)
		}
		mustFlush(t, freers...)
		if n := in.Drain(); n != 11 {
			t.Fatalf("%d drained", n)
		}
		reuse(t, h, p, 100)
		mustFlush(t, late)
		detected(t, h, in, p, 0)
	})
}

// The heap was reset and the inbox was not.
func TestStale_ResetOfTheTargetAlone(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p := memtest.MustAlloc(t, h, 100, 16)
		f.FreeAny(p)
		h.Reset()
		reuse(t, h, p, 60) // of another size, in another class or not
		mustFlush(t, f)
		if !invariant.Debug {
			return
		}
		detected(t, h, in, p, 0)
	})
}

func TestStale_ResetOfBothIsNoMisuse(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p := memtest.MustAlloc(t, h, 100, 16)
		f.FreeAny(p)
		h.Reset()
		in.Reset()
		reuse(t, h, p, 100)
		mustFlush(t, f)
		if in.Drain(); in.Stats().Stale != 1 || h.Stats().Live != 1 {
			t.Errorf("%+v, %d live", in.Stats(), h.Stats().Live)
		}
		f.FreeAny(p) // the newcomer's own free
		mustFlush(t, f)
		if n := in.Drain(); n != 1 || h.Stats().Live != 0 {
			t.Errorf("%d drained, %d live", n, h.Stats().Live)
		}
	})
}

func TestStale_CloseOfTheInboxNamesItToo(t *testing.T) {
	if !invariant.Debug {
		return
	}
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p, q := memtest.MustAlloc(t, h, 100, 16), memtest.MustAlloc(t, h, 100, 16)
		f.FreeAny(p)
		f.FreeAny(q)
		mustFlush(t, f)
		h.Free(p, 100)
		reuse(t, h, p, 100)
		memtest.Misuse(t, func() { _ = in.Close() }, "remote.Close", "stale free")
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		f.FreeAny(p)
		if err := f.Close(); err == nil || h.Stats().Live != 1 {
			t.Errorf("Close of the Freer: %v, %d live", err, h.Stats().Live)
		}
		memtest.MustCheck(t, h)
	})
}

// What the documentation says is not detected: by its address the free is the newcomer's own.
func TestStale_AFreeAfterTheReuseIsNotDetected(t *testing.T) {
	stale(t, func(t *testing.T, h heap, in *Inbox) {
		f := in.NewFreer()
		p := memtest.MustAlloc(t, h, 100, 16)
		h.Free(p, 100)
		reuse(t, h, p, 100)
		f.FreeAny(p)
		mustFlush(t, f)
		if n := in.Drain(); n != 1 || h.Stats().Live != 0 {
			t.Errorf("%d drained, %d live", n, h.Stats().Live)
		}
	})
}

// Legal programs: random sizes, several Freers, full and unfinished batches, resized blocks, resets
// of both sides.
func TestStale_NoFalseAlarm(t *testing.T) {
	for seed := range uint64(memtest.Rounds(10)) {
		stale(t, func(t *testing.T, h heap, in *Inbox) {
			r := rand.New(rand.NewPCG(seed, 108))
			freers := []*Freer{in.NewFreer(), in.NewFreer(), in.NewFreer()}
			var live []unsafe.Pointer
			for range 2000 {
				switch k := r.IntN(20); {
				case k < 9:
					size := 1 + r.UintN(127)
					p := memtest.MustAlloc(t, h, uintptr(size), 1)
					if z, ok := h.(memory.Resizer); ok {
						z.Resize(p, uintptr(size), uintptr(size)+1)
					}
					live = append(live, p)
				case k < 17 && len(live) > 0:
					i := r.IntN(len(live))
					p := live[i]
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
					if k == 9 {
						h.FreeAny(p)
					} else {
						freers[k%3].Free(p, uintptr(k))
					}
				case k == 17:
					in.DrainSome(r.IntN(30))
				case k == 18:
					in.Drain()
				case r.IntN(20) == 0:
					h.Reset()
					in.Reset()
					live = live[:0]
				}
			}
			mustFlush(t, freers...)
			in.Drain()
			if got := h.Stats().Live; got != uint64(len(live)) {
				t.Errorf("%d blocks live, want %d", got, len(live))
			}
		})
	}
}
