package guides

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

type ball struct{ X, Speed float32 }

// A game has its whole state in parts that can be saved.
type game struct {
	balls *pool.Pool[ball]
	rng   engine.Rand
	score int
	ticks uint64 // is forgotten in the Set of a test
}

func (g *game) step() error {
	if _, b, err := g.balls.New(); err == nil {
		b.Speed = g.rng.Float32()
	}
	for h, b := range g.balls.All() {
		if b.X > 3 {
			g.balls.Free(h)
			g.score++
		} else {
			b.X += b.Speed
		}
	}
	g.ticks++
	if g.ticks%5 == 0 {
		g.score++
	}
	return nil
}

func (g *game) hash() uint64 {
	h := uint64(g.score)
	for _, b := range g.balls.All() {
		h = h*31 + uint64(b.X*1000)
	}
	return h
}

func (g *game) set(ticks bool) (*save.Set, error) {
	set := &save.Set{}
	err := errors.Join(
		set.Add("balls", g.balls),
		save.Value(set, "random", &g.rng),
		save.Value(set, "score", &g.score),
	)
	if ticks {
		err = errors.Join(err, save.Value(set, "ticks", &g.ticks))
	}
	return set, errors.Join(err, set.Seal())
}

func newGame() *game {
	balls, err := pool.New[ball](nil, pool.Config{Name: "balls", Capacity: 100})
	must(err)
	return &game{balls: balls}
}

func Example_slot() {
	g := newGame()
	defer g.balls.Close()
	set, err := g.set(true)
	must(err)
	for range 20 {
		must(g.step())
	}
	slot := set.NewSlot(64 << 10)
	must(set.Save(slot)) // quick save
	was := g.hash()
	for range 20 {
		must(g.step())
	}
	must(set.Load(slot)) // quick load, any number of times
	fmt.Println(g.hash() == was)
	// Output: true
}

func Example_synctest() {
	for _, ticks := range []bool{true, false} {
		g := newGame()
		set, err := g.set(ticks)
		must(err)
		done, err := engine.Synctest(engine.Sync{
			Set: set, Step: g.step, Hash: g.hash, Audit: engine.Fields(nil, g),
			Ticks: 100, Distance: 8,
		})
		fmt.Println(done.Loads, err)
		must(g.balls.Close())
	}
	// Output:
	// 13 <nil>
	// 1 engine: synctest: tick 0: after the load: guides.game.ticks: 0, and 8: the Set lacks it, or does not restore it
}

type (
	Ship   struct{ HP int8 }    // of last year's program
	Vessel struct{ Hull int32 } // today's
)

// fleet returns a pool in a Set, as a program does at its start.
func fleet[T any]() (*pool.Pool[T], *save.Set) {
	ships, err := pool.New[T](nil, pool.Config{Name: "ships", Capacity: 100})
	must(err)
	set := &save.Set{}
	must(set.Add("ships", ships))
	must(set.Seal())
	return ships, set
}

func Example_file() {
	ships, set := fleet[Ship]()
	_, s, err := ships.New()
	must(err)
	s.HP = 90
	dir, err := os.MkdirTemp("", "guides")
	must(err)
	defer os.RemoveAll(dir)
	must(atomicfile.Write(dir+"/save", set.Write)) // a crash leaves the old file
	must(ships.Close())

	vessels, set := fleet[Vessel]()
	file, err := os.Open(dir + "/save")
	must(err)
	err = set.Read(file, &layout.Migration{Renamed: map[string]string{
		"guides.Ship":    "guides.Vessel",
		"guides.Ship.HP": "Hull",
	}})
	must(errors.Join(err, file.Close()))
	for _, v := range vessels.All() {
		fmt.Println(v.Hull)
	}
	must(vessels.Close())
	// Output: 90
}

// A squadron has ships in an order, in a list of the manager's memory.
type squadron struct {
	ships *pool.Pool[Vessel]
	space *container.Space
	order container.Vec[memory.Handle[Vessel]]
}

func (s *squadron) visitOrder(c *save.Coder) {
	list := s.order.Slice(s.space)
	save.List(c, &list)
	if c.Loading() && !c.Failed() {
		c.Fail(errors.Join(s.order.SetLen(s.space, 0), s.order.AppendSlice(s.space, list)))
	}
}

func newSquadron(m *tiers.Manager) (*squadron, *save.Set) {
	ships, err := tiers.NewPool[Vessel](m, pool.Config{Name: "ships"})
	must(err)
	space, err := container.In(m)
	must(err)
	s, set := &squadron{ships: ships, space: space}, &save.Set{}
	must(errors.Join(set.Add("ships", ships), set.AddFunc("order", s.visitOrder), set.Seal()))
	return s, set
}

func (s *squadron) add(at int, hull int32) {
	h, v, err := s.ships.New()
	must(err)
	v.Hull = hull
	must(s.order.Insert(s.space, at, h))
}

func Example_list() {
	m, err := tiers.New(tiers.Config{})
	must(err)
	s, set := newSquadron(m)
	s.add(0, 10)
	s.add(0, 20)
	var file bytes.Buffer
	must(set.Write(&file))
	must(m.Close())

	m, err = tiers.New(tiers.Config{}) // of another process, with ships of its own
	must(err)
	s, set = newSquadron(m)
	for hull := range int32(5) {
		s.add(int(hull), hull)
	}
	must(set.Read(&file, nil))
	for _, h := range s.order.All(s.space) {
		v, ok := s.ships.Get(h)
		fmt.Println(v.Hull, ok)
	}
	must(m.Close())
	// Output:
	// 20 true
	// 10 true
}

func Example_rewind() {
	g := newGame()
	defer g.balls.Close()
	set, err := g.set(true)
	must(err)
	back, err := engine.NewRewind(engine.RewindConfig[engine.Input]{
		Set: set, Memory: make([]byte, 1<<20), Step: func(*engine.Input) error { return g.step() },
	})
	must(err)
	hashes := []uint64{g.hash()}
	_, err = back.Keep(15) // the state of tick 0
	must(err)
	for range 100 {
		back.Record(engine.Input{})
		must(g.step())
		hashes = append(hashes, g.hash())
		_, err = back.Keep(15) // a state every 15 ticks
		must(err)
	}
	played, err := back.Seek(40)
	fmt.Println(played, g.hash() == hashes[40], err)
	// Output: 10 true <nil>
}
