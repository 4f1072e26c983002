package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/pool"
)

const (
	width, height = 640, 360
	burst         = 240 // sparks of a rocket
	life          = 110 // ticks of a spark
	gravity       = .035
)

// An Input is all that a tick takes from outside: a Rewind keeps it and plays it again.
type Input struct {
	Click bool
	X, Y  int32
}

// A Spark is a value of a pool, so it has no Go pointer. Left is the number of ticks until it is gone, or until a Rocket
// bursts.
type Spark struct {
	X, Y, VX, VY float32
	Born         uint64
	Left         int32
	Hue          uint8
	Rocket       bool
}

// A Sky is the whole state.
type Sky struct {
	sparks *pool.Pool[Spark]
	random engine.Rand
	tick   uint64
}

func (s *Sky) step(in *Input) error {
	s.tick++
	if in.Click {
		s.start(float32(in.X), float32(in.Y))
	} else if s.tick%30 == 1 {
		s.start(s.random.Range(80, width-80), s.random.Range(50, 170))
	}
	for h, p := range s.sparks.All() {
		if p.Born == s.tick {
			continue // of a rocket that has burst in this tick
		}
		p.X, p.Y, p.VY, p.Left = p.X+p.VX, p.Y+p.VY, p.VY+gravity, p.Left-1
		if !p.Rocket {
			p.VX, p.VY = p.VX*.98, p.VY*.98
		}
		if p.Left > 0 {
			continue
		}
		if p.Rocket {
			s.burst(*p)
		}
		s.sparks.Free(h)
	}
	return nil
}

// start sends a rocket from the ground to a place, at which it bursts.
func (s *Sky) start(x, y float32) {
	rise := max(height-y, 20)
	ticks := math.Sqrt(float64(2 * rise / gravity)) // it arrives without speed
	s.add(Spark{
		X: x, Y: height, VY: -gravity * float32(ticks), Left: int32(ticks), Hue: uint8(s.random.Intn(len(hues))), Rocket: true,
	})
}

func (s *Sky) burst(rocket Spark) {
	for range burst {
		to := s.random.Disc().Mul(2.6)
		s.add(Spark{X: rocket.X, Y: rocket.Y, VX: to[0], VY: to[1], Left: life/2 + int32(s.random.Intn(life/2)), Hue: rocket.Hue})
	}
}

// add makes a spark, or none if the pool is full. One spark less among 8192 is not visible.
func (s *Sky) add(spark Spark) {
	if _, p, err := s.sparks.New(); err == nil {
		*p = spark
		p.Born = s.tick
	}
}

func input() Input {
	x, y := ebiten.CursorPosition()
	in := Input{Click: inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonLeft)}
	if in.Click {
		in.X, in.Y = int32(x), int32(y)
	}
	return in
}

// load reads a file of S. The past is forgotten, and begins with the state of the file.
func (g *Game) load(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(g.set.Read(file, nil), file.Close())
}

// say shows the player what became of a key.
func (g *Game) say(done string, err error) {
	g.said = done
	if err != nil {
		g.said = err.Error()
	}
}

var hues = []color.RGBA{{255, 120, 80, 255}, {255, 210, 90, 255}, {120, 220, 255, 255}, {200, 140, 255, 255}, {140, 255, 160, 255}}

func (g *Game) Draw(screen *ebiten.Image) {
	screen.Fill(color.RGBA{8, 10, 24, 255})
	for _, p := range g.sparks.All() {
		fade := float32(1)
		if !p.Rocket {
			fade = min(float32(p.Left)/(life/2), 1)
		}
		for back := range 4 { // a trail of where it was
			dim, size := fade*(1-float32(back)*.25), 2.2-float32(back)*.3
			hue := hues[p.Hue]
			hue = color.RGBA{uint8(float32(hue.R) * dim), uint8(float32(hue.G) * dim), uint8(float32(hue.B) * dim), uint8(255 * dim)}
			vector.FillRect(screen, p.X-p.VX*float32(2*back)-size/2, p.Y-p.VY*float32(2*back)-size/2, size, size, hue, false)
		}
	}
	now, oldest := g.past.Now(), g.past.Oldest()
	const bar, most = 200, 7200 // two minutes
	vector.FillRect(screen, 10, height-14, bar, 4, color.RGBA{40, 46, 70, 255}, false)
	vector.FillRect(screen, 10, height-14, bar*min(float32(now-oldest)/most, 1), 4, color.RGBA{120, 220, 255, 255}, false)
	states, used, _ := g.past.States()
	ebitenutil.DebugPrint(screen, fmt.Sprintf("hold R: rewind   S: save   L: load   click: a rocket   %s\ntick %d, %d sparks; the past: %d ticks, %d states, %.1f MiB",
		g.said, g.tick, g.sparks.Len(), now-oldest, states, float64(used)/(1<<20)))
}

func (g *Game) Layout(int, int) (int, int) { return width, height }
