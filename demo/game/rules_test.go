package game

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

func TestNew_RefusesWhatCannotBe(t *testing.T) {
	m, err := tiers.New(small())
	done(t, err)
	defer func() { done(t, m.Close()) }()
	for _, cfg := range []Config{{Enemies: -1}, {Enemies: 200_001}, {Heat: -0.1}, {Heat: 10.1}, {Heat: float32(math.NaN())}} {
		if _, err := New(m, cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

func TestGame_ExtraDriftersStandInTheOpen(t *testing.T) {
	h := newHost(t, Config{Seed: 3, Enemies: 300}, small(), "ember")
	g := h.Game
	if g.extra != 300 || g.toll[realm.Drifter] != 300 || g.Enemies() != 300 || g.Entities() != 300 {
		t.Errorf("%d extra, %v, %d enemies, %d entities", g.extra, g.toll, g.Enemies(), g.Entities())
	}
	for _, r := range g.cast.enemyFilter.All() {
		if r.C.Post != postStress || r.C.Ribbon != 0 || g.Realm.Near(r.A.P, 10) {
			t.Fatalf("%+v at %v", *r.C, r.A.P)
		}
	}
	h.check(t)
}

// What the next realm keeps of the player: half of the hull at least, gifts and points.
func TestGame_TheNextRealmKeepsHullGiftsAndScore(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		hull, most int
		alive      bool
		want       int
	}{{1, 6, true, 3}, {3, 6, true, 3}, {5, 6, true, 5}, {2, 9, true, 4}, {0, 8, false, 8}} {
		s.clear()
		s.Player.Hull, s.Player.Most, s.Player.Alive = c.hull, c.most, c.alive
		s.Gifts[GiftBeam], s.Embers, s.Need, s.Cleared, s.Kills, s.Ticks = 2, 5, 40, 3, 8, 77
		s.chain(13)
		s.win(50)
		s.ShakeNow, s.freeze, s.Lived, s.bolt, s.mine, s.Heat = 3, 2, 9, 1, 1, 4
		s.cast.wish(s.Game, wish{p: middle, enemy: realm.Swarm})
		s.end(t)
		done(t, s.m.BeginLevel())
		done(t, s.Begin(s.Manifest, s.Realm))
		p := Player{P: middle, Aim: right, Hull: c.want, Most: c.most, Safe: 1.5, Alive: true}
		if s.Player != p {
			t.Errorf("%+v: the player is %+v, want %+v", c, s.Player, p)
		}
		if s.Gifts[GiftBeam] != 2 || s.Embers != 5 || s.Need != 40 || s.Score != 100 || s.streak != 13 || s.Cleared != 3 || s.Kills != 8 {
			t.Errorf("kept: %+v, %+v", s.Bag, s.Run)
		}
		if s.ShakeNow != 0 || s.freeze != 0 || s.Lived != 0 || s.bolt != 0 || s.mine != 0 || s.Heat != 0 || s.Phase != Announce || s.begun != 77 || len(s.cast.wishes) != 0 {
			t.Errorf("not reset: %+v, %+v, %+v, %d wishes", s.Stage, s.Cooldowns, s.Threat, len(s.cast.wishes))
		}
	}
	s.Restart()
	if want := (Run{Ticks: 77, Cleared: 3, Multiplier: 1, fresh: firstMinute}); s.Run != want || s.Gifts != [GiftKinds]uint8{} || s.Need != firstNeed || s.Player.Most != HullMax || s.Player.Alive {
		t.Errorf("after a restart %+v, %+v, %+v", s.Run, s.Bag, s.Player)
	}
}

func TestCheck_NamesTheInvariantThatIsBroken(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		number int
		spoil  func()
	}{
		{2, func() { s.cast.ribbons.live++ }},
		{2, func() { s.cast.marks.live++ }},
		{2, func() { s.cast.marks.all[0].owner = ecs.Entity{} }},
		{4, func() { s.toll[realm.Swarm]++ }},
		{4, func() { s.extra++ }},
		{5, func() { s.Player.P[0] = -1 }},
		{5, func() { s.shot(-6001, 0, 1) }},
		{5, func() { s.pickup(-6001, PickupHull, 1) }},
		{5, func() { s.cast.spill(s.Game, vec{-1, 0}, 1) }},
		{5, func() { s.enemy(realm.Swarm, 0, 7000) }},
		{7, func() { s.Multiplier++ }},
		{7, func() { s.streak += 12 }},
		{8, func() { s.Played = s.Ticks + 1 }},
		{9, func() { s.Broken++ }},
		{9, func() { s.Seals[1].Broken = true }},
		{10, func() { s.Goal = realm.Heart }},
		{10, func() { s.Seals[0].Broken, s.Broken = true, 1 }},
		{10, func() { allBroken(s); s.Goal = 2 }},
		{10, func() { s.Goal = realm.Heart + 1 }},
		{10, func() { s.Goal = -1 }},
		{11, func() { s.Gifts[3] = giftMost + 1 }},
		{11, func() { s.Offer, s.Offered = [3]Gift{1, 1, 2}, true }},
		{11, func() { s.Offer, s.Offered = [3]Gift{1, 2, 2}, true }},
		{11, func() { s.Offer, s.Offered = [3]Gift{1, 2, 1}, true }},
	} {
		s.clear()
		id := s.enemy(realm.Drifter, 100, 0)
		s.cast.mark(s.Game, id, MarkDent, vec{})
		done(t, s.Check())
		live, marks := s.cast.ribbons.live, s.cast.marks.live
		c.spoil()
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("invariant %d:", c.number)) {
			t.Errorf("invariant %d is broken, and Check says %v", c.number, err)
		}
		s.cast.ribbons.live, s.cast.marks.live = live, marks
	}
}

// Marks fade by their owner. One that no enemy has could name the slot of an entity that is gone.
func TestRestoreMarks_RefusesAListThatNobodyHas(t *testing.T) {
	s := newStage(t)
	s.clear()
	ids := [2]ecs.Entity{s.enemy(realm.Drifter, 100, 0), s.enemy(realm.Drifter, 200, 0)}
	for _, id := range ids {
		s.cast.mark(s.Game, id, MarkDent, vec{})
	}
	_, _, e, _ := s.cast.enemies.Get(ids[1])
	free := e.Marks - 1
	s.cast.marks.give(e)
	for _, c := range []struct {
		more []fileMarked
		want error
	}{{nil, nil}, {[]fileMarked{{Slot: free, Cap: 2, Owner: ids[1]}}, errLists}} {
		var l fileLists
		l.gather(s.Game)
		l.marked = append(l.marked, c.more...)
		s.cast.marks.reset()
		if err := l.restoreMarks(s.Game); err != c.want {
			t.Errorf("%d more: %v", len(c.more), err)
		}
	}
}

// Two enemies with one trail would free it twice.
func TestRestore_RefusesListsThatTwoHave(t *testing.T) {
	s := newStage(t)
	for name, spoil := range map[string]func(l *fileLists, e [3]*Enemy){
		"":                           func(*fileLists, [3]*Enemy) {},
		"a trail of two":             func(_ *fileLists, e [3]*Enemy) { e[1].Ribbon = e[0].Ribbon },
		"a free trail in use":        func(l *fileLists, e [3]*Enemy) { l.trailsFree[0] = e[0].Ribbon - 1 },
		"a trail that is free twice": func(l *fileLists, _ [3]*Enemy) { l.trailSlots++; l.trailsFree = append(l.trailsFree, l.trailsFree[0]) },
		"a trail of nobody": func(l *fileLists, _ [3]*Enemy) {
			l.trails, l.points = append(l.trails, fileTrail{Slot: l.trailsFree[0], Len: 1}), append(l.points, vec{})
		},
		"a trail that cannot grow":     func(l *fileLists, _ [3]*Enemy) { l.trails[0].Most = 255 },
		"free marks in use":            func(l *fileLists, e [3]*Enemy) { l.marksFree[0] = e[0].Marks - 1 },
		"an enemy too many for stress": func(_ *fileLists, e [3]*Enemy) { e[0].Post = postStress },
	} {
		s.clear()
		var e [3]*Enemy
		for i := range e {
			id := s.enemy(realm.Drifter, float32(100*i+100), 0)
			s.cast.mark(s.Game, id, MarkDent, vec{})
			_, _, e[i], _ = s.cast.enemies.Get(id)
		}
		s.cast.marks.give(e[2])
		s.cast.ribbons.give(e[2].Ribbon)
		e[2].Ribbon = 0
		var l fileLists
		l.gather(s.Game)
		l.trailsFree, l.marksFree = slices.Clone(l.trailsFree), slices.Clone(l.marksFree)
		was := [2]Enemy{*e[0], *e[1]}
		spoil(&l, e)
		if err := l.restore(s.Game); (err == nil) != (name == "") || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
		*e[0], *e[1] = was[0], was[1]
	}
}

// What is outside of the world or at no place is refused, and what is in a wall unless the run's realm had no walls.
func TestRestore_RefusesPlacesInWalls(t *testing.T) {
	s := newStage(t)
	nan, walled, wall := float32(math.NaN()), built(t, "ember"), middle
	for !walled.Solid(wall) {
		wall[0]++
	}
	for name, spoil := range map[string]func(p *Position, o *Ember){
		"":                     func(*Position, *Ember) {},
		"the player in a wall": func(*Position, *Ember) { s.Realm, s.Player.P = walled, wall },
		"an enemy at no place": func(p *Position, _ *Ember) { p.P[1] = nan },
		"an ember outside":     func(_ *Position, o *Ember) { o.P[0] = -1 },
		"the player outside":   func(*Position, *Ember) { s.Player.P[0] = 1e9 },
	} {
		s.clear()
		p, _, _, _ := s.cast.enemies.Get(s.enemy(realm.Drifter, 100, 0))
		h, o, err := s.cast.embers.New()
		if err != nil {
			t.Fatal(err)
		}
		o.P = s.Player.P
		was, bare := s.Player.P, s.Realm
		spoil(p, o)
		for s.Lost.Walls = range 2 {
			var l fileLists
			l.gather(s.Game)
			fits := name == "" || s.Realm == walled && s.Lost.Walls > 0
			if err := l.restore(s.Game); (err == nil) != fits || err != nil && !errors.Is(err, save.ErrLayout) {
				t.Errorf("%s, %d realms without walls: %v", name, s.Lost.Walls, err)
			}
		}
		s.Player.P, s.Realm, s.Lost.Walls = was, bare, 0
		s.cast.embers.Free(h)
	}
}

// The number of a kind is that of this program. Particles of a number that there is not would panic.
func TestGame_AFileChangesNoKindOfParticles(t *testing.T) {
	s := newStage(t)
	s.clear()
	set, kind := new(save.Set), s.fx.ambient.Kind
	done(t, errors.Join(s.AddFileTo(set), set.Seal(), s.endFrame()))
	s.fx.ambient.Kind, s.fx.ambient.Rate = 255, 60
	var file bytes.Buffer
	done(t, set.Write(&file))
	s.fx.ambient.Kind, s.fx.ambient.Rate = kind, 0
	if err := set.Read(&file, nil); err != nil || s.fx.ambient.Kind != kind || s.fx.ambient.Rate != 60 {
		t.Errorf("%v: particles of kind %d, %v a second", err, s.fx.ambient.Kind, s.fx.ambient.Rate)
	}
}

// The next tick and all later runs use the heat of a file. A NaN was an index and panicked.
func TestGame_AFileWithAnotherHeatIsRefused(t *testing.T) {
	s := newStage(t)
	s.clear()
	set := new(save.Set)
	done(t, errors.Join(s.AddFileTo(set), set.Seal(), s.endFrame()))
	for heat, ok := range map[float32]bool{0: true, HeatMost: true, -1: false, HeatMost + 0.5: false, float32(math.NaN()): false} {
		s.cfg.Heat = heat
		var file bytes.Buffer
		done(t, set.Write(&file))
		s.cfg.Heat = 3
		if err := set.Read(&file, nil); (err == nil) != ok || (s.cfg.Heat == heat) != ok || err != nil && !strings.Contains(err.Error(), "allowed are 0 to 10") {
			t.Errorf("heat %v: %v, %v", heat, err, s.cfg.Heat)
		}
	}
}

// The view draws a mark for each point of the hull.
func TestRestore_RefusesAHullBeyondAllGifts(t *testing.T) {
	s := newStage(t)
	s.clear()
	var l fileLists
	l.gather(s.Game)
	was := s.State
	for _, c := range []struct {
		hull, most int
		ok         bool
	}{
		{HullMax, HullMax, true}, {-3, HullMax, true}, {hullMost, hullMost, true},
		{1, hullMost + 1, false}, {1, 1 << 30, false}, {HullMax + 1, HullMax, false}, {0, -1, false},
	} {
		s.Player.Hull, s.Player.Most = c.hull, c.most
		if err := l.restore(s.Game); (err == nil) != c.ok || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("a hull of %d of %d: %v", c.hull, c.most, err)
		}
	}
	s.State = was
}

// A seal calls two guards more in each round.
func TestRestore_RefusesARoundThatNobodyReaches(t *testing.T) {
	s := newStage(t)
	s.clear()
	var l fileLists
	l.gather(s.Game)
	for round, ok := range map[int]bool{-1: false, 0: true, roundMost: true, roundMost + 1: false, math.MaxInt32: false} {
		s.Round = round
		if err := l.restore(s.Game); (err == nil) != ok || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

// The table of the best runs is not read again with a score below 0.
func TestRestore_RefusesScoresBelow0(t *testing.T) {
	s := newStage(t)
	s.clear()
	var l fileLists
	l.gather(s.Game)
	was := s.State
	for name, spoil := range map[string]func(){
		"":                func() {},
		"a score below 0": func() { s.Score = -1 },
		"a chain below 0": func() { s.chain(-100) },
	} {
		spoil()
		if err := l.restore(s.Game); (err == nil) != (name == "") || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
		s.State = was
	}
}

// The camera would keep a NaN.
func TestRestore_RefusesWhatNoCameraFollows(t *testing.T) {
	s := newStage(t)
	s.clear()
	var l fileLists
	l.gather(s.Game)
	was, nan := s.State, float32(math.NaN())
	for name, spoil := range map[string]func(){
		"":        func() {},
		"no aim":  func() { s.Player.Aim = vec{} },
		"aim":     func() { s.Player.Aim[0] = nan },
		"far aim": func() { s.Player.Aim = vec{1e9, 0} },
		"speed":   func() { s.Player.V[1] = nan },
		"shaking": func() { s.ShakeNow = nan },
	} {
		spoil()
		if err := l.restore(s.Game); (err == nil) != (name == "") || err != nil && !errors.Is(err, save.ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
		s.State = was
	}
}

func TestHeadingOf_IsTheArctangent(t *testing.T) {
	if headingOf(vec{}) != 0 {
		t.Error("nowhere has a heading")
	}
	for k := range 720 {
		want := (float64(k) - 359.5) * math.Pi / 360
		v := vec{float32(math.Cos(want)) * 7, float32(math.Sin(want)) * 7}
		if got := headingOf(v); math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}

func TestTurnTo_TakesTheShorterWay(t *testing.T) {
	for _, c := range []struct{ from, to, want float32 }{
		{0, 1, 0.1}, {0, -1, -0.1}, {0, 0.05, 0.05}, {0, -0.05, -0.05},
		{3.1, -3.1, -3.1}, {-3.1, 3.1, 3.1}, {3.1, -2.5, 3.2 - 2*math.Pi}, {-3.1, 2.5, 2*math.Pi - 3.2}, {1, -2.5, 1.1}, {-1, 2.5, -1.1},
	} {
		got := turnTo(c.from, vec{float32(math.Cos(float64(c.to))), float32(math.Sin(float64(c.to)))}, 6)
		if math.Abs(float64(got-c.want)) > 2e-3 {
			t.Errorf("from %v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestUnit_HasLengthOneOrZero(t *testing.T) {
	for _, v := range []vec{{3, 4}, {-1e-3, 0}, {0, 5000}} {
		if l := engine.Length(unit(v)); math.Abs(float64(l)-1) > 1e-5 {
			t.Errorf("%v: length %v", v, l)
		}
	}
	if unit(vec{}) != (vec{}) || unit(vec{5e-5, 0}) != (vec{}) || unit(vec{float32(math.NaN()), 1}) != (vec{}) {
		t.Error("what is hardly anywhere has a direction")
	}
}

// Numbers are taken from 0 up to so many, and of those that were given back the newest first.
func TestSlots_NumbersAreUsedAgain(t *testing.T) {
	var s slots[int]
	take := func(want int) {
		t.Helper()
		i, ok := s.take(3)
		if ok != (want >= 0) || ok && int(i) != want {
			t.Errorf("took %d, %v; want %d", i, ok, want)
		}
		if ok {
			s.all[i] = 7
		}
	}
	take(0)
	take(1)
	take(2)
	take(-1)
	s.give(0)
	s.give(2)
	if s.live != 1 || s.all[0] != 0 || s.all[1] != 7 || s.all[2] != 0 {
		t.Errorf("after two were given back: %d live, %v", s.live, s.all)
	}
	take(2)
	take(0)
	take(-1)
	s.reset()
	if s.live != 0 {
		t.Errorf("%d live after a reset", s.live)
	}
	take(0)
}

func TestTolerate_OnlyFullTiersAreLosses(t *testing.T) {
	other := errors.New("other")
	for err, want := range map[error]error{memory.ErrOutOfMemory: nil, ecs.ErrLimit: nil, memory.ErrTooLarge: nil, other: other} {
		if got := tolerate(fmt.Errorf("x: %w", err)); errors.Is(got, other) != (want != nil) || want == nil && got != nil {
			t.Errorf("%v: %v", err, got)
		}
	}
	g := &Game{}
	if bestow(g, nil) != nil || bestow(g, ecs.ErrStale) != nil || g.Lost.Enemies != 0 {
		t.Errorf("nothing is lost, and %d are counted", g.Lost.Enemies)
	}
	if bestow(g, memory.ErrOutOfMemory) != nil || g.Lost.Enemies != 1 || bestow(g, other) == nil {
		t.Errorf("%d lost", g.Lost.Enemies)
	}
}
