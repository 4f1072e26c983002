package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
)

// A sample is what one process of a side has found.
type sample struct {
	Round, Program int
	Figures        map[string]float64
}

// A result has the samples of a test, by side. The second run of a judged side has the ending A/A.
type result struct {
	Test    string
	Run     string              // machine, programs and rounds
	Load    float64             // of the machine, a minute's average at the start
	Missing string              `json:",omitempty"` // why it was not measured
	Samples map[string][]sample `json:",omitempty"`
	Files   map[string]string   `json:",omitempty"` // of the sides in C, by name
}

const again = " A/A"

// measureAll measures the tests one after the other, and keeps each result in the state.
func (b *bench) measureAll(tests []test) (results []result, err error) {
	kept, err := b.o.earlier()
	if err != nil {
		return nil, err
	}
	for i, t := range tests {
		at := slices.IndexFunc(kept, func(r result) bool { return r.Test == t.name })
		if at >= 0 && kept[at].Missing == "" && b.has(kept[at], t) {
			results = append(results, kept[at])
			continue
		}
		fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %s", i+1, len(tests), t.name)
		r := result{Test: t.name, Missing: fmt.Sprintf("it needs %d processors", t.cores)}
		if t.cores <= runtime.NumCPU() {
			if r, err = b.measure(t); err != nil {
				return nil, err
			}
		}
		results = append(results, r)
		kept = append(slices.DeleteFunc(kept, func(k result) bool { return k.Test == t.name }), r)
		if err := b.o.keep(kept); err != nil {
			return nil, err
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	return results, nil
}

// has reports whether all sides of a test were measured, those in C from the same files.
func (b *bench) has(r result, t test) bool {
	for _, name := range b.o.sidesOf(t) {
		if r.Samples[name] == nil || r.Files[name] != b.fileOf(name) {
			return false
		}
	}
	return true
}

// fileOf returns the library of a side in C, with its size and time: it may be installed or built again.
func (b *bench) fileOf(name string) string {
	file := orElse(b.found[name].archive, b.found[name].preload)
	if info, err := os.Stat(file); err == nil {
		file = fmt.Sprintf("%s, %d bytes of %v", file, info.Size(), info.ModTime().UTC())
	}
	return file
}

// files returns the libraries of a test, by the names of their sides.
func (b *bench) files(t test) map[string]string {
	files := map[string]string{}
	for _, name := range b.o.sidesOf(t) {
		if file := b.fileOf(name); file != "" {
			files[name] = file
		}
	}
	return files
}

// sidesOf returns the names of the sides of a test, those of -peer included.
func (o options) sidesOf(t test) []string {
	names := t.sides()
	for _, p := range o.peers {
		names = append(names, p.name)
	}
	return names
}

// A turn is one side in one round.
type turn struct {
	side side
	as   string // the name of its samples
}

// turns returns the sides of a round: judged ones twice, and with -check the Go peers in every third round only.
func (b *bench) turns(t test, round int) (turns []turn, err error) {
	for _, name := range b.o.sidesOf(t) {
		s, err := b.side(name)
		if err != nil {
			return nil, err
		}
		if b.o.check && s.kind == inGo && round%3 != 0 {
			continue
		}
		turns = append(turns, turn{s, name})
		if slices.Contains(t.judged, name) {
			turns = append(turns, turn{s, name + again})
		}
	}
	return turns, nil
}

// roundsOf returns the number of rounds: a third, and at least four, where each process takes long.
func (b *bench) roundsOf(t test) int {
	if t.brief {
		return min(b.o.rounds, max(b.o.rounds/3, 4))
	}
	return b.o.rounds
}

// measure runs the sides of a test in turn, round by round. In each round another side is the first one.
func (b *bench) measure(t test) (result, error) {
	r := result{Test: t.name, Run: b.runOf(t), Load: load(), Samples: map[string][]sample{}, Files: b.files(t)}
	var first finding
	var firstName string
	for round := range b.roundsOf(t) {
		turns, err := b.turns(t, round)
		if err != nil {
			return r, err
		}
		for i := range turns {
			k := turns[(i+round)%len(turns)]
			program := round % b.o.placements
			f, err := b.call(t, k.side, program)
			if err != nil {
				return r, err
			}
			if firstName == "" {
				first, firstName = f, k.as
			}
			if err := sameWork(t, firstName, k.as, first, f); err != nil {
				return r, err
			}
			if t.whole {
				if err := b.overLive(t, k.side, program, &f); err != nil {
					return r, err
				}
			}
			r.Samples[k.as] = append(r.Samples[k.as], sample{round, program, f.Figures})
		}
	}
	if t.trace != "" && !t.whole {
		r.subtractLoops(func(name string) kind { return b.found[name].kind })
	}
	return r, nil
}

// overLive replaces the figure of resident bytes by their ratio to the live ones, without those of an empty program of
// the same language. In C that is the program without a library to load: what a library takes at its start counts.
func (b *bench) overLive(t test, s side, program int, f *finding) error {
	if s.kind == inC {
		s = b.found[glibc]
	}
	empty, err := b.call(t, s, program, "-nothing")
	if err != nil {
		return err
	}
	f.Figures[overLive] = (f.Figures[overLive] - empty.Figures[overLive]) / f.Figures["live"]
	return nil
}
