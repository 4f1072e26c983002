package render

// A copiedPage copies to AtlasConfig.Texels what it writes to its page.
type copiedPage struct {
	page
	texels []byte
	side   int
}

func (p *copiedPage) write(x, y, w, h int, rgba []byte) {
	for row := range h {
		copy(p.texels[4*((y+row)*p.side+x):], rgba[4*row*w:4*(row+1)*w])
	}
	p.page.write(x, y, w, h, rgba)
}
