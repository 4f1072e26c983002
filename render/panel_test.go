package render

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestAppendBytes_IsAlwaysAsWide(t *testing.T) {
	for v, want := range map[uint64]string{
		0: "     0 B  ", 512: "   512 B  ", 1023: "  1023 B  ", 1024: "   1.0 KiB", 1536: "   1.5 KiB",
		1<<20 - 1: "1023.9 KiB", 1 << 20: "   1.0 MiB", 12<<30 + 1<<29: "  12.5 GiB", math.MaxUint64: "  15.9 EiB",
	} {
		if got := string(AppendBytes(nil, v)); got != want || len(got) != BytesWidth {
			t.Errorf("%d: %q, want %q", v, got, want)
		}
	}
	for v := uint64(1); v != 0; v <<= 1 {
		if a, b := AppendBytes(nil, v), AppendBytes(nil, v-1); len(a) != BytesWidth || len(b) != BytesWidth {
			t.Errorf("%q %q", a, b)
		}
		if a, b := AppendCount(nil, v), AppendCount(nil, v-1); len(a) != CountWidth || len(b) != CountWidth {
			t.Errorf("%q %q", a, b)
		}
	}
}

func TestAppendNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"    -7":   string(AppendInt(nil, -7, 6)),
		"123456":   string(AppendInt(nil, 123456, 3)),
		"x  16.67": string(AppendFixed([]byte("x"), 16.666, 2, 7)),
		"   -":     string(AppendFixed(nil, math.NaN(), 2, 4)),
		"  7%":     string(AppendPercent(nil, 0.07)),
		"100%":     string(AppendPercent(nil, 1)),
		" 99999":   string(AppendCount(nil, 99999)),
		"  123k":   string(AppendCount(nil, 123456)),
		"  4.5M":   string(AppendCount(nil, 4_567_890)),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLevel_ChangesColourWithTheBudget(t *testing.T) {
	accent := RGB(0x4fd1ff)
	for _, c := range []struct {
		l    Level
		want Color
	}{
		{Level{Used: 74, Budget: 100, Capacity: 1000}, accent},
		{Level{Used: 75, Budget: 100, Capacity: 1000}, Amber},
		{Level{Used: 89, Budget: 100, Capacity: 1000}, Amber},
		{Level{Used: 90, Budget: 100, Capacity: 1000}, Red},
		{Level{Used: 900, Budget: 0, Capacity: 1000}, Red},
		{Level{Used: 5}, accent},
	} {
		if got := c.l.Color(accent); got != c.want {
			t.Errorf("%+v: %v", c.l, got)
		}
	}
}

func TestPanel_BarStaysInItsTrack(t *testing.T) {
	a, f := testFont(t)
	for _, l := range []Level{{}, {Used: 1, Capacity: 1 << 40}, {Used: 9, Peak: 12, Budget: 20, Capacity: 5}, {5, 10, 10, 10}} {
		q := batch(a, 50, View{1, 0, 0})
		p := Panel{Q: q, Font: f}
		p.Bar(10, 10, 100, 8, l, White)
		for _, v := range q.Vertices() {
			if v.DstX < 10 || v.DstX > 110 || v.DstY < 9 || v.DstY > 19 {
				t.Errorf("%+v: vertex at %v,%v", l, v.DstX, v.DstY)
			}
		}
	}
}

func TestSparkline_EndsAtTheRightEdgeOnAScaleThatRarelyChanges(t *testing.T) {
	a, f := testFont(t)
	for _, c := range []struct {
		curve []float32
		of    int
		left  float32 // where it begins
		last  float32 // how high it ends
	}{
		{[]float32{0, 1, 2, 3}, 4, 10, 10 + 20*(1-3.0/4)},
		{[]float32{3, 3}, 5, 85, 10 + 20*(1-3.0/4)}, // two of five are there
		{[]float32{-1, float32(math.NaN()), 2.5}, 3, 10, 10 + 20*(1-2.5/4)},
		{[]float32{0, 2.5, float32(math.NaN())}, 3, 10, 30},
		{[]float32{1, float32(math.Inf(1))}, 2, 10, 10},
	} {
		q := batch(a, 100, View{1, 0, 0})
		p := Panel{Q: q, Font: f}
		p.Sparkline(10, 10, 100, 20, c.curve, c.of, 0, White)
		v := q.Vertices()[VertsPerQuad:] // behind the base line
		area := v[:2*len(c.curve)]
		if got := area[len(area)-2]; area[0].DstX != c.left || got.DstX != 110 || float64(got.DstY-c.last) > 1e-3 || float64(got.DstY-c.last) < -1e-3 {
			t.Errorf("%v: from %v to %v at %v, want from %v at %v", c.curve, area[0].DstX, got.DstX, got.DstY, c.left, c.last)
		}
		for _, x := range v {
			if !(x.DstY >= 9 && x.DstY <= 31) {
				t.Errorf("%v: a vertex at %v", c.curve, x.DstY)
			}
		}
	}
	for _, curve := range [][]float32{nil, {1}, {0, 0}} {
		q := batch(a, 100, View{1, 0, 0})
		p := Panel{Q: q, Font: f}
		if p.Sparkline(10, 10, 100, 20, curve, 0, 0, White); q.Len() != VertsPerQuad {
			t.Errorf("%v is drawn", curve)
		}
	}
}

func TestGauge_IsLogarithmicAndStaysInItsTrack(t *testing.T) {
	for v, want := range map[uint64]float32{0: 0, 1: 0, 1 << 10: 0, 1 << 20: 0.5, 1 << 30: 1, 1 << 40: 1, 32 << 10: 0.25} {
		if got := GaugeAt(v); got != want {
			t.Errorf("%d lies at %v, want %v", v, got, want)
		}
	}
	accent := RGB(0x4fd1ff)
	a, f := testFont(t)
	for _, c := range []struct {
		g    Gauge
		want Color
	}{
		{Gauge{}, accent},
		{Gauge{InUse: 90, Committed: 50, Budget: 100}, accent}, // the budget limits what is committed
		{Gauge{InUse: 1, Committed: 76, Budget: 100}, Amber},
		{Gauge{InUse: 1, Committed: 90, Budget: 100, Peak: 1 << 62}, Red},
		{Gauge{1 << 60, 1 << 60, 1 << 61, 1 << 60}, accent},
	} {
		if got := c.g.Color(accent); got != c.want {
			t.Errorf("%+v: %v", c.g, got)
		}
		q := batch(a, 50, View{1, 0, 0})
		p := Panel{Q: q, Font: f}
		p.Gauge(10, 10, 100, 8, c.g, White)
		for _, v := range q.Vertices() {
			if v.DstX < 10 || v.DstX > 110 || v.DstY < 9 || v.DstY > 19 {
				t.Errorf("%+v: vertex at %v,%v", c.g, v.DstX, v.DstY)
			}
		}
	}
}

// On the smallest page there are two sizes, the larger ones being stretched; where not even one fits it
// is an error.
func TestNewFont_BakesTheSizesThatFit(t *testing.T) {
	a, err := newAtlas(AtlasConfig{Page: MinPage}, newMemPage(MinPage))
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFont(a)
	if err != nil || f.sizes != 2 {
		t.Fatalf("%d sizes, %v", f.sizes, err)
	}
	for _, scale := range []float32{1, 2, 5} {
		q := batch(a, 2, View{scale, 0, 0})
		if q.Text(f, 0, 0, 1, White, "x"); q.Len() != VertsPerQuad || q.Vertices()[1].DstX != GlyphW*scale {
			t.Errorf("at %v: %d vertices", scale, q.Len())
		}
	}
	for id := 0; err == nil; id++ {
		_, err = a.Reserve(id, 200, 80)
	}
	if _, err := NewFont(a); !errors.Is(err, ErrAtlasFull) {
		t.Errorf("a font on a full page: %v", err)
	}
}

func TestText_LayoutAndMissingGlyphs(t *testing.T) {
	a, f := testFont(t)
	q := batch(a, 50, View{2, 5, 7})
	q.Text(f, 10.3, 10.3, 1, White, "a b\nc")
	v := q.Vertices()
	if len(v) != 3*VertsPerQuad {
		t.Fatalf("%d vertices; a space draws nothing", len(v))
	}
	if v[0].DstX != 26 || v[0].DstY != 28 || v[4].DstX != 26+2*12 || v[8].DstX != 26 || v[8].DstY != 28+32 {
		t.Errorf("cells at %v,%v %v %v,%v", v[0].DstX, v[0].DstY, v[4].DstX, v[8].DstX, v[8].DstY)
	}
	if w := v[0].SrcX - v[1].SrcX; w != -12 {
		t.Errorf("a cell at scale 2 shows %v texels", w)
	}
	if f.glyph('漢') != f.glyph('▯') || f.glyph('\x01') != f.glyph('▯') {
		t.Error("a missing glyph is not ▯")
	}
	if Width("µs×4", 2) != 48 {
		t.Errorf("width %v", Width("µs×4", 2))
	}
	if !q.Text(nil, 0, 0, 1, White, "x") || !q.Text(f, 0, 0, 0, White, "x") {
		t.Error("no font, no size: nothing to draw, nothing dropped")
	}
}

// Every character that the package itself prints has a glyph.
func TestFont_HasWhatItNeeds(t *testing.T) {
	_, f := testFont(t)
	for _, r := range "×▲µ▼•…█→≤∞°" {
		if f.glyph(r) == f.glyph('▯') {
			t.Errorf("%q is missing", r)
		}
	}
	for _, r := range symbols {
		if n := strings.Count(symbols, string(r)); n != 1 {
			t.Errorf("%q is there %d times", r, n)
		}
	}
}

func TestPanel_FixedHasSixDigitsAtMost(t *testing.T) {
	a, f := testFont(t)
	drawn := func(prec int) int {
		q := batch(a, 100, View{1, 0, 0})
		p := Panel{Q: q, Font: f}
		p.Fixed(90, 8, PanelText, 0.123456789, prec, "")
		return q.Len() / VertsPerQuad
	}
	for prec, want := range map[int]int{0: 1, 1: 3, 6: 8, 7: 8, 300: 8} {
		if n := drawn(prec); n != want {
			t.Errorf("%d digits: %d characters, want %d", prec, n, want)
		}
	}
}

func TestFrame_NothingAllocates(t *testing.T) {
	a, f := testFont(t)
	q := batch(a, 8000, View{2, 0, 0})
	verts, indices := q.verts, q.indices
	var curve [240]float32
	for i := range curve {
		curve[i] = float32(i)
	}
	var buf [64]byte
	draw := func() {
		q.Begin(verts, indices, a, View{2, 0, 0})
		q.Sprite(a.Lookup(1), 1, 2, 3, 4, 0.5, White)
		q.Ring(10, 10, 50, 4, 0, 0, White)
		q.Tiles(a.Placeholder(), 0, 0, 100, 100, 3, 3, 1, White)
		q.Text(f, 1, 1, 1, White, "score 12345 ×4 µs")
		q.TextBytes(f, 1, 1, 1, White, AppendBytes(AppendFixed(buf[:0], 16.6, 2, 8), 123456))
		p := NewPanel(q, f, 8, 8, 30, 20, Amber)
		p.Label(8, 8, PanelText, "Frame")
		p.Int(90, 8, PanelText, -12345)
		p.Fixed(90, 8, PanelText, 16.67, 2, "ms")
		p.Bytes(90, 8, PanelText, 123456789)
		p.Count(90, 8, PanelText, 1234567)
		p.Bar(8, 24, 100, 6, Level{50, 60, 80, 100}, Amber)
		p.Sparkline(8, 40, 100, 20, curve[:], 0, 0, Amber)
		p.Gauge(8, 60, 100, 6, Gauge{50, 60, 80, 100}, Amber)
	}
	if n := testing.AllocsPerRun(100, draw); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	if q.Dropped != 0 {
		t.Errorf("dropped %d", q.Dropped)
	}
}

func BenchmarkPanel(b *testing.B) {
	a, f := testFont(b)
	q := batch(a, 20000, View{2, 0, 0})
	verts, indices := q.verts, q.indices
	var curve [240]float32
	for i := range curve {
		curve[i] = float32(i % 40)
	}
	b.ReportAllocs()
	for b.Loop() { // eight rows, as many as there are tiers
		q.Begin(verts, indices, a, View{2, 0, 0})
		p := NewPanel(q, f, 8, 8, 60, 40, Amber)
		for i := range 8 {
			y := float32(24 + 24*i)
			p.Swatch(8, y, Amber)
			p.Label(18, y, PanelText, "Frame")
			p.Bytes(160, y, PanelText, 123456789)
			p.Bytes(240, y, PanelText, 123456789)
			p.Count(300, y, PanelText, 1234567)
			p.Bar(8, y+16, 150, 6, Level{50, 60, 80, 100}, Amber)
			p.Sparkline(310, y, 96, 20, curve[:], 0, 0, Amber)
		}
	}
	b.ReportMetric(float64(q.Len()), "vertices")
}

func TestFontLarge_BakesTitleLettersBeyondFontSizes(t *testing.T) {
	a, err := NewAtlas(AtlasConfig{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFont(a)
	if err != nil {
		t.Fatal(err)
	}
	small := f.at('S', 18)
	if err := f.Large(a, "ST", 18); err != nil {
		t.Fatal(err)
	}
	if r := f.at('S', 18); r == small || r.X1-r.X0 != 18*GlyphW || r.Y1-r.Y0 != 18*GlyphH {
		t.Errorf("at 18 pixels a dot: %v", r)
	}
	if f.at('S', 4) != small || f.at('A', 18).X1-f.at('A', 18).X0 != bakes*GlyphW {
		t.Error("small text, or a letter that was not asked for, changed")
	}
	if err := f.Large(a, "S", bakes); err == nil {
		t.Error("letters that are there already were baked")
	}
}

func TestFontLarge_WithoutLettersDoesNothing(t *testing.T) {
	a, f := &Atlas{packer: packer{size: MinPage}}, &Font{}
	if err := f.Large(a, "", 18); err != nil || len(f.large) != 0 || a.Free() != MinPage*MinPage {
		t.Errorf("%v, %d letters", err, len(f.large))
	}
}

func TestFontLarge_OfLettersBakedTwiceThoseThatFitAreTaken(t *testing.T) {
	a, err := NewAtlas(AtlasConfig{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFont(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{18, 8} {
		if err := f.Large(a, "S", k); err != nil {
			t.Fatal(err)
		}
	}
	for k, want := range map[float32]float32{4: 4, 5: 8, 6: 8, 8: 8, 9: 18, 18: 18, 30: 18} {
		if w := f.at('S', k).W() / GlyphW; w != want {
			t.Errorf("at %v pixels a dot there are %v texels; want %v", k, w, want)
		}
	}
}
