package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The picture, in pixels: the curves have the rectangle within the margins.
const (
	width, height           = 900, 380
	left, right, top, floor = 64, 150, 44, 40
)

// A curve is a line of the picture, or what rises and falls many times a minute: an area, from
// the lowest value to the highest.
type curve struct {
	name, color string
	area        bool
	of          func(sample) uint64
}

var curves = []curve{
	{"in use", "#74c0fc", true, sample.inUse},
	{"committed", "#d9480f", false, sample.committed},
	{"committed, large", "#495057", false, func(s sample) uint64 { return s.Tiers[1].Committed }},
	{"committed, slab", "#9c36b5", false, func(s sample) uint64 { return s.Tiers[0].Committed }},
}

// svg draws the curves: the lowest and the highest value of each few seconds, so that a spike
// is not lost between two points.
func svg(w io.Writer, samples []sample) error {
	var b strings.Builder
	p := newPlot(samples)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="24" font-size="15" fill="#212529">The general heap over %s: MiB by simulated minute</text>`+"\n", left, p.span())
	p.axes(&b)
	for i, c := range curves {
		shape, fill, stroke := "polyline", "none", c.color
		if c.area {
			shape, fill, stroke = "polygon", c.color, "none"
		}
		fmt.Fprintf(&b, `<%s fill="%s" stroke="%s" stroke-width="1.6" points="%s"><title>%s</title></%[1]s>`+"\n", shape, fill, stroke, p.points(c), c.name)
		y := top + 14 + 20*i
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="3"/>`, width-right+12, y-4, width-right+30, y-4, c.color)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#212529">%s</text>`+"\n", width-right+36, y, c.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// A plot maps samples to the picture.
type plot struct {
	samples []sample
	most    uint64 // bytes at the upper edge
}

func newPlot(samples []sample) plot {
	p := plot{samples: samples, most: 1}
	for _, s := range samples {
		for _, c := range curves {
			p.most = max(p.most, c.of(s))
		}
	}
	p.most += p.most / 16
	return p
}

func (p plot) minutes() float64 { return float64(len(p.samples)) / 60 }

func (p plot) span() string {
	if m := p.minutes(); m < 100 {
		return fmt.Sprintf("%.0f minutes", m)
	}
	return fmt.Sprintf("%.1f hours", p.minutes()/60)
}

func (p plot) x(second int) float64 {
	return left + float64(second)/float64(max(len(p.samples)-1, 1))*(width-left-right)
}

func (p plot) y(bytes uint64) float64 {
	return height - floor - float64(bytes)/float64(p.most)*(height-top-floor)
}

// axes draws both with their numbers and thin lines across.
func (p plot) axes(b *strings.Builder) {
	step := round(mib(p.most) / 6)
	for v := 0.0; v <= mib(p.most); v += step {
		y := p.y(uint64(v * (1 << 20)))
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#dee2e6"/>`, left, y, width-right, y)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end" fill="#495057">%g</text>`+"\n", left-8, y+4, v)
	}
	step = round(p.minutes() / 8)
	for v := 0.0; v <= p.minutes(); v += step {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#495057">%g</text>`+"\n", p.x(int(v*60)), height-floor+20, v)
	}
}

// round returns 1, 2 or 5 times a power of ten, at least v.
func round(v float64) float64 {
	for unit := 0.01; ; unit *= 10 {
		for _, k := range []float64{1, 2, 5} {
			if unit*k >= v {
				return unit * k
			}
		}
	}
}

// points are those of the curve: the highest value under each pixel, and for an area, on the way
// back, the lowest.
func (p plot) points(c curve) string {
	var there, back []string
	per := max(len(p.samples)/(width-left-right), 1)
	for i := 0; i < len(p.samples); i += per {
		some := p.samples[i:min(i+per, len(p.samples))]
		lo, hi := c.of(some[0]), c.of(some[0])
		for _, s := range some {
			lo, hi = min(lo, c.of(s)), max(hi, c.of(s))
		}
		there = append(there, fmt.Sprintf("%.1f,%.1f", p.x(i), p.y(hi)))
		back = append(back, fmt.Sprintf("%.1f,%.1f", p.x(i), p.y(lo)))
	}
	if c.area {
		slices.Reverse(back)
		there = append(there, back...)
	}
	return strings.Join(there, " ")
}
