package buddy

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/align"
)

func TestLadder_SizesAreTheSystems(t *testing.T) {
	for system, want := range map[System][]uint32{
		Binary:    {1, 2, 4, 8, 16, 32},
		Fibonacci: {1, 1, 2, 3, 5, 8, 13, 21},
	} {
		l := ladderOver(system, want[len(want)-1])
		if int(l.top) != len(want)-1 {
			t.Errorf("%v has %d rungs, want %d", system, l.top+1, len(want))
		}
		for k, size := range want {
			if l.size[k] != size {
				t.Errorf("%v: rung %d has %d units, want %d", system, k, l.size[k], size)
			}
		}
		if over, within := ladderOver(system, 20), ladderWithin(system, 20); over.root() < 20 || within.root() > 20 || over.top != within.top+1 {
			t.Errorf("%v: 20 units lie between %d and %d", system, within.root(), over.root())
		}
	}
}

func TestLadder_ServesEveryRequestFromTheLowestRung(t *testing.T) {
	for _, system := range systems {
		for _, root := range []uint32{1, 2, 3, 5, 100, 4000} {
			l := ladderOver(system, root)
			for n := uint32(1); n <= l.root(); n++ {
				k := l.rung(n)
				if l.size[k] < n || k > 0 && l.size[k-1] >= n {
					t.Fatalf("%v: %d units get rung %d of %d", system, n, k, l.size[k])
				}
			}
		}
	}
}

func TestLadder_ReachesTheLargestReservation(t *testing.T) {
	for _, system := range systems {
		l := ladderOver(system, align.MaxGrains)
		if l.top >= maxRungs-1 || l.root() < align.MaxGrains || l.rung(l.root()) != l.top {
			t.Errorf("%v: %d units in %d rungs", system, l.root(), l.top+1)
		}
		if p := ladderWithin(system, 1); p.root() != 1 {
			t.Errorf("%v: the smallest root has %d units", system, p.root())
		}
	}
}

// Every part of every part knows its buddy and its parent, whatever lies above.
func TestLadder_PartsFindTheirBuddyAndParent(t *testing.T) {
	for _, system := range systems {
		l := ladderOver(system, 600)
		var climb func(p part)
		climb = func(p part) {
			if !l.divisible(p) {
				if l.size[p.rung] != 1 {
					t.Fatalf("%v: %+v of %d units has no parts", system, p, l.size[p.rung])
				}
				return
			}
			a, b := l.parts(p)
			if a.off != p.off || b.off != a.off+l.size[a.rung] || b.off+l.size[b.rung] != p.off+l.size[p.rung] {
				t.Fatalf("%v: %+v and %+v do not tile %+v", system, a, b, p)
			}
			if off, rung := l.buddy(a); off != b.off || rung != b.rung {
				t.Fatalf("%v: the buddy of %+v is at %d, rung %d, want %+v", system, a, off, rung, b)
			}
			if off, rung := l.buddy(b); off != a.off || rung != a.rung {
				t.Fatalf("%v: the buddy of %+v is at %d, rung %d, want %+v", system, b, off, rung, a)
			}
			if up, also := l.parent(a, b.side), l.parent(b, a.side); up != p || also != p {
				t.Fatalf("%v: the parents of %+v and %+v are %+v and %+v, want %+v", system, a, b, up, also, p)
			}
			if off, _ := l.buddy(a); system == Binary && off != a.off^l.size[a.rung] {
				t.Fatalf("the buddy of %+v is not at its offset xor its size", a)
			}
			climb(a)
			climb(b)
		}
		climb(l.whole())
	}
}

func TestLadder_WasteIsBounded(t *testing.T) {
	for system, bound := range map[System]float64{Binary: 0.5, Fibonacci: 0.4} {
		l := ladderOver(system, 1<<20)
		for n := uint32(3); n <= 1<<20; n++ { // n-1 units and a byte
			size := l.size[l.rung(n)]
			if w := float64(size-(n-1)) / float64(size); w > bound {
				t.Fatalf("%v: a byte more than %d units wastes %.3f of a block of %d", system, n-1, w, size)
			}
		}
	}
}
