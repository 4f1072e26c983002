package pool

import (
	"reflect"
	"testing"

	"github.com/strata-go/strata/memory"
)

// What converts into a pool of another type hands out slots of the wrong size.
func TestPools_AreNotConvertedIntoAnothers(t *testing.T) {
	for name, pair := range map[string][2]reflect.Type{
		"Pool": {reflect.TypeFor[Pool[body]](), reflect.TypeFor[Pool[enemy]]()},
		"hot":  {reflect.TypeFor[Split[brainy, struct{}]](), reflect.TypeFor[Split[struct{}, struct{}]]()},
		"cold": {reflect.TypeFor[Split[struct{}, brainy]](), reflect.TypeFor[Split[struct{}, struct{}]]()},
	} {
		if pair[0].ConvertibleTo(pair[1]) || reflect.PointerTo(pair[0]).ConvertibleTo(reflect.PointerTo(pair[1])) {
			t.Errorf("%s: %v converts to %v", name, pair[0], pair[1])
		}
	}
}

func TestPool_AHandleOfAnotherPoolIsStale(t *testing.T) {
	var pools []*Pool[enemy]
	var handles []memory.Handle[enemy]
	for range 40 {
		p := newPool(t, nil, 10)
		h, _ := mustNew(t, p)
		pools, handles = append(pools, p), append(handles, h)
	}
	for i, p := range pools {
		for k, h := range handles {
			if _, ok := p.Get(h); ok != (i == k) {
				t.Errorf("pool %d, handle of pool %d: found %t", i, k, ok)
			}
			if i != k && p.Free(h) {
				t.Errorf("pool %d freed an object of pool %d", i, k)
			}
			if h.Generation()&1 == 0 || h.IsZero() {
				t.Errorf("%v is not odd", h)
			}
		}
		mustCheck(t, p)
	}
}

func TestPool_AHandleOfAClosedPoolIsStaleInItsSuccessor(t *testing.T) {
	var old []memory.Handle[enemy]
	for range 100 {
		p := newPool(t, nil, 10)
		h, _ := mustNew(t, p)
		for _, h := range old {
			if _, ok := p.Get(h); ok || p.Free(h) {
				t.Fatalf("%v of a closed pool is valid in its successor", h)
			}
		}
		old = append(old, h)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if _, ok := p.Get(h); ok {
			t.Fatal("a handle outlives its pool")
		}
	}
}

func TestSplit_AHandleOfAnotherSplitIsStale(t *testing.T) {
	p, q := newSplit(t, nil, 10), newSplit(t, nil, 10)
	h, _, _, _ := p.New()
	q.New()
	_, _, ok := q.Get(h)
	_, ok2 := q.Hot(h)
	_, ok3 := q.Cold(h)
	if ok || ok2 || ok3 || q.Free(h) || q.Len() != 1 {
		t.Errorf("found: both %t, hot %t, cold %t; %d live", ok, ok2, ok3, q.Len())
	}
	if _, _, ok := p.Get(h); !ok || !p.Free(h) || p.Free(h) {
		t.Error("its own pool does not know the handle")
	}
}

// The bound in Pool's comment: among 2^k pools it takes 2^(31-k) lives of one slot. The keys of
// the first 2^k serials differ in their k highest bits, so that two generations that differ by
// two keys cannot both be below 2^(32-k).
func TestKeys_TheFirstPoolsDifferInTheHighBits(t *testing.T) {
	saved := serials.Load()
	defer serials.Store(saved)
	for _, k := range []uint{1, 4, 10} {
		serials.Store(0)
		high := map[uint32]bool{}
		for range 1 << k {
			key := newKey()
			if key&1 != 0 || key<<k != 0 {
				t.Fatalf("key %#x is not in the highest %d bits", key, k)
			}
			high[key] = true
		}
		if len(high) != 1<<k {
			t.Errorf("%d different keys of %d pools", len(high), 1<<k)
		}
	}
	serials.Store(1<<31 - 1)
	// As last != 1<<32-2 || again != 0 the condition is always true on arm64: go1.26.8 compiles it wrong, go1.27.3 does not.
	if keys := [2]uint32{newKey(), newKey()}; keys != [2]uint32{1<<32 - 2, 0} {
		t.Errorf("after 2^31 pools keys are %#x; want them to begin again", keys)
	}
}

func TestPool_MistakesAnothersHandleAtTheStatedBoundAndNotBefore(t *testing.T) {
	p, q := newPool(t, nil, 1), newPool(t, nil, 1)
	p.key, q.key = 0, 1<<31 // the first two pools, k = 1
	mustNew(t, p)
	mustNew(t, q)
	for _, c := range []struct {
		lives uint32
		taken bool
	}{{1, false}, {1 << 20, false}, {1<<30 - 1, false}, {1 << 30, false}, {1<<30 + 1, true}} {
		wear(p, 0, 2*c.lives-1)
		h := memory.MakeHandle[enemy](0, p.gens[0]^p.key)
		if _, ok := q.Get(h); ok != c.taken {
			t.Errorf("life %d of p's slot taken for q's first: %t", c.lives, ok)
		}
	}
}

func TestPool_BooksDoNotDependOnTheKey(t *testing.T) {
	p, q := newPool(t, nil, 10), newPool(t, nil, 10)
	for _, p := range []*Pool[enemy]{p, q} {
		h, _ := mustNew(t, p)
		mustNew(t, p)
		p.Free(h)
	}
	if p.key == q.key || !reflect.DeepEqual(p.gens, q.gens) || p.gens[0] != 2 || p.gens[1] != 1 {
		t.Errorf("keys %#x and %#x, generations %d and %d", p.key, q.key, p.gens, q.gens)
	}
}
