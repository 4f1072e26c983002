package session

import (
	"time"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
)

const (
	sliceRows = 128              // rows that are handed over between two checks of the clock
	sliceTime = time.Millisecond // of a frame, after which the rest of a sector waits for the next one
)

// A handOver passes pictures to the view, one at a time.
//
// Invariants:
//
//	(1) half is nil or the picture of which some rows were handed over, and not all
//	(2) tiles is the number of sectors of which the view has rows
type handOver struct {
	half  *sectorPicture
	tiles int
	slice time.Duration
}

// deliver hands a sector over, or as much of it as there is time for.
func (g *Ground) deliver(_ string, p, old *sectorPicture) error {
	if g.handOver.half != nil && g.handOver.half != p {
		return stream.ErrMore
	}
	g.handOver.half = p
	const row = 4 * ground.SectorSize
	for began := time.Now(); ; {
		to := min(p.row+sliceRows, ground.SectorSize)
		if err := g.view.Rows(p.sector, p.row, p.pixels[p.row*row:to*row]); err != nil {
			if g.hide(p); old != nil {
				g.hide(old) // the view has neither picture
			}
			return err
		}
		if p.row == 0 {
			if p.over = old != nil && old.row > 0; !p.over {
				g.handOver.tiles++
			}
		}
		if p.row = to; to == ground.SectorSize {
			break
		}
		if time.Since(began) > g.handOver.slice {
			return stream.ErrMore
		}
	}
	if p.over {
		p.over, old.row = false, 0
	}
	g.handOver.half = nil
	g.loaded(p.sector)
	g.props.place(p.sector, p.props)
	p.pixels, p.props = nil, nil
	g.plan.Ready(p.sector) // if it was dropped meanwhile, release follows
	return nil
}

func (g *Ground) release(_ string, p *sectorPicture) { g.hide(p) }

// hide takes a picture away from the view.
func (g *Ground) hide(p *sectorPicture) {
	if g.handOver.half == p {
		g.handOver.half = nil
	}
	if p.row > 0 && !p.over {
		p.row = 0
		g.handOver.tiles--
		g.view.Hide(p.sector)
		g.props.remove(p.sector)
		g.plan.Lost(p.sector)
	}
}
