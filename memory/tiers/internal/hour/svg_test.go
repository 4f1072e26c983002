package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// Seven samples are drawn as in the file, and ten minutes as a picture with each curve.
func TestSVG_IsThePictureOfTheseSamples(t *testing.T) {
	samples := detailed(600)
	var out bytes.Buffer
	if err := svg(&out, samples[:7]); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/curves.svg")
	if err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, want)
	}
	out.Reset()
	if err := svg(&out, samples); err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && strings.HasPrefix(e.Name.Local, "poly") {
			drawn++
		}
	}
	if drawn != len(curves) || bytes.Contains(out.Bytes(), []byte("NaN")) || bytes.Contains(out.Bytes(), []byte("%!")) {
		t.Errorf("%d curves of %d; %d bytes", drawn, len(curves), out.Len())
	}
}

func TestSVG_WhatCannotBeWrittenIsAnError(t *testing.T) {
	if err := svg(&broken{failAt: 1}, detailed(7)); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestCurves_AreOfTheseFigures(t *testing.T) {
	s := sample{Asked: [2]uint64{1, 2}, Tiers: [2]memory.Stats{{Committed: 10, InUse: 3}, {Committed: 200, InUse: 40}}}
	want := map[string]uint64{"in use": 43, "committed": 210, "committed, large": 200, "committed, slab": 10}
	for _, c := range curves {
		if got := c.of(s); got != want[c.name] {
			t.Errorf("%s: %d, want %d", c.name, got, want[c.name])
		}
	}
	if len(curves) != len(want) || s.asked() != 3 {
		t.Errorf("%d curves, %d bytes", len(curves), s.asked())
	}
}

func TestPlot_HasTheHighestValueASixteenthBelowTheEdge(t *testing.T) {
	s := made(11, map[int]uint64{0: 100, 5: 3200, 6: 7})
	p := newPlot(s)
	if p.most != 3400 || newPlot(nil).most != 1 {
		t.Errorf("%d, and %d without a sample", p.most, newPlot(nil).most)
	}
	for second, want := range map[int]float64{0: 64, 5: 407, 10: 750} {
		if x := p.x(second); x != want {
			t.Errorf("second %d is at %v, want %v", second, x, want)
		}
	}
	for bytes, want := range map[uint64]float64{0: 340, 1700: 192, 3400: 44} {
		if y := p.y(bytes); y != want {
			t.Errorf("%d bytes are at %v, want %v", bytes, y, want)
		}
	}
	if x := newPlot(s[:1]).x(0); x != 64 {
		t.Errorf("the only sample is at %v", x)
	}
	if x := newPlot(s[:2]).x(1); x != 750 {
		t.Errorf("the second of two is at %v", x)
	}
}

func TestPlot_SaysHowLongItIs(t *testing.T) {
	for seconds, want := range map[int]string{60: "1 minutes", 5999: "100 minutes", 6000: "1.7 hours", 86_400: "24.0 hours"} {
		if got := newPlot(made(seconds, nil)).span(); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}

// labels are the numbers at the axes.
func labels(p plot) string {
	var b strings.Builder
	p.axes(&b)
	var all []string
	for part := range strings.SplitSeq(b.String(), "</text>") {
		all = append(all, part[strings.LastIndexByte(part, '>')+1:])
	}
	return strings.Join(all, " ")
}

func TestAxes_HaveUpToSixStepsUpAndEightAcross(t *testing.T) {
	for want, p := range map[string]plot{
		"0 1 2 3 4 5 6 0 1 2 3 4 5 6 7 8 \n": {samples: make([]sample, 8*60), most: 6 << 20},
		"0 2 4 6 0 2 4 6 8 \n":               {samples: make([]sample, 9*60), most: 7 << 20},
	} {
		if got := labels(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRound_IsOneTwoOrFiveTimesAPowerOfTen(t *testing.T) {
	for v, want := range map[float64]float64{0: 0.01, 0.01: 0.01, 0.011: 0.02, 0.03: 0.05, 0.9: 1, 1.1: 2, 2.1: 5, 5.1: 10, 11: 20, 70: 100} {
		if got := round(v); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}

// spiky are two values and a half for each pixel, 5 but for one low and one high among them.
func spiky() plot {
	s := make([]sample, 5*(width-left-right)/2)
	for i := range s {
		s[i].Tiers[1].InUse = 50
	}
	s[100].Tiers[1].InUse, s[103].Tiers[1].InUse = 0, 100
	return plot{samples: s, most: 100}
}

func TestPoints_NoSpikeIsLostBetweenTwo(t *testing.T) {
	p := spiky()
	at := func(i int, y float64) string { return fmt.Sprintf("%.1f,%.1f", p.x(i), y) }
	high, low := []string{}, []string{}
	for i := 0; i < len(p.samples); i += 2 {
		hi, lo := 192.0, 192.0
		switch i {
		case 100:
			lo = 340
		case 102:
			hi = 44
		}
		high, low = append(high, at(i, hi)), append([]string{at(i, lo)}, low...)
	}
	if got, want := p.points(curve{of: sample.inUse}), strings.Join(high, " "); got != want {
		t.Errorf("a line:\n%s\nwant\n%s", got, want)
	}
	if got, want := p.points(curve{area: true, of: sample.inUse}), strings.Join(append(high, low...), " "); got != want {
		t.Errorf("an area:\n%s\nwant\n%s", got, want)
	}
}
