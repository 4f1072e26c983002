// Command window plays the game in windows and prints what no test without a display can tell. It needs a display.
//
//	go run -C .ci/window .                # the autopilot finishes each realm
//	go run -C .ci/window . -collections   # ticks with collections beside ticks without, and objects of this module
//	go run -C .ci/window . -objects       # these objects alone; further arguments are the game's: -- -overlay=f9
//
// The first plays each realm with up to three seeds, and begins again after each death. The exit status is 1 if no run
// has left the realm through its portal, and 2 for wrong usage.
//
// The second plays in rotation with a headroom of 256 MiB twice, which has no collection in play, and with the
// window's own of 8 MiB. It prints medians and ratios. Ratios within the spread of the first two are a tie.
//
// The objects are those of the Go heap that functions of this module allocate. The first 3,600 ticks, in which metadata
// grows with the horde, are counted apart from steady play. Each object is counted, however small.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strata-go/strata/engine/cmdline"
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
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(o)
	}
	os.Exit(cmdline.Status("window", err, os.Stderr))
}

// options are the flags.
type options struct {
	collections, objects bool
	rounds, ticks        int
	args                 []string // the game's
}

func parse(args []string, fault io.Writer) (o options, err error) {
	f := flag.NewFlagSet("window", flag.ContinueOnError)
	f.BoolVar(&o.collections, "collections", false, "compare ticks with collections and without")
	f.BoolVar(&o.objects, "objects", false, "count objects of this module")
	f.IntVar(&o.rounds, "rounds", 4, "with -collections: `N` rounds")
	f.Func("ticks", "play `N` ticks (default: 18000 for a realm, 3600 with -collections and -objects)", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if o.ticks = int(n); err != nil || n < 1 {
			return errors.New("allowed: a whole number from 1 to 2147483647")
		}
		return nil
	})
	err = cmdline.Parse(f, args, fault)
	rounds := false
	f.Visit(func(f *flag.Flag) { rounds = rounds || f.Name == "rounds" })
	switch o.args = f.Args(); {
	case err != nil:
	case o.collections && o.objects:
		err = cmdline.Wrong(f, fault, "-collections counts objects, too: allowed is one of -collections and -objects")
	case o.rounds < 1 || rounds && !o.collections || len(o.args) > 0 && !o.objects:
		err = cmdline.Wrong(f, fault, fmt.Sprintf("-rounds %d and %d more arguments; allowed are at least 1 with -collections, and none without -objects", o.rounds, len(o.args)))
	}
	return o, err
}

func run(o options) error {
	dir, err := os.MkdirTemp("", "strata-window-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g := game{demo: filepath.Join(dir, "demo"), stats: filepath.Join(dir, "stats.json")}
	if o.objects {
		return g.objects(cmp.Or(o.ticks, 3600), o.args)
	}
	if err := g.build(); err != nil {
		return err
	}
	if o.collections {
		return g.compare(o.rounds, cmp.Or(o.ticks, 3600))
	}
	return g.finish(cmp.Or(o.ticks, 18_000))
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
