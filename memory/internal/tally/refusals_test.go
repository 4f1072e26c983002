package tally

import (
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestRefusals_OneErrorForEachSize(t *testing.T) {
	var r Refusals
	refuse := func(n int) (errs [16]error) {
		for k := range n {
			errs[k] = r.Of(memory.Exhausted{Op: "test: alloc", Need: uintptr(k), Limit: 100})
		}
		return errs
	}
	if a, b := refuse(8), refuse(8); a != b || a[0] == a[1] {
		t.Errorf("%v, then %v", a, b)
	}
	if n := testing.AllocsPerRun(10, func() { refuse(8) }); n != 0 {
		t.Errorf("%v allocations for refusals that are known", n)
	}
	a := refuse(9)
	for k := range uintptr(9) {
		if e := a[k].(*memory.Exhausted); e.Need != k || e.Limit != 100 {
			t.Errorf("%v, want Need %d", e, k)
		}
	}
}
