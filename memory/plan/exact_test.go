package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func mustExact(t testing.TB, buffers []Buffer, limits Limits) (*Plan, Proof) {
	t.Helper()
	p, proof, err := Exact(buffers, limits)
	if err != nil {
		t.Fatal(err)
	}
	if proof.Bound < p.Bound() || proof.Bound > p.Total() || proof.Optimal != (proof.Bound == p.Total()) {
		t.Errorf("proof %+v for a plan with bound %d and total %d", proof, p.Bound(), p.Total())
	}
	return p, proof
}

// smallest tries every order of placing, each buffer on top of those it meets: the order
// by offset of an optimal plan is among them.
func smallest(buffers []Buffer) uintptr {
	best := uintptr(math.MaxUint)
	u := unit(buffers)
	offsets := make([]uintptr, len(buffers))
	var place func(k int, total uintptr)
	place = func(k int, total uintptr) {
		if total >= best {
			return
		}
		if k == len(buffers) {
			best = total
			return
		}
		for i := k; i < len(buffers); i++ {
			buffers[k], buffers[i] = buffers[i], buffers[k]
			top := uintptr(0)
			for j, b := range buffers[:k] {
				if b.meets(buffers[k]) {
					top = max(top, offsets[j]+b.Size)
				}
			}
			offsets[k] = align.Up(top, buffers[k].Align)
			end := total
			if buffers[k].Size > 0 {
				end = max(total, offsets[k]+align.Up(buffers[k].Size, u))
			}
			place(k+1, end)
			buffers[k], buffers[i] = buffers[i], buffers[k]
		}
	}
	place(0, 0)
	return best
}

func TestExact_AgreesWithTryingEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	above := 0
	for range 400 {
		set := make([]Buffer, 1+r.IntN(7))
		for i := range set {
			birth := r.IntN(6)
			set[i] = Buffer{
				ID: uint32(i), Size: uintptr(r.IntN(9)) * uintptr(1+r.IntN(5)), Align: 1 << r.IntN(5),
				Birth: birth, Death: birth + 1 + r.IntN(5),
			}
		}
		p, proof := mustExact(t, set, Limits{Steps: 200_000})
		if want := smallest(slices.Clone(set)); p.Total() != want || !proof.Optimal {
			t.Fatalf("%+v\ntotal %d, %v; trying everything finds %d", set, p.Total(), proof, want)
		}
		if proof.Bound > p.Bound() {
			above++
		}
	}
	if above == 0 {
		t.Error("no instance had its optimum above the load bound: the proof of absence is not tested")
	}
}

func TestExact_SameStepsSamePlan(t *testing.T) {
	buffers, _ := cut(3, 150, 20)
	a, proofA := mustExact(t, buffers, Limits{Steps: 3000})
	slices.Reverse(buffers)
	b, proofB := mustExact(t, buffers, Limits{Steps: 3000})
	if !slices.Equal(a.offsets, b.offsets) || proofA.Steps != proofB.Steps {
		t.Errorf("totals %d and %d after %d and %d steps", a.Total(), b.Total(), proofA.Steps, proofB.Steps)
	}
}

func TestExact_KeepsItsLimits(t *testing.T) {
	buffers, _ := cut(2, 450, 15)
	fast := mustFast(t, buffers)
	for _, steps := range []int{1, 100, 2000} {
		p, proof := mustExact(t, buffers, Limits{Steps: steps})
		if proof.Steps > steps || p.Total() > fast.Total() {
			t.Errorf("limit %d: %d steps, total %d, Fast had %d", steps, proof.Steps, p.Total(), fast.Total())
		}
	}
	// How long it takes with a limit, TestExact_KeepsItsTimeAtEverySize measures.
	if p, _ := mustExact(t, buffers, Limits{Time: time.Millisecond}); p.Len() != len(buffers) {
		t.Errorf("a limit of 1ms: %d of %d buffers", p.Len(), len(buffers))
	}
	for _, l := range []Limits{{Steps: -1}, {Time: -1}} {
		if _, _, err := Exact(buffers, l); err == nil || !strings.Contains(err.Error(), "neither may be negative") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestExact_ZeroLimitsMeanTheDefault(t *testing.T) {
	if p, proof := mustExact(t, frame, Limits{}); !proof.Optimal || p.Ratio() != 1 || !strings.HasPrefix(proof.String(), "minimal, no plan below 1300") {
		t.Errorf("ratio %v: %v", p.Ratio(), proof)
	}
	if p, proof := mustExact(t, nil, Limits{}); p.Total() != 0 || !proof.Optimal {
		t.Errorf("the empty set: %d, %v", p.Total(), proof)
	}
	if s := (Proof{Bound: 5, Steps: 7}).String(); s != "not proved minimal, no plan below 5 bytes, 7 steps" {
		t.Error(s)
	}
}

// Independent stretches of time are solved apart: none may disturb the other.
func TestExact_ComponentsAreIndependent(t *testing.T) {
	one, _ := cut(1, 60, 0)
	var set []Buffer
	for part := range 3 {
		for _, b := range one {
			b.ID += uint32(part * len(one))
			b.Birth += part * 4000
			b.Death += part * 4000
			set = append(set, b)
		}
	}
	if parts, all := partsOf(one), partsOf(set); len(all) != 3*len(parts) {
		t.Errorf("%d components, want 3 times %d", len(all), len(parts))
	}
	if p, proof := mustExact(t, set, Limits{Steps: 100_000}); !proof.Optimal || p.Ratio() != 1 {
		t.Errorf("ratio %v, %v", p.Ratio(), proof)
	}
}

func partsOf(set []Buffer) (parts []*problem) {
	set, err := declared(set)
	if err != nil {
		panic(err)
	}
	t, u := newTimeline(set), unit(set)
	for _, p := range t.parts(set) {
		parts = append(parts, newProblem(set, t, p, u, scale(set, u)))
	}
	return parts
}

func TestSections_AreTheMaximalSets(t *testing.T) {
	set := []Buffer{
		{ID: 0, Size: 1, Align: 1, Birth: 0, Death: 9}, {ID: 1, Size: 1, Align: 1, Birth: 1, Death: 3},
		{ID: 2, Size: 1, Align: 1, Birth: 2, Death: 5}, {ID: 3, Size: 1, Align: 1, Birth: 5, Death: 6}, {ID: 4, Size: 1, Align: 1, Birth: 9, Death: 10},
	}
	parts := partsOf(set)
	if len(parts) != 2 || len(parts[0].members) != 2 || parts[0].bound != 3 || parts[1].bound != 1 {
		t.Fatalf("%d components", len(parts))
	}
	p := parts[0]
	if !slices.Equal(p.members[0], []int32{0, 1, 2}) || !slices.Equal(p.members[1], []int32{0, 3}) {
		t.Errorf("sections %v; want [0 1 2] and [0 3]", p.members)
	}
	if p.lo[0] != 0 || p.hi[0] != 2 || len(p.conflict[0]) != 3 || len(p.conflict[3]) != 1 {
		t.Errorf("buffer 0 spans [%d, %d), conflicts %v", p.lo[0], p.hi[0], p.conflict)
	}
}

func TestLuby_FirstTerms(t *testing.T) {
	for i, want := range []int{1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, 1} {
		if got := luby(i + 1); got != want {
			t.Errorf("luby(%d) = %d, want %d", i+1, got, want)
		}
	}
}

func (b Buffer) meets(c Buffer) bool {
	return b.Birth < c.Death && c.Birth < b.Death && b.Size > 0 && c.Size > 0
}

func TestExact_EndsAtItsCapacity(t *testing.T) {
	testenv.Long(t)
	buffers, optimum := cut(3, 150, 20)
	fast := mustFast(t, buffers).Total()
	best, all := mustExact(t, buffers, Limits{Steps: 100_000})
	for _, capacity := range []uintptr{math.MaxUint, fast, fast - 1, (fast + optimum) / 2} {
		p, proof := mustExact(t, buffers, Limits{Steps: 100_000, Capacity: capacity})
		if p.Total() > capacity || proof.Steps >= all.Steps || capacity >= fast && proof.Steps != 0 {
			t.Errorf("capacity %d: total %d after %d steps; without one %d", capacity, p.Total(), proof.Steps, all.Steps)
		}
	}
	if p, _ := mustExact(t, buffers, Limits{Steps: 100_000, Capacity: 1}); p.Total() != best.Total() {
		t.Errorf("a capacity below the bound gives %d; want %d", p.Total(), best.Total())
	}
}

// Sets that are too large to be searched are placed anew, and become smaller.
func TestExact_ImprovesWhatCannotBeSearched(t *testing.T) {
	buffers, _ := cut(3, 400, 20)
	fast := mustFast(t, buffers)
	set, _ := declared(buffers)
	g := newGreedy(set, 0, untimed, untimed)
	g.run()
	b := newBudget(Limits{Steps: 300_000}, time.Now(), len(set))
	d := newDescent(g, 0, b)
	for _, c := range d.parts {
		c.part.pairs = searchPairs + 1
	}
	low := d.run()
	p := newPlan(set, g.best, g.bound)
	if err := p.Verify(); err != nil || p.Total() >= fast.Total() || low != g.bound || b.used > 300_000 {
		t.Errorf("total %d after %d steps; Fast has %d, %v", p.Total(), b.used, fast.Total(), err)
	}
	t.Logf("%.4f, Fast %.4f", p.Ratio(), fast.Ratio())
}

func TestScale_DividesEverySizeAndWhatAlignmentsMake(t *testing.T) {
	for _, c := range []struct {
		want uintptr
		set  []Buffer
	}{
		{3072, []Buffer{{Size: 3072, Align: 1024}, {Size: 6144, Align: 1024}}},
		{1024, []Buffer{{Size: 3072, Align: 1024}, {Size: 6144, Align: 2048}}},
		{8, []Buffer{{Size: 3072, Align: 4}, {Size: 5, Align: 4}, {Size: 0, Align: 64}}},
		{1, nil},
	} {
		if got := scale(c.set, unit(c.set)); got != c.want {
			t.Errorf("%v: %d, want %d", c.set, got, c.want)
		}
	}
}

// What comes of a round is where the next one starts, unless it is worse.
func TestReplacer_GoesOnFromTheLastRound(t *testing.T) {
	buffers, _ := cut(3, 400, 20)
	set, _ := declared(buffers)
	g := newGreedy(set, 0, untimed, untimed)
	g.run()
	r, b := newReplacer(g), newBudget(Limits{Steps: 1 << 20}, time.Now(), len(set))
	start, moved := r.total, 0
	for range 40 {
		before, total := slices.Clone(r.current), r.total
		r.round(b)
		needs := uintptr(0)
		for i, b := range set {
			needs = max(needs, r.current[i]+align.Up(b.Size, g.unit))
		}
		if needs != r.total || r.total > total {
			t.Fatalf("from %d bytes a round led to %d, and goes on from %d", total, r.total, needs)
		}
		if !slices.Equal(before, r.current) {
			moved++
		}
	}
	if moved == 0 || r.total >= start {
		t.Errorf("%d rounds led anywhere, from %d to %d bytes", moved, start, r.total)
	}
}
