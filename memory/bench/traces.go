package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory/trace"
)

// The sides with an allocator that does nothing.
const (
	goLoop = "loop, Go"
	cLoop  = "loop, C"
)

// net is the figure of W14: the time of an operation less that of the loop.
const net = "net"

// replayed is the workload of the drivers that runs the program of a trace.
const replayed = "W14"

// A recording is a file of the folder traces.
type recording struct {
	name string
	size int64  // of the file
	peak uint64 // bytes live at once
}

// smallPeak is the peak up to which the footprint is shown and not judged.
const smallPeak = 1 << 20

// recordings lists the traces, the smallest file first. The peaks are those of the table in traces/README.md.
func recordings() (all []recording) {
	files, _ := filepath.Glob("traces/*.trace") // the pattern is well formed
	peaks := readPeaks()
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			name := strings.TrimSuffix(filepath.Base(file), ".trace")
			all = append(all, recording{name, info.Size(), peaks[name]})
		}
	}
	slices.SortFunc(all, func(a, b recording) int { return int(a.size - b.size) })
	return all
}

// readPeaks returns the column of the peak, by trace.
func readPeaks() map[string]uint64 {
	peaks := map[string]uint64{}
	text, _ := os.ReadFile("traces/README.md") // without it all peaks are 0, and a test fails
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		var peak uint64
		if len(cells) < 8 {
			continue
		}
		if _, err := fmt.Sscan(cells[7], &peak); err == nil {
			peaks[strings.TrimSpace(cells[1])] = peak
		}
	}
	return peaks
}

// traceTests returns two tests of each trace: of time, and of the footprint.
func traceTests() (tests []test) {
	for _, r := range recordings() {
		tests = append(tests, test{
			name: "W14 " + r.name, workload: replayed, trace: r.name, figure: net, brief: true,
			what:   "the trace of " + r.name + ", time of an operation less that of the loop",
			judged: []string{slabs}, shown: []string{manager, slabs + fast, manager + fast, tlsfs}, peers: []string{runtimes, modernc},
		})
	}
	for _, r := range recordings() {
		tests = append(tests, test{
			name: "whole W14 " + r.name, workload: replayed, trace: r.name, brief: true, whole: true,
			what:   "the trace of " + r.name + ", blocks written whole",
			judged: []string{slabs}, shown: []string{manager, slabs + fast, tlsfs}, peers: []string{runtimes, modernc},
		})
	}
	return tests
}

// traceBounds are the judged ratios of the traces.
func traceBounds() (all []bound) {
	var names []string
	for _, r := range recordings() {
		names = append(names, "W14 "+r.name)
		all = append(all, bound{test: "W14 " + r.name, figure: net, side: slabs, of: []string{glibc}, most: 1})
		if r.name == "demo" {
			all = append(all, bound{test: "W14 " + r.name, figure: "p999", side: slabs, most: 1})
		}
		if r.peak > smallPeak {
			all = append(all, bound{test: "whole W14 " + r.name, figure: overLive, side: slabs, of: []string{jemalloc, tcmalloc}, most: 1})
		}
	}
	return append(all, bound{test: "W14", figure: net, side: slabs, of: []string{glibc}, most: .5, mean: names})
}

// judgeMean judges the geometric mean of the ratios of several tests.
func (bo bound) judgeMean(results []result) judgement {
	j := judgement{bound: bo, Peer: strings.Join(bo.of, ", ")}
	sum, spread := 0.0, 0.0
	for _, name := range bo.mean {
		one := bound{test: name, figure: bo.figure, side: bo.side, of: bo.of}.judge(results)
		if one.Missing != "" {
			j.Missing = name + ": " + one.Missing
			return j
		}
		sum += math.Log(max(one.Ratio, math.SmallestNonzeroFloat64))
		spread += one.Spread
	}
	n := float64(len(bo.mean))
	j.Ratio, j.Spread = math.Exp(sum/n), spread/n
	return j
}

// traceArgs returns the arguments that name the program of a test's trace. It makes the program first if there is none.
func (b *bench) traceArgs(t test) ([]string, error) {
	if t.trace == "" {
		return nil, nil
	}
	file := filepath.Join(b.dir, t.trace+".program")
	if _, err := os.Stat(file); err != nil {
		if err := compile(filepath.Join("traces", t.trace+".trace"), file); err != nil {
			return nil, err
		}
	}
	return []string{"-program", file}, nil
}

// compile makes the program of a trace.
func compile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := trace.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	p, err := trace.Compile(r)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := p.WriteTo(out); err != nil {
		return err
	}
	return out.Close()
}

// subtractLoops sets the figure net of each sample: its time less that of the loop of its language in its round. Of a
// loop it is the time itself.
func (r result) subtractLoops(language func(side string) kind) {
	goTimes, cTimes := r.series(goLoop, "pair"), r.series(cLoop, "pair")
	for side, samples := range r.Samples {
		for _, s := range samples {
			if tick, ok := s.Figures["tick p999"]; ok {
				s.Figures["p999"] = tick
			}
			loop := goTimes
			if language(strings.TrimSuffix(side, again)) == inC {
				loop = cTimes
			}
			if side == goLoop || side == cLoop {
				s.Figures[net] = s.Figures["pair"]
			} else if time, ok := loop[s.Round]; ok {
				s.Figures[net] = max(s.Figures["pair"]-time, leastTime)
			}
		}
	}
}
