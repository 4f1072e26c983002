package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
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

// The second rule of each order: attempts are made one by one, because Fast keeps the better.
func TestGreedy_TakesTheTightestGapOrTheLowest(t *testing.T) {
	set := []Buffer{
		{ID: 0, Size: 1000, Align: 1, Birth: 0, Death: 9}, // 0
		{ID: 1, Size: 900, Align: 1, Birth: 0, Death: 1},  // 1000: leaves a gap of 900 later
		{ID: 2, Size: 800, Align: 1, Birth: 0, Death: 9},  // 1900
		{ID: 3, Size: 700, Align: 1, Birth: 0, Death: 1},  // 2700: a gap of 700
		{ID: 4, Size: 600, Align: 1, Birth: 0, Death: 9},  // 3400
		{ID: 5, Size: 500, Align: 1, Birth: 1, Death: 9},
		{ID: 6, Size: 400, Align: 128, Birth: 1, Death: 9},
	}
	for _, c := range []struct {
		tight bool
		want  []uintptr
	}{
		{false, []uintptr{0, 1000, 1900, 2700, 3400, 1000, 2816}}, // what is left from 1536 on is 364
		{true, []uintptr{0, 1000, 1900, 2700, 3400, 2700, 1024}},
	} {
		g := newGreedy(set, 0, untimed, untimed)
		total, ok := g.attempt([]int32{0, 1, 2, 3, 4, 5, 6}, c.tight, nowhere)
		if !ok || total != 4000 || !slices.Equal(g.offsets, c.want) {
			t.Errorf("tight %t: offsets %v, total %d; want %v", c.tight, g.offsets, total, c.want)
		}
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
		{[]Buffer{{ID: math.MaxUint32, Size: 1, Death: 1}, {ID: 5, Death: 1}, {ID: math.MaxUint32, Size: 1, Death: 1}}, nil, []string{"buffer 4294967295 is declared twice"}},
		{[]Buffer{{Size: 1, Death: 1}, {Size: 1, Death: 1}}, nil, []string{"buffer 0 is declared twice"}},
		{[]Buffer{{Align: 3, Death: 1}}, memory.ErrAlign, []string{"alignment 3", "powers of two up to 2097152"}},
		{[]Buffer{{Align: 2 * MaxAlign, Death: 1}}, memory.ErrAlign, []string{"alignment 4194304", "powers of two up to 2097152"}},
		{[]Buffer{{Size: 1, Birth: 4, Death: 4}}, nil, []string{"lives in [4, 4)", "after its birth"}},
		{[]Buffer{{Size: 1, Align: 5, Birth: 5, Death: 4}}, memory.ErrAlign, []string{"lives in [5, 4)", "alignment 5"}},
		{[]Buffer{{Size: math.MaxUint, Death: 1}}, memory.ErrTooLarge, []string{"add up to more than"}},
		{[]Buffer{{Size: maxTotal, Death: 1}}, memory.ErrTooLarge, []string{"add up to more than"}},
		{[]Buffer{{Size: maxTotal / 2, Death: 1}, {ID: 1, Size: maxTotal / 2, Death: 1}}, memory.ErrTooLarge, []string{"buffer 1 has"}},
		{make([]Buffer, Count+1), memory.ErrConfig, []string{"at most 262144"}},
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
			if strings.Contains(err.Error(), "4096") {
				t.Errorf("%s: %v names the most of another allocator", name, err)
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

func TestModes_TheLargestSetIsPlannedAndAByteMoreIsNot(t *testing.T) {
	for name, mode := range modes {
		if p, err := mode([]Buffer{{Size: maxTotal, Align: 1, Death: 1}}); err != nil || p.Total() != maxTotal {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := mode([]Buffer{{Size: maxTotal, Align: 1, Death: 1}, {ID: 1, Size: 1, Align: 1, Birth: 1, Death: 2}}); !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
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
		{[]string{"buffer 0 follows buffer 1"}, func(p *Plan) { p.buffers[0], p.buffers[1] = p.buffers[1], p.buffers[0] }},
		{[]string{"buffer 0 at offset 1 is not aligned to 16"}, func(p *Plan) { p.offsets[0] = 1 }},
		{[]string{"buffer 1 of 500 bytes at offset 832 ends beyond the total of 1300"}, func(p *Plan) { p.offsets[1] = 832 }},
		{[]string{fmt.Sprintf("buffer 1 of 500 bytes at offset %d ends beyond", uint(math.MaxUint-511))}, func(p *Plan) { p.offsets[1] = math.MaxUint - 511 }},
		{[]string{"buffers 0 (1000 bytes at 0) and 2 (300 bytes at 996) overlap while both live in [1, 2)"}, func(p *Plan) { p.offsets[2] = 996 }},
		{[]string{"buffers 0 (1000 bytes at 0) and 2", "buffers 1 (500 bytes at 0) and 2 (300 bytes at 0) overlap while both live in [2, 3)"}, func(p *Plan) { p.offsets[2] = 0 }},
		{[]string{"bound 1299"}, func(p *Plan) { p.bound = 1299 }},
		{[]string{"total 1299 do not fit", "beyond the total"}, func(p *Plan) { p.total = 1299 }},
		{[]string{"total 1973 where 1972 bytes hold all buffers side by side"}, func(p *Plan) { p.total = 1973 }},
		{[]string{"the first 5 buffers have their index for an ID, not 6"}, func(p *Plan) { p.dense = 6 }},
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

func TestFastWithin_EndsWithTheFirstPlanThatFits(t *testing.T) {
	buffers, _ := cut(2, 300, 10)
	set, err := declared(buffers)
	if err != nil {
		t.Fatal(err)
	}
	best := mustFast(t, buffers).Total()
	g := newGreedy(set, math.MaxUint, untimed, untimed)
	g.run()
	if first := g.total; g.steps != len(set) || first <= best {
		t.Fatalf("%d placed of %d, total %d; Fast has %d", g.steps, len(set), first, best)
	}
	for capacity, want := range map[uintptr]uintptr{math.MaxUint: g.total, g.total: g.total, best: best, 1: best, 0: best} {
		p, err := FastWithin(buffers, capacity)
		if err != nil || p.Total() != want || p.Verify() != nil {
			t.Errorf("capacity %d: total %d, %v; want %d", capacity, p.Total(), err, want)
		}
	}
	if _, err := FastWithin([]Buffer{{Align: 3, Death: 1}}, 1); !errors.Is(err, memory.ErrAlign) {
		t.Errorf("a bad set: %v", err)
	}
}

func TestPlan_IDsMayBeAnyNumbers(t *testing.T) {
	set := []Buffer{
		{ID: math.MaxUint32, Size: 10, Death: 1}, {ID: 1, Size: 20, Death: 1}, {ID: 0, Size: 30, Death: 1}, {ID: 1 << 20, Size: 40, Death: 1},
	}
	for name, mode := range modes {
		p, err := mode(set)
		if err != nil {
			t.Fatal(name, err)
		}
		if p.dense != 2 || p.Len() != 4 || p.Has(2) || p.Has(math.MaxUint32-1) || !p.Has(math.MaxUint32) {
			t.Errorf("%s: dense %d of %d", name, p.dense, p.Len())
		}
		var ids []uint32
		for b, off := range p.All() {
			if p.Offset(b.ID) != off || p.Buffer(b.ID) != b {
				t.Errorf("%s: All yields %+v at %d; it lies at %d", name, b, off, p.Offset(b.ID))
			}
			if ids = append(ids, b.ID); len(ids) == 3 {
				break
			}
		}
		if !slices.Equal(ids, []uint32{0, 1, 1 << 20}) {
			t.Errorf("%s: All begins with %v", name, ids)
		}
		for _, get := range []func(){func() { p.Offset(2) }, func() { p.Buffer(5) }} {
			func() {
				defer func() {
					if r := recover(); r == nil || !strings.Contains(r.(string), "is not in the plan") {
						t.Errorf("%s: an ID that is not planned gives %v", name, r)
					}
				}()
				get()
			}()
		}
	}
}

func TestFast_AlignsUpToALargePage(t *testing.T) {
	p := mustFast(t, []Buffer{
		{ID: 0, Size: 1, Align: MaxAlign, Death: 1}, {ID: 1, Size: 100, Align: 65536, Death: 1}, {ID: 2, Size: 3 << 20, Align: MaxAlign, Death: 1},
	})
	if p.Offset(2) != 0 || p.Offset(1) != 3<<20 || p.Offset(0) != 4<<20 || p.Total() != 4<<20+65536 || p.Align() != MaxAlign {
		t.Errorf("offsets %v, total %d", p.offsets, p.Total())
	}
}

func TestReorder_IsStableAndLooksAtEveryByte(t *testing.T) {
	keys := []uint64{5, 1 << 56, 0, 1 << 33, 5, 255, 256, 1<<56 + 1, 5, math.MaxUint64}
	got := inOrder(len(keys), func(i int) uint64 { return keys[i] })
	if want := []int32{2, 0, 4, 8, 5, 6, 3, 1, 7, 9}; !slices.Equal(got, want) {
		t.Errorf("order %v; want %v", got, want)
	}
	if got := inOrder(3, func(i int) uint64 { return uint64(i / 2) }); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("what is in order becomes %v", got)
	}
	if moment(math.MinInt) >= moment(-1) || moment(-1) >= moment(0) || moment(0) >= moment(math.MaxInt) {
		t.Error("moments are not in order")
	}
}

func TestNewPlan_BuildsThatDebugVerifyWhatEveryMethodPlaces(t *testing.T) {
	set := []Buffer{{ID: 0, Size: 64, Birth: 0, Death: 2}, {ID: 1, Size: 64, Birth: 1, Death: 3}}
	defer func() {
		if v := recover(); (v != nil) != invariant.Debug {
			t.Errorf("two buffers in one place: %v", v)
		}
	}()
	newPlan(set, []uintptr{0, 0}, 64)
}
