package overlay

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// In a window of 640 × 360 the last figure, "dropped 0", was alone on a line. The lines have similar lengths.
func TestStrip_NoFigureIsAloneOnALine(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	for _, name := range []string{"entities", "particles", "ground", "soft", "dropped"} {
		unit := map[string]string{"ground": "MiB", "soft": "%"}[name]
		g.o.Meter().Monitor(name, unit, func() float64 { return 0 })
	}
	g.only(int(Strip))
	for _, size := range [][2]int{{320, 568}, {390, 844}, {530, 360}, {568, 320}, {640, 360}, {844, 390}, {1280, 720}} {
		g.w, g.h = size[0], size[1]
		g.run(0.3, nil)
		lines := strings.Split(g.read(), "\n")
		if n := len(lines); n < 2 || n > 6 {
			t.Fatalf("%v: %d lines:\n%s", size, n, g.read())
		}
		for _, l := range lines {
			if n := len(strings.Fields(l)); n < 4 {
				t.Errorf("%v: a line has one figure:\n%s", size, g.read())
			}
		}
	}
}

// A pool that leaks while another shrinks as fast leaves its tier and its tag as they are. Strip and F3 name it.
func TestStrip_NamesAPoolThatGrowsAlone(t *testing.T) {
	g := newGame(t, 30, tiers.Config{}, Config{})
	leaks, shrinks := memory.Stats{}, memory.Stats{InUse: 64 << 20}
	g.m.AddPool("sparks", &tiers.Funcs{StatsFunc: func() memory.Stats { return leaks }})
	g.m.AddPool("ghosts", &tiers.Funcs{StatsFunc: func() memory.Stats { return shrinks }})
	g.press(1, 3)
	g.run(60, func(dt float64) {
		n := uint64(dt * (100 << 10))
		leaks.InUse, shrinks.InUse = leaks.InUse+n, shrinks.InUse-n
	})
	g.want("growing pool sparks +100 KiB/s")
	g.want("▲ sparks")
}
