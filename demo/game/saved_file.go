package game

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// AddFileTo adds the state of the game to a Set for files: see save.Set.Write. If the game has a tour, Write fails, and
// the error wraps save.ErrPortable.
//
// Call [Game.Rest] before you write or read a file, or the error may wrap save.ErrBusy. To read it, the game must play
// the realm of the file's state. If the file has another Config.Enemies than the game, reading fails, and the error
// wraps save.ErrLayout. If a tier is full, reading fails, and the error wraps memory.ErrOutOfMemory. Reading sets the
// game's Config.Heat and Config.Seed. The run that was read has the hashes of the run that was written, unless a tier
// was almost full. Its blocks have other addresses, so an allocation may then fail in only one of the two runs.
func (g *Game) AddFileTo(set *save.Set) error {
	c := &g.cast
	return errors.Join(set.Add("world", c.world), set.Add("particles", g.fx.sys), set.Add("omens", c.omens),
		set.Add("embers", c.embers), set.Add("game", (*gameFile)(g)))
}

// Seed returns the seed of the random numbers: Config.Seed, or the seed of a later [Game.Reseed] or of a file that was
// read later. [Game.Restart] does not start the random numbers again.
func (g *Game) Seed() uint64 { return g.cfg.Seed }

// EachPlace calls f with the position of every ember and every enemy. Announced enemies do not count.
func (g *Game) EachPlace(f func(at vec, enemy bool)) {
	g.EachEmber(func(e *Ember) { f(e.P, false) })
	for _, r := range g.cast.enemyFilter.All() {
		f(r.A.P, true)
	}
}

// gameFile is what lies outside of world, particles and pools, in a file.
type gameFile Game

// CanWrite returns an error if the game flies a tour, whose path is not saved.
func (f *gameFile) CanWrite() error {
	if f.tour != nil {
		return fmt.Errorf("game: a tour cannot be saved: %w", save.ErrPortable)
	}
	return nil
}

// SaveState visits the state, and the lists as values without addresses.
func (f *gameFile) SaveState(c *save.Coder) {
	g := (*Game)(f)
	if !c.Portable() {
		c.Fail(fmt.Errorf("game: use AddTo for states in memory"))
		return
	}
	heat := math.Float32frombits(uint32(c.Word(uint64(math.Float32bits(g.cfg.Heat)))))
	seed := c.Word(g.cfg.Seed)
	if n := c.Word(uint64(g.cfg.Enemies)); n != uint64(g.cfg.Enemies) && !c.Failed() {
		c.Differs("a run with %d extra enemies, this one has %d", n, g.cfg.Enemies)
		return
	}
	if c.Loading() {
		if !(heat >= 0 && heat <= HeatMost) {
			c.Fail(fmt.Errorf("game: heat %g of the file; allowed are 0 to %d: %w", heat, HeatMost, save.ErrLayout))
			return
		}
		g.cfg.Heat, g.cfg.Seed = heat, seed
	}
	save.Typed(c, "state", &g.State)
	kind := g.fx.ambient.Kind // a number of this program, not of the file's
	save.Typed(c, "ambient", &g.fx.ambient)
	g.fx.ambient.Kind = kind
	save.List(c, &g.cast.wishes)
	var l fileLists
	if c.Saving() {
		l.gather(g)
	}
	l.visit(c)
	if g.horde.flow != nil {
		c.Enter("fields")
		g.horde.flow.SaveFile(c)
		c.Leave()
	}
	if c.Loading() {
		c.Fail(l.restore(g))
	}
}

// fileLists are the lists of a game as a file has them. Lists of lists are one list, with the lengths beside it.
type fileLists struct {
	trails             []fileTrail
	points             []vec
	trailsFree         []uint16
	trailSlots         int
	marked             []fileMarked
	marks              []Mark
	marksFree          []uint16
	markSlots          int
	popups             []filePopup
	texts              []byte
	mines              []Mine
	fires              []Blaze
	mineMost, fireMost int // capacities
	bolts              []fileBolt
	nodes              []vec
	sectors            []uint16
	scorched           []uint8
}

type (
	fileTrail struct {
		Slot                 uint16
		Len, At, Count, Most uint8
	}
	fileMarked struct {
		Slot     uint16
		Len, Cap uint8
		Owner    ecs.Entity
	}
	filePopup struct {
		P    vec
		Life float32
		Text uint8 // bytes
	}
	fileBolt struct {
		Life     float32
		Len, Cap uint16
	}
)

func (l *fileLists) visit(c *save.Coder) {
	c.Enter("lists")
	defer c.Leave()
	l.trailSlots, l.markSlots = c.Count(l.trailSlots), c.Count(l.markSlots)
	l.mineMost, l.fireMost = int(c.Word(uint64(l.mineMost))), int(c.Word(uint64(l.fireMost)))
	save.List(c, &l.trails)
	save.List(c, &l.points)
	save.List(c, &l.trailsFree)
	save.List(c, &l.marked)
	save.List(c, &l.marks)
	save.List(c, &l.marksFree)
	save.List(c, &l.popups)
	save.List(c, &l.texts)
	save.List(c, &l.mines)
	save.List(c, &l.fires)
	save.List(c, &l.bolts)
	save.List(c, &l.nodes)
	save.List(c, &l.sectors)
	save.List(c, &l.scorched)
}

// gather copies the lists of a game.
func (l *fileLists) gather(g *Game) {
	rs, ms := &g.cast.ribbons, &g.cast.marks
	l.trailSlots, l.trailsFree = len(rs.all), rs.free
	for i := range rs.all {
		if t := &rs.all[i]; t.len != 0 {
			l.trails = append(l.trails, fileTrail{uint16(i), t.len, t.at, t.count, t.most})
			p := rs.points(t)
			clear(p[min(t.count, t.len):])
			l.points = append(l.points, p...)
		}
	}
	l.markSlots, l.marksFree = len(ms.all), ms.free
	for i := range ms.all {
		if m := &ms.all[i]; m.cap != 0 {
			l.marked = append(l.marked, fileMarked{uint16(i), m.len, m.cap, m.owner})
			l.marks = append(l.marks, ms.of(m)...)
		}
	}
	g.EachPopup(func(p *Popup, text []byte) {
		l.popups = append(l.popups, filePopup{p.P, p.Life, uint8(len(text))})
		l.texts = append(l.texts, text...)
	})
	l.mines, l.fires = g.arms.mines.v, g.arms.fires.v
	l.mineMost, l.fireMost = cap(l.mines), cap(l.fires)
	for i := range g.arms.bolts {
		b := &g.arms.bolts[i]
		l.bolts = append(l.bolts, fileBolt{b.Life, uint16(len(b.Nodes.v)), uint16(cap(b.Nodes.v))})
		l.nodes = append(l.nodes, b.Nodes.v...)
	}
	for i, block := range g.scorch.all {
		if block != nil {
			l.sectors = append(l.sectors, uint16(i))
			l.scorched = append(l.scorched, block[:]...)
		}
	}
}

// restore makes the lists of a game: it frees those that it has, and allocates the blocks again.
func (l *fileLists) restore(g *Game) error {
	g.cast.ribbons.reset()
	g.cast.marks.reset()
	g.popups.reset()
	g.scorch.reset()
	g.arms.reset()
	g.sight.seen = nil // it lies in a frame that was not saved
	g.horde.begin(g)   // the tables follow from the round
	for _, step := range [...]func(*Game) error{l.restoreTrails, l.restoreMarks, l.restorePopups, l.restoreArms, l.restoreScorch} {
		if err := step(g); err != nil {
			return err
		}
	}
	return errors.Join(g.State.checkFile(), g.cast.checkFile(g))
}

// errLists says that lists of a file do not belong together.
var errLists = fmt.Errorf("game: lists of the file do not belong together: %w", save.ErrLayout)

func (l *fileLists) restoreTrails(g *Game) error {
	rs := &g.cast.ribbons
	if !rs.refill(l.trailSlots, l.trailsFree, ribbonMost) || len(l.trails) != rs.live { // as for marks
		return errLists
	}
	points := l.points
	for _, t := range l.trails {
		n := int(t.Len)
		if int(t.Slot) >= len(rs.all) || rs.all[t.Slot].len != 0 || n == 0 || n > len(points) || t.At >= t.Len || t.Count > t.Len || t.Most > trailMost {
			return errLists
		}
		off, err := rs.blocks.take(uintptr(n)*vecBytes, unsafe.Alignof(vec{}))
		if err != nil {
			return err
		}
		x := &rs.all[t.Slot]
		*x = trail{off: off, len: t.Len, at: t.At, count: t.Count, most: t.Most}
		copy(rs.points(x), points[:n])
		points = points[n:]
	}
	return nil
}

func (l *fileLists) restoreMarks(g *Game) error {
	ms := &g.cast.marks
	if !ms.refill(l.markSlots, l.marksFree, markedMost) || len(l.marked) != ms.live { // one more is no enemy's: see checkFile
		return errLists
	}
	marks := l.marks
	for _, m := range l.marked {
		n := int(m.Len)
		if int(m.Slot) >= len(ms.all) || ms.all[m.Slot].cap != 0 || m.Cap == 0 || m.Len > m.Cap || m.Cap > markMost || n > len(marks) {
			return errLists
		}
		off, err := ms.blocks.take(uintptr(m.Cap)*markBytes, unsafe.Alignof(Mark{}))
		if err != nil {
			return err
		}
		x := &ms.all[m.Slot]
		*x = marked{off: off, owner: m.Owner, len: m.Len, cap: m.Cap}
		copy(ms.of(x), marks[:n])
		for _, k := range marks[:n] {
			if k.Kind >= MarkKinds {
				return errLists
			}
		}
		marks = marks[n:]
	}
	return nil
}

// once has which numbers are free, or in use by an enemy that was seen. Their index is 1 more.
type once []bool

// take notes a number, and returns false if it was noted before. 0 is none.
func (o once) take(i uint16) bool {
	if i == 0 {
		return true
	}
	was := o[i-1]
	o[i-1] = true
	return !was
}

// vacant returns the numbers that are free.
func (s *slots[T]) vacant() once {
	o := make(once, len(s.all))
	for _, i := range s.free {
		o[i] = true
	}
	return o
}

// refill makes so many numbers, of which some are free. It returns false if that is impossible.
func (s *slots[T]) refill(n int, free []uint16, most int) bool {
	if n > most || len(free) > n {
		return false
	}
	if s.all == nil {
		s.all, s.free = make([]T, 0, most), make([]uint16, 0, most)
	}
	s.all = s.all[:n]
	clear(s.all)
	seen := make(once, n)
	for _, i := range free {
		if int(i) >= n || !seen.take(i+1) {
			return false
		}
	}
	s.free, s.live = append(s.free[:0], free...), n-len(free)
	return true
}

func (l *fileLists) restorePopups(g *Game) error {
	ps, texts := &g.popups, l.texts
	if ps.texts == nil || len(l.popups) > popupMost {
		g.Lost.Popups += len(l.popups)
		return nil
	}
	for _, p := range l.popups {
		n := int(p.Text)
		if n > len(texts) {
			return errLists
		}
		h, err := ps.texts.Alloc(uintptr(n))
		if err != nil {
			return err
		}
		kept, _ := ps.texts.Bytes(h) // just allocated, so not stale
		copy(kept, texts[:n])
		ps.all = append(ps.all, Popup{P: p.P, Life: p.Life, text: h})
		texts = texts[n:]
	}
	return nil
}

func (l *fileLists) restoreArms(g *Game) error {
	a, nodes := &g.arms, l.nodes
	err := errors.Join(a.mines.refill(l.mines, l.mineMost), a.fires.refill(l.fires, l.fireMost))
	if len(l.bolts) > len(a.bolts) {
		return errLists
	}
	for i, b := range l.bolts {
		n := int(b.Len)
		if n > len(nodes) {
			return errLists
		}
		a.bolts[i].Life = b.Life
		err = errors.Join(err, a.bolts[i].Nodes.refill(nodes[:n], int(b.Cap)))
		nodes = nodes[n:]
	}
	return err
}

// refill makes a list of these values, with a capacity.
func (l *list[T]) refill(v []T, most int) error {
	if most == 0 && len(v) == 0 {
		return nil
	}
	if most < len(v) || most > 2*len(v)+1024 {
		return errLists
	}
	grown, err := memory.MakeSlice[T](l.a, most)
	if err == nil {
		l.v = grown[:copy(grown, v)]
	}
	return err
}

func (l *fileLists) restoreScorch(g *Game) error {
	heat := l.scorched
	for _, i := range l.sectors {
		if int(i) >= len(g.scorch.all) || g.scorch.all[i] != nil || len(heat) < scorchBytes {
			return errLists
		}
		p, err := g.scorch.a.Alloc(scorchBytes, 64)
		if err != nil {
			return err
		}
		g.scorch.all[i] = (*[scorchBytes]uint8)(p)
		copy(g.scorch.all[i][:], heat)
		heat = heat[scorchBytes:]
	}
	return nil
}

// roundMost is the last round of a file. A round takes minutes.
const roundMost = 1000

// checkFile verifies what rules use as an index or as a count, in a state from a file.
func (s *State) checkFile() error {
	err := errors.Join(s.Run.check(), s.Siege.check(), s.Bag.check())
	for _, o := range s.Offer {
		if o >= GiftKinds {
			err = errors.Join(err, fmt.Errorf("game: gift %d: %w", o, save.ErrLayout))
		}
	}
	if s.Phase > Over || uint(s.cooled) >= realm.Sectors || s.Round < 0 || s.Round > roundMost || s.Kills < 0 || s.Score < 0 || s.streak < 0 || s.Cause > CauseNone || s.fresh < 0 || s.fresh > firstMinute {
		err = errors.Join(err, fmt.Errorf("game: the state of the file is impossible: %w", save.ErrLayout))
	}
	if p := &s.Player; p.Most < HullMax || p.Most > hullMost || p.Hull > p.Most {
		err = errors.Join(err, fmt.Errorf("game: the hull is %d of %d; allowed is at most the second, which is %d to %d: %w", p.Hull, p.Most, HullMax, hullMost, save.ErrLayout))
	}
	// The camera follows these, and would keep a NaN also in the next run.
	if aim := engine.LengthSquared(s.Player.Aim); !(aim > 0.9 && aim < 1.1 && engine.LengthSquared(s.Player.V) < 1e8 && s.ShakeNow >= 0 && s.ShakeNow <= shakeMost) {
		err = errors.Join(err, fmt.Errorf("game: the player aims at %v at a speed of %v, and the screen shakes by %g: %w", s.Player.Aim, s.Player.V, s.ShakeNow, save.ErrLayout))
	}
	return err
}

// checkFile verifies that enemies have lists of their own, and are those that are counted.
func (c *cast) checkFile(g *Game) error {
	trails, lists, extra := 0, 0, 0
	trailOnce, listOnce := c.ribbons.vacant(), c.marks.vacant()
	var toll [realm.EnemyKinds]int
	for id, r := range c.enemyFilter.All() {
		e := r.C
		if int(e.Kind) >= realm.EnemyKinds || int(e.Ribbon) > len(c.ribbons.all) || int(e.Marks) > len(c.marks.all) ||
			e.Ribbon > 0 && c.ribbons.all[e.Ribbon-1].len == 0 || e.Marks > 0 && c.marks.all[e.Marks-1].owner != id ||
			!trailOnce.take(e.Ribbon) || !listOnce.take(e.Marks) {
			return fmt.Errorf("game: enemy %v of the file has lists of others: %w", id, save.ErrLayout)
		}
		if toll[e.Kind]++; e.Ribbon > 0 {
			trails++
		}
		if e.Marks > 0 {
			lists++
		}
		if e.Post == postStress {
			extra++
		}
	}
	if toll != g.toll || extra != g.extra || trails != c.ribbons.live || lists != c.marks.live {
		return fmt.Errorf("game: the file counts %d enemies and has %d: %w", g.toll, toll, save.ErrLayout)
	}
	walls := g.Realm
	if g.Lost.Walls > 0 { // the run may be in a realm that had no space for its walls
		walls = realm.Bare(nil)
	}
	if err := c.inWall(g, walls); err != nil {
		return fmt.Errorf("%w: %w", err, save.ErrLayout)
	}
	for _, r := range c.dropFilter.All() {
		if r.C.Kind >= PickupKinds {
			return fmt.Errorf("game: pickup %d: %w", r.C.Kind, save.ErrLayout)
		}
	}
	for _, o := range c.omens.All() {
		if int(o.Kind) >= realm.EnemyKinds {
			return fmt.Errorf("game: omen %d: %w", o.Kind, save.ErrLayout)
		}
	}
	return nil
}
