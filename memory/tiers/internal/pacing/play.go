package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/strata-go/strata/memory/tiers"
)

// A node is 64 bytes with pointers, as the collector likes least.
type node struct {
	left, right *node
	touched     uint64
	_           [5]uint64
}

const nodeBytes = 64

// held is what is live, and leaf what was allocated last, so that the compiler keeps both.
var (
	held []*node
	//lint:ignore U1000 the compiler may not know that nobody reads it
	leaf *node
)

// play builds the live heap, collects once, and measures the levels that follow.
func play(arg string) error {
	var c cell
	if err := json.Unmarshal([]byte(arg), &c); err != nil {
		return err
	}
	time.AfterFunc(childSeconds*time.Second, func() {
		fmt.Fprintf(os.Stderr, "pacing: not done after %d s\n", childSeconds)
		os.Exit(1)
	})
	debug.SetGCPercent(-1)                         // building it is not measured
	held = make([]*node, c.Live<<20/(nodeBytes+8)) // 8: the slice's own part
	for i := range held {
		n := &node{}
		if i > 0 {
			n.left, n.right = held[i/2], held[i-1]
		}
		held[i] = n
	}
	debug.SetGCPercent(100)
	runtime.GC()
	m, err := manager(c.Mode)
	if err != nil {
		return err
	}
	cycles, cpu := read("/gc/cycles/total:gc-cycles"), cpuSeconds()
	var r result
	for range c.Levels {
		peak, err := level(m, c.Garbage*1e6)
		if err != nil {
			return err
		}
		r.Peak = max(r.Peak, peak)
	}
	r.CPU, r.Cycles = cpuSeconds()-cpu, int(read("/gc/cycles/total:gc-cycles")-cycles)
	r.InPlay = r.Cycles
	if m != nil {
		var s tiers.Snapshot
		m.Snapshot(&s)
		r.InPlay = int(s.Go.InPlay)
		if err := m.Close(); err != nil {
			return err
		}
	}
	runtime.KeepAlive(held)
	return json.NewEncoder(os.Stdout).Encode(r)
}

func manager(mode string) (*tiers.Manager, error) {
	switch mode {
	case plain, again:
		return nil, nil
	case strata:
		return tiers.New(tiers.Config{})
	case keep:
		return tiers.New(tiers.Config{KeepGC: true})
	}
	return nil, fmt.Errorf("a column %q", mode)
}

// level makes its garbage in 120 frames, and returns the largest heap in MiB. A frame also
// computes something, so that a level without garbage takes some time.
func level(m *tiers.Manager, bytes int) (peak int, err error) {
	if m != nil {
		if err := m.BeginLevel(); err != nil {
			return 0, err
		}
	}
	const frames = 120
	for range frames {
		if m != nil {
			if err := m.BeginFrame(); err != nil {
				return 0, err
			}
		}
		for range bytes / frames / nodeBytes {
			leaf = &node{}
		}
		for i := 0; i < len(held); i += 64 {
			held[i].touched++
		}
		if m != nil {
			if err := m.EndFrame(); err != nil {
				return 0, err
			}
		}
		peak = max(peak, int(read("/memory/classes/heap/objects:bytes")>>20))
	}
	if m != nil {
		_, err = m.EndLevel()
	}
	return peak, err
}

func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
