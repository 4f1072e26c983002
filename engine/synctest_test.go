package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// A toy is a game with a pool, random numbers, a list and a score.
type toy struct {
	bugs  *pool.Pool[bug]
	rng   engine.Rand
	score int
	trail []int
}

func (g *toy) step() error {
	if _, v, err := g.bugs.New(); err == nil {
		v.X, v.Speed = g.rng.Float32(), g.rng.Float32()
	}
	for h, b := range g.bugs.All() {
		if b.X += b.Speed; b.X > 9 {
			g.bugs.Free(h)
			g.score++
		}
	}
	g.trail = append(g.trail, g.score)
	if len(g.trail) > 20 {
		g.trail = g.trail[:5]
	}
	return nil
}

func (g *toy) hash() uint64 {
	var h engine.Hasher
	g.rng.Hash(&h)
	h.Int(g.score)
	for _, n := range g.trail {
		h.Int(n)
	}
	for _, b := range g.bugs.All() {
		h.Float32(b.X)
		h.Float32(b.Y)
	}
	return h.Sum()
}

func newToy(t *testing.T) (*toy, engine.Sync) {
	t.Helper()
	bugs, err := pool.New[bug](nil, pool.Config{Capacity: 500, Name: "bugs"})
	g := &toy{bugs: bugs, rng: engine.NewRand(1, 1)}
	set := new(save.Set)
	err = errors.Join(err, set.Add("bugs", bugs), save.Value(set, "score", &g.score), save.Slice(set, "trail", &g.trail))
	if err = errors.Join(err, set.Add("random numbers", &g.rng), set.Seal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bugs.Close() })
	return g, engine.Sync{Set: set, Step: g.step, Hash: g.hash, Check: bugs.Check, Ticks: 60, Distance: 4}
}

func TestSynctest_PassesAGameThatIsSavedWhole(t *testing.T) {
	for _, distance := range []int{0, 1, 2, 7, 8, 100} {
		_, cfg := newToy(t)
		cfg.Distance = distance
		done, err := engine.Synctest(cfg)
		if d := max(distance, 1); err != nil || done.Ticks != 60 || done.Loads != (60+d-1)/d || done.Skipped != 0 || done.Bytes == 0 {
			t.Errorf("distance %d: %+v, %v", distance, done, err)
		}
	}
}

func TestSynctest_ReturnsTheErrorsOfTheGame(t *testing.T) {
	broken := errors.New("broken")
	for what, change := range map[string]func(*engine.Sync){
		"step":  func(c *engine.Sync) { c.Step = func() error { return broken } },
		"rest":  func(c *engine.Sync) { c.Rest = func() error { return broken } },
		"check": func(c *engine.Sync) { c.Check = func() error { return broken } },
	} {
		_, cfg := newToy(t)
		change(&cfg)
		if _, err := engine.Synctest(cfg); !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, cfg := newToy(t)
	level := uint64(0)
	set := new(save.Set)
	if err := errors.Join(set.AddFunc("level", func(c *save.Coder) { c.Same("the level", level) }), set.Seal()); err != nil {
		t.Fatal(err)
	}
	cfg.Set, cfg.Check = set, nil
	cfg.Step = func() error { level++; return nil }
	if done, err := engine.Synctest(cfg); err != nil || done.Skipped != 60 || done.Ticks != 0 {
		t.Errorf("levels that end: %+v, %v", done, err)
	}
}

func TestSynctest_AStepThatFailsIsNamedByItsTick(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []int{1, 3, 4, 11} {
		_, cfg := newToy(t)
		play, n := cfg.Step, 0
		cfg.Step = func() error {
			if n++; n == at {
				return broken
			}
			return play()
		}
		_, other := newToy(t)
		none := cfg
		none.Ticks = -1
		if ticks, err := engine.Lockstep(none, other); ticks != 0 || err != nil {
			t.Errorf("of -1 ticks %d were equal: %v", ticks, err)
		}
		_, err := engine.Lockstep(cfg, other)
		if want := fmt.Sprintf("engine: lockstep: tick %d: broken", at); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, cfg := newToy(t)
	play, n := cfg.Step, 0
	cfg.Step = func() error {
		if n++; n == 3 {
			return broken
		}
		return play()
	}
	if _, err := engine.Synctest(cfg); err == nil || err.Error() != "engine: synctest: tick 3: broken" {
		t.Error(err)
	}
}

// A Set with another allocator than that of a container is not refused: a container is an offset, which may be that of a
// live block in both. Synctest finds it, by the hash or by the Check of the container.
func TestSynctest_ContainerInAnotherAllocator(t *testing.T) {
	for _, shrinks := range []bool{false, true} {
		for _, wrong := range []bool{false, true} {
			home, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
			must(t, err)
			other, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
			must(t, err)
			sp, err := container.In(home)
			must(t, err)
			_, err = other.Alloc(64, 8) // where the first block of list is in home
			must(t, err)
			var list container.Vec[uint64]
			ticks, set := uint64(0), new(save.Set)
			saved := home
			if wrong {
				saved = other
			}
			must(t, errors.Join(set.Add("heap", saved), save.Value(set, "list", &list), save.Value(set, "ticks", &ticks), set.Seal()))
			_, err = engine.Synctest(engine.Sync{
				Set: set, Ticks: 40, Distance: 4,
				Step: func() error {
					ticks++
					if list.Len() > 0 {
						list.Set(sp, 0, ticks)
					}
					if shrinks && ticks%7 == 0 {
						return list.SetLen(sp, 1)
					}
					return list.Append(sp, ticks)
				},
				Hash: func() uint64 {
					var h engine.Hasher
					for _, n := range list.Slice(sp) {
						h.Uint64(n)
					}
					return h.Sum()
				},
				Check: func() error { return list.Check(sp) },
			})
			if d := (*engine.Desync)(nil); errors.As(err, &d) != wrong || !wrong && err != nil {
				t.Errorf("another allocator %t: %v", wrong, err)
			}
		}
	}
}
