package realm

import (
	"fmt"
	"io/fs"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/memory"
)

type vec = mgl32.Vec2

// The coarse net.
const (
	CoarseSize = 32                 // units between nodes
	Coarse     = World / CoarseSize // nodes in a row, and rows of them
	perNode    = CoarseSize / CellSize
)

// Places that a guide leads to: the seals in their order, then the heart.
const (
	Heart  = Seals
	Guides = Seals + 1
)

// A Realm is the ground as the rules see it. See the package comment for what lies where.
//
// Invariants, verified by Check:
//
//	(1) a cell's clearance is 0 exactly where it is solid, and differs from each neighbour's by a
//	    step at most: 3 sideways, 4 across
//	(2) ways go both ways
//	(3) every guide leads from the start to its place
type Realm struct {
	Info *Info

	clear             []uint8
	way, edges, costs []uint8
	open              []uint8 // the least clearance of each node's cells: small enough to stay in a near cache
	guides            [Guides][]uint8
}

// Load reads and builds the realm of a name from realms/NAME.json and realms/NAME.walls. The file's
// bytes pass through the Go heap and are garbage afterwards. The error names the file.
func Load(fsys fs.FS, mem memory.Allocator, name string) (*Realm, error) {
	file := "realms/" + name + ".json"
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("realm: %w", err)
	}
	info, err := ParseInfo(file, data)
	if err != nil {
		return nil, err
	}
	if info.Name != name {
		return nil, &FileError{file, "name", fmt.Sprintf("%q; allowed is that of the file, %q", info.Name, name)}
	}
	wfile := "realms/" + name + ".walls"
	if data, err = fs.ReadFile(fsys, wfile); err != nil {
		return nil, fmt.Errorf("realm: %w", err)
	}
	walls, err := ParseWalls(wfile, data)
	if err != nil {
		return nil, err
	}
	r, err := Build(mem, info, walls)
	if f, ok := err.(*FileError); ok {
		f.File = file
	}
	return r, err
}

// Build makes the realm's data in mem, some 3.4 MiB, and keeps info, and nothing of walls. The
// error is mem's, and then all is freed, of which an arena takes back the newest block; or a *FileError without
// a file: a place that is in a wall, or that no way leads to from the start.
func Build(mem memory.Allocator, info *Info, walls Walls) (_ *Realm, err error) {
	r := &Realm{Info: info}
	var made [][]uint8
	grow := func(n int) []uint8 {
		var s []uint8
		if err == nil {
			if s, err = memory.MakeSlice[uint8](mem, n); err == nil {
				made = append(made, s)
			}
		}
		return s
	}
	defer func() {
		for i := len(made) - 1; err != nil && i >= 0; i-- { // the newest first, as arenas want it
			memory.FreeSlice(mem, made[i])
		}
	}()
	r.clear = grow(Cells * Cells)
	r.way, r.edges, r.costs, r.open = grow(Coarse*Coarse), grow(Coarse*Coarse), grow(Coarse*Coarse), grow(Coarse*Coarse)
	for i := range r.guides {
		r.guides[i] = grow(Coarse * Coarse)
	}
	if err != nil {
		return nil, fmt.Errorf("realm: %w", err)
	}
	r.measure(walls)
	r.net()
	if err = r.leadAll(mem); err != nil {
		return nil, err
	}
	return r, nil
}

// Bare returns a realm without walls and without ways, which takes no memory: where there is no room
// for a realm, or no file. Everything works there, in straight lines.
func Bare(info *Info) *Realm { return &Realm{Info: info} }

// Unknown describes a realm of which nothing is known but its name: seals at the four corners, the
// heart in the middle.
func Unknown(name string) *Info {
	return &Info{
		Name: name, Title: name, Palette: [5]string{"#000000", "#202020", "#808080", "#c0c0c0", "#ffffff"},
		Start: Point{World / 2, World * 0.6}, Heart: Point{World / 2, World / 2},
		Seals: [Seals]Point{{World * 0.4, World * 0.4}, {World * 0.6, World * 0.4}, {World * 0.4, World * 0.65}, {World * 0.6, World * 0.65}},
	}
}

// measure fills in the clearances: two passes of the 3-4 chamfer transform (Borgefors, "Distance
// transformations in digital images", 1986), with everything beyond the world solid.
func (r *Realm) measure(walls Walls) {
	c := r.clear
	at := func(x, y int) int {
		if uint(x) >= Cells || uint(y) >= Cells {
			return 0
		}
		return int(c[y*Cells+x])
	}
	for y := range Cells {
		for x := range Cells {
			i := y*Cells + x
			if walls.Solid(x, y) {
				c[i] = 0
				continue
			}
			if x == 0 || y == 0 || x == Cells-1 {
				c[i] = uint8(min(255, at(x-1, y)+3, at(x-1, y-1)+4, at(x, y-1)+3, at(x+1, y-1)+4))
				continue
			}
			up := c[i-Cells-1:][:3]
			c[i] = uint8(min(255, int(c[i-1])+3, int(up[0])+4, int(up[1])+3, int(up[2])+4))
		}
	}
	for y := Cells - 1; y >= 0; y-- {
		for x := Cells - 1; x >= 0; x-- {
			i := y*Cells + x
			if c[i] == 0 {
				continue
			}
			c[i] = uint8(min(int(c[i]), at(x+1, y)+3, at(x+1, y+1)+4, at(x, y+1)+3, at(x-1, y+1)+4))
		}
	}
}

// The clearances that ways ask for: where they meet, and all along.
const (
	wayClear  = 5
	alongLess = 4
)

// The eight ways out of a node, in the order of its bits, and what they cost.
var (
	wayX    = [8]int{1, 1, 0, -1, -1, -1, 0, 1}
	wayY    = [8]int{0, 1, 1, 1, 0, -1, -1, -1}
	wayCost = [8]uint32{10, 14, 10, 14, 10, 14, 10, 14}
)

// net finds where the ways of each node meet, and walks the ways.
func (r *Realm) net() {
	for y := range Coarse {
		for x := range Coarse {
			best, way, least := -1, 0, uint8(255)
			for s := range perNode * perNode {
				sx, sy := s%perNode, s/perNode
				// The roomiest, and of these the one nearest to the middle.
				c := r.clear[(y*perNode+sy)*Cells+x*perNode+sx]
				least = min(least, c)
				k := int(c)*4 - max(abs(2*sx-3), abs(2*sy-3))
				if k > best {
					best, way = k, s
				}
			}
			i := y*Coarse + x
			r.way[i], r.open[i] = uint8(way), least
			room := int(r.clear[r.cellOfWay(x, y)])
			if room < wayClear {
				r.costs[i] = 255 // no way goes here
				continue
			}
			r.costs[i] = uint8(max(0, 18-room)) // hugging walls is dear
		}
	}
	for y := range Coarse {
		for x := range Coarse {
			for d := range 4 { // the others are these, seen from the other end
				nx, ny := x+wayX[d], y+wayY[d]
				if uint(nx) >= Coarse || uint(ny) >= Coarse || !r.walk(x, y, nx, ny) {
					continue
				}
				r.edges[y*Coarse+x] |= 1 << d
				r.edges[ny*Coarse+nx] |= 1 << (d + 4)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// cellOfWay returns the index of the cell in which the ways of a node meet.
func (r *Realm) cellOfWay(x, y int) int {
	w := int(r.way[y*Coarse+x])
	return (y*perNode+w/perNode)*Cells + x*perNode + w%perNode
}

// walk reports whether a small disc gets from one node's meeting point to another's in a line.
func (r *Realm) walk(x0, y0, x1, y1 int) bool {
	if r.costs[y0*Coarse+x0] == 255 || r.costs[y1*Coarse+x1] == 255 {
		return false
	}
	a, b := r.cellOfWay(x0, y0), r.cellOfWay(x1, y1)
	ax, ay, bx, by := a%Cells, a/Cells, b%Cells, b/Cells
	n := max(abs(bx-ax), abs(by-ay))
	for i := 1; i < n; i++ {
		// Rounded to the nearest, with an offset that keeps the quotient's argument positive.
		x := ax + (2*(bx-ax)*i+n+64*n)/(2*n) - 32
		y := ay + (2*(by-ay)*i+n+64*n)/(2*n) - 32
		if r.clear[y*Cells+x] < alongLess {
			return false
		}
	}
	return true
}

// leadAll makes the guides, with a search's books on top of mem for as long as it takes.
func (r *Realm) leadAll(mem memory.Allocator) error {
	books, err := memory.MakeSlice[entry](mem, Coarse*Coarse)
	if err != nil {
		return fmt.Errorf("realm: %w", err)
	}
	defer memory.FreeSlice(mem, books)
	s := search{r: r, books: books, w: Coarse, h: Coarse}
	start := r.node(vec(r.Info.Start))
	if start < 0 {
		return &FileError{"", placeName(0), "lies in a wall, or too near to one; allowed is open ground"}
	}
	for g := range r.guides {
		name := placeName(g + 2)
		if g == Heart {
			name = placeName(1)
		}
		to := r.node(r.Place(g))
		if to < 0 {
			return &FileError{"", name, "lies in a wall, or too near to one; allowed is open ground"}
		}
		s.run(to%Coarse, to/Coarse)
		if books[start].dist == far {
			return &FileError{"", name, "no way leads there from the start; allowed is what can be reached"}
		}
		s.lead(r.guides[g], 0, 0, Coarse, Coarse)
	}
	return nil
}

// Place returns where a guide leads to: a seal, or the heart.
func (r *Realm) Place(guide int) vec {
	if guide == Heart {
		return vec(r.Info.Heart)
	}
	return vec(r.Info.Seals[guide])
}

// node returns the node that a place belongs to, or one beside it that ways lead to, or -1.
func (r *Realm) node(p vec) int {
	x, y := coarse(p[0]), coarse(p[1])
	best, at := 1<<30, -1
	for ny := max(y-1, 0); ny <= min(y+1, Coarse-1); ny++ {
		for nx := max(x-1, 0); nx <= min(x+1, Coarse-1); nx++ {
			d := (nx-x)*(nx-x) + (ny-y)*(ny-y)
			if i := ny*Coarse + nx; r.costs[i] != 255 && r.edges[i] != 0 && d < best {
				best, at = d, i
			}
		}
	}
	return at
}

// coarse returns the row or column of nodes that a coordinate lies in, inside the world.
func coarse(v float32) int { return min(max(int(v)/CoarseSize, 0), Coarse-1) }
