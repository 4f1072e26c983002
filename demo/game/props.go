package game

import (
	"unsafe"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/tiers"
)

// A Prop is a thing on the ground that only the eye meets: it is drawn, and moves, by itself.
type Prop struct {
	P     vec
	Kind  uint8 // 0 and 1 stand in the open, 2 near walls
	Phase uint8 // own offset, so that no two move alike
}

const (
	propBytes   = unsafe.Sizeof(Prop{})
	propsRegion = 16 << 10 // bytes of a region: those of some thirty sectors
	propsRoom   = 1 << 20
)

// props are those of the sectors that are there. Each sector's are a block of a region allocator: what
// came together goes together, and a region whose sectors have all left is free as a whole.
type props struct {
	a    *arena.Region // nil where the pools tier had no room
	of   [ground.Sectors * ground.Sectors][]Prop
	lost int // sectors whose props had no room
}

func newProps(m *tiers.Manager) (*props, error) {
	ps := &props{}
	a, err := arena.NewRegion(m.PoolSource(), arena.RegionConfig{RegionBytes: propsRegion, Reserve: propsRoom})
	if err != nil {
		return ps, tolerate(err)
	}
	ps.a = a
	m.AddFuncs("props", a.Stats, nil, a.Close)
	return ps, nil
}

// place puts a sector's props on the ground, as its recipe says.
func (ps *props) place(s ground.Sector, list []ground.Prop) {
	ps.leave(s)
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
	ps.of[sectorIndex(s)] = mine
}

// leave takes a sector's props away, where there are any.
func (ps *props) leave(s ground.Sector) {
	if p := &ps.of[sectorIndex(s)]; *p != nil {
		memory.FreeSlice(ps.a, *p)
		*p = nil
	}
}

// Props returns what stands on the ground of a sector that is there, or nothing. It is valid until the
// next Frame.
func (s *Session) Props(at ground.Sector) []Prop {
	if s.scenery == nil {
		return nil
	}
	return s.scenery.props.of[sectorIndex(at)]
}

// PropsLost returns how many sectors came without their props, since there was no room.
func (s *Session) PropsLost() int {
	if s.scenery == nil {
		return 0
	}
	return s.scenery.props.lost
}
