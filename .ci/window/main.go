// Command window plays the game in windows and prints what no test without a display can tell. It needs a display.
//
//	go run -C .ci/window .                # the autopilot finishes each realm
//	go run -C .ci/window . -collections   # ticks with collections beside ticks without, and objects of this module
//	go run -C .ci/window . -objects       # these objects alone; further arguments are the game's: -- -overlay=f9
//
// The first plays each realm with up to three seeds, and begins again after each death. The exit status is 1 if no run
// has left the realm through its portal.
//
// The second plays in rotation with a headroom of 256 MiB twice, which has no collection in play, and with the
// window's own of 8 MiB. It prints medians and ratios. Ratios within the spread of the first two are a tie.
//
// The objects are those of the Go heap that functions of this module allocate. The first 3,600 ticks, in which metadata
// grows with the horde, are counted apart from steady play. Each object is counted, however small.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// report is what is read of the game's -stats.
type report struct {
	Ticks   uint64 `json:"ticks"`
	Cleared int    `json:"cleared"` // realms that were left through the portal
	TickMS  spread `json:"tick_ms"`
	Go      struct {
		InPlay int     `json:"gc_cycles_in_play"`
		Pause  float64 `json:"max_pause_ms"`
		Mark   float64 `json:"mark_cpu_ms"`
		Own    *own    `json:"own"`
	} `json:"go"`
}

type spread struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
}

// own is what functions of this module have allocated on the Go heap.
type own struct {
	WarmUp count `json:"warm_up"`
	Steady count `json:"steady"`
}

type count struct {
	PerTick float64 `json:"objects_per_tick"`
	Ticks   uint64  `json:"ticks"`
	Sites   []site  `json:"sites"`
}

type site struct {
	Site    string `json:"site"`
	Objects uint64 `json:"objects"`
}

func main() {
	collections := flag.Bool("collections", false, "compare ticks with collections and without")
	objects := flag.Bool("objects", false, "count objects of this module")
	rounds := flag.Int("rounds", 4, "with -collections: `N` rounds")
	ticks := flag.Int("ticks", 0, "play `N` ticks (default: 18000 for a realm, 3600 with -collections and -objects)")
	flag.Parse()
	if err := run(*collections, *objects, *rounds, *ticks); err != nil {
		fmt.Fprintln(os.Stderr, "window:", err)
		os.Exit(1)
	}
}

func run(collections, objects bool, rounds, ticks int) error {
	dir, err := os.MkdirTemp("", "strata-window-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g := game{demo: filepath.Join(dir, "demo"), stats: filepath.Join(dir, "stats.json")}
	if objects {
		return g.objects(or(ticks, 3600), flag.Args())
	}
	if err := g.build(); err != nil {
		return err
	}
	if collections {
		return g.compare(rounds, or(ticks, 3600))
	}
	return g.finish(or(ticks, 18_000))
}

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// A game is the program, and where it writes its figures.
type game struct{ demo, stats string }

func (g *game) build(args ...string) error {
	build := exec.Command("go", append(append([]string{"build", "-C", "../..", "-o", g.demo}, args...), "./demo")...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("the game does not build: %w", err)
	}
	return nil
}

// play plays so many ticks in a window.
func (g *game) play(ticks int, args, env []string) (r report, err error) {
	all := append([]string{"-autopilot", "-config", "none", "-stats", g.stats, "-ticks", strconv.Itoa(ticks)}, args...)
	cmd := exec.Command(g.demo, all...)
	cmd.Env = append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return r, fmt.Errorf("demo %s: %w: %s", strings.Join(all, " "), err, said)
	}
	data, err := os.ReadFile(g.stats)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

var realms = []string{"ember", "tide", "spore"}

// finish has the autopilot finish each realm in a window.
func (g *game) finish(ticks int) error {
	var errs []error
realm:
	for _, realm := range realms {
		for seed := 1; seed <= 3; seed++ {
			r, err := g.play(ticks, []string{"-level", realm, "-seed", strconv.Itoa(seed), "-size", "640x360"}, nil)
			if err != nil {
				return err
			}
			fmt.Printf("%s, seed %d: %d realms were cleared in %d ticks; a tick took %.2f ms, 99 %%: %.2f, 99.9 %%: %.2f; %d collections in play\n",
				realm, seed, r.Cleared, r.Ticks, r.TickMS.P50, r.TickMS.P99, r.TickMS.P999, r.Go.InPlay)
			if r.Cleared > 0 {
				continue realm
			}
		}
		errs = append(errs, fmt.Errorf("%s was not finished", realm))
	}
	return errors.Join(errs...)
}
