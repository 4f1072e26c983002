package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// The chart, in pixels: a line for each row, its name on the left, the figures within the margins.
const (
	chartWidth       = 980
	chartLeft        = 360
	chartRight       = 30
	chartTop         = 74
	lineHeight       = 22
	chartFloor       = 34
	chartFont        = "font-family=\"sans-serif\" font-size=\"12\""
	fastest, slowest = 0.1, 100.0 // of Strata's time, at the edges; what lies beyond is drawn there
	dotRadius        = 4.5
)

// Colours that are distinguishable without colour vision, on a light and on a dark background.
const chartStyle = `<style>
.ground{fill:#fff}.text{fill:#212529}.faint{fill:#5c636a}.line{stroke:#dee2e6}.one{stroke:#212529}.band{fill:#ced4da}
.slices{fill:#2b8a3e;stroke:#2b8a3e}.ark{fill:#d9480f;stroke:#d9480f}.donburi{fill:#1971c2;stroke:#1971c2}.floor{fill:#9c36b5;stroke:#9c36b5}.nothing,.tenth,.zeroing{fill:#868e96;stroke:#868e96}.sized{fill:none;stroke:#d9480f}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9da7b1}.line{stroke:#2b323a}.one{stroke:#e6edf3}.band{fill:#3d444d}
.slices{fill:#69db7c;stroke:#69db7c}.ark{fill:#ff922b;stroke:#ff922b}.donburi{fill:#74c0fc;stroke:#74c0fc}.floor{fill:#da77f2;stroke:#da77f2}.nothing,.tenth,.zeroing{fill:#adb5bd;stroke:#adb5bd}.sized{fill:none;stroke:#ff922b}}
</style>
`

// svg draws the cost of each side as a multiple of Strata's. A side right of the line is slower than Strata. The band
// is the A/A spread, and the strokes reach from the least to the greatest of the programs.
func svg(w io.Writer, results []result) error {
	var b strings.Builder
	height := chartTop + lineHeight*len(results) + chartFloor
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" %s>`+"\n", chartWidth, height, chartFont)
	b.WriteString(chartStyle)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", chartWidth, height)
	fmt.Fprintf(&b, `<text class="text" x="16" y="24" font-size="15">What it takes beside Strata (1): left is less, right is more</text>`+"\n")
	legend(&b)
	axis(&b, height-chartFloor)
	for i, r := range results {
		line(&b, r, chartTop+lineHeight*i+lineHeight/2)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func legend(b *strings.Builder) {
	for i, name := range []string{bare, floor, arks, sized, bowl, alone, tenth, zeros} {
		x := 24 + 80*i
		dot(b, name, float64(x), 46)
		fmt.Fprintf(b, `<text class="text" x="%d" y="50">%s</text>`+"\n", x+10, name)
	}
	fmt.Fprintf(b, `<rect class="band" x="700" y="40" width="16" height="12"/><text class="text" x="722" y="50">A/A spread: within it is a draw</text>`+"\n")
}

// axis draws thin lines at 1, 2 and 5 times the powers of ten.
func axis(b *strings.Builder, floor int) {
	for unit := fastest; unit <= slowest; unit *= 10 {
		for _, k := range []float64{1, 2, 5} {
			v := unit * k
			if v > slowest*1.01 {
				return
			}
			class := "line"
			if math.Abs(v-1) < 1e-9 {
				class = "one"
			}
			x := chartX(v)
			fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, class, x, chartTop, x, floor)
			fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%d" text-anchor="middle">%.3g</text>`+"\n", x, floor+20, v)
		}
	}
}

// line draws a row around y.
func line(b *strings.Builder, r result, y int) {
	fmt.Fprintf(b, `<text class="text" x="16" y="%d">%s</text>`, y+4, escaped(r.Row))
	if r.Missing != "" {
		fmt.Fprintf(b, `<text class="faint" x="%d" y="%d">not measured: %s</text>`+"\n", chartLeft, y+4, escaped(r.Missing))
		return
	}
	if r.Failed != "" {
		fmt.Fprintf(b, `<text class="faint" x="%d" y="%d">fails: %s</text>`+"\n", chartLeft, y+4, escaped(r.Failed))
		return
	}
	mine := r.side(ours)
	fmt.Fprintf(b, `<text class="faint" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartLeft-14, y+4, settle.Figure(mine.Median, r.Unit))
	from, to := chartX(1/(1+r.Spread)), chartX(1+r.Spread)
	fmt.Fprintf(b, `<rect class="band" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", from, y-7, max(to-from, 1), 14)
	for _, s := range r.Sides {
		if s.Name == ours || s.Failed != "" || s.Ratio <= 0 {
			continue
		}
		fmt.Fprintf(b, `<g><title>%s: %s, %.2f times Strata's</title>`, s.Name, settle.Figure(s.Median, r.Unit), 1/s.Ratio)
		fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke-width="2"/>`, class(s.Name), chartX(1/s.Utmost), y, chartX(1/s.LeastRatio), y)
		dot(b, s.Name, chartX(1/s.Ratio), y)
		b.WriteString("</g>\n")
	}
}

// class is the style of a side: the first word of its name, or sized.
func class(name string) string {
	if name == sized {
		return "sized"
	}
	first, _, _ := strings.Cut(name, " ")
	return first
}

// dot marks a side: by its colour, and by its shape.
func dot(b *strings.Builder, name string, x float64, y int) {
	switch name {
	case bare, floor:
		fmt.Fprintf(b, `<path class="%s" d="M%.1f %d l5 9 h-10 z"/>`, class(name), x, y-5)
	case bowl:
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%d" width="8" height="8"/>`, class(name), x-4, y-4)
	default:
		fmt.Fprintf(b, `<circle class="%s" cx="%.1f" cy="%d" r="%.1f"/>`, class(name), x, y, dotRadius)
	}
}

// chartX is where a multiple of Strata's time lies.
func chartX(v float64) float64 {
	v = min(max(v, fastest), slowest)
	return chartLeft + math.Log(v/fastest)/math.Log(slowest/fastest)*(chartWidth-chartLeft-chartRight)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
