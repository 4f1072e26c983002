package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/strata-go/strata/engine/osthread"
	"github.com/strata-go/strata/memory/histogram"
)

// figures are what a run has taken. Those of the warm-up are left out.
type figures struct {
	Variant     string
	Checksum    string  // of all packets
	Mallocs     float64 // of a tick, on the Go heap, in the whole process
	P50         float64 // ms of a tick
	P99, P999   float64
	CPU50       float64 // ms of its thread; 0: not known
	CPU99       float64
	CPU999      float64
	Collections float64
	RSS         float64 // MiB at the end; 0: not known
	CPU         float64 // seconds of the process, from the parent
}

// rejoining is the number of ticks between players who leave.
const rejoining = 128

// report plays and writes the figures as JSON. A tenth as many ticks come before: buffers get their size, and clients
// their snapshots.
func report(s server, ticks int, seed uint64, out io.Writer) error {
	f, err := play(s, ticks/10, ticks, seed)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(f)
}

// play runs a server with its clients, as fast as it goes, and closes it.
func play(s server, warm, ticks int, seed uint64) (f figures, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var (
		n             = newClients(seed)
		times, cpu    histogram.Durations
		before, after runtime.MemStats
	)
	for t := range uint32(warm + ticks) {
		if int(t) == warm {
			times, cpu = histogram.Durations{}, histogram.Durations{}
			runtime.ReadMemStats(&before)
		}
		took, used, err := tick(s, n, t+1)
		if err != nil {
			return f, errors.Join(err, s.close())
		}
		times.Add(took)
		cpu.Add(used)
	}
	runtime.ReadMemStats(&after)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	p, c := times.Spread(), cpu.Spread()
	f = figures{
		Variant: fmt.Sprintf("%T", s), Checksum: fmt.Sprintf("%016x", n.sum),
		Mallocs: float64(after.Mallocs-before.Mallocs) / float64(ticks), Collections: float64(after.NumGC - before.NumGC),
		P50: ms(p.P50), P99: ms(p.P99), P999: ms(p.P999), CPU50: ms(c.P50), CPU99: ms(c.P99), CPU999: ms(c.P999),
		RSS: resident(),
	}
	return f, s.close()
}

// tick is one tick: packets of all clients are read, the zones step, and packets are sent. The time of the clients is
// left out.
func tick(s server, n *clients, t uint32) (took, used time.Duration, err error) {
	if t%rejoining == 0 {
		i := int(t/rejoining) * 37 % clientCount
		rejoin(s, i)
		n.rejoin(i)
	}
	var packets [clientCount][]byte
	for i := range packets {
		packets[i] = n.packet(i, t)
	}
	before, _ := osthread.CPU()
	began := time.Now()
	for i := range packets {
		if err := receive(s, i, packets[i]); err != nil {
			return 0, 0, err
		}
	}
	if err := s.tick(n); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	after, _ := osthread.CPU()
	n.check()
	return took, after - before, nil
}

// resident returns the resident memory in MiB, or 0 if the system does not tell it.
func resident() float64 {
	text, _ := os.ReadFile("/proc/self/status") // without it the figure is unknown
	for line := range strings.Lines(string(text)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			return kib / 1024
		}
	}
	return 0
}
