package main

import (
	"slices"
	"time"
)

// A workload has a name and the number of processors that it uses. It also has the number of live blocks, and that of
// the operations in a repetition, unless the command line has others.
type workload struct {
	name      string
	live, ops int
	cores     int
	run       func(*job)
}

// workloads lists all; driver.c has the same table.
var workloads = []workload{
	{"W1", 100_000, 0, 1, func(j *job) { j.batch(8, 256, random, 1) }},
	{"cold", 100_000, 0, 1, func(j *job) { j.warm, j.reps = 1, 0; j.batch(8, 256, random, 1) }},
	{"W2.1", 1, 200_000, 1, (*job).lifo},
	{"W2.64", 64, 200_000, 1, (*job).lifo},
	{"W3", 10_000, 20, 1, (*job).fifo},
	{"W4", 10_000, 200_000, 1, func(j *job) { j.churn(small) }},
	{"W5", 10_000, 60, 1, (*job).particles},
	{"W6", 4_000, 200_000, 1, func(j *job) { j.churn(mixed) }},
	{"W7", 256, 20_000, 1, func(j *job) { j.churn(large) }},
	{"W8", 256, 400, 2, (*job).handOver},
	{"W9", 1_000, 200, 1, func(j *job) { j.batch(16, 256, inOrder, j.ops) }},
	{"W10", 1_000, 200, 1, (*job).aligned},
	{"W11", 20_000, 500, 1, (*job).fragmented},
	{"W12", 4_000, 500_000, 1, func(j *job) { j.timeCalls = true; j.churn(mixed) }},
	{"W13", 1, 1, 1, func(j *job) { j.growing(true) }},
	{"W13.freed", 1, 1, 1, func(j *job) { j.growing(false) }},
	{"W14", 1, 1, 1, (*job).replay},
	{"two", 10_000, 200_000, 2, (*job).twoCores},
}

func find(name string) *workload {
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
	if i < 0 {
		return nil
	}
	return &workloads[i]
}

// A job is one run of a workload and what it found.
type job struct {
	live, ops  int
	warm, reps int
	whole      bool
	nothing    bool
	timeCalls  bool // each call is timed, and the loop as a whole is not
	option     string
	program    string // of W14: the file
	core       int

	rng                 rng
	drawn, read         uint64
	figures             map[string]float64
	repeated, disturbed int
	spent               time.Duration // by repetitions that were repeated
}

// Limits of the repetitions that are measured again because the kernel gave the processor to another thread. On a
// machine that is never idle the rest are measured as they are, and counted in "disturbed".
const (
	mostRepeated = 100
	mostSpent    = 1500 * time.Millisecond
)

// repeat runs body for the warm-up and then for each repetition. It returns the median of the times of body divided by
// the number of operations, in nanoseconds. It sets "cold" to the time of the first run.
func (j *job) repeat(ops int, body func() time.Duration) float64 {
	var took []float64
	for r := -j.warm; r < j.reps; {
		before := switches()
		t := body()
		switch changed := switches() != before; {
		case r < 0 || !changed:
		case j.repeated < mostRepeated && j.spent < mostSpent:
			j.repeated++
			j.spent += t
			continue
		default:
			j.disturbed++
		}
		ns := float64(t.Nanoseconds()) / float64(ops)
		if r == -j.warm {
			j.figures["cold"] = ns
		}
		if r >= 0 {
			took = append(took, ns)
		}
		r++
	}
	return median(took)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// quantiles sets the figures of calls that were timed one by one, in ticks of the time stamp counter.
func (j *job) quantiles(of string, ticks []uint32) {
	slices.Sort(ticks)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p99", .99}, {"p999", .999}, {"p9999", .9999}} {
		j.figures[of+q.name] = float64(ticks[int(q.at*float64(len(ticks)-1))]) / ticksPerNS
	}
}
