package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// errVersion and errNotices report that the version or the third-party notices were requested.
var (
	errVersion = errors.New("version")
	errNotices = errors.New("notices")
)

// browser reports whether the program runs in a page.
const browser = runtime.GOOS == "js"

// version is one line: the module's version or the commit, the compiler and the system.
func version() string {
	v, commit := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " " + s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += " with changes"
			}
		}
	}
	return fmt.Sprintf("strata demo %s%s, %s %s/%s", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// groups are the flags as -help lists them.
var groups = []struct {
	title string
	flags string
}{
	{"The game", "seed level autopilot tour heat enemies particles assets config record replay seek"},
	{"The window", "size overlay screenshot capture screen"},
	{"Without a window", "headless ticks paced fast progress synctest rollback wav"},
	{"What is written", "hash stats every trace profile books"},
	{"Memory", "mem budget guard resident headroom rewind slow"},
	{"Compare", "compare rounds svg"},
	{"Help", "version notices"},
}

const examples = `Examples:
  demo                                              play
  demo -seed 7 -overlay                             watch the memory while you do
  demo -headless -autopilot -ticks 36000 -hash      ten minutes, as fast as it goes, and where memory went
  demo -headless -ticks 36000 -stats run.csv -every 60    a row for each second of them
  demo -autopilot -ticks 600 -screenshot game.png   a picture, and the end
  demo -level tide -wav tide.wav                    a minute of sound, and how loud it is
  demo -screen gifts -screenshot gifts.png          a picture of a menu
  demo -headless -tour zigzag -slow 200,1 -stats -    what streams from far away, in figures
  demo -headless -heat 10 -ticks 600 -synctest 8    states that are saved and loaded while the horde comes
  demo -record run.strata                           play, and keep the run: demo -replay run.strata -seek 3600
  demo -slow 200,0.1 -resident 16                   the ground from far away, in little room: softer, no slower
  demo -mem goheap -headless -heat 10 -ticks 3600   the same game with the collector for its memory manager
  demo -compare -svg memory.svg                     what that costs, beside tiers and sync.Pool: a quarter of an hour
  demo -budget all=0.1                              a tenth of the memory: less of everything, no crash
`

// usage prints the flags in groups, and examples.
func usage(f *flag.FlagSet, out io.Writer) {
	fmt.Fprintln(out, "Strata: a game on memory of its own. Every option is a flag; without any you play.")
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s:\n", g.title)
		for name := range strings.FieldsSeq(g.flags) {
			x := f.Lookup(name)
			value, text := flag.UnquoteUsage(x)
			head := "-" + name
			if value != "" {
				head += " " + value
			}
			if x.DefValue != "" && x.DefValue != "false" && x.DefValue != "0" && x.DefValue != "-1" {
				text += " (default " + x.DefValue + ")"
			}
			fmt.Fprintf(out, "  %-22s %s\n", head, text)
		}
	}
	fmt.Fprintf(out, "\n%s", examples)
}
