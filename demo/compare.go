package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine/abtest/settle"
)

// checkMemory returns what is wrong with -mem, -trace, -paced and -compare, or nothing.
func (o *options) checkMemory(given map[string]bool, browser bool) string {
	switch {
	case o.mem.Store != session.StoreTiers && o.guard:
		return "-guard watches lists in the tiers: use it with -mem tiers"
	case o.mem.Store != session.StoreTiers && given["budget"]:
		return "-budget holds tiers to a share: use it with -mem tiers"
	case o.trace.path != "" && browser:
		return "-trace writes a file while the game runs, which a browser cannot"
	case browser && (o.profile != "" || o.wav != "" || given["synctest"]):
		return "-profile, -wav and -synctest are not in the page, whose download would be larger"
	case o.mem.Store != session.StoreTiers && o.trace.path != "":
		return "-trace records what the tiers allocate: use it with -mem tiers"
	case o.paced && !o.headless:
		return "-paced is for a run without a window, which has a beat of its own: use it with -headless"
	case !o.compare && given["svg"]:
		return "-svg draws what -compare finds: use both"
	case !o.compare && given["rounds"]:
		return "-rounds is for -compare: use both"
	case !o.compare:
		return ""
	case browser:
		return "-compare starts the program again for each run, which a browser cannot"
	case o.rounds < 1 || o.rounds > 99:
		return fmt.Sprintf("-rounds %d: allowed are 1 to 99", o.rounds)
	case o.svg != "" && !strings.EqualFold(filepath.Ext(o.svg), ".svg"):
		return fmt.Sprintf("-svg %s: the name must end in .svg", o.svg)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(comparable, name) {
			return fmt.Sprintf("-%s does not go with -compare; allowed are -%s", name, strings.Join(comparable, ", -"))
		}
	}
	if !given["heat"] {
		o.heat = game.HeatMost
	}
	if !given["ticks"] {
		o.wantTicks = 3600
	}
	return ""
}

// comparable are the flags that may be given with -compare: those that say what is played.
var comparable = []string{"assets", "autopilot", "compare", "enemies", "headless", "heat", "level", "particles", "rounds", "seed", "svg", "ticks"}

// A trial is what a run in one store came to.
type trial struct {
	p50, p99, p999, most float64 // milliseconds of a tick
	cpu50, cpu99, cpu999 float64 // milliseconds of the thread in a tick; 0 where the system does not say
	cycles, inPlay       float64 // collections
	mark, idle           float64 // milliseconds of processors
	rss                  float64 // MiB; 0 where the system does not say
	cpu                  float64 // seconds of processors, the process's whole life
	bound                bool    // its game's thread to one processor
	hash                 string
}

// A contestant is a store that takes part under a name.
type contestant struct {
	name  string
	class string // in the picture
	store session.Store
}

// contestants are compared with the first one. The second is the first again: what the two differ by, A/A, is the
// error of the machine.
var contestants = []contestant{
	{"tiers", "tiers", session.StoreTiers}, {"tiers A/A", "again", session.StoreTiers},
	{"goheap", "goheap", session.StoreGoHeap}, {"pooled", "pooled", session.StorePooled},
}

// trials are those of a contestant, a round each.
type trials struct {
	contestant
	runs []trial
}

// series returns a figure by round.
func (t *trials) series(of func(*trial) float64) (all []float64) {
	for i := range t.runs {
		all = append(all, of(&t.runs[i]))
	}
	return all
}

// median returns the middle of a figure over the rounds, and its bounds.
func (t *trials) median(of func(*trial) float64) (mid, least, greatest float64) {
	all := t.series(of)
	return settle.Median(all), slices.Min(all), slices.Max(all)
}

// turn returns the order of n contestants in a round. Each round begins with another one. After n rounds the order is
// the reverse of before, so that none always follows the same one.
func turn(round, n int) (order []int) {
	for j := range n {
		order = append(order, (j+round)%n)
	}
	if round/n%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// comparison plays with each contestant in turn, in separate processes, round by round. So a temporary disturbance
// affects all of them. Then it prints and draws the medians. Runs that do not end in the same state are an error.
func (o *options) comparison(out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "strata-compare-*")
	if err != nil {
		return fmt.Errorf("-compare: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	all := make([]trials, len(contestants))
	for round := range o.rounds {
		for place, k := range turn(round, len(all)) {
			c := contestants[k]
			t, err := o.trial(c.store, filepath.Join(dir, "stats.json"))
			if err != nil {
				return fmt.Errorf("-compare: %s: %w", c.name, err)
			}
			all[k].contestant = c
			all[k].runs = append(all[k].runs, t)
			o.log(fmt.Sprintf("round %d of %d, place %d, %s: a tick took %.2f ms, 99.9 %%: %.2f; %g collections", round+1, o.rounds, place+1, c.name, t.p50, t.p999, t.cycles))
		}
	}
	if o.svg != "" { // before the table: a pipe that was closed ends the process
		err = save(o.svg, func(w io.Writer) error { return drawComparison(w, o.title(all), all) })
	}
	return errors.Join(err, o.tabulate(out, all), agree(all))
}

// agree reports runs that did not end in the same state.
func agree(all []trials) error {
	for _, t := range all {
		for i := range t.runs {
			if t.runs[i].hash != all[0].runs[0].hash {
				return fmt.Errorf("-compare: %v ended with hash %s, %v with %s: the rules must not depend on -mem", all[0].name, all[0].runs[0].hash, t.name, t.runs[i].hash)
			}
		}
	}
	return nil
}

// endsWithInput is set for a run whose standard input is a pipe that ends with the comparison.
const endsWithInput = "STRATA_COMPARE_RUN"

// endWithInput ends the process when its standard input ends, if a comparison has started it. So a
// comparison that is killed leaves no run behind.
func endWithInput() {
	if os.Getenv(endsWithInput) == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

// trial starts this program again and reads what it found.
func (o *options) trial(k session.Store, stats string) (t trial, err error) {
	exe, err := os.Executable()
	if err != nil {
		return t, err
	}
	var said strings.Builder
	cmd := exec.Command(exe, o.trialArgs(k, stats)...)
	cmd.Stderr = &said
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // the collector as it is by default
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=") || strings.HasPrefix(v, "GODEBUG=")
	})
	cmd.Env = append(cmd.Env, endsWithInput+"=1")
	if _, err := cmd.StdinPipe(); err != nil { // nothing is written to it; Wait closes it
		return t, err
	}
	if err := cmd.Start(); err != nil {
		return t, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-look.C:
			if o.stopped.Load() {
				_ = cmd.Process.Kill() // its output is not needed
				<-ended
				return t, errStopped
			}
		}
	}
	if err != nil {
		return t, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	data, err := os.ReadFile(stats)
	var r report
	if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil {
		return t, err
	}
	if r.Ticks != o.ticks || r.Mem != k.String() {
		return t, fmt.Errorf("%d ticks in %s, not %d", r.Ticks, r.Mem, o.ticks)
	}
	return trial{
		cpu50: r.TickCPUMS.P50, cpu99: r.TickCPUMS.P99, cpu999: r.TickCPUMS.P999,
		p50: r.TickMS.P50, p99: r.TickMS.P99, p999: r.TickMS.P999, most: r.TickMS.Max,
		cycles: float64(r.Go.Cycles), inPlay: float64(r.Go.CyclesInPlay), mark: r.Go.MarkMS, idle: r.Go.IdleMarkMS,
		rss: float64(r.RSS) / (1 << 20), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), hash: r.Hash, bound: r.Bound,
	}, nil
}

// trialArgs is the command line of a run.
func (o *options) trialArgs(k session.Store, stats string) []string {
	args := []string{
		"-headless", "-autopilot", "-paced", "-config", "none", "-mem", k.String(), "-stats", stats,
		"-ticks", strconv.FormatUint(o.ticks, 10), "-seed", strconv.FormatUint(o.seed, 10), "-level", o.realm,
		"-heat", strconv.FormatFloat(o.heat, 'g', -1, 64), "-enemies", strconv.Itoa(o.enemies), "-particles", strconv.Itoa(o.particles),
	}
	if k == session.StoreTiers {
		args = append(args, "-headroom", "0") // GOGC is the default, as in the other stores
	}
	if o.assets != "" {
		args = append(args, "-assets", o.assets)
	}
	return args
}
