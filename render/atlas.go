package render

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hajimehoshi/ebiten/v2"
)

// The sides of an atlas page in texels. DefaultPage (16 MiB) works on every GPU of the last fifteen years. MaxPage
// (64 MiB) is the largest page that browsers and phones accept. MinPage (1 MiB) has space for the built-in regions
// and a font of two sizes.
const (
	DefaultPage = 2048
	MaxPage     = 4096
	MinPage     = 512
)

// gutter is the border of texels around every region, which belongs to it. The linear filter reads half a texel
// beyond an edge, and mipmaps are off.
const gutter = 1

// ErrAtlasFull reports that a page has no space for a region. This package returns it as a [*FullError], for which
// errors.Is(err, ErrAtlasFull) is true.
var ErrAtlasFull = errors.New("render: atlas is full")

// A FullError is an ErrAtlasFull with figures. Sizes are in texels.
type FullError struct {
	ID   int    // -1 for a built-in region or a font
	Name string // as given to [Atlas.ID], or empty; "built in" for ID -1
	W, H int    // the picture, without gutters
	Page int    // the side of the page
	Free int    // free texels of the page, see [Atlas.Free]
}

// Error returns one line with the figures and with advice.
func (e *FullError) Error() string {
	return fmt.Sprintf("render: atlas is full: no space for region %s of %d×%d, %d%% of the %d×%d page is free; "+
		"remove regions, reset the atlas or configure a larger page (up to %d)",
		label(e.ID, e.Name), e.W, e.H, e.Free*100/(e.Page*e.Page), e.Page, e.Page, MaxPage)
}

// Is makes errors.Is(e, ErrAtlasFull) return true.
func (e *FullError) Is(target error) bool { return target == ErrAtlasFull }

// AtlasConfig sizes an Atlas. The zero value is the default. If a value is out of range, NewAtlas returns an error.
type AtlasConfig struct {
	Page    int // side of the page in texels: 512, 1024, 2048 or 4096; 0 means 2048
	Regions int // 1 to 65536: ids are 0 to Regions-1; 0 means 1024

	// Texels, if not nil, is a copy of the page, for programs that draw batches without a GPU, such as tests. It must
	// have 4·Page·Page bytes: rows from the top, premultiplied RGBA. The atlas keeps the slice, and writes each texel
	// to it that it writes to the page. Other bytes stay as they are.
	Texels []byte
}

// A page receives pixels: the GPU's, or a test's.
type page interface {
	write(x, y, w, h int, rgba []byte)
	image() *ebiten.Image // nil if there is no GPU
}

// An Atlas is one page of pictures and the ids of its regions. The pictures of a level form an arena: Reset removes
// the pictures that were reserved after the last Keep. Pixels that are uploaded before Run reach the GPU with the first
// frame. Only NewAtlas makes an Atlas that can be used.
type Atlas struct {
	// Invariants:
	//
	//	(1) an entry that is reserved owns a slot, and no two slots overlap
	//	(2) an uploaded entry is reserved, and its region is its slot less the gutter
	//	(3) a region that is not uploaded looks up as the placeholder
	page    page
	packer  packer
	entries []entry
	names   map[string]int
	strip   []byte // one gutter's pixels

	white, line, soft, checker Region
}

type entry struct {
	name     string
	region   Region // zero unless reserved
	shown    Region // what Lookup returns
	slot     slot
	w, h     int
	reserved bool
	uploaded bool
	tile     bool // gutters repeat the opposite edge
	kept     bool
}

// NewAtlas returns an atlas with the built-in regions. NewAtlas fails only if cfg is invalid. After Run has returned,
// NewAtlas panics.
func NewAtlas(cfg AtlasConfig) (*Atlas, error) {
	cfg.Page = cmp.Or(cfg.Page, DefaultPage)
	if cfg.Page < MinPage || cfg.Page > MaxPage || cfg.Page&(cfg.Page-1) != 0 {
		return nil, fmt.Errorf("render: atlas page of %d texels; allowed are %d, %d, %d and %d", cfg.Page, MinPage, 2*MinPage, DefaultPage, MaxPage)
	}
	if want := 4 * cfg.Page * cfg.Page; cfg.Texels != nil && len(cfg.Texels) != want {
		return nil, fmt.Errorf("render: atlas with %d bytes of Texels; a page of %d×%d takes %d", len(cfg.Texels), cfg.Page, cfg.Page, want)
	}
	return newAtlas(cfg, &gpuPage{size: cfg.Page})
}

func newAtlas(cfg AtlasConfig, p page) (*Atlas, error) {
	cfg.Regions = cmp.Or(cfg.Regions, 1024)
	if cfg.Regions < 1 || cfg.Regions > 1<<16 {
		return nil, fmt.Errorf("render: atlas with %d regions; allowed are 1 to %d", cfg.Regions, 1<<16)
	}
	if cfg.Texels != nil {
		p = &copiedPage{p, cfg.Texels, cfg.Page}
	}
	a := &Atlas{
		page:    p,
		packer:  packer{size: cfg.Page},
		entries: make([]entry, cfg.Regions),
		names:   map[string]int{},
		strip:   make([]byte, 4*cfg.Page),
	}
	if err := a.addBuiltins(); err != nil {
		return nil, err
	}
	for i := range a.entries {
		a.entries[i].shown = a.checker
	}
	a.Keep()
	return a, nil
}

// ID returns the id of name. A new name gets the next id: 0, 1, 2 and so on. If no id is left, ID fails. ID does not
// know the ids that the game chooses itself, so use either names or your own ids. Call ID once per name, during
// loading, not every frame.
func (a *Atlas) ID(name string) (int, error) {
	if id, ok := a.names[name]; ok {
		return id, nil
	}
	id := len(a.names)
	if id >= len(a.entries) {
		return 0, fmt.Errorf("render: atlas: no id left for %q, all %d are taken; raise AtlasConfig.Regions", name, len(a.entries))
	}
	a.names[name] = id
	a.entries[id].name = name
	return id, nil
}

// Reserve allocates a region of w × h texels for id. Until the first Upload to id, the texels are undefined, and Lookup
// returns the placeholder. If Reserve has reserved id with this size already, Reserve returns the same region. A
// gutter, a border of one texel, separates the region from others. Upload makes the gutter transparent.
//
// Reserve fails if the id is out of range. It also fails if the id is reserved with another size, or by ReserveTile. If
// w or h is not from 1 to the side of the page less 2, Reserve fails. If no space is left, the error is a [*FullError].
// A failed call changes nothing.
func (a *Atlas) Reserve(id, w, h int) (Region, error) { return a.reserve(id, w, h, false) }

// ReserveTile is [Atlas.Reserve] for a picture that [Quads.Tiles] draws. The border around the region repeats the
// opposite edges of the picture, so that filtering shows no seam. If id is reserved by Reserve, ReserveTile fails.
func (a *Atlas) ReserveTile(id, w, h int) (Region, error) { return a.reserve(id, w, h, true) }

func (a *Atlas) reserve(id, w, h int, tile bool) (Region, error) {
	e, err := a.entry(id)
	if err != nil {
		return Region{}, err
	}
	if e.reserved {
		if e.w == w && e.h == h && e.tile == tile {
			return e.region, nil
		}
		if e.tile != tile {
			by := map[bool]string{false: "Reserve", true: "ReserveTile"}
			return Region{}, fmt.Errorf("render: atlas: region %s is reserved by %s, not by %s; remove it first", label(id, e.name), by[e.tile], by[tile])
		}
		return Region{}, fmt.Errorf("render: atlas: region %s is reserved with %d×%d, not %d×%d; remove it first",
			label(id, e.name), e.w, e.h, w, h)
	}
	if most := a.packer.size - 2*gutter; w < 1 || h < 1 || w > most || h > most {
		return Region{}, fmt.Errorf("render: atlas: region %s of %d×%d; allowed are 1×1 to %d×%d",
			label(id, e.name), w, h, most, most)
	}
	s, ok := a.packer.take(w+2*gutter, h+2*gutter)
	if !ok {
		return Region{}, &FullError{ID: id, Name: e.name, W: w, H: h, Page: a.packer.size, Free: a.packer.free()}
	}
	*e = entry{name: e.name, region: inner(s, w, h), shown: a.checker, slot: s, w: w, h: h, reserved: true, tile: tile}
	return e.region, nil
}

// Upload sets the pixels of a reserved region: rows from the top, 4 bytes a texel, premultiplied RGBA. The pixels are
// copied, so the caller may reuse rgba after the call. Uploading again replaces the picture.
//
// Upload fails if id is not reserved, if w and h differ from the region's size, or if rgba does not have exactly 4·w·h
// bytes. For an Upload in Game.Update or Game.Draw this package allocates nothing on the Go heap.
func (a *Atlas) Upload(id int, rgba []byte, w, h int) error {
	e, err := a.entry(id)
	switch {
	case err != nil:
		return err
	case !e.reserved:
		return fmt.Errorf("render: atlas: upload to region %s, which is not reserved", label(id, e.name))
	case e.w != w || e.h != h:
		return fmt.Errorf("render: atlas: upload of %d×%d to region %s, which is %d×%d", w, h, label(id, e.name), e.w, e.h)
	case len(rgba) != 4*w*h:
		return fmt.Errorf("render: atlas: upload of %d×%d to region %s with %d bytes; it takes %d", w, h, label(id, e.name), len(rgba), 4*w*h)
	}
	a.write(e.slot, rgba, w, h, e.tile)
	e.uploaded, e.shown = true, e.region
	return nil
}

// Lookup returns the region of id. If id is not reserved, has no pixels yet, or is out of range, Lookup returns the
// placeholder. Frames can therefore be drawn while a level is loading.
func (a *Atlas) Lookup(id int) Region {
	if uint(id) < uint(len(a.entries)) {
		return a.entries[id].shown
	}
	return a.checker
}

// Loaded reports whether the pixels of id were uploaded. Loaded returns false after Remove or Reset has removed the
// region, and for an id out of range.
func (a *Atlas) Loaded(id int) bool {
	return uint(id) < uint(len(a.entries)) && a.entries[id].uploaded
}

// Remove frees the region of id, even if it is kept. Lookup returns the placeholder for id afterwards. Regions that
// Lookup returned for id before are stale. A name keeps its id. If id is not reserved or out of range, Remove does
// nothing.
func (a *Atlas) Remove(id int) {
	if e, err := a.entry(id); err == nil && e.reserved {
		a.packer.give(e.slot)
		*e = entry{name: e.name, shown: a.checker}
	}
}

// Keep protects all regions that are reserved now against Reset. Use it for the pictures that all levels share.
func (a *Atlas) Keep() {
	for i := range a.entries {
		a.entries[i].kept = a.entries[i].reserved
		a.entries[i].slot.kept = a.entries[i].reserved
	}
	a.packer.keep()
}

// Reset removes every region reserved since the last Keep. Regions that Lookup returned for removed ids are stale.
// Names keep their ids. Reset visits every id once and writes no pixels.
func (a *Atlas) Reset() {
	for i := range a.entries {
		e := &a.entries[i]
		if !e.reserved || e.kept {
			continue
		}
		if e.slot.kept {
			a.packer.give(e.slot)
		}
		*e = entry{name: e.name, shown: a.checker}
	}
	a.packer.rewind()
}

// White returns a region of width and height 0 in the middle of white texels. Every sample of this region is white
// with any filter.
func (a *Atlas) White() Region { return a.white }

// Soft returns the region of a round dot with a bright core.
func (a *Atlas) Soft() Region { return a.soft }

// Placeholder returns the checker that Lookup returns for missing pictures.
func (a *Atlas) Placeholder() Region { return a.checker }

// Page returns the side of the square page in texels.
func (a *Atlas) Page() int { return a.packer.size }

// Free returns the number of free texels of the page. They may be scattered, so that even a smaller region does not fit.
// If a region is smaller than its place on the page, the rest of the place does not count as free.
func (a *Atlas) Free() int { return a.packer.free() }

// Draw draws a batch on any Ebitengine image, in one draw call of the GPU. Draw copies the slices; they may lie
// off-heap. Vertices are in pixels of the image. Colours are premultiplied and drawn source-over. If the number of
// indices is no multiple of three, or an index is not below len(verts), Draw panics. With no index Draw does nothing.
//
// The cost is proportional to len(verts), used or not. If there are more than 16,384 vertices, and the triangles do not
// use them in order, the cost is up to three times as high.
func (a *Atlas) Draw(on *ebiten.Image, verts []Vertex, indices []uint32) {
	if img := a.page.image(); img != nil {
		handOver(on, verts, indices, img)
	}
}

// Submit is [Atlas.Draw] for all vertices and indices of q. Submit may also copy up to 1023 unused vertices after the
// last vertex of q.
func (a *Atlas) Submit(on *ebiten.Image, q *Quads) {
	a.Draw(on, q.verts[:padded(q.nv, len(q.verts))], q.Indices())
}

func (a *Atlas) entry(id int) (*entry, error) {
	if uint(id) >= uint(len(a.entries)) {
		return nil, fmt.Errorf("render: atlas: region %d; allowed are 0 to %d", id, len(a.entries)-1)
	}
	return &a.entries[id], nil
}

// write puts a picture and its gutter on the page.
func (a *Atlas) write(s slot, rgba []byte, w, h int, tile bool) {
	x, y := s.x+gutter, s.y+gutter
	a.page.write(x, y, w, h, rgba)
	// Columns have h texels, rows w + 2 with the corners.
	a.page.write(x-1, y, 1, h, a.column(rgba, w, h, w-1, tile))
	a.page.write(x+w, y, 1, h, a.column(rgba, w, h, 0, tile))
	a.page.write(x-1, y-1, w+2, 1, a.row(rgba, w, h-1, tile))
	a.page.write(x-1, y+h, w+2, 1, a.row(rgba, w, 0, tile))
}

// column returns column i of the picture for a tile, and transparent texels otherwise.
func (a *Atlas) column(rgba []byte, w, h, i int, tile bool) []byte {
	s := a.strip[:4*h]
	if !tile {
		clear(s)
		return s
	}
	for j := range h {
		copy(s[4*j:4*j+4], rgba[4*(j*w+i):])
	}
	return s
}

// row returns row j with its opposite corners for a tile, and transparent texels otherwise.
func (a *Atlas) row(rgba []byte, w, j int, tile bool) []byte {
	s := a.strip[:4*(w+2)]
	if !tile {
		clear(s)
		return s
	}
	src := rgba[4*j*w : 4*(j+1)*w]
	copy(s, src[4*(w-1):])
	copy(s[4:], src)
	copy(s[4*(w+1):], src[:4])
	return s
}

// inner is the region of a w × h picture in s.
func inner(s slot, w, h int) Region {
	x, y := float32(s.x+gutter), float32(s.y+gutter)
	return Region{x, y, x + float32(w), y + float32(h)}
}

func label(id int, name string) string {
	if name == "" {
		return fmt.Sprint(id)
	}
	return fmt.Sprintf("%d (%q)", id, name)
}
