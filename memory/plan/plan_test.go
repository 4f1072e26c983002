package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// frame is a small set with every kind of neighbourhood.
var frame = []Buffer{
	{ID: 2, Size: 300, Align: 4, Birth: 1, Death: 3},
	{ID: 0, Size: 1000, Align: 16, Birth: 0, Death: 2},
	{ID: 1, Size: 500, Align: 64, Birth: 2, Death: 5},
	{ID: 4, Size: 0, Align: 1024, Birth: 0, Death: 5},
	{ID: 3, Size: 100, Align: 4, Birth: 4, Death: 6},
}

func mustFast(t testing.TB, buffers []Buffer) *Plan {
	t.Helper()
	p, err := Fast(buffers)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFast_PlacesLargestFirst(t *testing.T) {
	p := mustFast(t, frame)
	if p.Len() != 5 || p.Total() != 1300 || p.Bound() != 1300 || p.Ratio() != 1 || p.Align() != 1024 {
		t.Errorf("len %d, total %d, bound %d, ratio %v, align %d", p.Len(), p.Total(), p.Bound(), p.Ratio(), p.Align())
	}
	for id, want := range []uintptr{0, 0, 1000, 500, 0} {
		if got := p.Offset(uint32(id)); got != want {
			t.Errorf("buffer %d at %d, want %d", id, got, want)
		}
	}
	if b := p.Buffer(2); b != frame[0] {
		t.Errorf("Buffer(2) = %+v", b)
	}
}

func TestFast_TakesTheTightestGap(t *testing.T) {
	p := mustFast(t, []Buffer{
		{ID: 0, Size: 1000, Align: 1, Birth: 0, Death: 9}, // 0
		{ID: 1, Size: 900, Align: 1, Birth: 0, Death: 1},  // 1000: leaves a gap of 900 later
		{ID: 2, Size: 800, Align: 1, Birth: 0, Death: 9},  // 1900
		{ID: 3, Size: 700, Align: 1, Birth: 0, Death: 1},  // 2700: a gap of 700
		{ID: 4, Size: 600, Align: 1, Birth: 0, Death: 9},  // 3400
		{ID: 5, Size: 500, Align: 1, Birth: 1, Death: 9},
	})
	if got := p.Offset(5); got != 2700 {
		t.Errorf("buffer 5 at %d, want 2700 in the gap of 700 and not at 1000 in that of 900", got)
	}
}

func TestFast_OrderOfTheInputDoesNotMatter(t *testing.T) {
	buffers, _ := cut(7, 200, 10)
	want := mustFast(t, buffers)
	slices.Reverse(buffers)
	if got := mustFast(t, buffers); !slices.Equal(got.offsets, want.offsets) {
		t.Error("the reversed set gives another plan")
	}
}

func TestFast_DoesNotChangeItsInput(t *testing.T) {
	buffers := []Buffer{{ID: 1, Size: 5, Birth: 0, Death: 1}, {ID: 0, Size: 7, Birth: 0, Death: 1}}
	before := slices.Clone(buffers)
	p := mustFast(t, buffers)
	if !slices.Equal(buffers, before) {
		t.Errorf("the input is now %v", buffers)
	}
	if p.Buffer(0).Align != defaultAlign || p.Total() != 32 {
		t.Errorf("align %d, total %d; want 16, 32", p.Buffer(0).Align, p.Total())
	}
}

func TestFast_EdgesOfTheSet(t *testing.T) {
	if p := mustFast(t, nil); p.Len() != 0 || p.Total() != 0 || p.Bound() != 0 || p.Ratio() != 1 || p.Align() != 1 {
		t.Errorf("the empty plan: %+v", p)
	}
	p := mustFast(t, []Buffer{{Size: 1, Align: 4096, Birth: math.MinInt, Death: math.MaxInt}})
	if p.Total() != 4096 {
		t.Errorf("one byte aligned to 4096 gives a total of %d; want whole units", p.Total())
	}
	// A buffer that dies when another is born shares its bytes.
	p = mustFast(t, []Buffer{{ID: 0, Size: 64, Birth: 0, Death: 1}, {ID: 1, Size: 64, Birth: 1, Death: 2}})
	if p.Total() != 64 {
		t.Errorf("neighbours in time do not share: total %d", p.Total())
	}
}

func TestSet_DefectsAreAllNamed(t *testing.T) {
	for _, c := range []struct {
		set  []Buffer
		is   error
		want []string
	}{
		{[]Buffer{{ID: 1, Size: 1, Death: 1}}, nil, []string{"buffer 1 of 1", "each once"}},
		{[]Buffer{{ID: math.MaxUint32, Size: 1, Death: 1}}, nil, []string{"buffer 4294967295 of 1"}},
		{[]Buffer{{Size: 1, Death: 1}, {Size: 1, Death: 1}}, nil, []string{"buffer 0 is declared twice"}},
		{[]Buffer{{Align: 3, Death: 1}}, memory.ErrAlign, []string{"alignment 3", "power of two"}},
		{[]Buffer{{Align: 8192, Death: 1}}, memory.ErrAlign, []string{"alignment 8192"}},
		{[]Buffer{{Size: 1, Birth: 4, Death: 4}}, nil, []string{"lives in [4, 4)", "after its birth"}},
		{[]Buffer{{Size: 1, Align: 5, Birth: 5, Death: 4}}, memory.ErrAlign, []string{"lives in [5, 4)", "alignment 5"}},
		{[]Buffer{{Size: math.MaxUint, Death: 1}}, memory.ErrTooLarge, []string{"add up to more than"}},
		{[]Buffer{{Size: maxTotal, Death: 1}}, memory.ErrTooLarge, []string{"add up to more than"}},
		{[]Buffer{{Size: maxTotal / 2, Death: 1}, {ID: 1, Size: maxTotal / 2, Death: 1}}, memory.ErrTooLarge, []string{"buffer 1 has"}},
		{make([]Buffer, Count+1), nil, []string{"at most 65536"}},
	} {
		for name, mode := range modes {
			p, err := mode(c.set)
			if err == nil || p != nil {
				t.Errorf("%s of %+v gives a plan", name, c.set)
				continue
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v is not %v", name, err, c.is)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %q does not contain %q", name, err, w)
				}
			}
		}
	}
}

var modes = map[string]func([]Buffer) (*Plan, error){
	"Fast": Fast,
	"Exact": func(buffers []Buffer) (*Plan, error) {
		p, _, err := Exact(buffers, Limits{Steps: 2000})
		return p, err
	},
}

func TestModes_LargeSizesDoNotOverflow(t *testing.T) {
	const big = maxTotal/4 - 4096
	set := []Buffer{
		{ID: 0, Size: big, Align: 1, Birth: 0, Death: 2}, {ID: 1, Size: big, Align: 4096, Birth: 1, Death: 3},
		{ID: 2, Size: big, Align: 2, Birth: 2, Death: 4}, {ID: 3, Size: 1, Align: 4096, Birth: 0, Death: 4},
	}
	for name, mode := range modes {
		p, err := mode(set)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := p.Verify(); err != nil || p.Total() < 2*big {
			t.Errorf("%s: total %d, %v", name, p.Total(), err)
		}
	}
}

func TestVerify_NamesEveryViolation(t *testing.T) {
	for _, c := range []struct {
		want    []string
		corrupt func(*Plan)
	}{
		{[]string{"4 offsets for 5 buffers"}, func(p *Plan) { p.offsets = p.offsets[:4] }},
		{[]string{"alignment 7"}, func(p *Plan) { p.buffers[1].Align = 7 }},
		{[]string{"buffer 1 stands at index 0", "buffer 0 stands at index 1"}, func(p *Plan) { p.buffers[0], p.buffers[1] = p.buffers[1], p.buffers[0] }},
		{[]string{"buffer 0 at offset 1 is not aligned to 16"}, func(p *Plan) { p.offsets[0] = 1 }},
		{[]string{"buffer 1 of 500 bytes at offset 832 ends beyond the total of 1300"}, func(p *Plan) { p.offsets[1] = 832 }},
		{[]string{fmt.Sprintf("buffer 1 of 500 bytes at offset %d ends beyond", uint(math.MaxUint-511))}, func(p *Plan) { p.offsets[1] = math.MaxUint - 511 }},
		{[]string{"buffers 0 (1000 bytes at 0) and 2 (300 bytes at 996) overlap while both live in [1, 2)"}, func(p *Plan) { p.offsets[2] = 996 }},
		{[]string{"buffers 0 (1000 bytes at 0) and 2", "buffers 2 (300 bytes at 0) and 1 (500 bytes at 0)"}, func(p *Plan) { p.offsets[2] = 0 }},
		{[]string{"bound 1299"}, func(p *Plan) { p.bound = 1299 }},
		{[]string{"total 1299 do not fit", "beyond the total"}, func(p *Plan) { p.total = 1299 }},
		{[]string{"side by side"}, func(p *Plan) { p.total = 5*4096 + 1 }},
	} {
		p := mustFast(t, frame)
		c.corrupt(p)
		err := p.Verify()
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("Verify = %v; want an error with %q", err, w)
			}
		}
	}
}

func TestVerify_EndsOnAPlanThatIsRottenThroughout(t *testing.T) {
	var set []Buffer
	for i := range 200 {
		set = append(set, Buffer{ID: uint32(i), Size: 16, Birth: 0, Death: 1})
	}
	p := mustFast(t, set)
	clear(p.offsets)
	err := p.Verify()
	if err == nil || !strings.Contains(err.Error(), "more overlaps than the 100 reported") {
		t.Errorf("Verify = %.200v", err)
	}
}
