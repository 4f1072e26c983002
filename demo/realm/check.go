package realm

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/engine"
)

// Check verifies the invariants. For each invariant it reports the first cell, node or guide that breaks it. It takes
// some hundredths of a second. A [Bare] realm has nothing to verify.
func (r *Realm) Check() error {
	if r.clear == nil {
		return nil
	}
	return errors.Join(r.checkClear(), r.checkEdges(), r.checkGuides())
}

func (r *Realm) checkClear() error {
	for y := range Cells {
		for x := range Cells - 1 {
			i := y*Cells + x
			if d := abs(int(r.clear[i]) - int(r.clear[i+1])); d > 3 {
				return fmt.Errorf("realm: invariant 1: clearance of cell (%d, %d) and the next differ by %d", x, y, d)
			}
			if y == 0 {
				continue
			}
			if d := abs(int(r.clear[i]) - int(r.clear[i-Cells])); d > 3 {
				return fmt.Errorf("realm: invariant 1: clearance of cell (%d, %d) and the one above differ by %d", x, y, d)
			}
			if d := abs(int(r.clear[i]) - int(r.clear[i-Cells+1])); d > 4 {
				return fmt.Errorf("realm: invariant 1: clearance of cell (%d, %d) and that across differ by %d", x, y, d)
			}
			if d := abs(int(r.clear[i+1]) - int(r.clear[i-Cells])); d > 4 {
				return fmt.Errorf("realm: invariant 1: clearance of cell (%d, %d) and that across differ by %d", x+1, y, d)
			}
		}
	}
	return nil
}

func (r *Realm) checkEdges() error {
	for i, e := range r.edges {
		for d := range 8 {
			if e>>d&1 == 0 {
				continue
			}
			x, y := i%Coarse+linkX[d], i/Coarse+linkY[d]
			if uint(x) >= Coarse || uint(y) >= Coarse || r.edges[y*Coarse+x]>>((d+4)%8)&1 == 0 {
				return fmt.Errorf("realm: invariant 2: link %d of node (%d, %d) does not go back", d, i%Coarse, i/Coarse)
			}
		}
	}
	return nil
}

// checkGuides flies each guide from the start, as a body would that follows it.
func (r *Realm) checkGuides() error {
	for g := range r.guides {
		p, v := vec(r.Info.Start), vec{}
		if !r.follow(g, &p, &v) {
			return fmt.Errorf("realm: invariant 3: guide %d leads from the start to (%.0f, %.0f), not to (%.0f, %.0f)", g, p[0], p[1], r.Place(g)[0], r.Place(g)[1])
		}
	}
	return nil
}

// follow flies a small disc along a guide and reports whether it arrives.
func (r *Realm) follow(g int, p, v *vec) bool {
	for range 20 * World {
		if d := r.Place(g).Sub(*p); max(abs(int(d[0])), abs(int(d[1]))) <= 2*CoarseSize {
			return true
		}
		from := *p
		*v = r.Guide(g, from)
		*p = engine.MulAdd(*p, *v, 3)
		r.Slide(p, v, from, 6, 0)
	}
	return false
}
