package overlay

import (
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// TierColors are the accents by which the tiers are known wherever they appear.
var TierColors = [tiers.Count]render.Color{
	tiers.Static: render.RGB(0x7aa2ff), tiers.Frame: render.RGB(0x5ad1ff), tiers.Level: render.RGB(0x8be36b), tiers.Pools: render.RGB(0xffd166),
	tiers.Slab: render.RGB(0xc792ea), tiers.Large: render.RGB(0xff8fa3), tiers.Inbox: render.RGB(0x4fe0c0),
}

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
		return TierColors[w.Tier]
	case meter.GoRow:
		return goColor
	case meter.RestRow:
		return restColor
	case meter.PoolRow:
		return TierColors[tiers.Pools]
	}
	return tagColor
}

// alarm is c, or amber or red where a share of something that ends is used up.
func alarm(c render.Color, share float64) render.Color {
	switch {
	case share >= meter.FullAt:
		return render.Red
	case share >= meter.TightAt:
		return render.Amber
	}
	return c
}
