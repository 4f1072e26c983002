package overlay

import (
	"runtime"
	"strings"
	"testing"
	"time"

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

// While the panel is closed nothing reads the profile; while it is open a new collection does, once a second at most.
func TestHeap_ReadsTheProfileOnlyWhileItIsOpen(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Watch: true})
	k := &g.o.sites
	runtime.GC()
	g.run(1, nil)
	if !k.read.IsZero() || k.reading != nil {
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
	if first.IsZero() || k.read != first || k.reading != nil {
		t.Errorf("it is open and read at %v, then at %v", first, k.read)
	}
	k.read = first.Add(-2 * time.Second)
	g.run(0.5, nil)
	if k.read == first.Add(-2*time.Second) {
		t.Error("after a second and a collection it is not read again")
	}
	k.wait()
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
