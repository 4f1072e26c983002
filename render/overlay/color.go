package overlay

import (
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// tierColors are the colors of the tiers, as package tiers has them.
var tierColors = func() (colors [tiers.Count]render.Color) {
	for t := range tiers.Tier(tiers.Count) {
		colors[t] = render.RGB(t.Info().Color)
	}
	return colors
}()

// What is no tier is grey: the Go heap lighter than the rest.
var (
	goColor   = render.RGB(0xb4bcc8)
	restColor = render.RGB(0x6b7482)
	tagColor  = render.RGB(0xe8edf4)
	good      = render.RGB(0x8be36b)
)

// colorOf is the accent of a row.
func colorOf(w *meter.Row) render.Color {
	switch w.Kind {
	case meter.TierRow:
		return tierColors[w.Tier]
	case meter.GoRow:
		return goColor
	case meter.RestRow:
		return restColor
	case meter.PoolRow:
		return tierColors[tiers.Pools]
	}
	return tagColor
}

// alarm returns c, or amber or red if the share of a limit is nearly used up.
func alarm(c render.Color, share float64) render.Color {
	switch {
	case share >= meter.FullAt:
		return render.Red
	case share >= meter.TightAt:
		return render.Amber
	}
	return c
}
