package plan

import "testing"

// Small buffers of large alignments leave a gap behind each, which every other one looks at: the
// work on a plan is bounded all the same.
func TestFast_GapsOfAlignmentsDoNotMakeItQuadratic(t *testing.T) {
	const n = 4000
	set := make([]Buffer, n)
	for i := range set {
		set[i] = Buffer{ID: uint32(i), Size: 16, Align: 64, Death: 1}
	}
	set[0].Align = 16
	declared, err := declared(set)
	if err != nil {
		t.Fatal(err)
	}
	g := newGreedy(declared, 0, untimed, untimed)
	g.first, g.work = 1_000_000, 1_000_000
	g.run()
	p := newPlan(declared, g.best, g.bound)
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	if g.space.probes > g.first+100*n || p.Total() > 64*n {
		t.Errorf("%d strips were asked, %d bytes for %d", g.space.probes, p.Total(), 64*n)
	}
}
