package game

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/demo/goheap"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A rationed heap grants so many more blocks; a negative number means any.
type rationed struct {
	goheap.Plain
	left int
}

func (r *rationed) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if r.left == 0 {
		return nil, memory.ErrOutOfMemory
	}
	r.left--
	return r.Plain.Alloc(size, align)
}

// Where a tier is full the game has less of what lies there, and Lost counts it.
func TestLost_CountsWhatAFullTierCosts(t *testing.T) {
	heap := &rationed{left: -1}
	s := stageOf(t, Config{Heap: heap})
	g := s.Game
	var id ecs.Entity
	enemy := func() *Enemy {
		_, _, e, ok := g.cast.enemies.Get(id)
		if !ok {
			t.Fatal("the enemy is gone")
		}
		return e
	}
	marks := func(n int) {
		for range n {
			g.cast.mark(g, id, MarkDent, vec{})
		}
	}
	for _, c := range []struct {
		name   string
		alone  bool   // there is no enemy
		before func() // with space for all
		left   int    // blocks that there are then
		act    func()
		want   Lost
		ok     func() bool // what is left; nil: nothing to say
	}{
		{"no trail, no enemy", true, nil, 0, func() { s.enemy(realm.Drifter, 9, 0) }, Lost{Ribbons: 1, Enemies: 1}, func() bool { return g.alive() == 0 }},
		{"a trail, and no enemy", true, nil, 1, func() { s.enemy(realm.Drifter, 9, 0) }, Lost{Enemies: 1}, func() bool { return g.alive() == 0 && g.cast.ribbons.live == 0 }},
		{"no shot", true, nil, 0, func() { s.shot(9, 0, 1) }, Lost{Shots: 1}, nil},
		{"no pickup", true, nil, 0, func() { done(t, g.cast.drop(g, middle, PickupHull)) }, Lost{Pickups: 1}, nil},
		{"no orb", true, nil, 0, func() { g.cast.wish(g, wish{p: middle, orb: true}); done(t, g.cast.grantWishes(g)) }, Lost{Shots: 1}, nil},
		{"no first mark", false, nil, 0, func() { marks(1) }, Lost{Marks: 1}, func() bool { return enemy().Marks == 0 && g.cast.marks.live == 0 }},
		{"no third mark", false, func() { marks(2) }, 0, func() { marks(1) }, Lost{Marks: 1}, func() bool { return len(g.Marks(&Seen{Marks: enemy().Marks})) == 2 }},
		{"a trail does not grow", false, func() { g.cast.ribbons.push(g, enemy().Ribbon, middle) }, 0, func() {
			g.cast.ribbons.push(g, enemy().Ribbon, off(1, 0))
			g.cast.ribbons.push(g, enemy().Ribbon, off(2, 0))
		}, Lost{Ribbons: 1}, func() bool {
			r := g.Ribbon(&Seen{Ribbon: enemy().Ribbon})
			return r.Count == 2 && r.Point(0) == off(2, 0) && r.Point(1) == off(1, 0)
		}},
		{"a trail is not cut", false, func() {
			for k := range 3 {
				g.cast.ribbons.push(g, enemy().Ribbon, off(float32(k), 0))
			}
		}, 0, func() { g.cast.ribbons.cut(g, enemy().Ribbon, middle) }, Lost{Ribbons: 1}, func() bool { return g.Ribbon(&Seen{Ribbon: enemy().Ribbon}).Count == 4 }},
		{"nobody burns", false, func() { marks(1) }, 0, func() { done(t, g.cast.ignite(g, id)) }, Lost{Enemies: 1}, func() bool { return g.Statuses() == [StatusKinds]int{} }},
		{"nobody is chilled", false, func() { marks(1) }, 0, func() { done(t, g.cast.chill(g, id)) }, Lost{Enemies: 1}, func() bool { return g.Statuses() == [StatusKinds]int{} }},
		{"no mine", false, func() { g.Gifts[GiftMines] = 1 }, 0, func() { g.arms.layMines(g) }, Lost{Lists: 1}, func() bool { return len(g.Mines()) == 0 }},
		{"no fire, and no scorched ground", false, func() { g.arms.mines.push(Mine{P: middle}) }, 0, func() { done(t, g.arms.trip(g)) }, Lost{Lists: 1, Scorch: 1}, func() bool { return len(g.Mines()) == 0 && len(g.Fires()) == 0 }},
		{"no soot", true, nil, 0, func() { g.soot.begin(g) }, Lost{Soot: 1}, func() bool { return g.Soot().Cells == nil }},
		{"no texts of scores", false, nil, -1, func() { g.popups.texts = nil; g.popups.add(g, middle, 5) }, Lost{Popups: 1}, nil},
		{"no more embers", false, nil, -1, func() {
			for range emberMost + 2 {
				g.cast.spill(g, middle, 1)
			}
		}, Lost{Embers: 2}, func() bool { return g.cast.embers.Len() == emberMost }},
		{"no more announcements", false, nil, -1, func() {
			for range 4097 {
				g.cast.announce(g, realm.Swarm, middle, 0)
			}
		}, Lost{Enemies: 1}, func() bool { return g.cast.omens.Len() == 4096 }},
		{"no more wishes", false, nil, -1, func() {
			for range 257 {
				g.cast.wish(g, wish{p: middle})
			}
		}, Lost{Enemies: 1}, func() bool { return len(g.cast.wishes) == 256 }},
	} {
		heap.left = -1
		s.clear()
		texts := g.popups.texts
		if !c.alone {
			id = s.enemy(realm.Drifter, 300, 0)
		}
		if c.before != nil {
			c.before()
		}
		heap.left = c.left
		c.act()
		heap.left = -1
		if g.Lost != c.want {
			t.Errorf("%s: lost %+v, want %+v", c.name, g.Lost, c.want)
		}
		if c.ok != nil && !c.ok() {
			t.Errorf("%s: what is left is wrong", c.name)
		}
		g.popups.texts = texts
	}
}

// Lightning strikes, even if there is no space for the list of its nodes.
func TestLost_LightningStrikesWithoutItsList(t *testing.T) {
	heap := &rationed{left: -1}
	s := stageOf(t, Config{Heap: heap})
	s.clear()
	s.Gifts[GiftLightning] = 1
	s.enemy(realm.Lancer, 100, 0)
	s.frame(t, idle(s.Game))
	for i := range s.arms.bolts {
		s.arms.bolts[i].Nodes.release()
		s.arms.bolts[i].Life = 0
	}
	s.bolt, heap.left = 0, 0
	done(t, s.arms.lighten(s.Game))
	heap.left = -1
	if s.Lost.Lists != 2 || s.arms.bolts[0].Life != BoltLife || len(s.arms.bolts[0].Points()) != 0 {
		t.Errorf("lost %+v, %+v", s.Lost, s.arms.bolts[0])
	}
}

// leave begins a frame that has so many bytes left, of a capacity in all.
func (s *stage) leave(room, left uintptr) {
	done(s.t, s.endFrame())
	done(s.t, s.m.BeginFrame())
	s.open = true
	_, err := s.m.Frame().Alloc(room-left, 1)
	done(s.t, err)
}

// frameRoom returns how many bytes a frame has.
func (s *stage) frameRoom() (room uintptr) {
	done(s.t, s.m.BeginFrame())
	for size := uintptr(4 << 20); size > 0; size /= 2 {
		for {
			if _, err := s.m.Frame().Alloc(size, 1); err != nil {
				break
			}
			room += size
		}
	}
	done(s.t, s.m.EndFrame())
	return room
}

// Without space in the frame there is no grid, with little only enemies about the player are found in it, and with more
// enemies do not jostle. The enemies move all the same.
func TestLost_AFullFrameCostsTheGrid(t *testing.T) {
	s := newStage(t)
	s.clear()
	room := s.frameRoom()
	counting := uintptr(gridRoom*4 + doomMost*unsafe.Sizeof(doom{}))
	crowding := uintptr(gridCells * gridCells * unsafe.Sizeof(crowd{}))
	var none, few, calm, all bool
	for _, left := range []uintptr{0, 64 << 10, counting + 8<<10, counting + listsRoom + 6<<10, counting + listsRoom + 9<<10, counting + listsRoom + 24<<10,
		counting + listsRoom + crowding, counting + listsRoom + crowding + 64<<10} {
		s.clear()
		for k := range 400 {
			s.enemy(realm.Drifter, 60+float32(k%20)*30, float32(k/20)*30)
		}
		s.shot(90, 30, 1)
		from := s.cast.world.Hash(0)
		s.leave(room, left)
		in := engine.Input{}
		done(t, s.Tick(&in))
		gr, l := &s.horde.grid, s.Lost
		_, near := gr.touch(off(60, 0), 16)
		_, far := gr.touch(off(630, 570), 16)
		found := false
		for range gr.about(off(60, 0), 99) {
			found = true
		}
		switch {
		case gr.begin == nil || l.Grids > 0 && len(gr.who) == 0:
			none = true
			if l.Grids != 1 || near || far || gr.jostle(0, middle) != (vec{}) || found {
				t.Errorf("%d bytes left: no grid, and near %v, far %v, lost %+v", left, near, far, l)
			}
		case l.Grids > 0:
			few = true
			if !near || far || len(gr.who) >= 400 || l.Crowds != 1 {
				t.Errorf("%d bytes left: a small grid of %d, near %v, far %v, lost %+v", left, len(gr.who), near, far, l)
			}
		case l.Crowds > 0:
			calm = true
			if !near || !far || gr.jostle(gr.cellOf(off(60, 0)), off(60, 0)) != (vec{}) || l.Hits != 0 {
				t.Errorf("%d bytes left: nobody jostles, near %v, far %v, lost %+v", left, near, far, l)
			}
		default:
			all = true
			if !near || !far || l != (Lost{}) {
				t.Errorf("%d bytes left: near %v, far %v, lost %+v", left, near, far, l)
			}
		}
		if s.cast.world.Hash(0) == from {
			t.Errorf("%d bytes left: nobody moves", left)
		}
	}
	if !none || !few || !calm || !all {
		t.Errorf("seen: no grid %v, a small one %v, no crowds %v, everything %v", none, few, calm, all)
	}
}

// Without space for the passes of as many quads as were asked for there are half as many, and so on; below 256 quads
// there is no drawing in passes.
func TestLost_AFullStaticTierHalvesTheQuads(t *testing.T) {
	const wanted = 8192
	halved := 0
	for budget := uintptr(4 << 20); budget >= 64<<10; budget /= 2 {
		m := small()
		m.Budget[tiers.Static] = budget
		s := &stage{host: newHost(t, Config{Quads: wanted}, m, ""), t: t}
		s.tracer = &tracer{g: s.Game}
		s.clear()
		granted := wanted - s.Lost.Quads
		passes := s.Passes()
		if passes == nil {
			if granted != 128 || s.Build(Sprites) != nil {
				t.Errorf("%d bytes: %d quads, and no passes", budget, granted)
			}
			s.enemy(realm.Drifter, 100, 0)
			s.frame(t, idle(s.Game))
			n := 0
			if s.EachSeen(func(*Seen) { n++ }); n != 1 {
				t.Errorf("without passes %d of one enemy are seen", n)
			}
			continue
		}
		for b := range passes.Plan().All() {
			if b.ID == Sprites.Vertices() && int(b.Size) != granted*3/5*4*48 {
				t.Errorf("%d bytes: sprites have %d bytes of vertices, %d quads are granted", budget, b.Size, granted)
			}
		}
		if granted < wanted {
			halved++
			if 2*passes.Plan().Total() < budget {
				t.Errorf("%d bytes: %d quads take %d, and twice as many had space", budget, granted, passes.Plan().Total())
			}
		}
	}
	if halved < 2 {
		t.Errorf("%d budgets had space for some", halved)
	}
}

// Without space in the level tier the table of spawns is its first two lines.
func TestLost_AFullLevelCostsTheTableOfSpawns(t *testing.T) {
	s := newStage(t)
	s.clear()
	for size := uintptr(1 << 20); size > 0; size /= 2 {
		for {
			if _, err := s.m.Level().Alloc(size, 1); err != nil {
				break
			}
		}
	}
	s.horde.begin(s.Game)
	if s.Lost != (Lost{Spawns: 1}) || len(s.horde.spawns) != 2 || s.horde.spawns[0] != spawnTable[0] {
		t.Errorf("lost %+v, %+v", s.Lost, s.horde.spawns)
	}
}
