package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// Ebitengine runs once in a process, so the game that is tested is a process of its own: this binary.
const asGame = "STRATA_DROPIN_GAME"

func TestMain(m *testing.M) {
	if os.Getenv(asGame) != "" {
		if err := play(); err != nil {
			fmt.Println("game:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A watched is the program's game, played for a second.
type watched struct {
	*Game
	began         time.Time
	ticks, differ int
	done          bool
}

func (g *watched) Update() error {
	g.ticks++
	if g.done {
		return ebiten.Termination
	}
	if g.ticks == 10 {
		g.overlay.Show(overlay.Tiers, true)
	}
	return g.Game.Update()
}

// Draw draws the game as the program does, and at the end without the overlay, too, for comparison.
func (g *watched) Draw(screen *ebiten.Image) {
	g.Game.Draw(screen)
	if g.ticks < 30 || g.overlay.Meter().Frames() < 12 || time.Since(g.began) < time.Second || g.done { // a busy machine draws a fifth of the ticks
		return
	}
	g.done = true
	with, without := make([]byte, 4*width*height), make([]byte, 4*width*height)
	screen.ReadPixels(with)
	draw(screen, g.balls, g.near)
	screen.ReadPixels(without)
	for i := 0; i < len(with); i += 4 {
		if string(with[i:i+4]) != string(without[i:i+4]) {
			g.differ++
		}
	}
}

func play() error {
	if err := render.Probe(); err != nil {
		return err
	}
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		return err
	}
	game, err := newGame(m)
	if err != nil {
		return err
	}
	g := &watched{Game: game, began: time.Now()}
	err = errors.Join(ebiten.RunGame(g), g.overlay.Close(), m.Check(), m.EndFrame())
	tag, _ := m.Tag("balls")
	fmt.Printf("figures %d %d %d %d %d %d\n", g.ticks, g.differ, len(g.near), g.balls.Len(), tag.Stats().Live, g.overlay.Meter().Frames())
	return errors.Join(err, m.Close())
}

func TestGame_PlaysWithTheOverlayAndLeavesNothing(t *testing.T) {
	if err := render.Probe(); err != nil {
		testenv.Missing(t, err.Error())
	}
	cmd := testenv.Command(t, os.Args[0])
	cmd.Env = append(cmd.Environ(), asGame+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var ticks, differ, lines, balls, live, frames int
	_, list, _ := strings.Cut(string(out), "figures ")
	if _, err := fmt.Sscan(list, &ticks, &differ, &lines, &balls, &live, &frames); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d ticks, %d frames measured, %d pixels of the overlay, %d lines", ticks, frames, differ, lines)
	if differ < 2000 {
		t.Errorf("%d pixels are the overlay's", differ)
	}
	if balls != ballCount || live != ballCount {
		t.Errorf("%d balls, %d of the tag; want %d", balls, live, ballCount)
	}
	if lines == 0 || lines > mostLines {
		t.Errorf("%d lines in frame memory", lines)
	}
	if frames < 10 {
		t.Errorf("the meter saw %d frames", frames)
	}
}

// The lines with a plus are all of the overlay: without them there is a game, and nothing else is missed.
func TestMain_WithoutThePlusLinesIsAGame(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	var rest strings.Builder
	plus := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "// +") {
			plus++
			continue
		}
		rest.WriteString(line)
	}
	if plus != 9 {
		t.Errorf("%d lines with a plus; the README says six, and three for F5", plus)
	}
	dir := t.TempDir()
	here, err := filepath.Abs("main.go")
	if err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(dir, "main.go")
	list, _ := json.Marshal(map[string]any{"Replace": map[string]string{here: bare}})
	if err := errors.Join(os.WriteFile(bare, []byte(rest.String()), 0o644), os.WriteFile(filepath.Join(dir, "o.json"), list, 0o644)); err != nil {
		t.Fatal(err)
	}
	// It compiles the program and links nothing. The settings are those of this test, which has compiled Ebitengine
	// with them.
	cmd := testenv.Command(t, "go", "list", "-export", "-overlay", filepath.Join(dir, "o.json"), ".")
	cmd.Env = append(cmd.Environ(), "GOOS=", "GOARCH=", "GOEXPERIMENT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
