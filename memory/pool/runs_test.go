package pool

import (
	"iter"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// holes makes a pool of n objects and frees each with the probability vacant, in 1024ths.
func holes(t *testing.T, r *rand.Rand, n, vacant int) *Pool[enemy] {
	t.Helper()
	p := newPool(t, nil, 1000)
	for _, h := range fill(t, p, n) {
		if r.IntN(1024) < vacant {
			p.Free(h)
		}
	}
	return p
}

func TestRuns_AreTheObjectsOfAllInTheirOrder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, n := range []int{0, 1, 63, 64, 65, 128, 129, 1000} {
			for _, vacant := range []int{0, 1, 20, 300, 512, 1000, 1024} {
				p := holes(t, r, n, vacant)
				var want []*enemy
				var handles []memory.Handle[enemy]
				for h, v := range p.All() {
					want, handles = append(want, v), append(handles, h)
				}
				at, runs := 0, 0
				for run := range p.Runs() {
					if runs++; len(run) == 0 || len(run) > 64 || cap(run) != len(run) {
						t.Fatalf("seed %d, %d objects: a run of %d", seed, n, len(run))
					}
					for i := range run {
						if at == len(want) || &run[i] != want[at] || p.HandleOf(&run[i]) != handles[at] {
							t.Fatalf("seed %d, %d objects, %d vacant: object %d of %d is another", seed, n, vacant, at, len(want))
						}
						at++
					}
				}
				if at != len(want) || vacant == 0 && runs != (n+63)/64 {
					t.Fatalf("seed %d, %d objects, %d vacant: %d in %d runs; want %d", seed, n, vacant, at, runs, len(want))
				}
			}
		}
	}
}

func TestRuns_ABodyMayFreeWhatItHasPassedAndMake(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := holes(t, r, 500, 100)
		seen := map[*enemy]bool{}
		for run := range p.Runs() {
			for i := range run {
				v := &run[i]
				if seen[v] {
					t.Fatalf("seed %d: a slot is visited twice", seed)
				}
				seen[v] = true
				switch r.IntN(4) {
				case 0:
					if !p.Free(p.HandleOf(v)) {
						t.Fatalf("seed %d: HandleOf a live object is stale", seed)
					}
				case 1:
					_, _, _ = p.New() // it may fail
				}
			}
			if r.IntN(20) == 0 {
				p.Reset()
			}
		}
		mustCheck(t, p)
	}
}

func TestRuns_EndWithThePool(t *testing.T) {
	p := newPool(t, nil, 1000)
	fill(t, p, 300)
	for range 2 { // an iterator begins again
		n := 0
		for range p.Runs() {
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Fatalf("%d runs", n)
		}
	}
	n := 0
	for range p.Runs() {
		n++
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range p.Runs() {
		n++
	}
	if n != 1 {
		t.Errorf("%d runs of a pool that the first one closed", n)
	}
}

func TestHandleOf_OtherPointersHaveNone(t *testing.T) {
	whole, err := page.Default().Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(page.Default(), whole)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, func() error { carve.Close(); return page.Default().Release(whole) })
	other := newPool(t, carve, 100) // before the pool, so that a pointer in front of that is legal under -race, too
	p := newPool(t, carve, 100)
	handles := fill(t, p, 3)
	foreign, _ := other.Get(fill(t, other, 3)[0])
	v, _ := p.Get(handles[1])
	p.Free(handles[2])
	for name, q := range map[string]*enemy{
		"nil": nil, "of another pool": foreign, "interior": (*enemy)(unsafe.Add(unsafe.Pointer(v), 8)),
		"vacant": (*enemy)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(*v))), "before the pool": (*enemy)(unsafe.Add(unsafe.Pointer(v), -2*int(unsafe.Sizeof(*v)))),
		"not yet used": (*enemy)(unsafe.Add(unsafe.Pointer(v), 90*unsafe.Sizeof(*v))), "on the Go heap": new(enemy),
	} {
		if h := p.HandleOf(q); !h.IsZero() {
			t.Errorf("%s: %v", name, h)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if h := p.HandleOf(v); !h.IsZero() {
		t.Errorf("closed: %v", h)
	}
	empty, err := New[struct{}](nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, empty.Close)
	_, e, _ := empty.New()
	n := 0
	for run := range empty.Runs() {
		n += len(run)
	}
	if h := empty.HandleOf(e); !h.IsZero() || n != 1 {
		t.Errorf("of no bytes: %v, %d in runs", h, n)
	}
}

func TestSplit_RunsAreTheHotPartsOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	p := newSplit(t, nil, 1000)
	for range 300 {
		if h, _, _, _ := p.New(); r.IntN(8) == 0 {
			p.Free(h)
		}
	}
	next, stop := iter.Pull2(p.All())
	defer stop()
	for run := range p.Runs() {
		for i := range run {
			if h, v, ok := next(); !ok || v != &run[i] || p.HandleOf(v) != h {
				t.Fatalf("an object of a run is another than that of All")
			}
		}
	}
	if _, _, ok := next(); ok {
		t.Error("a live object is in no run")
	}
}
