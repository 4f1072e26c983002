package realm

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// Two passes give the exact 3-4 distance: each open cell is as far from a wall as its best
// neighbour and the step to it, with all cells outside of the world solid.
func TestBuild_ClearanceIsTheBestNeighboursPlusAStep(t *testing.T) {
	r := build(t, info(), maze())
	at := func(x, y int) int {
		if x < 0 || y < 0 || x >= Cells || y >= Cells {
			return 0
		}
		return int(r.clear[y*Cells+x])
	}
	for y := range Cells {
		for x := range Cells {
			if r.clear[y*Cells+x] == 0 {
				continue
			}
			want := 255
			for d := range 8 {
				step := 3
				if linkX[d] != 0 && linkY[d] != 0 {
					step = 4
				}
				want = min(want, at(x+linkX[d], y+linkY[d])+step)
			}
			if at(x, y) != want {
				t.Fatalf("cell (%d, %d) has a clearance of %d; its neighbours make it %d", x, y, at(x, y), want)
			}
		}
	}
}

func TestCheck_SeesEachColumnOfTheClearances(t *testing.T) {
	testenv.Long(t)
	r := build(t, info(), maze())
	for _, x := range []int{0, 1, Cells / 2, Cells - 2, Cells - 1} {
		i := 700*Cells + x
		was := r.clear[i]
		r.clear[i] += 9
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), "invariant 1") {
			t.Errorf("a broken clearance in column %d is %v", x, err)
		}
		r.clear[i] = was
	}
}

func TestCheck_SeesBothDiagonalsOfTheClearances(t *testing.T) {
	for _, broken := range [][4]uint8{{50, 53, 53, 56}, {53, 50, 56, 53}} {
		r := &Realm{clear: make([]uint8, Cells*Cells)}
		for i := range r.clear {
			r.clear[i] = 53
		}
		for k, v := range broken {
			r.clear[(700+k/2)*Cells+700+k%2] = v
		}
		if err := r.checkClear(); err == nil || !strings.Contains(err.Error(), "across") {
			t.Errorf("%v is %v", broken, err)
		}
	}
}

// walk tries the cells of the straight line, each coordinate rounded to the nearest.
func TestWalk_TriesTheCellsOfTheLine(t *testing.T) {
	r := build(t, info(), maze())
	rng, free, walled := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range 20_000 {
		x0, y0 := rng.IntN(Coarse-4)+2, rng.IntN(Coarse-4)+2
		x1, y1 := x0+rng.IntN(5)-2, y0+rng.IntN(5)-2
		if r.costs[y0*Coarse+x0] == 255 || r.costs[y1*Coarse+x1] == 255 {
			continue
		}
		a, b := r.meeting(x0, y0), r.meeting(x1, y1)
		ax, ay, bx, by := a%Cells, a/Cells, b%Cells, b/Cells
		n, want := max(abs(bx-ax), abs(by-ay)), true
		for i := 1; i < n; i++ {
			x, y := nearestCell(ax, bx, i, n), nearestCell(ay, by, i, n)
			want = want && r.clear[y*Cells+x] >= 4
		}
		if got := r.walk(x0, y0, x1, y1); got != want {
			t.Fatalf("from node (%d, %d) to (%d, %d): %v; the cells between say %v", x0, y0, x1, y1, got, want)
		}
		if want {
			free++
		} else {
			walled++
		}
	}
	if free < 100 || walled < 100 {
		t.Errorf("%d free lines and %d with a wall; too few to tell", free, walled)
	}
}

// nearestCell returns the cell nearest to the i-th of n steps from a to b; the upper of two.
func nearestCell(a, b, i, n int) int {
	twice := 2*(b-a)*i + n
	q := twice / (2 * n)
	if twice%(2*n) < 0 {
		q--
	}
	return a + q
}

// A node that no link leads from points to the best node beside it; the goal points nowhere.
func TestField_LeadsOutOfNodesWithoutLinks(t *testing.T) {
	r := build(t, info(), maze())
	goal := r.node(vec(r.Info.Heart))
	x0, y0 := window(int32(goal))
	s := search{r: r, nodes: make([]entry, Window*Window), x0: int(x0), y0: int(y0), w: Window, h: Window}
	s.run(goal%Coarse, goal/Coarse)
	if d := s.direction(goal%Coarse-int(x0), goal/Coarse-int(y0)); d != 0 {
		t.Errorf("the goal leads on, in direction %d", d)
	}
	led := 0
	for i, e := range s.nodes {
		if e.dist() != far {
			continue
		}
		beside := false
		for d := range 8 {
			x, y := i%Window+linkX[d], i/Window+linkY[d]
			beside = beside || x >= 0 && y >= 0 && x < Window && y < Window && s.nodes[y*Window+x].dist() != far
		}
		if d := s.direction(i%Window, i/Window); (d != 0) != beside {
			t.Fatalf("node (%d, %d) leads in direction %d; a node beside it is reached: %v", i%Window, i/Window, d, beside)
		}
		if beside {
			led++
		}
	}
	if led == 0 {
		t.Error("the maze has no node without links beside one that is reached")
	}
}

// The link to take is the first of those with the shortest path.
func TestRun_TakesTheFirstOfTheShortestWays(t *testing.T) {
	r := build(t, info(), maze())
	goal := r.node(vec(r.Info.Heart))
	x0, y0 := window(int32(goal))
	crowd := make([]uint8, Window*Window)
	for i := range crowd {
		crowd[i] = uint8(i * i % 31)
	}
	s := search{r: r, nodes: make([]entry, Window*Window), crowd: crowd, x0: int(x0), y0: int(y0), w: Window, h: Window}
	s.run(goal%Coarse, goal/Coarse)
	led, ties := 0, 0
	for i := range s.nodes {
		x, y, best, want := i%Window, i/Window, uint32(far), -1
		for d := range 8 {
			nx, ny := x+linkX[d], y+linkY[d]
			if r.edges[(s.y0+y)*Coarse+s.x0+x]>>d&1 == 0 || uint(nx) >= Window || uint(ny) >= Window {
				continue
			}
			switch dist := s.nodes[ny*Window+nx].dist() + linkCost[d]; {
			case dist < best:
				best, want = dist, d
			case dist == best:
				ties++
			}
		}
		if dist := s.nodes[i].dist(); dist == 0 || dist == far {
			want = -1
		} else {
			led++
		}
		if got := s.nodes[i].link(); got != want {
			t.Fatalf("node (%d, %d): link %d, want %d", x, y, got, want)
		}
	}
	if led < 1000 || ties < 100 {
		t.Errorf("%d nodes are led, with %d ties", led, ties)
	}
}

// The way out of a node without links costs twice its length; of equal ones the first is taken.
func TestEscape_TakesTheShortestWay(t *testing.T) {
	r := build(t, info(), maze())
	for _, c := range []struct {
		dist [8]uint32 // of the nodes beside; 0 is none
		want int
	}{
		{[8]uint32{100, 100, 100, 100, 100, 100, 100, 100}, 0},
		{[8]uint32{0, 100, 0, 100, 0, 100, 0, 100}, 1},
		{[8]uint32{107, 100, 0, 0, 0, 0, 0, 0}, 0},     // 107 + 20 < 100 + 28
		{[8]uint32{109, 100, 0, 0, 0, 0, 0, 0}, 1},     // 109 + 20 > 100 + 28
		{[8]uint32{0, 0, 200, 190, 180, 0, 170, 0}, 6}, // 190
		{[8]uint32{0, 0, 0, 0, 108, 100, 0, 0}, 4},     // equal
		{[8]uint32{0, 0, 0, 0, 0, 100, 108, 0}, 5},     // equal
	} {
		const x, y = 2, 2
		s := search{r: r, nodes: make([]entry, 25), x0: 5, y0: 5, w: 5, h: 5}
		for i := range s.nodes {
			s.nodes[i].way = far << 3
		}
		for d, dist := range c.dist {
			if dist != 0 {
				s.nodes[(y+linkY[d])*5+x+linkX[d]].way = dist << 3
			}
		}
		got, want := s.escape(x, y), r.between(s.x0+x, s.y0+y, s.x0+x+linkX[c.want], s.y0+y+linkY[c.want])
		if got != want {
			t.Errorf("distances %d: direction %d, want %d, that of link %d", c.dist, got, want, c.want)
		}
	}
}

func TestSum_SeesEachByte(t *testing.T) {
	b := make([]uint8, 32)
	for i := range b {
		b[i] = uint8(7 * i)
	}
	whole := sum(sumBasis, b)
	for i := range b {
		b[i] ^= 0x10
		if sum(sumBasis, b) == whole {
			t.Errorf("byte %d does not change the sum", i)
		}
		b[i] ^= 0x10
	}
}

func TestUnknown_PlacesAreInsideAndApart(t *testing.T) {
	in := Unknown("lost")
	if in.Name != "lost" || in.Title != "lost" || in.Heart != (Point{World / 2, World / 2}) {
		t.Errorf("%+v; want the heart in the middle", in)
	}
	places := append([]*Point{&in.Start, &in.Heart}, in.seals()...)
	for i, p := range places {
		if p[0] < World/3 || p[0] > World*2/3 || p[1] < World/3 || p[1] > World*2/3 {
			t.Errorf("place %d at %v is far from the middle", i, *p)
		}
		for _, q := range places[:i] {
			if *p == *q {
				t.Errorf("two places at %v", *p)
			}
		}
	}
}

func TestInTiers_MadeIsTheWorkersAlone(t *testing.T) {
	m := manager(t, tiers.Config{})
	g, err := newInTiers(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	for want, a := range map[bool]memory.Allocator{true: g.worker(), false: g.game()} {
		p, err := a.Alloc(tileBytes, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.made(p); got != want {
			t.Errorf("made = %v; want %v", got, want)
		}
		g.Free(p, tileBytes)
	}
	if outside := new(tile); g.made(unsafe.Pointer(outside)) {
		t.Error("a block of the Go heap is the worker's")
	}
}

func TestOpen_AnOpenPlaceIsItsOwnNearest(t *testing.T) {
	r := build(t, info(), noWalls())
	p := vec{6001.25, 6002.75}
	if got := r.Open(p, 10); got != p {
		t.Errorf("the open place nearest to %v is %v", p, got)
	}
}

func TestNear_TheEdgesOfABareRealmAreAlike(t *testing.T) {
	r := Bare(Unknown("bare"))
	for _, p := range []vec{{0, 500}, {500, 0}, {0, 0}} {
		if r.Near(p, 0) || !r.Near(p, 1) {
			t.Errorf("at %v: near within 0 is %v, within 1 %v", p, r.Near(p, 0), r.Near(p, 1))
		}
	}
	for _, p := range []vec{{-1, 500}, {500, -1}, {World, 500}, {500, World}} {
		if !r.Near(p, 0) {
			t.Errorf("%v lies outside and is near no wall", p)
		}
	}
}
