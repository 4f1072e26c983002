// Package readme has the snippets of ecs/README.md as examples that compile and run.
package readme

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type (
	Position struct{ X, Y float32 }
	Velocity struct{ X, Y float32 }
	Health   struct{ Points int32 }
	Frozen   struct{}
	DockedAt struct{}
	Name     struct{ Text string }
	Hit      struct {
		Target ecs.Entity
		Damage int32
	}
)

// open makes the world that the snippets speak of.
func open() (mem *tlsf.Heap, world *ecs.World) {
	mem, err := tlsf.New(page.OS(), tlsf.Config{Reserve: 64 << 20})
	if err != nil {
		panic(err)
	}
	world, err = ecs.New(mem, ecs.Config{})
	if err != nil {
		panic(err)
	}
	return mem, world
}

func Example_world() {
	mem, err := tlsf.New(page.OS(), tlsf.Config{Reserve: 256 << 20})
	if err != nil {
		panic(err)
	}
	defer mem.Close()
	world, err := ecs.New(mem, ecs.Config{})
	if err != nil {
		panic(err)
	}
	defer world.Close()
	fmt.Println(world.Len())
	// Output: 0
}

func Example_create() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	ships := ecs.NewMap2[Position, Velocity](world) // once, not per frame
	ship, err := ships.NewEntity(Position{1, 2}, Velocity{3, 0})
	if err != nil {
		panic(err)
	}
	err = ships.NewBatch(1000, func(i int, p *Position, v *Velocity) { p.X = float32(i) })
	if err != nil {
		panic(err)
	}
	fmt.Println(ship, world.Len())
	// Output: #1.1 1001
}

func Example_walk() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	must(ecs.NewMap2[Position, Velocity](world).NewBatch(10, func(_ int, _ *Position, v *Velocity) { v.X = 1 }))
	moving := ecs.NewFilter2[Position, Velocity](world) // once, not per frame
	for _, r := range moving.All() {
		r.A.X += r.B.X
		r.A.Y += r.B.Y
	}
	for _, c := range moving.Chunks() { // the same, by columns
		ps, vs := c.A, c.B[:len(c.A)]
		for i := range ps {
			ps[i].X += vs[i].X
			ps[i].Y += vs[i].Y
		}
	}
	fmt.Println(moving.Len())
	// Output: 10
}

func Example_get() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	ship, _ := ecs.NewMap1[Health](world).NewEntity(Health{3})
	health, err := ecs.Register[Health](world)
	if err != nil {
		panic(err)
	}
	if h, ok := health.Get(ship); ok { // false: it is gone, or has none
		h.Points--
	}
	h, _ := health.Get(ship)
	fmt.Println(h.Points)
	// Output: 2
}

func Example_change() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	ship, _ := ecs.NewMap2[Position, Velocity](world).NewEntity(Position{}, Velocity{})
	frozen, _ := ecs.Register[Frozen](world)
	velocity, _ := ecs.Register[Velocity](world)
	if err := frozen.Add(ship, Frozen{}); err != nil {
		panic(err)
	}
	if _, err := velocity.Remove(ship); err != nil {
		panic(err)
	}
	thaw := ecs.NewMap1[Velocity](world).Removes(frozen.ID()) // both in one move
	if err := thaw.Exchange(ship, Velocity{1, 0}); err != nil {
		panic(err)
	}
	fmt.Println(frozen.Has(ship), velocity.Has(ship))
	// Output: false true
}

func Example_changeAll() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	must(ecs.NewMap1[Position](world).NewBatch(100, nil))
	all := ecs.NewFilter1[Position](world)
	n, err := ecs.NewMap1[Velocity](world).AddAll(all, Velocity{1, 0})
	if err != nil {
		panic(err)
	}
	fmt.Println(n, world.RemoveAll(all))
	// Output: 100 100
}

func Example_commands() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	must(ecs.NewMap1[Health](world).NewBatch(3, func(i int, h *Health) { h.Points = int32(i) }))
	alive := ecs.NewFilter1[Health](world)
	sparks := ecs.NewMap2[Position, Velocity](world)
	for e, h := range alive.All() {
		if h.Points <= 0 {
			world.Commands().Destroy(e)
			if _, err := sparks.Spawn(world.Commands(), Position{1, 2}, Velocity{3, 0}); err != nil {
				panic(err)
			}
		}
	}
	if err := world.Commands().Apply(); err != nil {
		panic(err)
	}
	fmt.Println(world.Len(), ecs.NewFilter2[Position, Velocity](world).Len())
	// Output: 3 1
}

func Example_filter() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	frozen, _ := ecs.Register[Frozen](world)
	must(ecs.NewMap1[Position](world).NewBatch(3, nil))
	must(ecs.NewMap2[Position, Frozen](world).NewBatch(2, nil))
	awake := ecs.NewFilter1[Position](world).Without(frozen.ID()) // a filter of its own
	exactly := awake.Clone().Exclusive()                          // awake stays as it is
	fmt.Println(awake.Len(), exactly.Len())
	// Output: 3 3
}

func Example_optional() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	velocity, _ := ecs.Register[Velocity](world)
	must(ecs.NewMap1[Position](world).NewBatch(2, nil))
	must(ecs.NewMap2[Position, Velocity](world).NewBatch(3, nil))
	everything := ecs.NewFilter1[Position](world)
	moving := 0
	for es := range everything.Chunks() {
		vs := velocity.Column(es) // nil where this chunk has none
		moving += len(vs)
	}
	fmt.Println(moving)
	// Output: 3
}

func Example_observe() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	health, _ := ecs.Register[Health](world)
	lost := 0
	watch := health.OnRemove(func(e ecs.Entity, h *Health) { lost++ }) // removal of the entity, too
	defer watch.Stop()
	e, _ := ecs.NewMap1[Health](world).NewEntity(Health{1})
	world.Remove(e)
	fmt.Println(lost)
	// Output: 1
}

func Example_reload() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	health, _ := ecs.Register[Health](world)
	alive := ecs.NewFilter1[Health](world)
	wounded := map[ecs.Entity]int32{}
	health.OnAdd(func(e ecs.Entity, h *Health) { wounded[e] = h.Points })
	health.OnRemove(func(e ecs.Entity, h *Health) { delete(wounded, e) })
	world.OnLoad(func() {
		clear(wounded)
		for e, h := range alive.All() { // all with a Health
			wounded[e] = h.Points
		}
	})
	e, err := ecs.NewMap1[Health](world).NewEntity(Health{7})
	must(err)
	set := &save.Set{}
	must(errors.Join(set.Add("memory", save.Metadata(mem)), set.Add("world", world), set.Seal()))
	slot := set.NewSlot(4 << 20) // debug builds save all bytes
	must(set.Save(slot))
	world.Remove(e)
	must(set.Load(slot))
	fmt.Println(wounded[e])
	// Output: 7
}

func Example_events() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	ship, _ := world.NewEntity()
	hits, err := ecs.NewEvents[Hit](mem, 256)
	if err != nil {
		panic(err)
	}
	defer hits.Close()
	hits.Send(Hit{ship, 5})
	hits.Swap() // once a tick
	for _, h := range hits.Read() {
		fmt.Println(h.Damage, world.Alive(h.Target))
	}
	// Output: 5 true
}

func Example_budget() {
	budget := page.NewLimit(page.OS(), 1<<20) // bytes of components; with ecs.Config{Pages: budget} also of the index
	mem, err := tlsf.New(budget, tlsf.Config{Reserve: 64 << 20})
	if err != nil {
		panic(err)
	}
	defer mem.Close()
	world, err := ecs.New(mem, ecs.Config{Pages: budget})
	if err != nil {
		panic(err)
	}
	defer world.Close()
	err = ecs.NewMap2[Position, Velocity](world).NewBatch(100_000, nil)
	fmt.Println(errors.Is(err, memory.ErrOutOfMemory), world.Len()) // nothing has changed
	// Output: true 0
}

func Example_relation() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	docked, err := ecs.RegisterRelation[DockedAt](world)
	if err != nil {
		panic(err)
	}
	health, err := ecs.Register[Health](world)
	must(err)
	ships := ecs.NewMap1[Position](world)
	ship, err := ships.NewEntity(Position{})
	must(err)
	harbour, err := world.NewEntity()
	must(err)
	if err := docked.Add(ship, DockedAt{}, harbour); err != nil {
		panic(err)
	}
	there := ecs.NewFilter1[Position](world).To(docked.ID(), harbour)
	for e, p := range there.All() { // until the next To of this filter, which costs next to nothing
		p.X++
		fmt.Println(world.Alive(e))
	}
	for e := range docked.Each(harbour) { // without a filter; in its body also Each of e, to walk a tree
		fmt.Println(health.Has(e))
	}
	fmt.Println(docked.RemoveTree(harbour), "are gone") // the harbour, and all that is docked at it
	// Output:
	// true
	// false
	// 2 are gone
}

func Example_parallel() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	must(ecs.NewMap2[Position, Velocity](world).NewBatch(5000, nil))
	moving := ecs.NewFilter2[Position, Velocity](world)
	workers, err := ecs.NewWorkers(ecs.WorkersConfig{}) // once, for all systems
	if err != nil {
		panic(err)
	}
	defer workers.Close()
	moving.Parallel(workers, func(t *ecs.Task, es []ecs.Entity, c ecs.Columns2[Position, Velocity]) {
		for i := range es {
			if c.A[i].X += c.B[i].X; c.A[i].X > 100 {
				t.Commands().Destroy(es[i]) // carried out by world.Commands().Apply, in the order of All
			}
		}
	})
	fmt.Println(world.Commands().Len())
	// Output: 0
}

func Example_untyped() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	ship, err := world.NewEntity()
	must(err)
	heat, err := world.RegisterSize("heat", 8, 8) // name, bytes, alignment
	if err != nil {
		panic(err)
	}
	p, err := world.AddID(ship, heat)
	if err != nil {
		panic(err)
	}
	*(*float64)(p) = 451
	fmt.Println(*(*float64)(world.Ptr(ship, heat)), world.Name(heat))
	// Output: 451 heat
}

func Example_changed() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	position, err := ecs.Register[Position](world)
	if err != nil {
		panic(err)
	}
	if err := world.Track(position.ID()); err != nil { // before anything has a position
		panic(err)
	}
	must(ecs.NewMap2[Position, Velocity](world).NewBatch(2, nil))
	ship := ecs.NewFilter1[Position](world).EntityAt(1)
	moving := ecs.NewFilter2[Position, Velocity](world).Writes(position.ID()) // what its loops write
	changed := ecs.NewFilter1[Position](world)
	var sent ecs.Tick // nothing yet
	for range 2 {
		for e, p := range changed.ChangedSince(sent, position.ID()).All() {
			fmt.Println(e, *p) // send it
		}
		sent = world.Tick()                // the next look goes on from here
		position.Set(ship, Position{5, 5}) // records the change, as do Add and New
	}
	for _, r := range moving.All() {
		r.A.X += r.B.X
	}
	fmt.Println(changed.ChangedSince(sent, position.ID()).Len())
	// Output:
	// #1.1 {0 0}
	// #2.1 {0 0}
	// #2.1 {5 5}
	// 2
}

func Example_save() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	_, err := ecs.NewMap1[Health](world).NewEntity(Health{3})
	must(err)
	file := new(strings.Builder)
	if err := world.WriteJSON(file); err != nil {
		panic(err)
	}
	saved := strings.NewReader(file.String())
	world.Reset()
	if err := world.ReadJSON(saved); err != nil {
		panic(err)
	}
	fmt.Print(world.Len(), file.String()[:19])
	// Output: 1{"strata/ecs":1,"ar
}

func Example_hash() {
	mem, world := open()
	defer mem.Close()
	defer world.Close()
	before := world.Hash(7) // the seed
	e, _ := world.NewEntity()
	fmt.Println(world.Hash(7) != before, world.Check(), world.Alive(e))
	// Output: true <nil> true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Every snippet is taken from an example of this file, to the letter.
func TestREADME_EverySnippetIsPartOfAnExample(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	snippets := strings.Split(string(text), "```go\n")[1:]
	if len(snippets) < 10 {
		t.Errorf("%d snippets", len(snippets))
	}
	for _, s := range snippets {
		s, _, closed := strings.Cut(s, "```")
		if !closed || s == "" {
			t.Fatalf("a snippet without an end:\n%s", s)
		}
		var indented strings.Builder
		for line := range strings.Lines(s) {
			indented.WriteString("\t" + line)
		}
		if !strings.Contains(string(source), indented.String()) {
			t.Errorf("no example has\n%s", s)
		}
	}
}
