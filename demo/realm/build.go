package realm

import (
	"fmt"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/memory"
)

type vec = mgl32.Vec2

// The coarse net has one node in each square of CoarseSize by CoarseSize units.
const (
	CoarseSize = 32                 // side of a node's square in units
	Coarse     = World / CoarseSize // columns of nodes in the net, and rows
	perNode    = CoarseSize / CellSize
)

// Guides is the number of guides. Guide i leads to seal i, and guide Heart to the heart.
const (
	Heart  = Seals
	Guides = Seals + 1
)

// A Realm is the ground as the rules see it. The package comment describes its data.
//
// Invariants, verified by Check:
//
//	(1) the clearances of two cells with a common side differ by at most 3, those of diagonal neighbours by at most 4
//	(2) links go in both directions
//	(3) following guide i from Info.Start leads to Place(i)
type Realm struct {
	Info *Info

	clear              []uint8
	meet, edges, costs []uint8
	open               []uint8 // the least clearance of each node's cells: small enough to stay in a near cache
	guides             [Guides][]uint8
}

// Files returns the paths of a realm's files: first the description, then the walls.
func Files(name string) [2]string {
	return [2]string{"realms/" + name + ".json", "realms/" + name + ".walls"}
}

// Open begins to build the realm with this name from the contents of its two files. If a file is damaged, or describes
// a realm with another name, the error is a *FileError. See [Start] for the memory and for the use of walls and pause.
// The Building keeps nothing of json.
func Open(mem memory.Allocator, name string, json, walls []byte, pause func()) (*Building, error) {
	files := Files(name)
	info, err := ParseInfo(files[0], json)
	if err != nil {
		return nil, err
	}
	if info.Name != name {
		return nil, &FileError{files[0], "name", fmt.Sprintf("%q; allowed is that of the file, %q", info.Name, name)}
	}
	w, err := ParseWalls(files[1], walls)
	if err != nil {
		return nil, err
	}
	b := Start(mem, info, w, pause)
	b.file = files[0]
	return b, nil
}

// A Building is a realm that is being built, on a goroutine of its own. That goroutine does not use the allocator:
// Start has allocated all blocks. Call the methods of a Building on the goroutine that owns the allocator.
type Building struct {
	r     *Realm
	mem   memory.Allocator
	made  [][]uint8
	nodes []entry // of a search, allocated last
	file  string  // for errors
	err   error   // read when done is closed
	done  chan struct{}
}

// Start allocates the memory from mem and begins to build. The realm takes about 3.5 MiB, and 1.7 MiB more until Wait
// returns. If mem has less, Wait returns the error. The realm keeps info, and nothing of walls. The caller must keep
// walls until the realm is built, and must call Wait. The building goroutine calls pause for each row of work, so that
// a host with a single thread can do other work in between. pause may be nil.
func Start(mem memory.Allocator, info *Info, walls Walls, pause func()) *Building {
	if pause == nil {
		pause = func() {}
	}
	b := &Building{r: &Realm{Info: info}, mem: mem, done: make(chan struct{})}
	r := b.r
	for _, s := range []*[]uint8{&r.clear, &r.meet, &r.edges, &r.costs, &r.open, &r.guides[0], &r.guides[1], &r.guides[2], &r.guides[3], &r.guides[4]} {
		n := Coarse * Coarse
		if s == &r.clear {
			n = Cells * Cells
		}
		if *s, b.err = memory.MakeSlice[uint8](mem, n); b.err != nil {
			break
		}
		b.made = append(b.made, *s)
	}
	if b.err == nil {
		b.nodes, b.err = memory.MakeSlice[entry](mem, Coarse*Coarse)
	}
	if b.err != nil {
		b.err = fmt.Errorf("realm: %w", b.err)
		close(b.done)
		return b
	}
	go func() {
		defer close(b.done)
		r.measure(walls, pause)
		r.net(pause)
		b.err = r.leadAll(b.nodes, pause)
	}()
	return b
}

// Done reports whether [Building.Wait] would return at once.
func (b *Building) Done() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// Wait waits until the realm is built and returns it. At the start, the heart and each seal there must be a node with
// links, as [Realm.Node] finds it, and paths must lead from the start to the others. Otherwise the error is a
// *FileError, which names the file if [Open] made the Building, but not if [Start] did. Other errors wrap an error of
// the allocator. After an error all blocks are freed. Call Wait once.
func (b *Building) Wait() (*Realm, error) {
	<-b.done
	memory.FreeSlice(b.mem, b.nodes)
	if b.err == nil {
		return b.r, nil
	}
	for i := len(b.made) - 1; i >= 0; i-- { // the newest first, as arenas want it
		memory.FreeSlice(b.mem, b.made[i])
	}
	if f, ok := b.err.(*FileError); ok {
		f.File = b.file
	}
	return nil, b.err
}

// Bare returns a realm without walls and paths. It allocates no blocks. Use it if a realm's file cannot be read, or if
// memory is short. All paths are straight lines. All methods work, but with a nil info Place and Guide panic.
func Bare(info *Info) *Realm { return &Realm{Info: info} }

// Unknown returns a description of a realm of which only the name is known. The heart is in the middle of the world,
// and four seals lie around it.
func Unknown(name string) *Info {
	return &Info{
		Name: name, Title: name, Palette: [5]string{"#000000", "#202020", "#808080", "#c0c0c0", "#ffffff"},
		Start: Point{World / 2, World * 0.6}, Heart: Point{World / 2, World / 2},
		Seals: [Seals]Point{{World * 0.4, World * 0.4}, {World * 0.6, World * 0.4}, {World * 0.4, World * 0.65}, {World * 0.6, World * 0.65}},
	}
}

// measure fills in the clearances: two passes of the 3-4 chamfer transform (Borgefors, "Distance
// transformations in digital images", 1986), with everything beyond the world solid.
func (r *Realm) measure(walls Walls, pause func()) {
	c := r.clear
	for y := range Cells {
		pause()
		for x := range Cells {
			i := y*Cells + x
			switch {
			case walls.Solid(x, y):
				c[i] = 0
			case rim(x, y):
				c[i] = 3
			default:
				up := c[i-Cells-1:][:3]
				c[i] = uint8(min(255, int(c[i-1])+3, int(up[0])+4, int(up[1])+3, int(up[2])+4))
			}
		}
	}
	for y := Cells - 2; y > 0; y-- {
		pause()
		for x := Cells - 2; x > 0; x-- {
			i := y*Cells + x
			if c[i] == 0 {
				continue
			}
			down := c[i+Cells-1:][:3]
			c[i] = uint8(min(int(c[i]), int(c[i+1])+3, int(down[2])+4, int(down[1])+3, int(down[0])+4))
		}
	}
}

// rim reports whether a cell lies at the edge of the world, so that what is beside it is solid.
func rim(x, y int) bool { return x == 0 || y == 0 || x == Cells-1 || y == Cells-1 }

// The clearances that links require: where they meet, and along them.
const (
	meetClear = 5
	linkClear = 4
)

// The eight links of a node, in the order of its bits, and what they cost.
var (
	linkX    = [8]int{1, 1, 0, -1, -1, -1, 0, 1}
	linkY    = [8]int{0, 1, 1, 1, 0, -1, -1, -1}
	linkCost = [8]uint32{10, 14, 10, 14, 10, 14, 10, 14}
)

// net finds where the links of each node meet, and moves a disc along them.
func (r *Realm) net(pause func()) {
	for y := range Coarse {
		pause()
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
			r.meet[i], r.open[i] = uint8(way), least
			room := int(r.clear[r.meeting(x, y)])
			if room < meetClear {
				r.costs[i] = 255 // no link ends here
				continue
			}
			r.costs[i] = uint8(max(0, 18-room)) // hugging walls is dear
		}
	}
	for y := range Coarse {
		pause()
		for x := range Coarse {
			for d := range 4 { // the others are these, seen from the other end
				nx, ny := x+linkX[d], y+linkY[d]
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

// meeting returns the index of the cell in which the links of a node meet.
func (r *Realm) meeting(x, y int) int {
	w := int(r.meet[y*Coarse+x])
	return (y*perNode+w/perNode)*Cells + x*perNode + w%perNode
}

// walk reports whether a small disc gets from one node's meeting point to another's in a line.
func (r *Realm) walk(x0, y0, x1, y1 int) bool {
	if r.costs[y0*Coarse+x0] == 255 || r.costs[y1*Coarse+x1] == 255 {
		return false
	}
	a, b := r.meeting(x0, y0), r.meeting(x1, y1)
	ax, ay, bx, by := a%Cells, a/Cells, b%Cells, b/Cells
	n := max(abs(bx-ax), abs(by-ay))
	if int(r.clear[a])+int(r.clear[b]) >= 2*linkClear+4*n {
		return true // no step changes the clearance by more than 4: the middle has enough
	}
	// Each coordinate is rounded to the nearest. restX and restY are the remainders of its division by 2*n.
	x, y, stepX, stepY, restX, restY := ax, ay, 2*(bx-ax), 2*(by-ay), n, n
	for i := 1; i < n; i++ {
		x, restX = carry(x, restX+stepX, 2*n)
		y, restY = carry(y, restY+stepY, 2*n)
		if r.clear[y*Cells+x] < linkClear {
			return false
		}
	}
	return true
}

// carry adds to x the quotient of rest and n, rounded down, and returns the remainder. The quotient is -1, 0 or 1.
func carry(x, rest, n int) (int, int) {
	if rest < 0 {
		return x - 1, rest + n
	}
	if rest >= n {
		return x + 1, rest - n
	}
	return x, rest
}

// leadAll makes the guides.
func (r *Realm) leadAll(nodes []entry, pause func()) error {
	s := search{r: r, nodes: nodes, w: Coarse, h: Coarse, pause: pause}
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
		if nodes[start].dist() == far {
			return &FileError{"", name, "no path leads there from the start; allowed is a place that one reaches"}
		}
		s.lead(r.guides[g], 0, 0, Coarse, Coarse)
	}
	return nil
}

// Place returns the place to which a guide leads: a seal, or the heart. It panics if guide is not from 0 to Heart.
func (r *Realm) Place(guide int) vec {
	if guide == Heart {
		return vec(r.Info.Heart)
	}
	return vec(r.Info.Seals[guide])
}

// node returns the node of a place, or a neighbour with links, or -1.
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
