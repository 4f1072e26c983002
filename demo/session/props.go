package session

import (
	"errors"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/tiers"
)

// A Prop is an object on the ground that is drawn and animated. The rules do not read it.
type Prop struct {
	P     vec
	Kind  uint8 // 0 and 1 stand in the open, 2 near walls
	Phase uint8 // of its motion; follows from the place in the sector, so that few neighbours move alike
}

const (
	propsRegion = 16 << 10 // bytes of a region: props of some thirty sectors
	propsRoom   = 1 << 20
)

// props are those of the sectors that are shown. Each sector's are a block of a region allocator: what was allocated
// together is freed together, and a region is free when all of its sectors have left.
type props struct {
	a    *arena.Region // nil if the pools tier had no space
	of   [ground.AllSectors][]Prop
	lost int // sectors whose props had no space
}

func (ps *props) init(m *tiers.Manager) error {
	a, err := arena.NewRegion(m.PoolSource(), arena.RegionConfig{RegionBytes: propsRegion, Reserve: propsRoom})
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge) {
		return nil
	}
	if err == nil {
		ps.a = a
		var tag *tiers.Tag
		if tag, err = m.Tag("ground"); err == nil {
			tag.AddPool("props", &tiers.Funcs{StatsFunc: a.Stats, CloseFunc: a.Close})
		}
	}
	return err
}

// place puts a sector's props on the ground, as its recipe says.
func (ps *props) place(s ground.Sector, list []ground.Prop) {
	ps.remove(s)
	if len(list) == 0 {
		return
	}
	if ps.a == nil {
		ps.lost++
		return
	}
	mine, err := memory.MakeSlice[Prop](ps.a, len(list))
	if err != nil {
		ps.lost++
		return
	}
	x, y := float32(s.X)*ground.SectorSize, float32(s.Y)*ground.SectorSize
	for i, p := range list {
		mine[i] = Prop{P: vec{x + float32(p.X), y + float32(p.Y)}, Kind: p.Kind, Phase: uint8(int(p.X)*31 + int(p.Y)*17)}
	}
	ps.of[s.Index()] = mine
}

// remove frees a sector's props, if there are any.
func (ps *props) remove(s ground.Sector) {
	if p := &ps.of[s.Index()]; *p != nil {
		memory.FreeSlice(ps.a, *p)
		*p = nil
	}
}
