package overlay

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/heapsites"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

var hogged []byte

//go:noinline
func hog() { hogged = make([]byte, 64<<20) }

// The panel names the function that has most of the Go heap, once Shift with its key has collected.
func TestHeap_NamesWhoAllocates(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.o.Show(Heap, true)
	hog()
	defer func() { hogged = nil }()
	before := g.o.Meter().Snapshot().Go.Cycles
	g.press(-10)
	waited := 0.0 // of the game's clock, which does not stand while the profile is read
	testenv.Until(t, "another goroutine reads the profile", time.Millisecond, func() bool {
		g.run(0.3, nil)
		waited += 0.3
		text := g.read()
		return strings.Contains(text, "overlay.hog") && strings.Contains(text, "64.0 MiB")
	})
	if ago := g.figure(`who allocates, as of (\d+) s ago`); ago > waited+0.5 {
		t.Errorf("it is as of %v s ago, %v s after the collections", ago, waited)
	}
	if now := g.o.Meter().Snapshot().Go.Cycles; now < before+2 {
		t.Errorf("%d collections, %d before", now, before)
	}
}

// What was allocated before a collection soon after the start is no rate.
func TestHeap_NoRateOfAMoment(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.o.Show(Heap, true)
	g.run(0.5, nil)
	k := &g.o.sites
	k.wait()
	for span, want := range map[time.Duration]string{5 * time.Millisecond: `start\s+8\.0 MiB\s+-\s`, 4 * time.Second: `start\s+8\.0 MiB\s+2\.0 MiB`} {
		k.profile = heapsites.Profile{AsOf: g.now, Span: span, Sites: []heapsites.Site{{Package: "main", Function: "start", Live: 8 << 20, Rate: float64(8<<20) / span.Seconds()}}}
		k.take()
		k.read = g.now.Add(time.Hour)
		g.frame(0.3, nil)
		if text := g.read(); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("of %v: no %s in\n%s", span, want, text)
		}
	}
}

// While the panel is closed nothing reads the profile; while it is open a new collection does, once a second at most.
func TestHeap_ReadsTheProfileOnlyWhileItIsOpen(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Watch: true})
	k := &g.o.sites
	runtime.GC()
	g.run(1, nil)
	if !k.read.IsZero() || k.reading {
		t.Error("a closed panel reads")
	}
	if n := testing.AllocsPerRun(50, func() { g.frame(0.3, nil) }); n != 0 {
		t.Errorf("a frame with a closed panel costs %v objects", n)
	}
	g.o.Show(Heap, true)
	first := k.read
	k.wait()
	runtime.GC()
	g.run(0.5, nil)
	if first.IsZero() || k.read != first || k.reading {
		t.Errorf("it is open and read at %v, then at %v", first, k.read)
	}
	k.read = first.Add(-2 * time.Second)
	g.run(0.5, nil)
	if k.read == first.Add(-2*time.Second) {
		t.Error("after a second and a collection it is not read again")
	}
	k.wait()
}

// Each collection is read while the panel is open, which is during play.
func TestHeap_AKnownProfileCostsNoObjects(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Watch: true})
	k := &g.o.sites
	g.o.Show(Heap, true)
	k.wait()
	k.profile.Sites = append(k.profile.Sites[:0], heapsites.Site{Package: "a.org/b", Function: "f"}, heapsites.Site{Package: "a.org/c", Function: "(*t).f"})
	k.profile.AsOf = time.Now()
	k.take()
	if len(k.rows) != 2 || k.rows[1].name != "c.f" {
		t.Errorf("%+v", k.rows)
	}
	if n := testing.AllocsPerRun(50, func() {
		k.reading = true
		go k.ask()
		k.wait()
		k.take()
	}); n != 0 { // no collection ends meanwhile: the profile stays
		t.Errorf("%v objects", n)
	}
}

func TestSiteName_IsShort(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"a.org/x/graphicscommand", "(*commandQueue).EnqueueDrawTrianglesCommand"}: "graphicscommand.EnqueueDrawTrianglesCommand",
		{"main", "main.func1"}:        "main.main.func1",
		{"a.org/b", "MakeSlice[...]"}: "b.MakeSlice",
	} {
		if got := siteName(in[0], in[1]); got != want {
			t.Errorf("%v: %s, want %s", in, got, want)
		}
	}
}
