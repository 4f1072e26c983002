package main

import (
	"image/color"
	"math/rand/v2"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
)

const (
	width, height = 640, 360
	ballCount     = 120
	mostLines     = 400
	radius        = 4
	reach         = 40 // between balls that have a line
)

// A Ball is a value of a pool, so it has no Go pointer.
type Ball struct{ X, Y, VX, VY float32 }

// A Line connects two balls that are close.
type Line struct{ X0, Y0, X1, Y1 float32 }

// lineType is the proof that a Line has no Go pointer, made once.
var lineType = memory.MustType[Line]()

func fill(balls *pool.Pool[Ball]) error {
	random := rand.New(rand.NewPCG(1, 2))
	for range ballCount {
		_, b, err := balls.New()
		if err != nil {
			return err
		}
		*b = Ball{
			X: random.Float32() * width, Y: random.Float32() * height,
			VX: random.Float32()*4 - 2, VY: random.Float32()*4 - 2,
		}
	}
	return nil
}

func (b *Ball) move() {
	b.X, b.Y = b.X+b.VX, b.Y+b.VY
	if b.X < 0 && b.VX < 0 || b.X > width && b.VX > 0 {
		b.VX = -b.VX
	}
	if b.Y < 0 && b.VY < 0 || b.Y > height && b.VY > 0 {
		b.VY = -b.VY
	}
}

// connect appends a line for each two balls that are close, as long as there is room.
func connect(lines []Line, balls *pool.Pool[Ball]) []Line {
	for a, p := range balls.All() {
		for b, q := range balls.All() {
			dx, dy := q.X-p.X, q.Y-p.Y
			if a.Index() < b.Index() && dx*dx+dy*dy < reach*reach && len(lines) < cap(lines) {
				lines = append(lines, Line{p.X, p.Y, q.X, q.Y})
			}
		}
	}
	return lines
}

func draw(screen *ebiten.Image, balls *pool.Pool[Ball], lines []Line) {
	screen.Fill(color.RGBA{16, 20, 40, 255})
	for _, l := range lines {
		vector.StrokeLine(screen, l.X0, l.Y0, l.X1, l.Y1, 1, color.RGBA{60, 80, 140, 255}, false)
	}
	for _, b := range balls.All() {
		vector.FillRect(screen, b.X-radius, b.Y-radius, 2*radius, 2*radius, color.RGBA{240, 160, 60, 255}, false)
	}
}
