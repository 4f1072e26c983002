// Package replays has the program of memory/doc/replays.md.
package replays

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// An Input is all that a tick takes from outside.
type Input struct {
	Steer int8 // -1, 0 or 1
	Fire  bool
}

type Rock struct{ X, Y, Speed float32 }

// In a game rocks fall, and a ship shoots those above it.
type game struct {
	set   save.Set
	tick  int
	ship  float32
	score int
	rng   engine.Rand
	rocks *pool.Pool[Rock]

	speed float32 // a setting, which the Set does not have
}

func newGame(seed uint64) (*game, error) {
	rocks, err := pool.New[Rock](nil, pool.Config{Name: "rocks", Capacity: 1000})
	g := &game{ship: 50, rng: engine.NewRand(seed, 0), rocks: rocks, speed: 1}
	return g, errors.Join(err,
		save.Value(&g.set, "tick", &g.tick),
		save.Value(&g.set, "ship", &g.ship),
		save.Value(&g.set, "score", &g.score),
		save.Value(&g.set, "random", &g.rng),
		g.set.Add("rocks", g.rocks),
		g.set.Seal())
}

func (g *game) step(in *Input) error {
	g.tick++
	g.ship += float32(in.Steer)
	if _, r, err := g.rocks.New(); err == nil { // at most Capacity rocks
		*r = Rock{X: g.rng.Range(0, 100), Speed: g.rng.Range(0.5, 2)}
	}
	for h, r := range g.rocks.All() {
		r.Y += float32(r.Speed * g.speed)
		if hit := in.Fire && r.Y > 50 && max(r.X-g.ship, g.ship-r.X) < 5; hit {
			g.score++
			g.rocks.Free(h)
		} else if r.Y > 100 {
			g.rocks.Free(h)
		}
	}
	return nil
}

func (g *game) hash() uint64 {
	var h engine.Hasher
	h.Uint64(uint64(g.tick))
	h.Uint64(uint64(g.score))
	h.Float32(g.ship)
	g.rng.Hash(&h)
	for _, r := range g.rocks.All() {
		h.Float32(r.X)
		h.Float32(r.Y)
	}
	return h.Sum()
}

const every = 300 // ticks from one state of a recording to the next

// A recording has a run of a game.
type recording struct {
	set    save.Set
	first  int      // the tick before the first input
	inputs []Input  // of the tick first+1, and of later ones
	hashes []uint64 // after each of these ticks
	states []byte   // files of the game's Set: of the tick first, first+every, ...
	ends   []int    // ends[0] is 0, also without a state: state i is states[ends[i]:ends[i+1]]
	loads  uint64   // of the game's Set, at the last play
}

func newRecording() (*recording, error) {
	r := &recording{ends: []int{0}}
	return r, errors.Join(
		save.Value(&r.set, "first", &r.first),
		save.Slice(&r.set, "inputs", &r.inputs),
		save.Slice(&r.set, "hashes", &r.hashes),
		save.Slice(&r.set, "states", &r.states),
		save.Slice(&r.set, "ends", &r.ends),
		r.set.Seal())
}

// begin begins with a new run, or with one that was loaded from a file.
func (r *recording) begin(g *game) {
	r.first, r.inputs, r.hashes, r.states, r.ends = g.tick, nil, nil, nil, []int{0}
}

// play plays a tick and records it. If the game went back, it drops what was recorded of later ticks.
func (r *recording) play(g *game, in Input) error {
	i := g.tick - r.first
	if loads := g.set.Loads(); loads != r.loads {
		r.loads = loads
		if i < 0 || i > len(r.inputs) || i > 0 && g.hash() != r.hashes[i-1] { // a load has left what is recorded
			r.begin(g)
			i = 0
		}
	}
	n := (i + every - 1) / every // states to keep; i is g.tick - r.first
	r.inputs, r.hashes, r.states, r.ends = r.inputs[:i], r.hashes[:i], r.states[:r.ends[n]], r.ends[:n+1]
	if i%every == 0 {
		var state bytes.Buffer
		if err := g.set.Write(&state); err != nil {
			return err
		}
		r.states = append(r.states, state.Bytes()...)
		r.ends = append(r.ends, len(r.states))
	}
	err := g.step(&in)
	r.inputs, r.hashes = append(r.inputs, in), append(r.hashes, g.hash())
	return err
}

func (r *recording) load(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := errors.Join(r.set.Read(file, nil), file.Close()); err != nil {
		return err
	}
	return r.valid()
}

// valid refuses a file whose lists do not fit each other. A checksum does not find that.
func (r *recording) valid() error {
	n := len(r.inputs)
	if n == 0 || len(r.hashes) != n || len(r.ends) != (n-1)/every+2 ||
		!slices.IsSorted(r.ends) || r.ends[0] != 0 || r.ends[len(r.ends)-1] != len(r.states) {
		return errors.New("it is no recording")
	}
	return nil
}

// state returns state n.
func (r *recording) state(n int) *bytes.Reader {
	return bytes.NewReader(r.states[r.ends[n]:r.ends[n+1]])
}

// seek makes a tick from first to first+len(inputs) the present one.
func (r *recording) seek(g *game, tick int) error {
	n := min((tick-r.first)/every, len(r.ends)-2) // the last state that is not after the tick
	err := g.set.Read(r.state(n), nil)
	for err == nil && g.tick < tick {
		err = r.replay(g)
	}
	return err
}

// replay plays the next tick of the recording.
func (r *recording) replay(g *game) error {
	i := g.tick - r.first
	if i < 0 || i >= len(r.inputs) { // in a file that was forged, a state may be of any tick
		return fmt.Errorf("tick %d is not in the recording", g.tick)
	}
	in := r.inputs[i]
	if err := g.step(&in); err != nil {
		return err
	}
	if g.hash() != r.hashes[i] {
		return fmt.Errorf("tick %d differs from the recording", g.tick)
	}
	return nil
}

// compare returns the first difference of the game and the recorded state of its tick, a multiple of every.
func (r *recording) compare(g *game) (d save.Difference, differ bool, err error) {
	was, is, now := g.set.NewCanonical(1<<20), g.set.NewCanonical(1<<20), new(bytes.Buffer)
	err = errors.Join(
		g.set.Write(now),
		g.set.Read(r.state((g.tick-r.first)/every), nil), g.set.Save(was),
		g.set.Read(now, nil), g.set.Save(is))
	if err == nil {
		d, differ, err = g.set.Diff(was, is)
	}
	return d, differ, err
}

func Example() {
	dir, err := os.MkdirTemp("", "replays")
	must(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "run.replay")

	g, err := newGame(1)
	must(err)
	r, err := newRecording()
	must(err)
	for tick := range 1000 { // the player
		must(r.play(g, keys(tick)))
	}
	must(atomicfile.Write(name, r.set.Write))
	fmt.Println("played", g.tick, "score", g.score)
	must(g.rocks.Close())

	g, err = newGame(0) // of another process: the seed is in the state
	must(err)
	r, err = newRecording()
	must(err)
	must(r.load(name))
	must(r.seek(g, 700))
	fmt.Println("tick", g.tick, "score", g.score)
	for g.tick < r.first+len(r.inputs) {
		must(r.replay(g))
	}
	fmt.Println("tick", g.tick, "score", g.score)

	must(r.seek(g, 600))
	g.speed = 1.5 // a rule has changed
	fmt.Println(r.replay(g))
	for g.tick < 900 {
		_ = r.replay(g) // which differs
	}
	d, _, err := r.compare(g)
	fmt.Println(d, err)
	must(g.rocks.Close())
	// Output:
	// played 1000 score 238
	// tick 700 score 161
	// tick 1000 score 238
	// tick 601 differs from the recording
	// score: 218, and 201 <nil>
}

// keys is what a player does in a tick.
func keys(tick int) Input { return Input{Steer: int8(tick/20%3) - 1, Fire: tick%7 == 0} }

func start() (*game, *recording) {
	g, err := newGame(1)
	must(err)
	r, err := newRecording()
	must(err)
	return g, r
}

func TestRecording_FollowsLoads(t *testing.T) {
	g, r := start()
	defer g.rocks.Close()
	slot := g.set.NewSlot(1 << 16)
	play := func(from, to int) {
		for tick := from; tick < to; tick++ {
			must(r.play(g, keys(tick)))
		}
	}
	for _, loads := range []struct{ at, until, again, first int }{
		{450, 700, 650, 0},       // the state of tick 600 is another
		{600, 700, 601, 0},       // that of tick 600 is written again
		{1000, 1200, 1100, 1000}, // the recording began after it
	} {
		g.tick, r.inputs = 0, nil
		r.begin(g)
		play(0, loads.at)
		must(g.set.Save(slot))
		if loads.first > 0 {
			play(loads.at, loads.at+100)
			r.begin(g)
		}
		play(g.tick, loads.until)
		must(g.set.Load(slot))
		play(loads.at, loads.again)
		end := g.hash()
		var file bytes.Buffer
		must(r.set.Write(&file))
		must(r.set.Read(&file, nil))
		if err := r.valid(); err != nil || r.first != loads.first || r.first+len(r.inputs) != loads.again {
			t.Fatalf("%+v: ticks %d to %d, %v", loads, r.first, r.first+len(r.inputs), err)
		}
		for tick := r.first; tick <= loads.again; tick += 50 {
			must(r.seek(g, tick))
		}
		for tick := r.first; tick < loads.again; tick += every {
			must(r.seek(g, tick))
			if d, differ, err := r.compare(g); differ || err != nil {
				t.Errorf("%+v: tick %d: %v, %v", loads, tick, d, err)
			}
		}
		if must(r.seek(g, loads.again)); g.hash() != end {
			t.Errorf("%+v: another hash at the end", loads)
		}
	}
}

func TestRecording_RefusesWrongLengths(t *testing.T) {
	g, r := start()
	defer g.rocks.Close()
	for tick := range 400 {
		must(r.play(g, keys(tick)))
	}
	must(r.valid())
	whole := *r
	for i, damage := range []func(){
		func() { r.inputs = nil },
		func() { r.hashes = r.hashes[1:] },
		func() { r.states = r.states[1:] },
		func() { r.ends = r.ends[1:] },
		func() { r.ends = []int{0, -1, len(r.states)} },
		func() { r.ends = []int{-1, 0, len(r.states)} },
		func() { r.inputs, r.hashes = r.inputs[:300], r.hashes[:300] },
	} {
		damage()
		if r.valid() == nil {
			t.Errorf("damage %d is valid", i)
		}
		r.inputs, r.hashes, r.states, r.ends = whole.inputs, whole.hashes, whole.states, whole.ends
	}
}

func TestRecording_AStateOfADroppedFutureBeginsIt(t *testing.T) {
	for _, late := range []int{280, 500} {
		g, r := start()
		defer g.rocks.Close()
		var early, later bytes.Buffer
		for g.tick < late {
			if g.tick == 200 {
				must(g.set.Write(&early))
			}
			must(r.play(g, keys(g.tick)))
		}
		must(g.set.Write(&later))
		must(g.set.Read(bytes.NewReader(early.Bytes()), nil))
		for range 100 {
			must(r.play(g, keys(g.tick+7)))
		}
		must(g.set.Read(bytes.NewReader(later.Bytes()), nil))
		must(r.play(g, keys(g.tick)))
		if r.first != late || len(r.inputs) != 1 {
			t.Errorf("state %d: recorded %d inputs from %d", late, len(r.inputs), r.first)
		}
		must(r.seek(g, late+1))
	}
}

// The cost of a recording: go test -run - -bench . ./memory/internal/guides/replays
func BenchmarkRecording(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "recorded"}[recorded], func(b *testing.B) {
			g, r := start()
			defer g.rocks.Close()
			for b.Loop() {
				in := keys(g.tick)
				if recorded {
					must(r.play(g, in))
				} else {
					must(g.step(&in))
				}
			}
			if recorded {
				var file bytes.Buffer
				must(r.set.Write(&file))
				b.ReportMetric(float64(file.Len())/float64(len(r.inputs)), "file-B/tick")
			}
		})
	}
}

// States of a MiB.
func BenchmarkState(b *testing.B) {
	const n = 1 << 14
	things, err := pool.New[[64]byte](nil, pool.Config{Capacity: n})
	must(err)
	defer things.Close()
	heap, err := tlsf.New(nil, tlsf.Config{})
	must(err)
	defer heap.Close()
	world, err := ecs.New(heap, ecs.Config{})
	must(err)
	entities := ecs.NewMap1[[64]byte](world)
	for range n {
		_, _, err := things.New()
		must(err)
		_, err = entities.NewEntity([64]byte{})
		must(err)
	}
	for name, part := range map[string]save.State{"pool": things, "world": world} {
		b.Run(name, func(b *testing.B) {
			var set save.Set
			must(errors.Join(set.Add("things", part), set.Seal()))
			var file bytes.Buffer
			b.ReportAllocs()
			for b.Loop() {
				file.Reset()
				must(set.Write(&file))
			}
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
