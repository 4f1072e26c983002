package plan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawSet(t *rapid.T) []Buffer {
	n := rapid.IntRange(0, 40).Draw(t, "n")
	ids := rapid.Permutation(numbers(n)).Draw(t, "ids")
	set := make([]Buffer, n)
	for i := range set {
		birth := rapid.IntRange(-20, 20).Draw(t, "birth")
		set[i] = Buffer{
			ID: ids[i], Size: rapid.UintptrRange(0, 5000).Draw(t, "size"),
			Align: rapid.SampledFrom([]uintptr{0, 1, 4, 16, 64, 256, 4096}).Draw(t, "align"),
			Birth: birth, Death: birth + rapid.IntRange(1, 30).Draw(t, "lifetime"),
		}
	}
	return set
}

func numbers(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}

// loadAt is the bound by its definition: every birth is a moment at which the load may peak.
func loadAt(set []Buffer, u uintptr) (peak uintptr) {
	for _, at := range set {
		sum := uintptr(0)
		for _, b := range set {
			if b.Birth <= at.Birth && at.Birth < b.Death {
				sum += (b.Size + u - 1) / u * u
			}
		}
		peak = max(peak, sum)
	}
	return peak
}

// disjoint holds each pair against each other, with arithmetic of its own.
func disjoint(p *Plan) bool {
	for i, a := range p.buffers {
		for _, b := range p.buffers[:i] {
			together := a.Birth < b.Death && b.Birth < a.Death
			x, y := p.Offset(a.ID), p.Offset(b.ID)
			if together && x < y+b.Size && y < x+a.Size {
				return false
			}
		}
		if p.Offset(a.ID)%a.Align != 0 || p.Offset(a.ID)+a.Size > p.Total() {
			return false
		}
	}
	return true
}

func TestModel_EveryPlanVerifiesAndRespectsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		totals := map[string]uintptr{}
		for name, mode := range modes {
			p, err := mode(set)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := p.Verify(); err != nil || !disjoint(p) {
				t.Fatalf("%s: %v, disjoint %t", name, err, disjoint(p))
			}
			want := uintptr(0)
			if len(set) > 0 {
				want = loadAt(set, unit(p.buffers))
			}
			if p.Bound() != want || p.Total() < want {
				t.Fatalf("%s: bound %d, total %d; the load is %d", name, p.Bound(), p.Total(), want)
			}
			totals[name] = p.Total()
		}
		if totals["Exact"] > totals["Fast"] {
			t.Fatalf("Exact needs %d where Fast needs %d", totals["Exact"], totals["Fast"])
		}
	})
}

// FuzzPlan reads five bytes a buffer: size (two), alignment, birth, lifetime.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5})
	f.Add(slices.Repeat([]byte{0, 9, 2, 1, 7, 1, 0, 0, 3, 2, 2, 8, 4, 2, 9}, 8))
	f.Fuzz(func(t *testing.T, data []byte) {
		var set []Buffer
		for ; len(data) >= 5 && len(set) < 60; data = data[5:] {
			birth := int(data[3] % 32)
			set = append(set, Buffer{
				ID: uint32(len(set)), Size: uintptr(data[0])<<8 | uintptr(data[1]), Align: 1 << (data[2] % 13),
				Birth: birth, Death: birth + 1 + int(data[4]%32),
			})
		}
		for name, mode := range modes {
			p, err := mode(set)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := p.Verify(); err != nil || !disjoint(p) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
