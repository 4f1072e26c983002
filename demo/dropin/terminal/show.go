package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

const barWidth = 20 // cells

var (
	plain = tcell.StyleDefault
	dim   = plain.Foreground(tcell.ColorGray)
	grows = plain.Foreground(tcell.ColorYellow)
	tight = plain.Foreground(tcell.ColorRed)
)

// show paints a row for each tier, the Go heap, the rest and each tag, and below them the verdict.
func show(screen tcell.Screen, watch *meter.Meter) {
	screen.Clear()
	t := watch.Times()
	text(screen, 0, fmt.Sprintf("%.0f frames a second, worst %v; q ends", t.Rate, t.Most.Round(time.Millisecond)), dim)
	text(screen, 2, fmt.Sprintf("%-14s %10s %9s %11s  %s", "", "in use", "allocs/s", "growth/s", "of its budget"), dim)
	y := 3
	for i := range watch.Rows() {
		r := &watch.Rows()[i]
		share := r.Tight()
		if r.Kind == meter.TierRow && r.Tier == tiers.Frame {
			share = watch.Verdict().Frame // its buffers are committed from the first frame on, used or not
		}
		row(screen, y, r, share)
		y++
	}
	for i, answer := range strings.Split(watch.Verdict().String(), "; ") {
		text(screen, y+1+i, answer, plain.Bold(true))
	}
	screen.Show()
}

func row(screen tcell.Screen, y int, r *meter.Row, share float64) {
	style, growth := plain, "-"
	if r.Grows() {
		style, growth = grows, memory.FormatBytes(uint64(r.Growth))
	}
	if share >= meter.TightAt {
		style = tight
	}
	end := text(screen, y, fmt.Sprintf("%-14.14s %10s %9.0f %11s  ", r.Name, memory.FormatBytes(r.InUse), r.Allocs, growth), style)
	for i := range int(share * barWidth) {
		screen.SetContent(end+i, y, '█', nil, style)
	}
}

// text writes s in line y and returns the column behind it.
func text(screen tcell.Screen, y int, s string, style tcell.Style) (x int) {
	for _, r := range s {
		screen.SetContent(x, y, r, nil, style)
		x++
	}
	return x
}
