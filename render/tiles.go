package render

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/buddy"
	mempage "github.com/strata-go/strata/memory/page"
)

// TileUnit is the side of the smallest tile, in texels. Every side is TileUnit times a power of two.
const TileUnit = 64

// ErrTilesFull reports that no page has space for the tile, or that the source refuses memory for metadata or has
// ended.
var ErrTilesFull = errors.New("render: no space for the tile on any page")

// A Tile identifies a square of a page. A Tile has no pointer and may be stored off-heap. It is live until Tiles.Free
// or Tiles.Close, and only in the [Tiles] whose Place returned it. Methods detect a Tile that is not live. If a process
// has called NewTiles 2^k times, this can fail after 2^(31-k) reuses of a square. The zero Tile is no tile.
type Tile struct {
	unit uint32 // the first of its units, along the curve, plus 1
	gen  uint32 // of the unit, and the key of the Tiles
	side uint16 // in texels
}

// Side returns the tile's width and height in texels. For the zero Tile it returns 0.
func (t Tile) Side() int { return int(t.side) }

// Valid reports whether t is not the zero Tile. A freed tile is still Valid.
func (t Tile) Valid() bool { return t.unit != 0 }

// TilesConfig sizes Tiles. The zero value is the default. If a value is out of range, NewTiles returns an error.
type TilesConfig struct {
	Page  int // side of a page in texels: 512, 1024, 2048 or 4096; 0 means 2048
	Pages int // maximum number of pages, 1 to 64; 0 means 3: with the default side 48 MiB of the GPU's memory
	// Source provides the memory of the heap that allocates squares; nil means page.Default(). NewTiles reserves 64
	// bytes for each square of TileUnit texels of all pages, rounded up to a power of two, and at least 16 KiB. Close
	// the Tiles before Source ends: after its end Place fails, and Free may panic.
	Source mempage.Source
}

// Tiles are pictures that are loaded and freed while the game runs: the ground of a streamed world. A page is a
// picture on the GPU. A page is made when its first tile is written, and kept until Close.
//
// A tile is a square of a page, which a binary buddy heap allocates. The heap numbers squares of TileUnit by TileUnit
// texels, the units, along a Z-order curve (Morton, "A computer oriented geodetic data base", 1966). On this curve each
// aligned block of 4^k units is a square.
//
//	| 0 1 | 4 5 |
//	| 2 3 | 6 7 |
//	| 8 9 | 12 ..      a tile of 128 by 128 texels may be units 0 to 3, 4 to 7, 8 to 11 ...
//
// Tiles belong to the goroutine that calls Update and Draw. Place and Free cost O(log n), with n units in all pages.
// Write costs one upload, and allocates a few objects of Ebitengine on the Go heap.
type Tiles struct {
	// Invariants:
	//
	//	(1) units[i] is odd exactly if unit i is the first of a tile
	//	(2) the live blocks of heap are the tiles', (side/TileUnit)² units each, and those of beyond,
	//	    which lie past the last page
	heap    *buddy.Heap
	pages   []page
	newPage func(size int) page
	key     uint32   // even
	side    int      // of a page, in texels
	made    int      // pages
	units   []uint32 // generations
	live    int
	beyond  struct{ blocks, units int } // of the heap, allocated past the last page
	batches []tileBatch
}

// tilesABatch is the most tiles of a page that a frame shows: more are dropped.
const tilesABatch = 64

type tileBatch struct {
	verts   [tilesABatch * VertsPerQuad]Vertex
	indices [tilesABatch * IndicesPerQuad]uint32
	quads   Quads
}

// NewTiles returns Tiles without a page. If cfg is out of range, or if cfg.Source fails, NewTiles returns an error. If
// cfg.Source reserves too little, the error wraps memory.ErrOutOfMemory.
func NewTiles(cfg TilesConfig) (*Tiles, error) {
	return newTiles(cfg, func(size int) page { return &gpuPage{size: size} })
}

func newTiles(cfg TilesConfig, newPage func(int) page) (*Tiles, error) {
	cfg.Page = cmp.Or(cfg.Page, DefaultPage)
	cfg.Pages = cmp.Or(cfg.Pages, 3)
	if cfg.Page < MinPage || cfg.Page > MaxPage || cfg.Page&(cfg.Page-1) != 0 {
		return nil, fmt.Errorf("render: tile page of %d texels; allowed are %d, %d, %d and %d", cfg.Page, MinPage, 2*MinPage, DefaultPage, MaxPage)
	}
	if cfg.Pages < 1 || cfg.Pages > 64 {
		return nil, fmt.Errorf("render: %d pages of tiles; allowed are 1 to 64", cfg.Pages)
	}
	units := cfg.Pages * (cfg.Page / TileUnit) * (cfg.Page / TileUnit)
	reserve := 1
	for reserve < units {
		reserve *= 2
	}
	need := uintptr(reserve) * tileBook
	heap, err := buddy.New(cfg.Source, buddy.Config{Reserve: need, MinBlock: tileBook})
	if err == nil && heap.Stats().Reserved < uint64(need) { // the system refused so much, and tiles would not fit their pages
		err = errors.Join(&memory.Exhausted{Op: "buddy: reserve", Need: need, Limit: uintptr(heap.Stats().Reserved)}, heap.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("render: the metadata of tiles: %w", err)
	}
	return &Tiles{heap: heap, newPage: newPage, key: bits.Reverse32(tilesMade.Add(1)-1) &^ 1, side: cfg.Page, pages: make([]page, cfg.Pages),
		units: make([]uint32, units), batches: make([]tileBatch, cfg.Pages)}, nil
}

// tilesMade counts the Tiles of the process. Reversed, numbers differ in high bits, which the generations of a unit reach
// late.
var tilesMade atomic.Uint32

// tileBook is the bytes of the heap that represent a unit.
const tileBook = 64

// Place allocates a square of side × side texels. Side is TileUnit times a power of two, at most the side of a page.
// The texels are undefined until they are written. If there is no space, or the source refuses memory or has ended,
// the error is ErrTilesFull. Any other error describes an invalid side.
func (t *Tiles) Place(side int) (Tile, error) {
	if side < TileUnit || side > t.side || side&(side-1) != 0 {
		return Tile{}, fmt.Errorf("render: a tile of %d texels; allowed are powers of two from %d to %d", side, TileUnit, t.side)
	}
	n := uintptr(side/TileUnit) * uintptr(side/TileUnit)
	unit := len(t.units)
	for unit >= len(t.units) {
		p, err := t.heap.Alloc(n*tileBook, tileBook)
		if err != nil {
			return Tile{}, ErrTilesFull
		}
		// The heap is a power of two, the pages need not be. Blocks beyond them stay allocated:
		// if they were freed they would be found again, before usable ones.
		if unit = int((uintptr(p) - uintptr(t.heap.Base())) / tileBook); unit >= len(t.units) {
			t.beyond.blocks++
			t.beyond.units += int(n)
		}
	}
	t.units[unit]++
	t.live++
	return Tile{unit: uint32(unit) + 1, side: uint16(side), gen: t.units[unit] ^ t.key}, nil
}

func (t *Tiles) unitsAPage() int { return (t.side / TileUnit) * (t.side / TileUnit) }

// has reports whether tile is one of ours that was not freed.
func (t *Tiles) has(tile Tile) bool {
	return tile.unit != 0 && int(tile.unit) <= len(t.units) && tile.gen&1 == 1 && t.units[tile.unit-1] == tile.gen^t.key
}

// where returns the page of a tile, and its corner there.
func (t *Tiles) where(tile Tile) (at, x, y int) {
	unit := int(tile.unit) - 1
	at, unit = unit/t.unitsAPage(), unit%t.unitsAPage()
	return at, even(uint32(unit)) * TileUnit, even(uint32(unit)>>1) * TileUnit
}

// even gathers the even bits of a Morton number below 1<<16. The largest page has 64 by 64 units.
func even(n uint32) int {
	n &= 0x5555
	n = (n | n>>1) & 0x3333
	n = (n | n>>2) & 0x0f0f
	n = (n | n>>4) & 0x00ff
	return int(n)
}

// Write sets rows of a tile, from row y on. A texel has 4 bytes, premultiplied RGBA. The texels are copied. A large
// picture may be written over several frames. If the tile is not live, or rgba is not one or more whole rows inside
// the tile, Write fails.
func (t *Tiles) Write(tile Tile, y int, rgba []byte) error {
	row := 4 * int(tile.side)
	switch {
	case !t.has(tile):
		return fmt.Errorf("render: write to a tile that was freed or never placed")
	case len(rgba) == 0 || len(rgba)%row != 0 || y < 0 || y > int(tile.side)-len(rgba)/row:
		return fmt.Errorf("render: write of %d bytes from row %d on to a tile of %d×%d texels: allowed are whole rows of %d bytes inside it",
			len(rgba), y, tile.side, tile.side, row)
	}
	at, x0, y0 := t.where(tile)
	if t.pages[at] == nil {
		t.pages[at] = t.newPage(t.side)
		t.made++
	}
	t.pages[at].write(x0, y0+y, int(tile.side), len(rgba)/row, rgba)
	return nil
}

// Free frees a tile and returns true. If the tile is not live, Free returns false and does nothing. After the end of
// TilesConfig.Source, Free may panic.
func (t *Tiles) Free(tile Tile) (ok bool) {
	if !t.has(tile) {
		return false
	}
	n := uintptr(tile.side/TileUnit) * uintptr(tile.side/TileUnit)
	t.heap.Free(unsafe.Add(t.heap.Base(), uintptr(tile.unit-1)*tileBook), n*tileBook)
	t.units[tile.unit-1]++
	t.live--
	return true
}

// Begin starts a frame: it discards all former calls of Put, and v becomes the view for later calls of Put. Call
// Begin before Put.
func (t *Tiles) Begin(v View) {
	for i := range t.batches {
		b := &t.batches[i]
		b.quads.Begin(b.verts[:], b.indices[:], nil, v)
	}
}

// Put draws a part of a tile when Submit is called. The part is stretched to w × h, with its top left corner at (x, y).
// The corners of the part are (u0, v0) and (u1, v1), as fractions of the tile's side. The part is cut half a texel
// before each edge of the tile, so that filtering does not show neighbours on the page.
//
// If the tile is not live, or if nothing was written to the tile's page, Put returns false. Put also returns false
// before the first Begin, and after 64 successful calls for this page since Begin.
func (t *Tiles) Put(tile Tile, u0, v0, u1, v1, x, y, w, h float32, c Color) bool {
	if !t.has(tile) {
		return false
	}
	at, px, py := t.where(tile)
	if t.pages[at] == nil {
		return false // nothing was written
	}
	side := float32(tile.side)
	r := Region{float32(px), float32(py), float32(px) + side, float32(py) + side}.cut(u0, v0, u1, v1)
	r.X0, r.Y0 = max(r.X0, float32(px)+0.5), max(r.Y0, float32(py)+0.5)
	r.X1, r.Y1 = min(r.X1, float32(px)+side-0.5), min(r.Y1, float32(py)+side-0.5)
	return t.batches[at].quads.Picture(r, x, y, w, h, c)
}

// Submit draws all tiles that were put since Begin, page by page, with one draw call for each page. Of tiles that
// overlap, only those of one page are drawn in the order of Put. Submit draws on the scene between
// BeginScene and EndScene, and on the window at other times. If a tile was freed after Put, its square is drawn with
// its present texels.
func (t *Tiles) Submit(f *Frame) {
	for i := range t.batches {
		if q := &t.batches[i].quads; t.pages[i] != nil && len(q.Indices()) > 0 {
			f.touch()
			f.to.clipped.DrawTriangles32(q.Vertices(), q.Indices(), t.pages[i].image(), &drawOptions)
		}
	}
}

// TilesStats are the statistics of Tiles.
type TilesStats struct {
	Live  int    // live tiles
	Pages int    // pages made
	Bytes uint64 // of GPU memory, for the pages made
	Used  uint64 // bytes that live tiles use on pages, written or not
}

// Stats returns the current statistics.
func (t *Tiles) Stats() TilesStats {
	s := TilesStats{Live: t.live, Pages: t.made}
	s.Bytes = uint64(t.made) * uint64(t.side) * uint64(t.side) * 4
	units := int(t.heap.Stats().InUse/tileBook) - t.beyond.units
	s.Used = uint64(units) * TileUnit * TileUnit * 4
	return s
}

// Memory returns the statistics of the heap that allocates squares. The heap uses memory of TilesConfig.Source.
func (t *Tiles) Memory() memory.Stats { return t.heap.Stats() }

// Check verifies the metadata. If there are faults, Check returns an error that describes one or more of them. Cost:
// O(n), with n units in all pages (see [Tiles]).
func (t *Tiles) Check() error {
	n := 0
	for _, g := range t.units {
		n += int(g & 1)
	}
	if blocks := int(t.heap.Stats().Live) - t.beyond.blocks; n != t.live || blocks != n {
		return fmt.Errorf("render: %d units begin a tile, %d tiles are live, the heap has %d", n, t.live, blocks)
	}
	return t.heap.Check()
}

// Close frees pages and metadata. If the source cannot release the metadata, Close returns an error, and another Close
// tries again. Other methods must not be called afterwards.
func (t *Tiles) Close() error {
	for i, p := range t.pages {
		if g, ok := p.(*gpuPage); ok && g.img != nil {
			g.img.Deallocate()
		}
		t.pages[i] = nil
	}
	t.made, t.live, t.beyond.blocks, t.beyond.units = 0, 0, 0, 0
	clear(t.units)
	return t.heap.Close()
}
