package overlay

import (
	"math"

	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// The lines of the panel: large, its map; slab, its classes; pools; what is selected.
const (
	mapLine   = 1
	slabLine  = mapLine + mapRows/2 + 1
	classRows = 4 // lines that the classes are high, their sizes below them included
	poolLine  = slabLine + 1 + classRows
)

// infoLine is the first of the last two lines.
func (o *Overlay) infoLine() int { return poolLine + 1 + o.maps.rows }

// mapTop is where the map begins; a row of it is as high as half a line, at least.
func (o *Overlay) mapTop() (y, rowH float32) {
	return pad + o.scr.pitch + 2, o.scr.pitch * (mapRows/2 + 1) / mapRows
}

func (o *Overlay) mapLines() int {
	if o.own != nil {
		return 1
	}
	return o.infoLine() + 2
}

// fitMaps leaves out rows of pools, the smallest first, until the panel is at most high.
func (o *Overlay) fitMaps(high float32) {
	for o.maps.rows = mapPools; o.maps.rows > 0; o.maps.rows-- {
		if _, rows := o.size(int(Maps)); float32(rows*render.Grid) <= high {
			return
		}
	}
}

func (o *Overlay) drawMaps() {
	if o.closed() {
		return
	}
	if o.own != nil {
		l := o.line(0)
		l.text(render.PanelQuiet, "no blocks: the game has no manager")
		return
	}
	o.drawLarge()
	o.drawClasses()
	o.drawFill()
	o.drawSelected()
}

// drawLarge draws the tier large by address: brighter with the share in use, and a little more at the start of a
// block.
func (o *Overlay) drawLarge() {
	m, p, accent := o.maps.cells(), &o.panel, tierColors[tiers.Large]
	st := &o.meter.Snapshot().Tiers[tiers.Large]
	l := o.line(0)
	l.word(accent, "large")
	if o.scr.full {
		l.word(render.PanelQuiet, "by address:")
	}
	l.size(render.PanelText, st.InUse)
	l.word(render.PanelQuiet, " in")
	l.count(render.PanelText, m.all)
	l.word(render.PanelQuiet, plural(m.all, " block", " blocks"))
	l.x += render.GlyphW
	if st.Free > 0 {
		l.word(render.PanelQuiet, "in pieces")
		l.bytes(render.PanelText, append(render.AppendFixed(o.buf[:0], 100*st.External(), 0, 0), '%'))
		if o.scr.full {
			l.gap()
			l.word(render.PanelQuiet, "largest free")
			l.size(render.PanelText, st.LargestFree)
			l.word(render.PanelQuiet, " of")
			l.size(render.PanelText, st.Free)
		}
	}
	top, rowH := o.mapTop()
	row := o.cellsInRow()
	for i := range m.cells[:min(m.n, mapRows*row)] {
		c := &m.cells[i]
		x, y := p.X+render.Grid+float32(i%row*cellW), p.Y+top+float32(i/row)*rowH
		switch {
		case c.used+c.free == 0:
			p.Q.Rect(x, y, cellW-1, rowH-2, render.PanelTrack.Fade(0.5))
		case c.used == 0:
			p.Q.Rect(x, y, cellW-1, rowH-2, accent.Shade(0.2))
		case c.blocks == 0:
			p.Q.Rect(x, y, cellW-1, rowH-2, accent.Shade(0.3+0.45*float32(c.used)/float32(c.used+c.free)))
		default:
			p.Q.Rect(x, y, cellW-1, rowH-2, accent.Shade(0.3+0.7*float32(c.used)/float32(c.used+c.free)))
		}
	}
}

// drawClasses draws a bar for each size class of the slab. Its height is the bytes of the class, on a logarithmic
// axis up to the largest. The bright part is in use.
func (o *Overlay) drawClasses() {
	m, p, accent := &o.maps, &o.panel, tierColors[tiers.Slab]
	st := &o.meter.Snapshot().Tiers[tiers.Slab]
	l := o.line(slabLine)
	l.word(accent, "slab")
	if o.scr.full {
		l.word(render.PanelQuiet, "by size of block:")
	}
	l.size(render.PanelText, st.InUse)
	l.word(render.PanelQuiet, " of")
	l.size(render.PanelText, st.Committed)
	l.gap()
	if m.shown == 0 {
		l.text(render.PanelQuiet, "no block was allocated yet")
		return
	}
	most := &m.classes[0]
	for i := range m.classes[:m.shown] {
		if c := &m.classes[i]; c.Bytes > most.Bytes {
			most = c
		}
	}
	l.word(render.PanelQuiet, "most in")
	l.size(render.PanelText, uint64(most.Size))
	if o.scr.full {
		l.word(render.PanelQuiet, ":")
		l.size(render.PanelText, uint64(most.Bytes))
	}
	x, y, w, h := o.classBox()
	scale, free := h/classHeight(most.Bytes), float32(0)
	for i := range m.classes[:m.shown] {
		c := &m.classes[i]
		high := max(scale*classHeight(c.Bytes), 2)
		bright := high * float32(c.Live) / float32(max(c.Live+c.Free, 1))
		left := p.X + x + float32(i)*w
		p.Q.Rect(left, p.Y+y+h-high, w-2, high, accent.Shade(0.3))
		p.Q.Gradient(left, p.Y+y+h-bright, w-2, bright, accent, accent.Shade(0.78))
		free = o.classSize(left-p.X, y+h, free, uint64(c.Size))
	}
	p.Q.Rect(p.X+x, p.Y+y+h, p.W-2*render.Grid, 1, render.PanelEdge)
}

// classSize writes the block size of a class below its bar at x if x is at least free. It returns the next free x.
func (o *Overlay) classSize(x, y, free float32, size uint64) float32 {
	b := render.AppendInt(o.buf[:0], int64(size), 0)
	if size >= 1000 {
		b = append(render.AppendInt(o.buf[:0], int64((size+512)/1024), 0), 'K')
	}
	w := float32(len(b) * render.GlyphW)
	if x < free || x+w > o.panelW()-render.Grid/2 {
		return free
	}
	o.q.TextBytes(o.font, o.panel.X+x, o.panel.Y+y+(o.scr.pitch-render.GlyphH)/2, 1, render.PanelQuiet, b)
	return x + w + 4
}

// classHeight is the logarithm of bytes, from 256 on: the least that a class has is 1 KiB.
func classHeight(bytes uintptr) float32 {
	return float32(max(math.Log2(float64(bytes))-8, 0.1))
}

// classBox is where the bars of the classes lie, and how wide each is; below them is a line.
func (o *Overlay) classBox() (x, y, w, h float32) {
	y = pad + float32(slabLine+1)*o.scr.pitch + 2
	w = min(round((o.panelW()-2*render.Grid)/float32(max(o.maps.shown, 1))-0.5), 32)
	return render.Grid, y, max(w, 3), (classRows-1)*o.scr.pitch - 4
}

func (o *Overlay) panelW() float32 { return float32(o.scr.cols * render.Grid) }

// drawFill is how full the largest pools are.
func (o *Overlay) drawFill() {
	l := o.line(poolLine)
	l.word(tierColors[tiers.Pools], "pools")
	l.word(render.PanelQuiet, "in use of committed")
	pools := o.meter.Pools()
	t := &o.maps.pools
	if t.of > min(t.n, o.maps.rows) {
		l.gap()
		l.count(render.PanelQuiet, uint64(min(t.n, o.maps.rows)))
		l.word(render.PanelQuiet, " of")
		l.count(render.PanelQuiet, uint64(t.of))
	}
	p := &o.panel
	for i, k := range t.row[:min(t.n, o.maps.rows)] {
		if k >= len(pools) {
			continue
		}
		w, y := &pools[k], o.y(poolLine+1+i)
		o.name(18, y, 12, render.PanelText, w.Name)
		p.Q.Rect(p.X+10, p.Y+y+6, 3, 3, tierColors[tiers.Pools])
		x := o.panelW() - 8 - 5*render.GlyphW
		// A pool that is full is no alarm: it has no budget of its own.
		p.Bar(94, y+5, x-94-2*66, 7, render.Level{Used: w.InUse, Peak: w.Peak, Capacity: w.Committed, Budget: math.MaxUint64}, tierColors[tiers.Pools])
		p.Bytes(x-66, y, render.PanelText, w.InUse)
		p.Bytes(x, y, render.PanelQuiet, w.Committed)
		p.Q.TextBytes(p.Font, p.X+x+render.GlyphW, p.Y+y, 1, render.PanelQuiet, render.AppendPercent(o.buf[:0], float64(w.InUse)/float64(max(w.Committed, 1))))
	}
}

// count returns how many things the selected section has.
func (m *maps) count(o *Overlay) int {
	switch m.section {
	case largeSection:
		return m.cells().n
	case slabSection:
		return m.shown
	case poolSection:
		return min(m.pools.n, m.rows)
	}
	return 0
}

// move is a press of an arrow: left, right, up, down.
func (m *maps) move(o *Overlay, dir int) {
	switch {
	case m.section == noSection:
		m.section, m.index = largeSection, 0
	case dir == 0:
		m.index--
	case dir == 1:
		m.index++
	default:
		m.vertical(o, dir == 3)
	}
	m.index = min(max(m.index, 0), max(m.count(o)-1, 0))
}

// vertical goes up or down a row, or to the section there.
func (m *maps) vertical(o *Overlay, down bool) {
	step, row := -1, 1
	if down {
		step = 1
	}
	switch m.section {
	case largeSection:
		row = o.cellsInRow()
	case slabSection:
		row = mostClasses // there is only one
	}
	if i := m.index + step*row; i >= 0 && i < m.count(o) {
		m.index = i
		return
	}
	if s := m.section + step; s >= largeSection && s <= poolSection {
		m.section, m.index = s, 0
	}
}

// click selects what lies at (x, y) of the panel.
func (m *maps) click(x, y float32) {
	m.section = noSection
	o := m.owner
	top, rowH := o.mapTop()
	cx, cy, cw, ch := o.classBox()
	switch x -= render.Grid; {
	case x < 0:
	case y >= top && y < top+mapRows*rowH:
		if col := int(x) / cellW; col < o.cellsInRow() {
			m.section, m.index = largeSection, int((y-top)/rowH)*o.cellsInRow()+col
		}
	case y >= cy && y < cy+ch && x >= cx-render.Grid:
		if i := int(x / cw); i < m.shown {
			m.section, m.index = slabSection, i
		}
	default:
		if i := int((y-pad)/o.scr.pitch) - poolLine - 1; i >= 0 && i < min(m.pools.n, m.rows) {
			m.section, m.index = poolSection, i
		}
	}
}

// drawSelected marks what is selected and writes its numbers.
func (o *Overlay) drawSelected() {
	m, p := &o.maps, &o.panel
	l, l2 := o.line(o.infoLine()), o.line(o.infoLine()+1)
	m.index = min(m.index, max(m.count(o)-1, 0))
	if m.count(o) == 0 {
		l.text(render.PanelQuiet, "arrow keys or a click select")
		return
	}
	switch m.section {
	case largeSection:
		large := m.cells()
		c := &large.cells[m.index]
		top, rowH := o.mapTop()
		row := o.cellsInRow()
		p.Q.Border(p.X+render.Grid+float32(m.index%row*cellW)-1, p.Y+top+float32(m.index/row)*rowH-1, cellW+1, rowH, 1, render.White)
		l.word(render.PanelQuiet, "from")
		l.size(render.PanelText, uint64(m.index)*uint64(large.span))
		l.word(render.PanelQuiet, " on,")
		l.size(render.PanelText, uint64(large.span))
		l.text(render.PanelQuiet, " of large")
		l2.size(render.PanelText, uint64(c.used))
		l2.word(render.PanelQuiet, " in use,")
		l2.count(render.PanelText, uint64(c.blocks))
		l2.word(render.PanelQuiet, plural(uint64(c.blocks), " block begins, largest", " blocks begin, largest"))
		l2.size(render.PanelText, uint64(c.largest))
	case slabSection:
		c := &m.classes[m.index]
		x, y, w, h := o.classBox()
		p.Q.Border(p.X+x+float32(m.index)*w-1, p.Y+y-1, w, h+2, 1, render.White)
		l.word(render.PanelQuiet, "blocks of")
		l.size(render.PanelText, uint64(c.Size))
		l.word(render.PanelQuiet, ":")
		l.count(render.PanelText, uint64(c.Live))
		l.word(render.PanelQuiet, " live,")
		l.count(render.PanelText, uint64(c.Free))
		l.text(render.PanelQuiet, " free")
		l2.size(render.PanelText, uint64(c.Bytes))
		l2.word(render.PanelQuiet, " in spans,")
		l2.count(render.PanelText, c.Allocs)
		l2.text(render.PanelQuiet, " allocated since the beginning")
	case poolSection:
		o.drawPool(&l, &l2)
	}
}

func (o *Overlay) drawPool(l, l2 *line) {
	k, pools := o.maps.pools.row[o.maps.index], o.meter.Pools()
	if k >= len(pools) {
		return
	}
	w := &pools[k]
	o.panel.Q.Border(o.panel.X+4, o.panel.Y+o.y(poolLine+1+o.maps.index)+2, o.panel.W-8, 13, 1, render.White)
	l.word(tierColors[tiers.Pools], w.Name)
	l.count(render.PanelText, w.Live)
	l.word(render.PanelQuiet, plural(w.Live, " object,", " objects,"))
	l.size(render.PanelText, w.Peak)
	l.text(render.PanelQuiet, " at most")
	l2.count(render.PanelText, uint64(w.Allocs+0.5))
	l2.word(render.PanelQuiet, " allocated a second, at most")
	l2.count(render.PanelText, w.Most)
	l2.word(render.PanelQuiet, " in a frame,")
	l2.count(quietZero(w.Refused), w.Refused)
	l2.text(render.PanelQuiet, " refused")
}
