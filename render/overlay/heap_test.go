package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
)

// Whatever is open, the panels of a game without a manager mention no tiers and no budgets.
func TestOverlay_WithoutAManagerMentionsNoTiers(t *testing.T) {
	for _, size := range [][2]int{{1280, 720}, {640, 480}, {320, 200}} {
		g := newGame(t, 60, tiers.Config{}, Config{})
		g.w, g.h = size[0], size[1]
		g.o.own = g.m
		defer func() { g.o.own = nil }() // it is closed elsewhere
		g.o.parts[Tiers].name = "growth"
		g.press(8) // faults
		for part := range Part(partCount) {
			g.o.Show(part, true)
			g.run(1.2, nil)
			g.o.memory.wait()
			g.o.sites.wait()
			g.o.sites.rows = nil // what this test binary has allocated so far, in functions of any name
			g.o.memory.resident = append(g.o.memory.resident, residentRow{residentNames[resident.GoHeap], 1})
			g.run(0.1, nil)
			text := strings.ToLower(g.read())
			for _, word := range []string{"tier", "budget", "static", "slab", "inbox"} {
				if strings.Contains(text, word) {
					t.Errorf("%v, %s: %q is on the screen:\n%s", size, g.o.parts[part].name, word, text)
				}
			}
			if text == "" {
				t.Errorf("%v, %s: nothing is on the screen", size, g.o.parts[part].name)
			}
			g.o.Show(part, false)
		}
	}
}

// The panel says how old its knowledge of the Go heap is, and that there is none before a collection.
func TestTiers_TheLiveHeapIsAsOldAsItSays(t *testing.T) {
	for _, w := range []int{1280, 640} {
		g := newGame(t, 60, tiers.Config{}, Config{})
		g.w = w
		g.o.Show(Tiers, true)
		g.run(1, nil)
		g.o.settled, g.o.behind = g.now.Add(time.Hour), 0 // the figures stand
		g.o.heap = meter.Heap{Allocated: 5 << 20}
		g.run(0.02, nil)
		g.want(map[int]string{1280: "live Go heap", 640: "live Go"}[w] + " not known before a collection")
		g.o.heap = meter.Heap{Known: true, Live: 40 << 20, Age: 12 * time.Second, Allocated: 5 << 20}
		g.run(0.02, nil)
		want := map[int]string{1280: "live Go heap 40.0 MiB as of 12 s ago  allocates 5.0 MiB/s", 640: "live Go 40.0 MiB 12 s ago  allocates 5.0 MiB/s"}[w]
		if text := strings.Join(strings.Fields(g.read()), " "); !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in:\n%s", want, g.read())
		}
	}
}
