package ground_test

import (
	"math"
	"testing"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A source brings pictures after a while, some at a time, the soonest seen first, as a loader would.
type source struct {
	plan   ground.Plan
	delay  int // ticks that a picture takes
	lanes  int // how many at a time
	flight []arriving
	held   map[ground.Sector]bool // with pictures that are requested
}

type arriving struct {
	s  ground.Sector
	at int
}

func newSource(budget, delay, lanes int) *source {
	s := &source{delay: delay, lanes: lanes, held: map[ground.Sector]bool{}}
	s.plan.Reset(budget)
	return s
}

// tick moves the plan and the source on, and fails if more is held than the budget allows.
func (s *source) tick(t *testing.T, now int, x, y, vx, vy float32, budget int) {
	t.Helper()
	s.plan.Tick(x, y, vx, vy)
	for _, d := range s.plan.Drop() {
		delete(s.held, d)
		for i := range s.flight {
			if s.flight[i].s == d {
				s.flight = append(s.flight[:i], s.flight[i+1:]...)
				break
			}
		}
	}
	for _, w := range s.plan.Want() {
		if len(s.flight) < s.lanes && !s.held[w.Sector] {
			s.flight = append(s.flight, arriving{w.Sector, now + s.delay})
			s.held[w.Sector] = true
		}
	}
	for i := 0; i < len(s.flight); i++ {
		if f := s.flight[i]; f.at <= now {
			if !s.plan.Ready(f.s) {
				t.Fatalf("%v was dropped and nobody told", f.s)
			}
			s.flight = append(s.flight[:i], s.flight[i+1:]...)
			i--
		}
	}
	if n := s.plan.Stats().Held; n*ground.Bytes > budget {
		t.Fatalf("%d sectors are held with room for %d", n, budget/ground.Bytes)
	}
}

// fly moves along a heading that f gives for every tick, at a speed, and returns where it ends.
func (s *source) fly(t *testing.T, from int, ticks int, x, y float32, budget int, f func(tick int) (vx, vy float32)) (float32, float32) {
	t.Helper()
	for i := range ticks {
		vx, vy := f(from + i)
		x, y = x+vx/60, y+vy/60
		s.tick(t, from+i, x, y, vx, vy, budget)
	}
	return x, y
}

func (s *source) shown() (all []ground.Sector) {
	for y := range uint8(ground.Sectors) {
		for x := range uint8(ground.Sectors) {
			if s.plan.Shown(ground.Sector{X: x, Y: y}) {
				all = append(all, ground.Sector{X: x, Y: y})
			}
		}
	}
	return all
}

func TestPlan_TwoWaysToOnePlaceAgreeAfterFiveSeconds(t *testing.T) {
	for _, budget := range []int{8 << 20, 48 << 20} {
		var sets [3][]ground.Sector
		for way := range sets {
			s := newSource(budget, 14, 4)
			x, y := [3]float32{1000, 9000, 5300}[way], [3]float32{1000, 2000, 11000}[way]
			now := 0
			for ; math.Hypot(float64(x-5000), float64(y-5000)) > 7; now++ {
				d := float32(math.Hypot(float64(x-5000), float64(y-5000)))
				vx, vy := (5000-x)/d*420, (5000-y)/d*420
				x, y = s.fly(t, now, 1, x, y, budget, func(int) (float32, float32) { return vx, vy })
			}
			s.fly(t, now, 300, 5000, 5000, budget, func(int) (float32, float32) { return 0, 0 })
			sets[way] = s.shown()
		}
		for _, set := range sets[1:] {
			if len(set) < 4 || len(set) != len(sets[0]) {
				t.Fatalf("budget %d: %d and %d sectors are shown", budget, len(set), len(sets[0]))
			}
			for i := range set {
				if set[i] != sets[0][i] {
					t.Errorf("budget %d: one way shows %v where another shows %v", budget, set[i], sets[0][i])
				}
			}
		}
	}
}

func TestPlan_ZigzagAsksForAlmostNothingTwice(t *testing.T) {
	testenv.Long(t)
	for _, budget := range []int{16 << 20, 32 << 20, 48 << 20} {
		periods := []int{30, 60, 120, 200, 360}
		for i := 0; i < len(periods); i += testenv.Step(3) {
			zigzag(t, budget, periods[i])
		}
	}
}

func zigzag(t *testing.T, budget, period int) {
	t.Helper()
	s := newSource(budget, 14, 4)
	x, y := float32(600), float32(3000)
	now := 0
	for leg := range 40 { // there and back, so that the world is wide enough
		dir := float32(1)
		if leg%2 == 1 {
			dir = -1
		}
		x, y = s.fly(t, now, 1400, x, y, budget, func(tick int) (float32, float32) {
			side := float32(1)
			if tick/period%2 == 1 {
				side = -1
			}
			return dir * 300, side*300 + 3
		})
		now += 1400
	}
	st := s.plan.Stats()
	most := 0.01
	if budget < 32<<20 {
		most = 0.02 // eight sectors to linger are few at this speed
	}
	if st.Thrash() > most || st.Asked < 100 {
		t.Errorf("budget %d, period %d: %d of %d sectors were asked for again within two seconds", budget, period, st.Again, st.Asked)
	}
	if st.Soft() > 0.01 {
		t.Errorf("budget %d, period %d: %.1f of %.1f sector-seconds in view were soft", budget, period, st.SoftSeconds, st.SeenSeconds)
	}
}

func TestPlan_FlyingStraightSeesWhatIsThereAndTurningBackCancels(t *testing.T) {
	const budget = 48 << 20
	s := newSource(budget, 14, 4)
	x, y := s.fly(t, 0, 120, 400, 6000, budget, func(int) (float32, float32) { return 0, 0 })
	at := s.plan.Stats()
	x, y = s.fly(t, 120, 1200, x, y, budget, func(int) (float32, float32) { return 500, 0 })
	st := s.plan.Stats()
	if soft := st.SoftSeconds - at.SoftSeconds; soft > 0 {
		t.Errorf("%.2f sector-seconds were soft at full speed", soft)
	}
	if lead := (st.LeadSum - at.LeadSum) / float64(st.Ready-at.Ready); lead < 1 {
		t.Errorf("sectors came %.2f seconds before they were seen, want 1", lead)
	}
	s.delay = 600 // the source stalls
	x, y = s.fly(t, 1320, 60, x, y, budget, func(int) (float32, float32) { return 500, 0 })
	before := s.plan.Stats().Cancelled
	s.fly(t, 1380, 200, x, y, budget, func(int) (float32, float32) { return -500, 0 })
	if s.plan.Stats().Cancelled == before {
		t.Error("nothing was cancelled after turning back")
	}
}

func TestPlan_WantsTheSoonestSeenFirstAndAllInView(t *testing.T) {
	var p ground.Plan
	p.Reset(48 << 20)
	p.Tick(5000, 5000, 400, 0)
	want := p.Want()
	inView := 0
	for i, w := range want {
		if i > 0 && w.ETA < want[i-1].ETA {
			t.Errorf("%v stands behind one that is seen later", w)
		}
		if w.ETA == 0 {
			inView++
		}
	}
	if inView != 4 { // columns 9 and 10, rows 9 and 10
		t.Errorf("%d sectors in view, want 4: %v", inView, want)
	}
	eta := map[ground.Sector]float32{}
	for _, w := range want {
		eta[w.Sector] = w.ETA
	}
	ahead, ok := eta[ground.Sector{X: 11, Y: 9}]
	if want := float32(11*512-5320) / 400; !ok || ahead < want-0.01 || ahead > want+0.01 {
		t.Errorf("the sector ahead is seen in %v seconds, want %v", ahead, want)
	}
	if behind := eta[ground.Sector{X: 8, Y: 9}]; behind <= ahead/2 {
		t.Errorf("the sector behind is seen in %v seconds, the one ahead in %v", behind, ahead)
	}
}

func TestPlan_BearsPlacesOutsideTheWorldAndAllocatesNothing(t *testing.T) {
	p := new(ground.Plan)
	p.Reset(8 << 20)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range []float32{nan, inf, -inf, -1e9, 1e9, 0, 12288} {
		p.Tick(v, 100, 1, 1)
		p.Tick(100, v, 1, 1)
		p.Tick(100, 100, v, 1)
		p.Tick(100, 100, 1, v)
		if len(p.Want()) > 8 {
			t.Errorf("%d sectors are wanted with room for 8", len(p.Want()))
		}
	}
	if p.Ready(ground.Sector{X: 24, Y: 0}) || p.Ready(ground.Sector{X: 20, Y: 20}) {
		t.Error("a sector that nobody asked for is held")
	}
	x := float32(0)
	if n := testing.AllocsPerRun(600, func() {
		x += 10
		p.Tick(x, 3000, 600, 0)
		for _, w := range p.Want() {
			p.Ready(w.Sector)
		}
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

func BenchmarkPlan(b *testing.B) {
	p := new(ground.Plan)
	p.Reset(48 << 20)
	x := float32(0)
	for b.Loop() {
		if x += 7; x > 12000 {
			x = 0
		}
		p.Tick(x, 3000, 420, 0)
		for _, w := range p.Want() {
			p.Ready(w.Sector)
		}
	}
}
