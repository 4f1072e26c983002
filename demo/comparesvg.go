package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The picture of -compare, in pixels: a line for each contestant in each figure, its name on the left.
const (
	barsWidth = 860
	barsLeft  = 150
	barsRight = 150
	barsTop   = 74
	barHeight = 13
	barsGap   = 12 // between figures
	headRoom  = 24 // above a section
)

// Colours that are distinguishable without colour vision, on a light and on a dark background.
const barsStyle = `<style>
.ground{fill:#fff}.text{fill:#212529}.faint{fill:#5c636a}.reach{stroke:#212529}
.tiers{fill:#2b8a3e}.again{fill:#868e96}.goheap{fill:#d9480f}.pooled{fill:#1971c2}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9da7b1}.reach{stroke:#e6edf3}
.tiers{fill:#69db7c}.again{fill:#adb5bd}.goheap{fill:#ff922b}.pooled{fill:#74c0fc}}
</style>
`

// drawComparison draws each figure of each contestant as a bar: the median, with a stroke from the least to the
// greatest of the rounds, and the words of the table. Each figure has a scale of its own.
func drawComparison(w io.Writer, title string, all []trials) error {
	var b strings.Builder
	y := barsTop
	for i := range figures {
		f := &figures[i]
		if i == 0 || f.section != figures[i-1].section {
			y += headRoom
			fmt.Fprintf(&b, `<text class="text" x="16" y="%d" font-weight="bold">%s</text>`+"\n", y-10, escaped(f.section))
		}
		fmt.Fprintf(&b, `<text class="text" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", barsLeft-10, y+len(all)*barHeight/2+4, escaped(f.name))
		for k := range all {
			bar(&b, all, k, f, y+k*barHeight)
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
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="56" width="12" height="12"/><text class="text" x="%d" y="66">%s</text>`+"\n", all[k].class, x, x+18, all[k].name)
	}
	return b.String()
}

// most returns the greatest of a figure in all rounds of all contestants.
func (f *figure) most(all []trials) float64 {
	m := 1e-9
	for k := range all {
		_, _, greatest := all[k].median(f.of)
		m = max(m, greatest)
	}
	return m
}

// bar draws one contestant's figure.
func bar(b *strings.Builder, all []trials, k int, f *figure, y int) {
	t, scale := &all[k], f.most(all)
	mid, least, greatest := t.median(f.of)
	x := func(v float64) float64 { return barsLeft + v/scale*(barsWidth-barsLeft-barsRight) }
	fmt.Fprintf(b, `<g><title>%s: %s</title>`, t.name, f.cell(t))
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>`, t.class, barsLeft, y, max(x(mid)-barsLeft, 1), barHeight-2)
	middle := float64(y) + (barHeight-2)/2.0
	fmt.Fprintf(b, `<line class="reach" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke-width="1.5"/>`, x(least), middle, x(greatest), middle)
	words := fmt.Sprintf("±%.1f %% tie", 100*f.spread(all))
	if k != 1 {
		words = f.verdict(all, k)
	}
	fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%d" font-size="10">`+f.format+" %s</text></g>\n", max(x(mid), x(greatest))+6, y+9, mid, words)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
