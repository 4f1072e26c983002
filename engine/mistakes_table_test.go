package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

var packageCounter int

// addresses keeps blocks alive, so that no address appears twice.
var addresses []*[64]byte

// mistakes are those of careless programmers. plant builds the game with the mistake, or with its cure.
var mistakes = []struct {
	name  string
	by    string // the detector
	want  string // in its error
	plant func(g *hive, planted bool)
}{
	{"forgotten variable", "synctest", ".Y: ", func(g *hive, planted bool) {
		s := &struct{ Heat int }{}
		if g.mistake = s; !planted {
			keep(g, "heat", &s.Heat)
		}
		g.work = func() { s.Heat++; g.paint(float32(s.Heat)) }
	}},
	{"forgotten variable, not read yet", "audit", "hive.mistake.Heat: ", func(g *hive, planted bool) {
		s := &struct{ Heat int }{}
		if g.mistake = s; !planted {
			keep(g, "heat", &s.Heat)
		}
		g.work = func() { s.Heat++ }
	}},
	{"forgotten generator", "synctest", ".Y: ", func(g *hive, planted bool) {
		s := &struct{ Weather engine.Rand }{engine.NewRand(2, 2)}
		if g.mistake = s; !planted {
			g.add("weather", &s.Weather)
		}
		g.work = func() { g.paint(s.Weather.Float32()) }
	}},
	{"forgotten State", "audit", "hive.mistake.Weather: ", func(g *hive, planted bool) {
		s := &struct{ Weather engine.Rand }{engine.NewRand(2, 2)}
		if g.mistake = s; !planted {
			g.add("weather", &s.Weather)
		}
		g.work = func() { s.Weather.Float32() }
	}},
	{"copy of the variable is saved", "synctest", ".Y: ", func(g *hive, planted bool) {
		s := &struct{ Heat int }{}
		g.mistake = s
		v := &s.Heat
		if planted {
			heat := s.Heat
			v = &heat
		}
		keep(g, "heat", v)
		g.work = func() { s.Heat++; g.paint(float32(s.Heat)) }
	}},
	{"load is forgotten", "synctest", "heat: ", func(g *hive, planted bool) {
		s := &struct{ Heat int }{}
		g.mistake = s
		g.refuse = errors.Join(g.refuse, g.set.AddFunc("heat", func(c *save.Coder) {
			if n := int(c.Word(uint64(s.Heat))); c.Loading() && !planted {
				s.Heat = n
			}
		}))
		g.work = func() { s.Heat++; g.paint(float32(s.Heat)) }
	}},
	{"number is cut to eight bits", "audit", "hive.mistake.Heat: ", func(g *hive, planted bool) {
		s := &struct{ Heat int }{253}
		g.mistake = s
		g.refuse = errors.Join(g.refuse, g.set.AddFunc("heat", func(c *save.Coder) {
			if n := c.Word(uint64(s.Heat)); c.Loading() && planted {
				s.Heat = int(uint8(n))
			} else if c.Loading() {
				s.Heat = int(n)
			}
		}))
		g.work = func() { s.Heat++ }
	}},
	{"part reads another one too early", "audit", "hive.mistake.Living: ", func(g *hive, planted bool) {
		s := &struct{ Living int }{}
		g.mistake = s
		g.refuse = errors.Join(g.refuse, g.set.AddFunc("living", func(c *save.Coder) {
			n := int(c.Word(uint64(s.Living)))
			if c.Loading() && planted {
				n = g.bugs.Len() // of the state before: bugs are the last part
			}
			if c.Loading() {
				s.Living = n
			}
		}))
		g.work = func() { s.Living = g.bugs.Len() }
	}},
	{"map order", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Weights map[int]int }{map[int]int{}}
		for i := range 50 {
			s.Weights[i] = i * i
		}
		g.mistake = s
		g.work = func() {
			keys := slices.Sorted(maps.Keys(s.Weights))
			if planted {
				keys = slices.Collect(maps.Keys(s.Weights))
			}
			for _, k := range keys {
				g.mix(s.Weights[k])
			}
		}
	}},
	{"wall clock", "synctest", "sum: ", func(g *hive, planted bool) {
		g.work = func() {
			if now := g.tick; !planted {
				g.mix(now)
			} else {
				g.mix(int(time.Since(started))) // the time of day has milliseconds in the browser
			}
		}
	}},
	{"global random numbers", "synctest", ".Y: ", func(g *hive, planted bool) {
		g.work = func() {
			if planted {
				g.paint(rand.Float32())
			} else {
				g.paint(g.rng.Float32())
			}
		}
	}},
	{"address as a number", "synctest", "sum: ", func(g *hive, planted bool) {
		g.work = func() {
			n := g.tick
			if planted {
				addresses = append(addresses, new([64]byte))
				n = int(uintptr(unsafe.Pointer(addresses[len(addresses)-1])) >> 6 % 1e6)
			}
			g.mix(n)
		}
	}},
	{"order of goroutines", "synctest", "sum: ", func(g *hive, planted bool) {
		g.work = func() {
			a, b := make(chan int, 8), make(chan int, 8)
			for i := range 8 {
				a <- i
				b <- 100 + i
			}
			for range 8 {
				if !planted {
					g.mix(<-a)
					continue
				}
				select { // two workers are ready
				case n := <-a:
					g.mix(n)
				case n := <-b:
					g.mix(n)
				}
			}
		}
	}},
	{"package variable", "synctest", ".Y: ", func(g *hive, planted bool) {
		g.work = func() {
			if packageCounter++; planted {
				g.paint(float32(packageCounter))
			}
		}
	}},
	{"package variable, two games", "lockstep", ".Y: ", func(g *hive, planted bool) {
		g.work = func() {
			if packageCounter++; planted {
				g.paint(float32(packageCounter))
			}
		}
	}},
	{"state in a closure", "synctest", ".Y: ", func(g *hive, planted bool) {
		n := 0
		if !planted {
			keep(g, "calls", &n)
		}
		g.work = func() { n++; g.paint(float32(n)) }
	}},
	{"shared slice", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Last []int }{}
		g.mistake = s
		g.trail = []int{0}
		if !planted {
			keepSlice(g, "last", &s.Last)
		}
		g.work = func() {
			if len(s.Last) > 0 {
				g.mix(s.Last[len(s.Last)-1])
			}
			if planted {
				s.Last = g.trail
			} else {
				s.Last = append(s.Last[:0], g.trail...)
			}
		}
	}},
	{"pointer into a slice that grows", "audit", "hive.mistake.Boss: ", func(g *hive, planted bool) {
		s := &struct {
			Boss *int
			Wave []int
		}{Wave: make([]int, 1, 2)}
		g.mistake = s
		if keepSlice(g, "wave", &s.Wave); planted {
			s.Boss = &s.Wave[0]
		}
		g.work = func() { s.Wave = append(s.Wave, g.tick) }
	}},
	{"padding", "synctest", "nest (padding): 0x01, and 0x05", func(g *hive, planted bool) {
		garbage := byte(0)
		g.work = func() {
			garbage++ // as a register does that had another value before
			*(*byte)(unsafe.Add(unsafe.Pointer(&g.nest), unsafe.Offsetof(g.nest.N)-1)) = garbage
		}
		if planted {
			g.hashes = append(g.hashes, func(h *engine.Hasher) {
				h.Bytes(unsafe.Slice((*byte)(unsafe.Pointer(&g.nest)), unsafe.Sizeof(g.nest)))
			})
		}
	}},
	{"unsaved free list", "check", "nests: ", func(g *hive, planted bool) {
		s := &struct{ Nests, Free []int }{}
		g.mistake = s
		if keepSlice(g, "nests", &s.Nests); !planted {
			keepSlice(g, "free", &s.Free)
		}
		g.work = func() {
			if k := len(s.Free); k > 0 && g.tick%3 != 0 {
				s.Nests[s.Free[k-1]] = g.tick
				s.Free = s.Free[:k-1]
				return
			}
			s.Nests, s.Free = append(s.Nests, 0), append(s.Free, len(s.Nests))
		}
		g.checks = append(g.checks, func() error {
			for _, i := range s.Free {
				if i >= len(s.Nests) || s.Nests[i] != 0 {
					return fmt.Errorf("nests: %d is free, and not one of the empty %d", i, len(s.Nests))
				}
			}
			return nil
		})
	}},
	{"unsaved count", "check", "living: ", func(g *hive, planted bool) {
		s := &struct{ Living int }{}
		if g.mistake = s; !planted {
			keep(g, "living", &s.Living)
		}
		g.work = func() { s.Living = g.bugs.Len() }
		g.checks = append(g.checks, func() error {
			if n := g.bugs.Len(); n != s.Living && g.tick > 0 {
				return fmt.Errorf("living: %d bugs, counted %d", n, s.Living)
			}
			return nil
		})
	}},
	{"stale batch", "synctest", "inbox: save: busy: blocks wait", stale},
	{"stale handle", "synctest", ".Y: ", func(g *hive, planted bool) {
		s := &struct{ Target memory.Handle[bug] }{}
		if g.mistake = s; !planted {
			g.refuse = errors.Join(g.refuse, save.Value(g.set, "target", &s.Target))
			g.hashes = append(g.hashes, func(h *engine.Hasher) {
				b, ok := g.bugs.Get(s.Target)
				if h.Bool(ok); ok {
					h.Float32(b.X)
				}
			})
		}
		g.work = func() {
			if b, ok := g.bugs.Get(s.Target); ok {
				b.Y++
				return
			}
			for h := range g.bugs.All() {
				s.Target = h
			}
		}
	}},
	{"deferred frees", "synctest", "bugs", func(g *hive, planted bool) {
		s := &struct{ Dead []int }{}
		if g.mistake = s; !planted {
			keepSlice(g, "dead", &s.Dead)
		}
		g.work = func() {
			i := 0
			for h := range g.bugs.All() {
				if slices.Contains(s.Dead, i) {
					g.bugs.Free(h)
				}
				i++
			}
			s.Dead = append(s.Dead[:0], g.tick%3)
		}
	}},
	{"queue of events", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Queue []int }{}
		if g.mistake = s; !planted {
			keepSlice(g, "queue", &s.Queue)
		}
		g.work = func() {
			for _, e := range s.Queue {
				g.mix(e)
			}
			s.Queue = append(s.Queue[:0], g.tick)
		}
	}},
	{"values in a channel", "audit", "hive.mistake.Done: ", func(g *hive, planted bool) {
		s := &struct{ Done chan int }{make(chan int, 100)}
		g.mistake = s
		g.work = func() {
			if s.Done <- g.tick; !planted {
				g.mix(<-s.Done)
			}
		}
	}},
	{"last input", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Pressed int }{}
		if g.mistake = s; !planted {
			keep(g, "pressed", &s.Pressed)
		}
		g.work = func() {
			down := g.tick % 3 % 2
			if down > s.Pressed {
				g.mix(g.tick)
			}
			s.Pressed = down
		}
	}},
	{"last position", "synctest", ".Y: ", func(g *hive, planted bool) {
		s := &struct{ X int }{}
		if g.mistake = s; !planted {
			keep(g, "x", &s.X)
		}
		g.work = func() {
			x := g.tick * g.tick
			g.paint(float32(x - s.X))
			s.X = x
		}
	}},
	{"stale cache", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Cache map[int]int }{map[int]int{}}
		g.mistake = s
		g.work = func() {
			k := g.tick / 2
			v, ok := s.Cache[k]
			if !ok || !planted {
				v = g.tick
			}
			if planted {
				s.Cache[k] = v + 1
			}
			g.mix(v)
		}
	}},
	{"scratch with leftovers", "synctest", "sum: ", func(g *hive, planted bool) {
		s := &struct{ Scratch []int }{}
		g.work = func() {
			if !planted {
				s.Scratch = s.Scratch[:0]
			}
			s.Scratch = append(s.Scratch, g.tick)
			g.mix(len(s.Scratch))
		}
	}},
	{"lazy initialisation", "synctest", "random numbers: ", func(g *hive, planted bool) {
		s := &struct{ Table []int }{}
		if g.mistake = s; !planted {
			keepSlice(g, "table", &s.Table)
		}
		g.work = func() {
			if len(s.Table) == 0 && g.tick == 6 {
				s.Table = []int{g.rng.Intn(100)}
			}
		}
	}},
	{"static data that a rule changes", "audit", "hive.mistake.Walls[2]: ", func(g *hive, planted bool) {
		s := &struct{ Walls [8]bool }{}
		g.mistake = s
		if !planted {
			g.refuse = errors.Join(g.refuse, save.Value(g.set, "walls", &s.Walls))
			g.hashes = append(g.hashes, func(h *engine.Hasher) {
				for _, w := range s.Walls {
					h.Bool(w)
				}
			})
		}
		g.work = func() { s.Walls[2] = s.Walls[2] || g.tick == 6 }
	}},
	{"side table loses its entry", "audit", "hive.mistake.Armor", func(g *hive, planted bool) {
		// A component beside the world, which disappears with its entity. No rule has read it before.
		s := &struct{ Armor map[memory.Handle[bug]]int }{map[memory.Handle[bug]]int{}}
		g.mistake = s
		g.work = func() {
			if !planted {
				return
			}
			for h := range g.bugs.All() {
				if _, ok := s.Armor[h]; !ok {
					s.Armor[h] = g.tick
				}
			}
			maps.DeleteFunc(s.Armor, func(h memory.Handle[bug], _ int) bool { _, ok := g.bugs.Get(h); return !ok })
		}
	}},
	{"pointerful component", "refused", "component engine_test.brain", func(g *hive, planted bool) {
		w := g.world()
		if planted {
			_, err := ecs.Register[brain](w)
			g.must(err)
		}
		g.add("world", w)
	}},
	{"pointer in a variable", "refused", `"mood"`, func(g *hive, planted bool) {
		s := &struct{ Mood struct{ Text string } }{}
		if g.mistake = s; planted {
			g.refuse = errors.Join(g.refuse, save.Value(g.set, "mood", &s.Mood))
		}
	}},
	{"waiting commands", "synctest", "world: save: busy: 1 commands wait", func(g *hive, planted bool) {
		w := g.world()
		g.add("world", w)
		g.work = func() {
			_, err := w.Commands().Spawn()
			if g.must(err); !planted {
				g.must(w.Commands().Apply())
			} else {
				g.end = append(g.end, func() error { w.Commands().Discard(); return nil })
			}
		}
	}},
	{"open query", "synctest", "world: save: busy: the world is locked", func(g *hive, planted bool) {
		w := g.world()
		g.add("world", w)
		filter := ecs.NewFilter1[armor](w)
		g.work = func() {
			if g.tick == 1 {
				_, err := ecs.NewMap1[armor](w).NewEntity(armor{1})
				g.must(err)
			}
			q := filter.Query()
			for q.Next() {
				if q.Get().V++; planted {
					g.end = append(g.end, func() error { w.EndQueries(); return nil })
					return
				}
			}
		}
		g.hashes = append(g.hashes, func(h *engine.Hasher) { h.Uint64(w.Hash(0)) })
	}},
	{"resource of a world", "synctest", "armor row 0 entity #1.1 .V: ", func(g *hive, planted bool) {
		w := g.world()
		g.add("world", w)
		s := &struct{ Weather int }{}
		if g.mistake = s; !planted {
			keep(g, "weather", &s.Weather)
		}
		ecs.SetResource(w, &s.Weather)
		filter := ecs.NewFilter1[armor](w)
		g.work = func() {
			if g.tick == 1 {
				_, err := ecs.NewMap1[armor](w).NewEntity(armor{1})
				g.must(err)
			}
			weather := ecs.Resource[int](w)
			*weather++
			for _, a := range filter.All() {
				a.V = int32(*weather)
			}
		}
		g.hashes = append(g.hashes, func(h *engine.Hasher) { h.Uint64(w.Hash(0)) })
	}},
	{"field outside of the hash", "unhashed", "unhashed: bugs/bugs/slot .Speed", func(g *hive, planted bool) {
		g.blind = planted
	}},
	{"variable outside of the hash", "unhashed", "unhashed: heat", func(g *hive, planted bool) {
		s := &struct{ Heat int }{}
		g.mistake = s
		g.refuse = errors.Join(g.refuse, save.Value(g.set, "heat", &s.Heat))
		if !planted {
			g.hashes = append(g.hashes, func(h *engine.Hasher) { h.Int(s.Heat) })
		}
		g.work = func() { s.Heat++ }
	}},
	{"fused product on one architecture", "lockstep", ".Y: ", func(g *hive, planted bool) {
		g.work = func() {
			for _, b := range g.bugs.All() {
				product := float32(b.X * b.Speed) // the conversion rounds
				if b.Y = product + b.Y/3; planted && g.second {
					b.Y = float32(math.FMA(float64(b.X), float64(b.Speed), float64(b.Y/3)))
				}
			}
		}
	}},
	{"int of 32 bits", "lockstep", "sum: ", func(g *hive, planted bool) {
		g.work = func() {
			n := int64(g.tick) * 1e9
			if planted && g.second {
				n = int64(int32(n))
			}
			g.sum = int(n % 1e6)
		}
	}},
	{"conversion out of range", "lockstep", "sum: ", func(g *hive, planted bool) {
		g.work = func() {
			x := float64(g.tick) * 60
			n := int(uint8(int(x)))
			if planted && g.second {
				n = int(min(x, 255)) // as arm64 does for uint8(x)
			}
			g.mix(n)
		}
	}},
	{"sine of the library", "lockstep", ".Y: ", func(g *hive, planted bool) {
		g.work = func() {
			y := engine.Sin(float32(g.tick))
			if planted && g.second {
				y = math.Nextafter32(y, 2) // another approximation
			}
			g.paint(y)
		}
	}},
}

type (
	brain struct{ Thoughts []string }
	armor struct{ V int32 }
)

// world adds a world in a heap of its own.
func (g *hive) world() *ecs.World {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Granule: 1 << 10})
	g.must(err)
	w, err := ecs.New(heap, ecs.Config{MaxEntities: 1000})
	g.must(err)
	_, err = ecs.Register[armor](w)
	g.must(err)
	g.end = append(g.end, heap.Close, w.Close)
	g.add("heap", save.Metadata(heap))
	return w
}

// stale frees a block of the game as a worker does. With the mistake the inbox is not drained before a save.
func stale(g *hive, planted bool) {
	heap, err := slab.New(nil, slab.Config{})
	g.must(err)
	in, err := remote.New(heap, remote.Config{Batch: 1})
	g.must(err)
	worker := in.NewFreer()
	g.end = append(g.end, heap.Close, in.Close, worker.Close, func() error { in.Drain(); return nil })
	g.add("heap", heap)
	g.add("inbox", in)
	g.work = func() {
		p, err := heap.Alloc(64, 8)
		g.must(err)
		if worker.FreeAny(p); !planted {
			in.Drain()
		}
	}
}

var started = time.Now()
