package ground

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

const (
	bandRows  = 16
	fineStep  = 2 // pixels between samples of what changes fast
	fineRows  = bandRows/fineStep + 1
	fineCols  = SectorSize/fineStep + 2
	lightStep = 8 // pixels between samples of light
	lightCols = SectorSize/lightStep + 2
)

// A canvas is the scratch memory of composing a sector: one block, divided into parts.
type canvas struct {
	recipe *Recipe
	stamps *Stamps
	style  style

	dist  field     // how far walls are
	light []float32 // of pools, three a sample
	// A band's rows on the fine grid: brightness of the floor, its glow, and the wall's brightness; and six rows to
	// work in.
	tone, glow, body []float32
	work             [6][]float32
	warm             [2]float32   // of a fine row's ends
	rows             [3][]float32 // distances along the row of pixels above, this one and the one below
	rgb              []float32    // a band's pixels
	cover            []float32    // the share of a pixel that is wall
}

const scratchFloats = 2*Span*Span + lightCols*lightCols*3 + 3*fineRows*fineCols + 6*fineCols + 3*(SectorSize+2) + bandRows*SectorSize*4

// cut divides the block.
func (c *canvas) cut(block []float32) {
	take := func(n int) []float32 {
		s := block[:n:n]
		block = block[n:]
		return s
	}
	c.dist = take(Span * Span)
	c.light = take(lightCols * lightCols * 3)
	for _, s := range []*[]float32{&c.tone, &c.glow, &c.body} {
		*s = take(fineRows * fineCols)
	}
	for i := range c.work {
		c.work[i] = take(fineCols)
	}
	for i := range c.rows {
		c.rows[i] = take(SectorSize + 2)
	}
	c.rgb = take(bandRows * SectorSize * 3)
	c.cover = take(bandRows * SectorSize)
}

// Compose draws a sector's ground into the first Bytes of dst: opaque premultiplied RGBA, a pixel a unit, rows from
// the top. Neighbouring sectors have no visible seam if their recipes agree on shared cells and corners. The same
// input gives the same picture, except for about one level of brightness between architectures.
//
// r must be a recipe that [Recipe.Parse] accepts: otherwise Compose may panic.
//
// Compose takes one block of about 270 KiB from scratch and frees it before it returns. If cancelled is not nil,
// Compose calls it every 16 rows. If cancelled returns an error, Compose returns this error, and dst is incomplete. For
// a stamp that s does not have, the error is a [*FileError] without a file name. Other errors wrap an error of scratch.
//
// Any number of goroutines may call Compose, each with its own allocator. Compose panics if the capacity of dst is
// below Bytes.
func Compose(dst []byte, r *Recipe, s *Stamps, scratch memory.Allocator, cancelled func() error) error {
	dst = dst[:Bytes]
	for i := range r.Stamps[:r.NStamps] {
		if id := int(r.Stamps[i].ID); id >= s.count() {
			return &FileError{"", headBytes + i*stampBytes, fmt.Sprintf("stamp %d; allowed is 0 to %d", id, s.count()-1)}
		}
	}
	block, err := memory.MakeSlice[float32](scratch, scratchFloats)
	if err != nil {
		return fmt.Errorf("ground: %w", err)
	}
	defer memory.FreeSlice(scratch, block)
	c := canvas{recipe: r, stamps: s, style: styleOf(r.Base, &s.Palette)}
	c.cut(block)
	c.dist.measure(r, block[len(block)-Span*Span:]) // the end is not in use yet
	c.shine()
	for y := 0; y < SectorSize; y += bandRows {
		if cancelled != nil {
			if err := cancelled(); err != nil {
				return err
			}
		}
		c.band(dst[y*SectorSize*4:], y)
	}
	return nil
}

// band draws sixteen rows: floor, stamps on it, shadows and light, walls, stamps on them and above everything.
func (c *canvas) band(dst []byte, y0 int) {
	for i := range fineRows {
		at := i * fineCols
		c.texture(c.tone[at:at+fineCols], c.glow[at:at+fineCols], c.body[at:at+fineCols], y0+i*fineStep)
	}
	for y := range bandRows {
		c.floorRow(y)
		c.coverRow(y0, y)
	}
	r := c.recipe
	for i := range r.Stamps[:r.NStamps] {
		if s := &r.Stamps[i]; s.Layer == OnFloor {
			c.lay(s, y0)
		}
	}
	for y := range bandRows {
		c.shadeRow(y0, y)
	}
	for i := range r.Stamps[:r.NStamps] {
		if s := &r.Stamps[i]; s.Layer == OnWalls {
			c.lay(s, y0)
		}
	}
	for i := range r.Stamps[:r.NStamps] {
		if s := &r.Stamps[i]; s.Layer == Above {
			c.lay(s, y0)
		}
	}
	c.write(dst, y0)
}

// fine reads a band's grid at a pixel.
func fine(grid []float32, x, y int) float32 {
	i := y/fineStep*fineCols + x/fineStep
	v := grid[i]
	if x%fineStep != 0 {
		v = (v + grid[i+1]) / 2
	}
	if y%fineStep == 0 {
		return v
	}
	w := grid[i+fineCols]
	if x%fineStep != 0 {
		w = (w + grid[i+fineCols+1]) / 2
	}
	return (v + w) / 2
}

// floorRow fills a row of the band with bare floor.
func (c *canvas) floorRow(y int) {
	st := &c.style
	rgb := c.rgb[y*SectorSize*3:][:SectorSize*3]
	for x := range SectorSize {
		tone, glow := fine(c.tone, x, y), fine(c.glow, x, y)
		p := rgb[x*3 : x*3+3 : x*3+3]
		p[0] = st.floor[0]*tone + st.glow[0]*glow
		p[1] = st.floor[1]*tone + st.glow[1]*glow
		p[2] = st.floor[2]*tone + st.glow[2]*glow
	}
}

// Light of the ground above a brightness is dimmed, and keeps its hue: what shines as an enemy does lies on no ground.
const (
	dimAbove = 88
	dimTo    = 0.4 // the share that is left of what lies above
)

// write rounds the band's pixels to bytes; a little noise hides the steps of dark gradients.
func (c *canvas) write(dst []byte, y0 int) {
	wx, wy := c.recipe.X*SectorSize, c.recipe.Y*SectorSize+y0
	for y := range bandRows {
		for x := range SectorSize {
			i := y*SectorSize + x
			grain := float32(hash(wx+x, wy+y, 99)>>8) * (1.0 / (1 << 24))
			p, q := c.rgb[i*3:i*3+3:i*3+3], dst[i*4:i*4+4:i*4+4]
			k := float32(1)
			if most := max(p[0], p[1], p[2]); most > dimAbove {
				k = (dimAbove + dimTo*(min(most, 255)-dimAbove)) / most
			}
			q[0] = uint8(max(p[0]*k+grain, 0))
			q[1] = uint8(max(p[1]*k+grain, 0))
			q[2] = uint8(max(p[2]*k+grain, 0))
			q[3] = 255
		}
	}
}
