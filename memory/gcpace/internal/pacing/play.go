package main

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"unsafe"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/cputime"
)

// A node is 64 bytes with pointers, as the collector likes least.
type node struct {
	left, right *node
	touched     uint64
	_           [nodeBytes - 8 - 2*pointerBytes]byte
}

const (
	nodeBytes    = 64
	pointerBytes = unsafe.Sizeof(unsafe.Pointer(nil))
)

// leaf is what was allocated last, so that the compiler keeps it.
//
//lint:ignore U1000 the compiler may not know that nobody reads it
var leaf *node

// play builds the live heap, collects once, and measures the levels that follow.
func play(c cell) (result, error) {
	held := build(nodes(c.Live))
	runtime.GC()
	h, err := hostOf(c.Mode)
	if err != nil {
		return result{}, err
	}
	return measured(h, held, c)
}

// measured plays the levels, and closes the host.
func measured(h host, held []*node, c cell) (r result, err error) {
	cycles, cpu := read(cyclesMetric), cputime.Process()
	for range c.Levels {
		r.Peak = max(r.Peak, mib(level(h, held, leaves(c.Garbage))))
	}
	r.CPU, r.Cycles = (cputime.Process() - cpu).Seconds(), int(read(cyclesMetric)-cycles)
	r.InPlay = inPlay(h, r.Cycles)
	return r, h.Close()
}

// nodes is how many make so many MiB, with their part of the slice that holds them.
func nodes(mib int) int { return mib << 20 / (nodeBytes + int(pointerBytes)) }

// build makes a heap that the collector has to follow node by node.
func build(n int) []*node {
	held := make([]*node, n)
	for i := range held {
		n := &node{}
		if i > 0 {
			n.left, n.right = held[i/2], held[i-1]
		}
		held[i] = n
	}
	return held
}

const framesPerLevel = 120

// leaves is how many a frame makes, for so many MB of garbage in a level.
func leaves(mb int) int { return mb * 1e6 / framesPerLevel / nodeBytes }

// level makes its garbage, and returns the largest heap in bytes. A frame also computes something, so that a level
// without garbage takes some time.
func level(h host, held []*node, leaves int) (peak uint64) {
	h.BeginLevel()
	for range framesPerLevel {
		litter(leaves)
		for i := 0; i < len(held); i += 64 {
			held[i].touched++
		}
		peak = max(peak, read("/memory/classes/heap/objects:bytes"))
	}
	h.EndLevel()
	return peak
}

func litter(n int) {
	for range n {
		leaf = &node{}
	}
}

const cyclesMetric = "/gc/cycles/total:gc-cycles"

func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func mib(bytes uint64) int { return int(bytes >> 20) }

// A host paces the levels of play.
type host interface {
	BeginLevel()
	EndLevel()
	Close() error
}

func hostOf(mode string) (host, error) {
	switch mode {
	case plain, again:
		return unpaced{}, nil
	case paced:
		return gcpace.New(gcpace.Config{})
	case keep:
		return gcpace.New(gcpace.Config{Keep: true})
	}
	return nil, fmt.Errorf("a column %q", mode)
}

// unpaced is the host of plain Go.
type unpaced struct{}

func (unpaced) BeginLevel()  {}
func (unpaced) EndLevel()    {}
func (unpaced) Close() error { return nil }

// inPlay returns how many of so many collections no pacer ran.
func inPlay(h host, cycles int) int {
	if p, ok := h.(*gcpace.Pacer); ok {
		return int(p.Stats().InPlay)
	}
	return cycles
}
