package overlay

import (
	"math"

	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/render"
)

// maps are where blocks lie, as of the last change of figures.
type maps struct {
	cells   [mostCells]cell
	n       int     // of cells
	span    uintptr // bytes that a cell stands for
	blocks  int     // that were looked at
	all     uint64  // that there are
	base    uintptr // of the pool whose blocks are visited, in the row of all pools
	end     uintptr
	pool    int
	classes [mostClasses]slab.ClassStats
	shown   int // of classes

	owner      *Overlay
	visitBlock func(tlsf.BlockInfo) bool // made once
	visitClass func(slab.ClassStats) bool

	section, index int // what is selected; section is one of those below
}

const (
	noSection = iota
	largeSection
	slabSection
	poolSection
)

// A cell is a piece of address space.
type cell struct {
	used, free uintptr // bytes
	blocks     uint32  // that begin in it
	largest    uintptr // of them that are in use
}

const (
	mapRows     = 4
	mostCells   = mapRows * (wide*render.Grid - 2*render.Grid) / cellW
	cellW       = 4
	mostClasses = 64
	mapPools    = 5

	// mostBlocks are looked at four times a second: a tenth of a millisecond, about. A heap with more of them shows as much
	// of its beginning, and says so.
	mostBlocks = 8_000
)

func (m *maps) init(o *Overlay) {
	m.owner = o
	m.visitBlock = func(b tlsf.BlockInfo) bool { return m.block(b) }
	m.visitClass = func(c slab.ClassStats) bool {
		if m.shown < mostClasses && c.Bytes > 0 {
			m.classes[m.shown] = c
			m.shown++
		}
		return true
	}
}

// sampleMaps looks at the heaps.
func (o *Overlay) sampleMaps() {
	if o.closed() {
		return
	}
	m := &o.maps
	m.n = mapRows * o.cellsInRow()
	clear(m.cells[:])
	st := o.m.Large().Stats()
	m.all = st.Live
	m.span = max((uintptr(st.Committed)+uintptr(m.n)-1)/uintptr(m.n), 1)
	m.blocks, m.base, m.end, m.pool = 0, 0, 0, 0
	o.m.Large().Blocks(m.visitBlock)
	m.shown = 0
	o.m.Slab().Classes(m.visitClass)
}

func (o *Overlay) cellsInRow() int { return max((o.scr.cols*render.Grid-2*render.Grid)/cellW, 1) }

// block adds a block to the cells that it lies in.
func (m *maps) block(b tlsf.BlockInfo) bool {
	if b.Pool != m.pool {
		m.pool, m.base = b.Pool, m.end
	}
	from := m.base + b.Offset
	m.end = from + b.Size
	if !b.Free {
		m.blocks++
	}
	for first := true; from < m.end; first = false {
		i := from / m.span
		if i >= uintptr(m.n) {
			break
		}
		c := &m.cells[i]
		to := min((i+1)*m.span, m.end)
		if b.Free {
			c.free += to - from
		} else {
			c.used += to - from
			c.largest = max(c.largest, b.Size)
			if first {
				c.blocks++
			}
		}
		from = to
	}
	return m.blocks < mostBlocks
}

// The lines of the panel: large, its map; slab, its classes; pools; what is selected.
const (
	mapLine   = 1
	slabLine  = mapLine + mapRows/2 + 1
	classRows = 3 // lines that the classes are high
	poolLine  = slabLine + 1 + classRows
	infoLine  = poolLine + 1 + mapPools
)

// mapTop is where the map begins; a row of it is as high as half a line, at least.
func (o *Overlay) mapTop() (y, rowH float32) {
	return pad + o.scr.pitch + 2, o.scr.pitch * (mapRows/2 + 1) / mapRows
}

func (o *Overlay) mapLines() int { return infoLine + 2 }

func (o *Overlay) drawMaps() {
	if o.closed() {
		return
	}
	o.drawLarge()
	o.drawClasses()
	o.drawFill()
	o.drawSelected()
}

// drawLarge is the tier large by address: as bright as it is in use.
func (o *Overlay) drawLarge() {
	m, p, accent := &o.maps, &o.panel, TierColors[tiers.Large]
	st := &o.meter.Snapshot().Tiers[tiers.Large]
	l := o.line(0)
	l.word(accent, "large")
	l.word(render.PanelQuiet, "by address:")
	l.size(render.PanelText, st.InUse)
	l.word(render.PanelQuiet, " in")
	l.count(render.PanelText, m.all)
	if m.all == 1 {
		l.word(render.PanelQuiet, " block")
	} else {
		l.word(render.PanelQuiet, " blocks")
	}
	l.x += render.GlyphW
	if m.blocks >= mostBlocks && uint64(m.blocks) < m.all {
		l.word(render.Amber, "first")
		l.count(render.Amber, mostBlocks)
		l.text(render.Amber, " shown")
	} else if st.Free > 0 {
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
		default:
			p.Q.Rect(x, y, cellW-1, rowH-2, accent.Shade(0.3+0.7*float32(c.used)/float32(c.used+c.free)))
		}
	}
}

// drawClasses is the slab by size of block: a bar as high as its class has bytes, on a logarithmic axis,
// bright as far as they are in use.
func (o *Overlay) drawClasses() {
	m, p, accent := &o.maps, &o.panel, TierColors[tiers.Slab]
	st := &o.meter.Snapshot().Tiers[tiers.Slab]
	l := o.line(slabLine)
	l.word(accent, "slab")
	l.word(render.PanelQuiet, "by size of block:")
	l.size(render.PanelText, st.InUse)
	l.word(render.PanelQuiet, " of")
	l.size(render.PanelText, st.Committed)
	l.gap()
	if m.shown == 0 {
		l.text(render.PanelQuiet, "no block was allocated yet")
		return
	}
	x, y, w, h := o.classBox()
	for i := range m.classes[:m.shown] {
		c := &m.classes[i]
		high := max(h*render.GaugeAt(uint64(c.Bytes)), 2)
		bright := high * float32(c.Live) / float32(max(c.Live+c.Free, 1))
		left := p.X + x + float32(i)*w
		p.Q.Rect(left, p.Y+y+h-high, w-2, high, accent.Shade(0.3))
		p.Q.Gradient(left, p.Y+y+h-bright, w-2, bright, accent, accent.Shade(0.78))
	}
	p.Q.Rect(p.X+x, p.Y+y+h, p.W-2*render.Grid, 1, render.PanelEdge)
}

// classBox is where the bars of the classes lie, and how wide each is.
func (o *Overlay) classBox() (x, y, w, h float32) {
	y = pad + float32(slabLine+1)*o.scr.pitch + 2
	w = min(round((o.panelW()-2*render.Grid)/float32(max(o.maps.shown, 1))-0.5), 16)
	return render.Grid, y, max(w, 3), classRows*o.scr.pitch - 4
}

func (o *Overlay) panelW() float32 { return float32(o.scr.cols * render.Grid) }

// drawFill is how full the largest pools are.
func (o *Overlay) drawFill() {
	l := o.line(poolLine)
	l.word(TierColors[tiers.Pools], "pools")
	l.word(render.PanelQuiet, "in use of committed")
	pools := o.meter.Pools()
	t := &o.verdict.pools
	if t.of > min(t.n, mapPools) {
		l.gap()
		l.count(render.PanelQuiet, uint64(min(t.n, mapPools)))
		l.word(render.PanelQuiet, " of")
		l.count(render.PanelQuiet, uint64(t.of))
	}
	p := &o.panel
	for i, k := range t.row[:min(t.n, mapPools)] {
		if k >= len(pools) {
			continue
		}
		w, y := &pools[k], o.y(poolLine+1+i)
		o.name(18, y, 12, render.PanelText, w.Name)
		p.Q.Rect(p.X+10, p.Y+y+6, 3, 3, TierColors[tiers.Pools])
		x := o.panelW() - 8 - 5*render.GlyphW
		// A pool that is full is no alarm: it has no budget of its own.
		p.Bar(94, y+5, x-94-2*66, 7, render.Level{Used: w.InUse, Peak: w.Peak, Capacity: w.Committed, Budget: math.MaxUint64}, TierColors[tiers.Pools])
		p.Bytes(x-66, y, render.PanelText, w.InUse)
		p.Bytes(x, y, render.PanelQuiet, w.Committed)
		p.Q.TextBytes(p.Font, p.X+x+render.GlyphW, p.Y+y, 1, render.PanelQuiet, render.AppendPercent(o.buf[:0], float64(w.InUse)/float64(max(w.Committed, 1))))
	}
}

// count returns how many things the selected section has.
func (m *maps) count(o *Overlay) int {
	switch m.section {
	case largeSection:
		return m.n
	case slabSection:
		return m.shown
	case poolSection:
		return min(o.verdict.pools.n, mapPools)
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
		if i := int((y-pad)/o.scr.pitch) - poolLine - 1; i >= 0 && i < min(o.verdict.pools.n, mapPools) {
			m.section, m.index = poolSection, i
		}
	}
}

// drawSelected marks what is selected and writes its numbers.
func (o *Overlay) drawSelected() {
	m, p := &o.maps, &o.panel
	l, l2 := o.line(infoLine), o.line(infoLine+1)
	m.index = min(m.index, max(m.count(o)-1, 0))
	if m.count(o) == 0 {
		l.text(render.PanelQuiet, "arrow keys or a click select")
		return
	}
	switch m.section {
	case largeSection:
		c := &m.cells[m.index]
		top, rowH := o.mapTop()
		row := o.cellsInRow()
		p.Q.Border(p.X+render.Grid+float32(m.index%row*cellW)-1, p.Y+top+float32(m.index/row)*rowH-1, cellW+1, rowH, 1, render.White)
		l.word(render.PanelQuiet, "from")
		l.size(render.PanelText, uint64(m.index)*uint64(m.span))
		l.word(render.PanelQuiet, " on,")
		l.size(render.PanelText, uint64(m.span))
		l.text(render.PanelQuiet, " of large")
		l2.size(render.PanelText, uint64(c.used))
		l2.word(render.PanelQuiet, " in use,")
		l2.count(render.PanelText, uint64(c.blocks))
		l2.word(render.PanelQuiet, " blocks begin, largest")
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
	k, pools := o.verdict.pools.row[o.maps.index], o.meter.Pools()
	if k >= len(pools) {
		return
	}
	w := &pools[k]
	o.panel.Q.Border(o.panel.X+4, o.panel.Y+o.y(poolLine+1+o.maps.index)+2, o.panel.W-8, 13, 1, render.White)
	l.word(TierColors[tiers.Pools], w.Name)
	l.count(render.PanelText, w.Live)
	l.word(render.PanelQuiet, " objects,")
	l.size(render.PanelText, w.Peak)
	l.text(render.PanelQuiet, " at most")
	l2.count(render.PanelText, uint64(w.Allocs+0.5))
	l2.word(render.PanelQuiet, " allocated a second, at most")
	l2.count(render.PanelText, w.Most)
	l2.word(render.PanelQuiet, " in a frame,")
	l2.count(quietZero(w.Refused), w.Refused)
	l2.text(render.PanelQuiet, " refused")
}
