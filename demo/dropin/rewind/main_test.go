package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/render"
)

// Ebitengine runs once in a process, so the game in a window is a process of its own: this binary.
const asGame = "STRATA_DROPIN_GAME"

func TestMain(m *testing.M) {
	if os.Getenv(asGame) != "" {
		if err := show(); err != nil {
			fmt.Println("game:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A shown is the game in a window: it plays 120 ticks, goes back by 40, and ends after the next Draw.
type shown struct {
	*Game
	updates, bright int
}

func (g *shown) Update() error {
	g.updates++
	switch {
	case g.updates <= 120:
		return g.play(clicks(g.updates))
	case g.updates <= 160:
		return g.rewind()
	case g.bright > 0:
		return ebiten.Termination
	}
	return nil
}

func (g *shown) Draw(screen *ebiten.Image) {
	g.Game.Draw(screen)
	if g.updates < 160 {
		return
	}
	pix := make([]byte, 4*width*height)
	screen.ReadPixels(pix)
	for at := 4 * width * 40; at < len(pix); at += 4 { // below the text
		if pix[at] > 80 || pix[at+1] > 80 {
			g.bright++
		}
	}
}

func show() error {
	err := render.Probe()
	if err != nil {
		return err
	}
	g, err := newGame()
	if err != nil {
		return err
	}
	s := &shown{Game: g}
	err = ebiten.RunGame(s)
	fmt.Printf("figures %d %d\n", g.tick, s.bright)
	return errors.Join(err, g.sparks.Close())
}

func TestGame_RewindsInAWindow(t *testing.T) {
	if err := render.Probe(); err != nil {
		testenv.Missing(t, err.Error())
	}
	cmd := testenv.Command(t, os.Args[0])
	cmd.Env = append(cmd.Environ(), asGame+"=1")
	out, err := cmd.CombinedOutput()
	var tick, bright int
	if _, scanned := fmt.Sscanf(string(out), "figures %d %d", &tick, &bright); err != nil || scanned != nil {
		t.Fatalf("%v, %v\n%s", err, scanned, out)
	}
	if tick != 80 || bright < 100 {
		t.Errorf("tick %d after 120 ticks and 40 back, and %d bright pixels", tick, bright)
	}
}

func game(t *testing.T) *Game {
	t.Helper()
	g, err := newGame()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.sparks.Check(), g.past.Check(), g.sparks.Close()); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *Game) hash() uint64 {
	var h engine.Hasher
	h.Uint64(g.tick)
	g.random.Hash(&h)
	for _, p := range g.sparks.All() {
		h.Float32(p.X)
		h.Float32(p.Y)
		h.Float32(p.VX)
		h.Float32(p.VY)
		h.Uint64(p.Born)
		h.Int(int(p.Left))
		h.Int(int(p.Hue))
		h.Bool(p.Rocket)
	}
	return h.Sum()
}

// clicks are the inputs of a player: a rocket in every eleventh tick.
func clicks(tick int) Input {
	if tick%11 != 0 {
		return Input{}
	}
	return Input{Click: true, X: int32(tick*37) % width, Y: int32(tick*13) % height}
}

func TestRewind_GoesBackThroughEachTickAndOnAgain(t *testing.T) {
	g := game(t)
	const ticks = 900
	hashes := []uint64{g.hash()}
	play := func() {
		for n := len(hashes); n <= ticks; n++ {
			if err := g.play(clicks(n)); err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, g.hash())
		}
	}
	play()
	if g.sparks.Len() < 1000 {
		t.Errorf("%d sparks", g.sparks.Len())
	}
	last := hashes[ticks]
	for now := ticks; now > 200; {
		if err := g.rewind(); err != nil {
			t.Fatal(err)
		}
		if now--; g.tick != uint64(now) || g.hash() != hashes[now] {
			t.Fatalf("after R in tick %d: tick %d, or another state", now+1, g.tick)
		}
	}
	hashes = hashes[:201]
	play()
	if hashes[ticks] != last {
		t.Error("the same clicks lead elsewhere after a rewind")
	}
	for range 2 * ticks { // beyond the oldest tick R does nothing
		if err := g.rewind(); err != nil {
			t.Fatal(err)
		}
	}
	if g.tick != g.past.Oldest() || g.hash() != hashes[g.tick] {
		t.Errorf("at the end of the past: tick %d, the oldest is %d", g.tick, g.past.Oldest())
	}
}

func TestFile_AnotherProcessGoesOnEqually(t *testing.T) {
	g, other := game(t), game(t)
	name := filepath.Join(t.TempDir(), "save")
	for n := range 500 {
		if err := g.play(clicks(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Write(name, g.set.Write); err != nil {
		t.Fatal(err)
	}
	if err := other.load(name); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		if err := errors.Join(g.play(clicks(n)), other.play(clicks(n))); err != nil {
			t.Fatal(err)
		}
		if g.hash() != other.hash() {
			t.Fatalf("the states differ %d ticks after the file", n+1)
		}
	}
	if err := other.rewind(); err != nil || other.tick != g.tick-1 {
		t.Errorf("rewind after a load: tick %d, %v", other.tick, err)
	}
}

func TestFile_ADamagedOneChangesNothing(t *testing.T) {
	g := game(t)
	name := filepath.Join(t.TempDir(), "save")
	if err := g.play(Input{}); err != nil {
		t.Fatal(err)
	}
	was := g.hash()
	if err := os.WriteFile(name, []byte("no saved game"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := g.load(name); !errors.Is(err, save.ErrFile) || g.hash() != was {
		t.Errorf("load of a damaged file: %v", err)
	}
	g.say("loaded", g.load(name+".not"))
	if g.said == "loaded" || g.hash() != was {
		t.Errorf("load of no file says %q", g.said)
	}
}

// The Set lists the whole state.
func TestSet_LacksNothing(t *testing.T) {
	g := game(t)
	tick := 0
	_, err := engine.Synctest(engine.Sync{
		Set: g.set, Hash: g.hash, Audit: engine.Fields(nil, &g.Sky), Ticks: 300, Distance: 8,
		Step: func() error {
			in := clicks(int(g.tick))
			tick++
			return g.step(&in)
		},
	})
	if err != nil || tick < 300 {
		t.Errorf("%d ticks, %v", tick, err)
	}
}
