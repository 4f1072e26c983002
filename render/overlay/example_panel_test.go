package overlay_test

import (
	"fmt"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// A game adds a figure to the strip and a panel of its own, which opens by a key as the others do.
func ExampleOverlay_Add() {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	o, err := overlay.New(m, overlay.Config{})
	if err != nil {
		panic(err)
	}
	defer o.Close()

	paths := 0
	o.Meter().Monitor("paths", "", func() float64 { return float64(paths) })
	panel, err := o.Add(overlay.Panel{
		Title: "paths", Key: ebiten.KeyG, Cols: 20, Rows: 6,
		Draw: func(p *render.Panel) { paths++ },
	})
	if err != nil {
		panic(err)
	}

	screen := ebiten.NewImage(1280, 720) // of a game: the parameter of Draw
	for _, open := range []bool{false, true} {
		o.Show(panel, open)
		if err := m.NextFrame(); err != nil {
			panic(err)
		}
		o.Update()
		o.Draw(screen)
		fmt.Println("open:", o.Shown(panel), "drawn:", paths)
	}
	if err := m.EndFrame(); err != nil {
		panic(err)
	}
	// Output:
	// open: false drawn: 0
	// open: true drawn: 1
}

// Without a manager the overlay shows the process and Go's heap. Covers says what a click would hit.
func ExampleOverlay_Covers() {
	o, err := overlay.New(nil, overlay.Config{Corner: overlay.BottomLeft})
	if err != nil {
		panic(err)
	}
	defer o.Close()
	screen := ebiten.NewImage(1280, 720)
	o.Show(overlay.Memory, true)
	o.Update()
	o.Draw(screen)
	fmt.Println("corner of the overlay:", o.Covers(20, 700, 1, 1))
	fmt.Println("the HUD's corner:", o.Covers(1200, 20, 1, 1))
	// Output:
	// corner of the overlay: true
	// the HUD's corner: false
}
