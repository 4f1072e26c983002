package arena

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// furnish leaves l with old and newest blocks, marks, hooks, Refs' cuts and something freed.
func furnish(t *testing.T, l *Linear, a memory.Allocator) {
	for i := range uintptr(5) {
		mustAlloc(t, a, 100*i, 8<<i)
		l.OnReset(func() {})
		l.Mark()
		p := mustAlloc(t, a, 50, 1)
		l.refs = l.off
		l.cutRefs(l.off - 1)
		a.Free(p, 50)
	}
	mustAlloc(t, a, 77, 1)
	l.refs = l.off
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	l := newLinear(t, 100_000)
	furnish(t, l, l)
	g := newGrowing(t, nil, GrowingConfig{Reserve: 1 << 20, Step: 16 << 10})
	furnish(t, &g.lin, g)
	f := newFrames(t, 3, 50_000)
	for range 4 {
		furnish(t, f.cur, f)
		f.Advance()
	}
	furnish(t, f.cur, f)
	s := newStepBack(t, 100_000)
	for i := range uintptr(8) {
		mustAlloc(t, s, 100*i, 1<<i)
	}
	s.Undo()
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 8 * regionBytes})
	blocks := fill(t, r, 16, regionBytes/4)
	for _, i := range []int{0, 1, 2, 3, 5, 9, 10} {
		r.Free(blocks[i], regionBytes/4)
	}
	mustAlloc(t, r, 16, 16)
	for name, c := range map[string]struct {
		books any
		check memory.Checker
		share int // of a hundred bits, how many Check must name at least
	}{
		"Linear": {l, l, 50}, "Growing": {g, g, 50}, "Frames": {f, f, 50}, "StepBack": {s, s, 50}, "Region": {r, r, 50},
	} {
		t.Run(name, func(t *testing.T) {
			flips := memtest.EveryBit(t, c.check.Check, c.books)
			t.Logf("%+v", flips)
			if flips.Named*100 < flips.Flipped*c.share {
				t.Errorf("Check named %d of %d flipped bits", flips.Named, flips.Flipped)
			}
		})
	}
}

func TestCheck_OfAClosedArenaToleratesEverything(t *testing.T) {
	l := newLinear(t, 4000)
	furnish(t, l, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if flips := memtest.EveryBit(t, l.Check, l); flips.Integers == 0 || flips.Named != 0 {
		t.Errorf("%+v", flips)
	}
}

func TestFrames_CheckNamesEachOfItsOwnNumbers(t *testing.T) {
	f := newFrames(t, 3, 50_000)
	for want, corrupt := range map[string]func(){
		"0 frames are readable":                             func() { f.n = 0 },
		"frames are readable in a ring of":                  func() { f.n = len(f.ring) + 1 },
		"does not use buffer":                               func() { f.frame++ },
		"buffer 0 has a capacity of 50000 bytes instead of": func() { f.bytes++ },
	} {
		n, frame, bytes := f.n, f.frame, f.bytes
		corrupt()
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		f.n, f.frame, f.bytes = n, frame, bytes
	}
}
