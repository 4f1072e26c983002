package render

import (
	"image"
	"slices"
	"testing"
)

// A freed slot is used again if the new region fills at least half of it; of several, the smallest.
func TestPacker_ReusesTheSmallestSlotThatFits(t *testing.T) {
	slots := []slot{{x: 1, w: 40, h: 30}, {x: 2, w: 25, h: 40}, {x: 3, w: 30, h: 36}, {x: 4, w: 90, h: 12}}
	for _, c := range []struct{ w, h, x int }{ // x of the slot, 0 for none
		{25, 30, 2}, // 1,000 pixels are fewer than 1,080, 1,080 and 1,200
		{40, 30, 1}, // the only one that is wide enough
		{30, 31, 3},
		{50, 12, 4},
		{44, 12, 0}, // fills less than half of the only one
		{20, 20, 0},
		{41, 31, 0}, // larger than all
	} {
		p := packer{size: 512, freed: slices.Clone(slots)}
		s, ok := p.reuse(c.w, c.h)
		if ok != (c.x != 0) || s.x != c.x {
			t.Errorf("%d × %d takes slot %d, %v; want %d", c.w, c.h, s.x, ok, c.x)
		}
		if want := len(slots) - min(c.x, 1); len(p.freed) != want || slices.Contains(p.freed, s) {
			t.Errorf("%d × %d leaves %v", c.w, c.h, p.freed)
		}
	}
}

// A cut has half of the pixels on each side, as near as whole bins allow.
func TestCut_HalvesThePixels(t *testing.T) {
	var counts [bins]int
	list := []int{0, 1, 2, 3, 4, 5, 6, 7} // bins in order of their last channel
	axis := 0
	for a := range 3 {
		if channel(7, a) > channel(0, a) {
			axis = a
		}
	}
	for name, n := range map[string][8]int{
		"even":  {5, 5, 5, 5, 5, 5, 5, 5},
		"first": {70, 1, 1, 1, 1, 1, 1, 1},
		"last":  {1, 1, 1, 1, 1, 1, 1, 70},
		"inner": {1, 1, 30, 4, 30, 1, 1, 1},
	} {
		sum := 0
		for b, c := range n {
			counts[b] = c
			sum += c
		}
		a, b := cut{slices.Clone(list), sum}.halve(axis, &counts)
		if len(a.bins)+len(b.bins) != 8 || len(a.bins) == 0 || len(b.bins) == 0 || a.count+b.count != sum {
			t.Fatalf("%s: %v and %v of %d pixels", name, a, b, sum)
		}
		// The cut is where the first side reaches half: without its last bin it has fewer.
		if without := a.count - counts[a.bins[len(a.bins)-1]]; len(a.bins) > 1 && without >= sum/2 || len(b.bins) > 1 && a.count < sum/2 {
			t.Errorf("%s: %v and %v of %d pixels", name, a, b, sum)
		}
	}
}

func TestColor_RGBACoversTheWholeRange(t *testing.T) {
	for v, want := range map[float32]uint32{-1: 0, 0: 0, 0.5: 0x8000, 1: 0xffff, 7: 0xffff} {
		r, g, b, a := Color{v, v, v, v}.RGBA()
		if r != want || g != want || b != want || a != want {
			t.Errorf("%v is %x, %x, %x, %x; want %x", v, r, g, b, a, want)
		}
	}
}

// Half covered texels are lifted, the more the smaller the glyphs; ends and order stay.
func TestEmbolden_LiftsTheMiddleAndKeepsTheEnds(t *testing.T) {
	before := 0
	for k := 4; k >= 1; k-- {
		img := image.NewAlpha(image.Rect(0, 0, 256, 1))
		for i := range img.Pix {
			img.Pix[i] = uint8(i)
		}
		embolden(img, k)
		if img.Pix[0] != 0 || img.Pix[255] != 255 || !slices.IsSorted(img.Pix) {
			t.Errorf("scale %d: ends %d and %d, in order %v", k, img.Pix[0], img.Pix[255], slices.IsSorted(img.Pix))
		}
		if mid := int(img.Pix[128]); mid <= max(128, before) {
			t.Errorf("scale %d: 128 becomes %d; at the next larger scale it is %d", k, mid, before)
		} else {
			before = mid
		}
	}
	img := &image.Alpha{Pix: []uint8{1, 2, 64, 200}, Stride: 4, Rect: image.Rect(0, 0, 4, 1)}
	embolden(img, 1) // 255 * (v/255)^0.6
	if want := []uint8{9, 14, 111, 220}; !slices.Equal(img.Pix, want) {
		t.Errorf("at scale 1: %v; want %v", img.Pix, want)
	}
}

func TestEven_GathersEachBit(t *testing.T) {
	for n := range uint32(1 << 16) {
		want := 0
		for b := range 8 {
			want |= int(n>>(2*b)&1) << b
		}
		if got := even(n); got != want {
			t.Fatalf("even(%#x) = %#x; want %#x", n, got, want)
		}
	}
}
