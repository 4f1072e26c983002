package particles

import (
	"math/bits"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestSystem_CheckEndsWhateverBitIsFlipped(t *testing.T) {
	s, err := New(page.Heap(), Config{Capacity: 1 << 15, MaxKinds: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		k, err := s.Register(Kind{})
		if err != nil {
			t.Fatal(err)
		}
		e := Emitter{Kind: k, Life: Range{1, 2}, Size: Range{1, 2}}
		s.Emit(&e, 40)
	}
	s.Update(1.0 / 60)
	f := memtest.EveryBit(t, s.Check, s)
	t.Logf("%+v", f)
	share := 10
	if bits.UintSize == 32 { // the upper halves of counts, which say the most, are not there
		share = 16
	}
	if f.Integers < 200 || f.Named*share < f.Flipped {
		t.Errorf("%+v; the books are larger than that", f)
	}
}
