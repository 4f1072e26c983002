package realm

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Window is the number of nodes in a row of a field, and of rows. 160 nodes are 5,120 units.
const Window = 160

// A field consists of squares of nodes, each a block. A square without paths takes none.
const (
	tileSide = 32
	tilesRow = Window / tileSide
	tiles    = tilesRow * tilesRow
)

type tile [tileSide * tileSide]uint8

const tileBytes = unsafe.Sizeof(tile{})

// A Field has the paths to one node from all nodes of a window: a direction for each node. A window is a square of
// [Window] by Window nodes.
type Field struct {
	X0, Y0 int32  // the window's first node: column and row
	Node   int32  // the node to which the paths lead
	Sum    uint64 // a checksum of the directions
	tiles  [tiles]*tile
}

// At returns the direction to go from a place, as an index of Headings. If no path leads from the place, or if the
// place lies outside of the window or in the node of the goal, At returns 0.
func (f *Field) At(p vec) uint8 {
	x, y := uint(int32(p[0])/CoarseSize-f.X0), uint(int32(p[1])/CoarseSize-f.Y0)
	if x >= Window || y >= Window {
		return 0
	}
	t := f.tiles[y/tileSide*tilesRow+x/tileSide]
	if t == nil {
		return 0
	}
	return t[y%tileSide*tileSide+x%tileSide]
}

// window places a window about a node, within the realm.
func window(node int32) (x0, y0 int32) {
	x, y := node%Coarse, node/Coarse
	return min(max(x-Window/2, 0), Coarse-Window), min(max(y-Window/2, 0), Coarse-Window)
}

// fill makes a field: the paths to a node from the window around it. They avoid nodes for which crowd, which may be nil,
// counts many. Its tiles are a's. Without space for one of them there is no field.
func (r *Realm) fill(f *Field, a memory.Allocator, nodes []entry, crowd []uint8, node int32) error {
	*f = Field{Node: node, Sum: sumBasis}
	f.X0, f.Y0 = window(node)
	s := search{r: r, nodes: nodes, crowd: crowd, x0: int(f.X0), y0: int(f.Y0), w: Window, h: Window}
	s.run(int(node)%Coarse, int(node)/Coarse)
	for i := range f.tiles {
		p, err := a.Alloc(tileBytes, 1)
		if err != nil {
			f.release(a)
			return fmt.Errorf("realm: a field: %w", err)
		}
		t := (*tile)(p)
		if !s.lead(t[:], i%tilesRow*tileSide, i/tilesRow*tileSide, tileSide, tileSide) {
			a.Free(p, tileBytes)
			continue
		}
		f.tiles[i] = t
		f.Sum = sum(f.Sum^uint64(i), t[:])
	}
	return nil
}

// release gives the tiles back.
func (f *Field) release(a freer) {
	for i, t := range f.tiles {
		if t != nil {
			a.Free(unsafe.Pointer(t), tileBytes)
			f.tiles[i] = nil
		}
	}
}

type freer interface {
	Free(p unsafe.Pointer, size uintptr)
}

const sumBasis = 0xcbf29ce484222325

// sum folds bytes, a multiple of eight of them, into a number, by words.
func sum(h uint64, b []uint8) uint64 {
	for ; len(b) >= 8; b = b[8:] {
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}
