package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// A realm's world, in cells of 8 units: 24 by 24 sectors of 64 by 64.
const (
	worldCells  = 24 * 64
	cellUnits   = 8
	borderCells = 5
	narrow      = 5 // gaps below twice this are closed
	tunnelHalf  = 7
)

// point is a place in units.
type point [2]int

// A realmSpec is what is written by hand; wall says where rock would like to be.
type realmSpec struct {
	Version int      `json:"version"`
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Palette []string `json:"palette"`
	Start   point    `json:"start"`
	Seals   []point  `json:"seals"`
	Heart   point    `json:"heart"`
	wall    func(x, y int) bool
}

const (
	startRadius = 320
	sealRadius  = 300
	heartRadius = 420
)

var realms = []realmSpec{
	{1, "ember", "The Ember Floor", []string{"#0b0507", "#5a1014", "#f2641a", "#ffc246", "#fff6e0"},
		point{1120, 11120}, []point{{3420, 3900}, {8900, 3380}, {3560, 8560}, {8760, 8980}}, point{6144, 6144}, emberWall},
	{1, "tide", "The Quenching Tide", []string{"#03080f", "#0c4a56", "#22c3e0", "#c9fff0", "#ff7a66"},
		point{1180, 1240}, []point{{3900, 3500}, {9200, 4200}, {3100, 7900}, {8400, 9100}}, point{6144, 6144}, tideWall},
	{1, "spore", "The Spore Garden", []string{"#150926", "#2c5a1c", "#a4e02a", "#fff2c8", "#ff3da6"},
		point{11080, 1160}, []point{{3260, 4300}, {8300, 3300}, {4100, 9100}, {9300, 7700}}, point{6144, 6144}, sporeWall},
}

// lattice is smooth integer noise, 0 to 1023, with one lattice point every side cells.
func lattice(x, y, side int, seed uint32) int {
	ix, iy, fx, fy := x/side, y/side, x%side*64/side, y%side*64/side
	fx, fy = fx*fx*(192-2*fx)>>12, fy*fy*(192-2*fy)>>12 // 3t²-2t³ of 64ths
	at := func(dx, dy int) int { return int(hash(ix+dx, iy+dy, seed) & 1023) }
	top := at(0, 0)*(64-fx) + at(1, 0)*fx
	bottom := at(0, 1)*(64-fx) + at(1, 1)*fx
	return (top*(64-fy) + bottom*fy) >> 12
}

// emberWall is halls: blocks of masonry with cut corners, some drawn out into the banks of channels.
func emberWall(x, y int) bool {
	const side = 48
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			bx, by := x/side+dx, y/side+dy
			h := hash(bx, by, 301)
			if h%100 < 22 {
				continue
			}
			cx, cy := bx*side+side/2+int(h>>8%9)-4, by*side+side/2+int(h>>12%9)-4
			w, t := 8+int(h>>16&7), 8+int(h>>20&7)
			if h>>24%5 == 0 { // a bank reaches its neighbour
				w = 27
			} else if h>>24%5 == 1 {
				t = 27
			}
			ax, ay := abs2(x-cx), abs2(y-cy)
			if ax <= w && ay <= t && ax+ay <= w+t-4 {
				return true
			}
		}
	}
	return false
}

// tideWall is reefs: broken ribbons along the contours of slow noise, with round heads.
func tideWall(x, y int) bool {
	n := lattice(x, y, 96, 311)*5/8 + lattice(x, y, 34, 312)*3/8
	broken := lattice(x, y, 44, 313)
	thick := 20 + lattice(x, y, 120, 314)/20
	return abs2(n-512) < thick && broken > 330 || n > 790 || n < 215
}

// sporeWall is groves: round caps that stand close where the wood is thick.
func sporeWall(x, y int) bool {
	const side = 22
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			bx, by := x/side+dx, y/side+dy
			h := hash(bx, by, 321)
			wood := lattice(max(bx, 0)*side, max(by, 0)*side, 110, 322)
			if wood < 470 || int(h%1024) > wood+150 {
				continue
			}
			r := 5 + int(h>>12%8)
			ex, ey := x-bx*side-side/2-int(h>>16&7)+4, y-by*side-side/2-int(h>>20&7)+4
			if ex*ex+ey*ey <= r*r {
				return true
			}
		}
	}
	return false
}

func abs2(v int) int { return max(v, -v) }

// grid is a realm's cells, row by row; true is solid.
type grid []bool

func (g grid) disc(c point, radius int) {
	r := radius / cellUnits
	for y := c[1]/cellUnits - r - 1; y <= c[1]/cellUnits+r+1; y++ {
		for x := c[0]/cellUnits - r - 1; x <= c[0]/cellUnits+r+1; x++ {
			ex, ey := x*cellUnits+4-c[0], y*cellUnits+4-c[1]
			if ex*ex+ey*ey <= (radius+cellUnits)*(radius+cellUnits) {
				g[y*worldCells+x] = false
			}
		}
	}
}

// near counts, for each cell, the steps to the closest cell of the given kind, up to 99; a
// diagonal step is one and a half, in halves.
func (g grid) near(kind bool) []uint8 {
	d := make([]uint8, len(g))
	for i, v := range g {
		if v != kind {
			d[i] = 198
		}
	}
	relax := func(i, j int, step uint8) { d[i] = min(d[i], d[j]+step) }
	const w = worldCells
	for y := 1; y < w-1; y++ {
		for x := 1; x < w-1; x++ {
			i := y*w + x
			relax(i, i-1, 2)
			relax(i, i-w, 2)
			relax(i, i-w-1, 3)
			relax(i, i-w+1, 3)
		}
	}
	for y := w - 2; y > 0; y-- {
		for x := w - 2; x > 0; x-- {
			i := y*w + x
			relax(i, i+1, 2)
			relax(i, i+w, 2)
			relax(i, i+w+1, 3)
			relax(i, i+w-1, 3)
		}
	}
	return d
}

// build makes the cells of a realm: rock as the realm likes it, narrow gaps closed, discs opened,
// and one connected cave: discs that are cut off get a tunnel, other pockets are filled.
func (s *realmSpec) build() grid {
	g := make(grid, worldCells*worldCells)
	for i := range g {
		g[i] = s.wall(i%worldCells, i/worldCells)
	}
	g.edge()
	for i, d := range g.near(true) {
		g[i] = d <= 2*narrow
	}
	for i, d := range g.near(false) {
		g[i] = d > 2*narrow
	}
	g.edge()
	g.disc(s.Start, startRadius)
	g.disc(s.Heart, heartRadius)
	for _, p := range s.Seals {
		g.disc(p, sealRadius)
	}
	seen := g.flood(s.Heart)
	for _, p := range append([]point{s.Start}, s.Seals...) {
		if !seen[p[1]/cellUnits*worldCells+p[0]/cellUnits] {
			g.tunnel(p, s.Heart)
			seen = g.flood(s.Heart)
		}
	}
	for i := range g {
		g[i] = !seen[i]
	}
	return g
}

func (g grid) edge() {
	for i := range g {
		x, y := i%worldCells, i/worldCells
		if min(x, y, worldCells-1-x, worldCells-1-y) < borderCells {
			g[i] = true
		}
	}
}

func (g grid) tunnel(a, b point) {
	n := max(abs2(a[0]-b[0]), abs2(a[1]-b[1])) / cellUnits
	for i := range n {
		g.disc(point{a[0] + (b[0]-a[0])*i/n, a[1] + (b[1]-a[1])*i/n}, tunnelHalf*cellUnits)
	}
}

// flood returns the open cells that can be reached from p without going across corners.
func (g grid) flood(p point) grid {
	seen := make(grid, len(g))
	first := p[1]/cellUnits*worldCells + p[0]/cellUnits
	queue := []int{first}
	seen[first] = true
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, j := range [4]int{i - 1, i + 1, i - worldCells, i + worldCells} {
			if !g[j] && !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	return seen
}

// walls is the file of a realm's cells: 8 bytes of header and a bit each, least significant first.
func (g grid) walls() []byte {
	out := append([]byte("SWAL\x01\x00\x00\x00"), make([]byte, len(g)/8)...)
	for i, solid := range g {
		if solid {
			out[8+i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// realmFiles returns the files of a realm by their path below the folder of all realms.
func realmFiles(s *realmSpec) (map[string][]byte, error) {
	g := s.build()
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{s.Name + ".walls": g.walls(), s.Name + ".json": append(text, '\n')}
	return files, nil
}

func writeRealms(dir string) error {
	for i := range realms {
		files, err := realmFiles(&realms[i])
		if err != nil {
			return err
		}
		for name, data := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
