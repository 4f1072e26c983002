package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The picture of -compare, in pixels: a line for each store in each figure, its name on the left.
const (
	barsWidth = 860
	barsLeft  = 150
	barsRight = 110
	barsTop   = 74
	barHeight = 13
	barsGap   = 12 // between figures
	headRoom  = 24 // above a section
)

// Colours that are distinguishable without colour vision, on a light and on a dark background.
const barsStyle = `<style>
.ground{fill:#fff}.text{fill:#212529}.faint{fill:#5c636a}.reach{stroke:#212529}
.tiers{fill:#2b8a3e}.goheap{fill:#d9480f}.pooled{fill:#1971c2}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9da7b1}.reach{stroke:#e6edf3}
.tiers{fill:#69db7c}.goheap{fill:#ff922b}.pooled{fill:#74c0fc}}
</style>
`

// drawComparison draws each figure of each store as a bar: the median, with a stroke from the least to
// the greatest of the rounds. Each figure has a scale of its own.
func drawComparison(w io.Writer, title string, all []trials) error {
	var b strings.Builder
	y := barsTop
	for i, f := range figures {
		if i == 0 || f.section != figures[i-1].section {
			y += headRoom
			fmt.Fprintf(&b, `<text class="text" x="16" y="%d" font-weight="bold">%s</text>`+"\n", y-10, escaped(f.section))
		}
		fmt.Fprintf(&b, `<text class="text" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", barsLeft-10, y+len(all)*barHeight/2+4, escaped(f.name))
		for k := range all {
			bar(&b, &all[k], f.of, f.format, y+k*barHeight, most(f.of, all))
		}
		y += len(all)*barHeight + barsGap
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n"+
		barsStyle+`<rect class="ground" width="%[1]d" height="%[2]d"/>`+"\n"+
		`<text class="text" x="16" y="24" font-size="15">The same game, its memory in three places: less is better, each figure has its own scale</text>`+"\n"+
		`<text class="faint" x="16" y="43">%[3]s</text>`+"\n%[4]s%[5]s</svg>\n", barsWidth, y+8, escaped(title), barsLegend(all), b.String())
	return err
}

func barsLegend(all []trials) string {
	var b strings.Builder
	for k := range all {
		x := 16 + 90*k
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="56" width="12" height="12"/><text class="text" x="%d" y="66">%[1]s</text>`+"\n", all[k].store, x, x+18)
	}
	return b.String()
}

// most returns the greatest of a figure in all rounds of all stores.
func most(of func(*trial) float64, all []trials) float64 {
	m := 1e-9
	for k := range all {
		_, _, greatest := all[k].median(of)
		m = max(m, greatest)
	}
	return m
}

// bar draws one store's figure.
func bar(b *strings.Builder, t *trials, of func(*trial) float64, format string, y int, scale float64) {
	mid, least, greatest := t.median(of)
	x := func(v float64) float64 { return barsLeft + v/scale*(barsWidth-barsLeft-barsRight) }
	fmt.Fprintf(b, `<g><title>%s: `+format+`, from `+format+` to `+format+`</title>`, t.store, mid, least, greatest)
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>`, t.store, barsLeft, y, max(x(mid)-barsLeft, 1), barHeight-2)
	middle := float64(y) + (barHeight-2)/2.0
	fmt.Fprintf(b, `<line class="reach" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke-width="1.5"/>`, x(least), middle, x(greatest), middle)
	fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%d" font-size="10">`+format+"</text></g>\n", max(x(mid), x(greatest))+6, y+9, mid)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
