package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/tour"
	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render/overlay"
)

// options are the checked values of the command line.
type options struct {
	headless   bool
	ticks      uint64 // 0: until the player leaves, or 600 without a window
	seed       uint64
	realm      string
	autopilot  bool
	tour       flight
	fast       bool
	hash       bool
	stats      string
	trace      tracing
	profile    string
	books      bool
	screenshot string
	capture    string
	wav        string
	particles  int
	enemies    int
	heat       float64
	overlay    parts
	size       dimensions
	assets     string
	dir        fs.FS // what is in assets; nil where that is not given
	slow       slowness
	resident   int  // MiB of the ground
	rewind     int  // MiB of states of the last ticks; 0: none; -1: rewindBytes in a window
	headroom   int  // MiB of garbage of a realm before a collection; 0: windowHeadroom with a window, or the manager's default
	keepGC     bool // -headroom 0: GOGC stays as it is
	budget     budgets
	guard      bool
	wantTicks  int64 // as the flags say, unchecked
	wantEvery  int64
	version    bool
	notices    bool
	every      uint64 // ticks between rows of the series; 0: none
	progress   bool
	config     string      // folder of settings and runs; "": the player's, "none": nowhere
	screen     string      // of the shell, for a picture
	mem        store       // what the game's blocks lie in
	paced      bool        // sixty ticks a second without a window, too
	compare    bool        // play in each store in turn
	rounds     int         // of -compare
	distance   int         // of -synctest: ticks between save and load; 0: none
	bound      bool        // the game's thread to a processor
	record     string      // the file of -record
	replay     string      // the file of -replay
	replayed   []byte      // what it contains
	seek       uint64      // ticks that -replay skips
	back       bool        // -rollback
	svg        string      // the picture of -compare
	marked     marking     // by the collector, when the session began
	stderr     io.Writer   // for lines about assets
	stopped    atomic.Bool // by a signal
}

// A store is what -mem names.
type store struct{ session.Store }

// String prints the flag's value, for the usage text.
func (s *store) String() string { return s.Store.String() }

// Set reads a name.
func (s *store) Set(name string) (err error) {
	s.Store, err = session.ParseStore(name)
	return err
}

// slowness is what -slow makes of the source of files; zero: as fast as it is.
type slowness struct {
	latency time.Duration
	rate    int64 // bytes a second
}

// String prints the flag's value, for the usage text.
func (s *slowness) String() string {
	if *s == (slowness{}) {
		return ""
	}
	return fmt.Sprintf("%d,%g", s.latency.Milliseconds(), float64(s.rate)/1e6)
}

// Set reads MS,MBS: 0 to 10,000 milliseconds, and 0.01 to 10,000 megabytes a second.
func (s *slowness) Set(text string) error {
	ms, mbs, ok := strings.Cut(text, ",")
	delay, err := strconv.ParseFloat(ms, 64)
	speed, err2 := strconv.ParseFloat(mbs, 64)
	if !ok || err != nil || err2 != nil || !(delay >= 0 && delay <= 10_000) || !(speed >= 0.01 && speed <= 10_000) {
		return errors.New("not MS,MBS with 0 to 10000 milliseconds and 0.01 to 10000 megabytes a second, as in 200,1")
	}
	*s = slowness{time.Duration(delay * float64(time.Millisecond)), int64(speed * 1e6)}
	return nil
}

// budgets are the shares that -budget leaves of each tier's budget; 0 is all of it.
type budgets [tiers.Count]float64

// String prints the flag's value, for the usage text.
func (b *budgets) String() string {
	var parts []string
	for t, share := range b {
		if share != 0 {
			parts = append(parts, fmt.Sprintf("%s=%g", tiers.Tier(t), share))
		}
	}
	return strings.Join(parts, ",")
}

// Set reads TIER=SHARE,... with shares above 0 and up to 1; "all" stands for every tier.
func (b *budgets) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(part, "=")
		share, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || !(share > 0 && share <= 1) {
			return fmt.Errorf("%.40q is not TIER=SHARE with a share above 0 and up to 1, as in level=0.1 or all=0.5", part)
		}
		if name == "all" {
			for t := range b {
				b[t] = share
			}
			continue
		}
		t, err := tiers.ParseTier(name)
		if err != nil {
			return err
		}
		b[t] = share
	}
	return nil
}

// parts are what -overlay opens.
type parts []overlay.Part

// String prints the flag's value, for the usage text.
func (p *parts) String() string { return "" }

// IsBoolFlag lets -overlay stand alone.
func (p *parts) IsBoolFlag() bool { return true }

// Set reads names or keys of parts, true for strip and tiers, or false.
func (p *parts) Set(s string) error {
	switch *p = nil; s {
	case "true":
		*p = parts{overlay.Strip, overlay.Tiers}
		return nil
	case "false":
		return nil
	}
	for name := range strings.SplitSeq(s, ",") {
		part, err := overlay.ParsePart(name)
		if err != nil {
			return err
		}
		*p = append(*p, part)
	}
	return nil
}

// dimensions are a window's width and height; 0 is the default.
type dimensions [2]int

// String prints the flag's value, for the usage text.
func (d *dimensions) String() string { return "" }

// Set reads WxH.
func (d *dimensions) Set(s string) error {
	w, h, ok := strings.Cut(s, "x")
	var err1, err2 error
	d[0], err1 = strconv.Atoi(w)
	d[1], err2 = strconv.Atoi(h)
	if !ok || err1 != nil || err2 != nil || d[0] < 1 || d[1] < 1 || d[0] > 16384 || d[1] > 16384 {
		return fmt.Errorf("%.40q is not a width and height from 1x1 to 16384x16384, as 640x360", s)
	}
	return nil
}

// flight is what -tour flies.
type flight struct{ tour.Kind }

// String prints the flag's value, for the usage text.
func (t *flight) String() string { return "" }

// IsBoolFlag lets -tour stand alone.
func (t *flight) IsBoolFlag() bool { return true }

// Set reads the name of a tour, true for rows, or false.
func (t *flight) Set(s string) (err error) {
	switch s {
	case "true":
		s = tour.Rows.String()
	case "false":
		t.Kind = tour.None
		return nil
	}
	t.Kind, err = tour.Parse(s)
	return err
}

// joined has a tour's name belong to its flag, which may stand alone: -tour zigzag is -tour=zigzag.
func joined(args []string) (out []string) {
	for i, a := range args {
		if last := len(out) - 1; i > 0 && (args[i-1] == "-tour" || args[i-1] == "--tour") && !strings.HasPrefix(a, "-") {
			out[last] += "=" + a
			continue
		}
		out = append(out, a)
	}
	return out
}

// parse reads the command line. What is wrong with it goes to out, with what is allowed.
func parse(args []string, out io.Writer, builtin fs.FS) (o *options, err error) {
	o = new(options)
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	f.SetOutput(out)
	o.declare(f)
	f.Usage = func() { usage(f, out) }
	if err := cmdline.Parse(f, joined(args), out); err != nil {
		return o, err
	}
	if o.version {
		return o, errVersion
	}
	if o.notices {
		return o, errNotices
	}
	if problem := o.check(f, builtin); problem != "" {
		return o, cmdline.Wrong(f, out, problem)
	}
	return o, nil
}

// declare makes the flags.
func (o *options) declare(f *flag.FlagSet) {
	f.BoolVar(&o.headless, "headless", false, "play without a window")
	f.Int64Var(&o.wantTicks, "ticks", -1, "end after `N` ticks of a sixtieth of a second (default: headless 600, in a window never)")
	f.Uint64Var(&o.seed, "seed", 1, "the `S`eed: the same seed and input give the same game")
	f.StringVar(&o.realm, "level", "ember", "the realm to start with: its `NAME`")
	f.BoolVar(&o.autopilot, "autopilot", false, "let the game play itself to the end (headless it always does)")
	f.Var(&o.tour, "tour", "fly over the realm at full speed, for what streams: `WAY` rows or zigzag, alone it is rows")
	f.BoolVar(&o.fast, "fast", false, "with -headless -tour: as fast as it goes, not sixty ticks a second")
	f.BoolVar(&o.hash, "hash", false, "print the hash of the final state")
	f.StringVar(&o.stats, "stats", "", "write where memory and time went to `FILE`, .json or .csv; - is JSON to standard output")
	f.StringVar(&o.trace.path, "trace", "", "record every allocation in `FILE`, up to 1 GiB; what is recorded before a kill stays readable")
	f.StringVar(&o.profile, "profile", "", "write what the tiers have in use as the run ends to `FILE`, for go tool pprof")
	f.BoolVar(&o.books, "books", false, "print whose the process's resident memory is as the run ends (Linux)")
	f.StringVar(&o.screenshot, "screenshot", "", "write a picture of the window to `FILE`.png after 300 ticks, or after -ticks, and end")
	f.StringVar(&o.capture, "capture", "", "write five seconds of the window to `FILE`.gif, from tick 300 on, or from -ticks, and end")
	f.StringVar(&o.wav, "wav", "", "without a window: record a minute, or -ticks, of what is heard in `FILE`.wav, and print its loudness")
	f.IntVar(&o.particles, "particles", 20_000, "room for `N` particles, 1 to 4,000,000")
	f.IntVar(&o.enemies, "enemies", 0, "`N` more drifters all over every realm, up to 200,000")
	f.Float64Var(&o.heat, "heat", 0, "the horde's heat is at least `N`, 0 calm to 10 full")
	f.Var(&o.overlay, "overlay", "show the memory overlay from the start, strip and tiers, or `PARTS`: -overlay=f1,maps (F2 in play says which there are)")
	f.Var(&o.size, "size", "the window's `W`xH, as 640x360")
	f.BoolVar(&o.guard, "guard", false, "watch the game's lists: canaries, quarantine, leaks with call sites")
	f.StringVar(&o.assets, "assets", "", "take art/, levels/, realms/ and sound/ from `DIR` and not from the program; what changes there is shown at once")
	f.IntVar(&o.resident, "resident", session.GroundBytes>>20, "how many `MiB` of the ground's pictures may be there at once, 8 to 512")
	f.Var(&o.slow, "slow", "read files as if they lay far away: `MS,MBS`, milliseconds of latency and megabytes a second, as 200,1")
	f.Var(&o.budget, "budget", "give tiers a share of their budgets, which are twice what the game uses: `TIER=SHARE,...`, as slab=0.5 or all=0.1")
	f.Var(&o.mem, "mem", "what the game's blocks lie in, the rules being the same: `WHERE` is "+strings.Join(session.StoreNames(), ", "))
	f.IntVar(&o.headroom, "headroom", 0, "let a realm leave `MiB` of garbage on the Go heap before a collection, 1 to 4096, or 0 to keep GOGC as it is (default: 8 with a window, else 256)")
	f.IntVar(&o.rewind, "rewind", -1, "keep the last ticks in `MiB`, 1 to 1024, to rewind the game; 0 keeps none (default: 64 in a window, 32 in a page)")
	f.BoolVar(&o.paced, "paced", false, "without a window: sixty ticks a second, as a window has them")
	f.BoolVar(&o.compare, "compare", false, "play -ticks (default 3600) at -heat (default 10) in each -mem in rotation, tiers twice, and print medians, spreads and what is a tie")
	f.IntVar(&o.rounds, "rounds", 4, "with -compare: `N` rounds of the four runs, 1 to 99, of which the median counts")
	f.IntVar(&o.distance, "synctest", 0, "without a window: save, play `N` ticks, load, play them again and compare, 1 to 60; -ticks in all")
	f.StringVar(&o.record, "record", "", "record the run in `FILE`: inputs, hashes, and a state each five seconds; the newest run if there are several")
	f.StringVar(&o.replay, "replay", "", "play the run of `FILE` from -record, and report the first tick whose hash differs")
	f.Uint64Var(&o.seek, "seek", 0, "with -replay: begin `N` ticks after the start of the recording")
	f.BoolVar(&o.back, "rollback", false, "without a window: print up to which heat, from -heat on, a rollback of eight ticks fits into 16 ms, after -ticks (default 900)")
	f.StringVar(&o.svg, "svg", "", "with -compare: draw its table as `FILE`.svg")
	f.Int64Var(&o.wantEvery, "every", 0, "with -stats: a row of a time series each `N` ticks, under series in JSON, instead of the tiers in CSV")
	f.BoolVar(&o.progress, "progress", false, "without a window: a line every five seconds, also where stderr is no terminal")
	f.StringVar(&o.config, "config", "", "keep settings and best runs in `DIR` and not in the user's folder; none keeps nothing")
	f.StringVar(&o.screen, "screen", "", "take the picture of this `SCREEN`: "+strings.Join(screenNames(), ", "))
	f.BoolVar(&o.notices, "notices", false, "print the licences of what others wrote and this program contains, and end")
	f.BoolVar(&o.version, "version", false, "print the version and end")
}

// check returns what is wrong with the flags together, or nothing.
func (o *options) check(f *flag.FlagSet, builtin fs.FS) string {
	ticks, every := o.wantTicks, o.wantEvery
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.keepGC = given["headroom"] && o.headroom == 0
	switch {
	case f.NArg() > 0:
		return fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0))
	case unnamed(f) != "":
		return fmt.Sprintf("-%s: a name is needed, see -help", unnamed(f))
	case given["ticks"] && ticks <= 0:
		return fmt.Sprintf("-ticks %d: at least 1 is needed", ticks)
	case given["every"] && every <= 0:
		return fmt.Sprintf("-every %d: at least 1 is needed", every)
	case every > 0 && o.stats == "":
		return "-every writes into -stats: use both"
	case o.screen != "" && !slices.Contains(screenNames(), o.screen):
		return fmt.Sprintf("-screen %q: allowed are %s", o.screen, strings.Join(screenNames(), ", "))
	case o.screen != "" && o.screenshot == "":
		return "-screen is for a picture: use it with -screenshot"
	case o.particles < 1 || o.particles > 4_000_000:
		return fmt.Sprintf("-particles %d: allowed are 1 to 4000000", o.particles)
	case o.resident < 8 || o.resident > 512:
		return fmt.Sprintf("-resident %d: allowed are 8 to 512", o.resident)
	case given["headroom"] && (o.headroom < 0 || o.headroom > 4096):
		return fmt.Sprintf("-headroom %d: allowed are 0 to 4096", o.headroom)
	case given["rewind"] && (o.rewind < 0 || o.rewind > 1024):
		return fmt.Sprintf("-rewind %d: allowed are 0 to 1024", o.rewind)
	case given["rewind"] && o.rewind > 0 && (o.mem.Store != session.StoreTiers || o.guard):
		return "-rewind saves the tiers: use it with -mem tiers and without -guard"
	case o.back && (!o.headless || o.mem.Store != session.StoreTiers || o.guard || given["synctest"] || o.compare):
		return "-rollback saves the tiers: use it with -headless and -mem tiers, without -guard, -synctest and -compare"
	case given["headroom"] && o.mem.Store != session.StoreTiers:
		return "-headroom is for the manager, which paces the collector: use it with -mem tiers"
	case o.fast && !(o.headless && o.tour.Kind != tour.None):
		return "-fast is for a tour without a window: use it with -headless -tour"
	case o.enemies < 0 || o.enemies > 200_000:
		return fmt.Sprintf("-enemies %d: allowed are 0 to 200000", o.enemies)
	case !(o.heat >= 0 && o.heat <= game.HeatMost):
		return fmt.Sprintf("-heat %g: allowed are 0 to %d", o.heat, game.HeatMost)
	case o.screenshot != "" && o.headless:
		return "-screenshot needs a window, and -headless has none: use one of them"
	case o.capture != "" && o.headless:
		return "-capture needs a window, and -headless has none: use one of them"
	case o.capture != "" && o.screenshot != "":
		return "-capture and -screenshot each end the run: use one of them"
	case o.capture != "" && !strings.EqualFold(filepath.Ext(o.capture), ".gif"):
		return fmt.Sprintf("-capture %s: the name must end in .gif", o.capture)
	case o.overlay != nil && o.headless:
		return "-overlay needs a window, and -headless has none: use one of them"
	case o.size != (dimensions{}) && o.headless:
		return "-size needs a window, and -headless has none: use one of them"
	case o.screenshot != "" && !strings.EqualFold(filepath.Ext(o.screenshot), ".png"):
		return fmt.Sprintf("-screenshot %s: the name must end in .png", o.screenshot)
	case o.wav != "" && (o.screenshot != "" || o.capture != "" || o.overlay != nil || o.size != (dimensions{})):
		return "-wav plays without a window, which -screenshot, -capture, -overlay and -size need: leave these out"
	case o.wav != "" && !strings.EqualFold(filepath.Ext(o.wav), ".wav"):
		return fmt.Sprintf("-wav %s: the name must end in .wav", o.wav)
	case o.wav != "" && ticks > wavTicksMost:
		return fmt.Sprintf("-ticks %d: at most %d go with -wav", ticks, wavTicksMost)
	case o.stats != "" && o.stats != "-" && !slices.Contains([]string{".json", ".csv"}, strings.ToLower(filepath.Ext(o.stats))):
		return fmt.Sprintf("-stats %s: the name must end in .json or .csv", o.stats)
	}
	if problem := cmp.Or(o.checkMemory(given, browser), o.badSynctest(given), o.badRecord(given), o.unwritten(given)); problem != "" {
		return problem
	}
	if ticks = o.wantTicks; ticks > 0 {
		o.ticks = uint64(ticks)
	}
	if o.wav != "" {
		o.headless = true
		o.ticks = cmp.Or(o.ticks, wavTicks)
	}
	o.every = uint64(every)
	o.autopilot = o.autopilot || o.screen == warden || o.tour.Kind != tour.None
	files := builtin
	if o.assets != "" {
		if info, err := os.Stat(o.assets); err != nil || !info.IsDir() {
			return fmt.Sprintf("-assets %s: not a folder that can be read", o.assets)
		}
		root, err := os.OpenRoot(o.assets) // no link leads out of it; it stays open to the end
		if err != nil {
			return fmt.Sprintf("-assets %s: %v", o.assets, err)
		}
		o.dir = assets.Recipes(root.FS())
		files = o.dir
	}
	names := realms(files)
	if len(names) == 0 {
		return fmt.Sprintf("-assets %s: it has no levels; allowed is a folder with levels/NAME.json", o.assets)
	}
	if !slices.Contains(names, o.realm) {
		return fmt.Sprintf("-level %q: no such realm; there are: %s", o.realm, strings.Join(names, ", "))
	}
	return ""
}

// unwritten says which of the flags -synctest and -rollback ignore, or nothing.
func (o *options) unwritten(given map[string]bool) string {
	if !o.back && !given["synctest"] {
		return ""
	}
	for _, name := range []string{"books", "hash", "paced", "profile", "progress", "record", "replay", "stats", "trace", "wav"} {
		if given[name] {
			return fmt.Sprintf("-%s does not go with -synctest and -rollback, which print what they measure", name)
		}
	}
	return ""
}

// unnamed returns a flag that takes a name and was given without one.
func unnamed(f *flag.FlagSet) (name string) {
	f.Visit(func(x *flag.Flag) {
		if slices.Contains([]string{"assets", "capture", "config", "profile", "record", "replay", "screen", "screenshot", "stats", "svg", "trace", "wav"}, x.Name) && x.Value.String() == "" {
			name = x.Name
		}
	})
	return name
}

// realms returns the names of the manifests.
func realms(files fs.FS) (names []string) {
	paths, _ := fs.Glob(files, "levels/*.json") // the pattern is well formed
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".json"))
	}
	return names
}
