package heapsites

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain samples every allocation, so that numbers are exact.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 1
	os.Exit(m.Run())
}

var kept [][]byte

//go:noinline
func keep(n int) {
	for range n {
		kept = append(kept, make([]byte, 1000))
	}
}

var dropped *[64]byte

//go:noinline
func drop(n int) {
	for range n {
		dropped = new([64]byte)
	}
	dropped = nil
}

var text string

//go:noinline
func repeat() { text = strings.Repeat("text", 5000) }

// site returns the numbers of a function of this package.
func (p *Profile) site(name string) (s Site) {
	for _, x := range p.Sites {
		if x.Package == "github.com/strata-go/strata/memory/heapsites" && x.Function == name {
			return x
		}
	}
	return s
}

// current makes the profile as of now.
func current(t *testing.T, p *Profile) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	if !p.Read() {
		t.Fatal("after two collections nothing is new")
	}
}

func TestProfile_CountsWhatAFunctionHasAllocated(t *testing.T) {
	var p Profile
	kept = make([][]byte, 0, 100)
	current(t, &p)
	before, gone := p.site("keep"), p.site("drop")
	keep(50)
	drop(200)
	current(t, &p)
	if s := p.site("keep"); s.Objects-before.Objects != 50 || s.Bytes-before.Bytes != 50*1024 || s.Live-before.Live != 50*1024 {
		t.Errorf("50 blocks of 1,000 bytes are kept: %+v, before %+v", s, before)
	}
	if s := p.site("drop"); s.Objects-gone.Objects != 200 || s.Bytes-gone.Bytes != 200*64 || s.Live != 0 || s.Rate <= 0 {
		t.Errorf("200 blocks of 64 bytes are dropped: %+v, before %+v", s, gone)
	}
	kept = nil
	current(t, &p)
	if s := p.site("keep"); s.Objects-before.Objects != 50 || s.Live != 0 || s.Rate != 0 {
		t.Errorf("the blocks are dropped: %+v", s)
	}
}

// A function of the standard library counts for its caller.
func TestProfile_AttributesTheLibraryToItsCaller(t *testing.T) {
	var p Profile
	current(t, &p)
	before := p.site("repeat")
	repeat()
	current(t, &p)
	if s := p.site("repeat"); s.Bytes-before.Bytes < 20_000 {
		t.Errorf("20,000 bytes of strings.Repeat: %+v", s)
	}
}

func TestProfile_IsAsOldAsTheLastCollectionButOne(t *testing.T) {
	var p Profile
	current(t, &p)
	if p.Read() {
		t.Error("without a collection there is something new")
	}
	before := p.site("drop").Objects
	drop(30)
	began := time.Now()
	runtime.GC()
	if !p.Read() || p.AsOf.After(began) {
		t.Errorf("after one collection as of %v, it began %v", p.AsOf, began)
	}
	runtime.GC()
	if !p.Read() || p.site("drop").Objects != before+30 || p.AsOf.Before(began) || p.Span <= 0 {
		t.Errorf("after two %d objects, %d before; as of %v, the first began %v", p.site("drop").Objects, before, p.AsOf, began)
	}
}

func TestProfile_TheLargestComeFirst(t *testing.T) {
	var p Profile
	keep(500)
	defer func() { kept = nil }()
	current(t, &p)
	for i := range p.Sites[1:] {
		a, b, span := p.Sites[i], p.Sites[i+1], p.Span.Seconds()
		if float64(a.Live)+a.Rate*span < float64(b.Live)+b.Rate*span {
			t.Fatalf("%+v before %+v", a, b)
		}
	}
}

// Once it knows the stacks, a Read allocates nothing but what the runtime's own records need.
func TestProfile_ReadingAgainAllocatesNothing(t *testing.T) {
	var p Profile
	current(t, &p)
	current(t, &p)
	if n := testing.AllocsPerRun(100, func() { p.Read() }); n != 0 {
		t.Errorf("%v objects without a collection", n)
	}
}

func TestSplit_SeparatesThePackage(t *testing.T) {
	for name, want := range map[string][2]string{
		"main.main":                            {"main", "main"},
		"runtime.malg":                         {"runtime", "malg"},
		"a.org/b/c.(*T).M":                     {"a.org/b/c", "(*T).M"},
		"a.org/b.v2.F.func1":                   {"a.org/b", "v2.F.func1"},
		"gopkg.in/yaml%2ev3.F[go.shape.int]":   {"gopkg.in/yaml.v3", "F[go.shape.int]"},
		"internal/runtime/maps.(*Map).growing": {"internal/runtime/maps", "(*Map).growing"},
		"odd":                                  {"", "odd"},
	} {
		if pkg, f := split(name); pkg != want[0] || f != want[1] {
			t.Errorf("%s: %s and %s", name, pkg, f)
		}
	}
	for pkg, want := range map[string]bool{"runtime": true, "internal/runtime/maps": true, "main": false, "a.org/b": false, "mygame": false, "mygame/ecs": false, "mygames": true} {
		if standard(pkg, "mygame") != want {
			t.Errorf("%s is of the standard library: %t", pkg, !want)
		}
	}
}

func TestScale_SmallBlocksAreSampledRarely(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	if k := scale(10, 100); k != 1 {
		t.Errorf("at rate 1 a sample stands for %v", k)
	}
	runtime.MemProfileRate = 512 << 10
	if small, large := scale(1, 64), scale(1, 64<<20); small < 8000 || small > 8400 || large != 1 || scale(0, 0) != 1 {
		t.Errorf("a sample of 64 bytes stands for %v, one of 64 MiB for %v", small, large)
	}
}

func BenchmarkRead(b *testing.B) {
	var p Profile
	runtime.GC()
	runtime.GC()
	p.Read()
	for b.Loop() {
		p.cycles = 0
		p.Read()
	}
	b.ReportMetric(float64(len(p.records)), "stacks")
}
