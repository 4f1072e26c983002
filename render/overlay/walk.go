package overlay

import (
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/render"
)

// maps are the addresses of blocks. Each frame visits a part of a heap and fills cells, which are shown when the
// whole heap was visited. So the map of a large heap is of several frames.
type maps struct {
	passes  [2]pass
	front   int // of passes, the one that is shown
	walking bool
	pool    int     // where the iteration continues: at the block with its byte at
	at      uintptr // in the pool's committed memory
	base    uintptr // of the pool that is walked, in the row of all pools
	looked  int     // blocks in this frame

	classes [mostClasses]slab.ClassStats
	shown   int // of classes
	pools   top
	rows    int // of pools that have space

	owner      *Overlay
	visitBlock func(tlsf.BlockInfo) bool // made once
	visitClass func(slab.ClassStats) bool

	section, index int // what is selected; section is one of those below
}

// A pass is an iteration over all blocks.
type pass struct {
	cells [mostCells]cell
	n     int     // of cells
	span  uintptr // bytes that a cell stands for
	all   uint64  // blocks in use when it began
	done  bool
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

	// mostBlocks are looked at in a frame: some 20 µs.
	mostBlocks = 1000
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

// openMaps shows nothing of before.
func (o *Overlay) openMaps() {
	m := &o.maps
	m.walking, m.passes[m.front].done = false, false
	o.sampleMaps()
}

// sampleMaps samples the slab, and begins an iteration of the large heap if the former has ended.
func (o *Overlay) sampleMaps() {
	if o.closed() {
		return
	}
	m := &o.maps
	m.shown = 0
	o.m.Slab().Classes(m.visitClass)
	m.pools.pick(o.meter.Pools(), mapPools)
	if m.walking {
		return
	}
	p := m.back()
	clear(p.cells[:])
	st := o.m.Large().Stats()
	p.n, p.all = mapRows*o.cellsInRow(), st.Live
	p.span, p.done = max((uintptr(st.Committed)+uintptr(p.n)-1)/uintptr(p.n), 1), false
	m.walking, m.pool, m.at, m.base = true, 0, 0, 0
}

// walk looks at the blocks of this frame.
func (o *Overlay) walk() {
	m := &o.maps
	if !m.walking || o.closed() {
		return
	}
	m.looked = 0
	o.m.Large().BlocksFrom(m.pool, m.at, m.visitBlock)
	if m.looked <= mostBlocks {
		m.walking, m.back().done = false, true
		m.front = 1 - m.front
	}
}

// back is the pass that is walked, and cells the one that is shown: until the first one after the panel was
// opened has ended, what there is of it.
func (m *maps) back() *pass { return &m.passes[1-m.front] }

func (m *maps) cells() *pass {
	if p := &m.passes[m.front]; p.done || !m.walking {
		return p
	}
	return m.back()
}

func (o *Overlay) cellsInRow() int { return max((o.scr.cols*render.Grid-2*render.Grid)/cellW, 1) }

// block adds the part of a block that was not visited yet to its cells.
func (m *maps) block(b tlsf.BlockInfo) bool {
	if m.looked++; m.looked > mostBlocks {
		return false // the next frame begins here
	}
	if b.Pool != m.pool {
		m.pool, m.base, m.at = b.Pool, m.base+m.at, 0
	}
	p, end := m.back(), b.Offset+b.Size
	whole := b.Offset == m.at
	from, to := m.base+m.at, m.base+end
	if m.at = max(m.at, end); from >= to {
		return true
	}
	for first := whole; from < to; first = false {
		i := from / p.span
		if i >= uintptr(p.n) {
			break
		}
		c := &p.cells[i]
		next := min((i+1)*p.span, to)
		if b.Free {
			c.free += next - from
		} else {
			c.used += next - from
			c.largest = max(c.largest, b.Size)
			if first {
				c.blocks++
			}
		}
		from = next
	}
	return true
}
