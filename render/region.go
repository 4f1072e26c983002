package render

// A Region is a rectangle of atlas texels. A Region has 16 bytes and no pointer, and may be stored off-heap. It is
// valid until Atlas.Remove is called for its id. If it was reserved after the last Keep, Atlas.Reset also ends it.
// The built-in regions stay valid.
type Region struct{ X0, Y0, X1, Y1 float32 }

// W returns the width in texels.
func (r Region) W() float32 { return r.X1 - r.X0 }

// H returns the height in texels.
func (r Region) H() float32 { return r.Y1 - r.Y0 }

// Cell returns cell i of a grid of cols × rows equal pictures, counted along the rows: the frames of an animation.
// The index i wraps around. If cols*rows is not above 0, Cell returns r.
func (r Region) Cell(i, cols, rows int) Region {
	if n := cols * rows; n > 0 {
		if i %= n; i < 0 {
			i += n
		}
	} else {
		return r
	}
	w, h := r.W()/float32(cols), r.H()/float32(rows)
	x, y := r.X0+w*float32(i%cols), r.Y0+h*float32(i/cols)
	return Region{x, y, x + w, y + h}
}

// cut returns the part of r between the fractions of its width and height.
func (r Region) cut(u0, v0, u1, v1 float32) Region {
	w, h := r.W(), r.H()
	return Region{r.X0 + w*u0, r.Y0 + h*v0, r.X0 + w*u1, r.Y0 + h*v1}
}

// centre is the region shrunk to its middle point, for solid fills: every sample reads the same texel with any
// filter.
func (r Region) centre() Region {
	x, y := (r.X0+r.X1)/2, (r.Y0+r.Y1)/2
	return Region{x, y, x, y}
}
