package plan

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawSet(t *rapid.T) []Buffer {
	n := rapid.IntRange(0, 40).Draw(t, "n")
	ids := rapid.Permutation(numbers(n)).Draw(t, "ids")
	if rapid.Bool().Draw(t, "sparse") {
		ids = rapid.SliceOfNDistinct(rapid.Uint32(), n, n, rapid.ID[uint32]).Draw(t, "any ids")
	}
	set := make([]Buffer, n)
	for i := range set {
		birth := rapid.IntRange(-20, 20).Draw(t, "birth")
		set[i] = Buffer{
			ID: ids[i], Size: rapid.UintptrRange(0, 5000).Draw(t, "size"),
			Align: rapid.SampledFrom([]uintptr{0, 1, 4, 16, 64, 256, 4096, 65536, MaxAlign}).Draw(t, "align"),
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
			for _, b := range set {
				if got := p.Buffer(b.ID); !p.Has(b.ID) || got.Size != b.Size || got.Birth != b.Birth || got.ID != b.ID {
					t.Fatalf("%s: Buffer(%d) = %+v", name, b.ID, got)
				}
			}
		}
		if want := firstFit(set); totals["Fast"] > want {
			t.Fatalf("Fast needs %d where largest first, lowest offset needs %d", totals["Fast"], want)
		}
		if totals["Exact"] > totals["Fast"] {
			t.Fatalf("Exact needs %d where Fast needs %d", totals["Exact"], totals["Fast"])
		}
	})
}

// firstFit is what inference engines do: the largest first, each at the lowest offset that is free
// while it lives, found by trying the tops of all others.
func firstFit(set []Buffer) (total uintptr) {
	set, _ = declared(set)
	u := unit(set)
	slices.SortStableFunc(set, func(a, b Buffer) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(b.Death-b.Birth, a.Death-a.Birth))
	})
	offsets := make([]uintptr, len(set))
	for k, b := range set {
		fits := func(off uintptr) bool {
			for i, a := range set[:k] {
				if a.meets(b) && off < offsets[i]+a.Size && offsets[i] < off+b.Size {
					return false
				}
			}
			return true
		}
		off := uintptr(0)
		if !fits(0) {
			off = math.MaxUint
			for i, a := range set[:k] {
				if top := (offsets[i] + a.Size + b.Align - 1) / b.Align * b.Align; top < off && fits(top) {
					off = top
				}
			}
		}
		if offsets[k] = off; b.Size > 0 {
			total = max(total, off+(b.Size+u-1)/u*u)
		}
	}
	return total
}

// The tree of occupied addresses, and that of tops, against a list of what was put in.
func TestModel_SpaceAndTopsAgreeWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sections := int32(rapid.IntRange(1, 40).Draw(t, "sections"))
		s, tops := newSpace(int(sections)), newTops(int(sections))
		type cell struct {
			lo, hi   int32
			off, end uintptr
		}
		var list []cell
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			lo := rapid.Int32Range(0, sections-1).Draw(t, "lo")
			hi := rapid.Int32Range(lo+1, sections).Draw(t, "hi")
			size := rapid.UintptrRange(1, 20).Draw(t, "size")
			a := rapid.SampledFrom([]uintptr{1, 2, 8}).Draw(t, "align")
			var met []cell
			top := uintptr(0)
			for _, c := range list {
				if c.lo < hi && lo < c.hi {
					met, top = append(met, c), max(top, c.end)
				}
			}
			if got := tops.over(lo, hi); got != top {
				t.Fatalf("over(%d, %d) = %d; want %d", lo, hi, got, top)
			}
			lowest, tightest := places(func(x uintptr) bool {
				return slices.ContainsFunc(met, func(c cell) bool { return c.off <= x && x < c.end })
			}, top, size, a)
			s.watch(lo, hi)
			low, tight := s.lowest(0, size, a), s.tightest(size, a)
			if low != lowest || tight != tightest {
				t.Fatalf("[%d, %d) of %d aligned to %d: lowest %d and tightest %d; want %d and %d", lo, hi, size, a, low, tight, lowest, tightest)
			}
			off := rapid.SampledFrom([]uintptr{low, tight}).Draw(t, "off")
			s.occupy(lo, hi, off, off+size)
			tops.raise(lo, hi, off+size)
			list = append(list, cell{lo, hi, off, off + size})
		}
	})
}

// places looks at every address up to top, and above which all is free.
func places(taken func(x uintptr) bool, top, size, a uintptr) (lowest, tightest uintptr) {
	lowest, waste := uintptr(math.MaxUint), uintptr(math.MaxUint)
	tightest = math.MaxUint
	for from := uintptr(0); from <= top; from++ {
		if taken(from) || from > 0 && !taken(from-1) {
			continue // not where a gap begins
		}
		end := from
		for end < top && !taken(end) {
			end++
		}
		off := (from + a - 1) / a * a
		open := end >= top
		if !open && off+size > end {
			continue
		}
		lowest = min(lowest, off)
		if w := end - from - size; !open && w < waste {
			tightest, waste = off, w
		} else if open && waste == math.MaxUint {
			tightest = off
		}
	}
	return lowest, tightest
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
				ID: uint32(len(set)) | uint32(data[2]>>6)<<30, Size: uintptr(data[0])<<8 | uintptr(data[1]), Align: 1 << (data[2] % 22),
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
