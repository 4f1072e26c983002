package main

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A block is one that lives.
type block struct {
	p    unsafe.Pointer
	size uintptr
	next int32 // dies in the same frame, or is as vacant as this one; -1: none
}

// A heap is what the game plays on: a manager.
type heap interface {
	Alloc(size, align uintptr) (unsafe.Pointer, error)
	Free(p unsafe.Pointer, size uintptr)
	FreeAny(p unsafe.Pointer)
	BeginFrame() error
	EndFrame() error
	BeginLevel() error
	EndLevel() (tiers.Leaks, error)
	Check() error
	Close() error
}

// A game makes and frees the blocks.
type game struct {
	load
	m       heap
	rng     uint64
	blocks  []block
	vacant  int32
	dying   []int32 // by frame, modulo: the first that dies then
	live    int
	asks    int // bytes, by all that live
	asked   [2]uint64
	phase   float64
	inLevel bool
}

func newGame(m heap, l load) *game {
	g := &game{load: l, m: m, rng: l.Seed*2 + 0x9E3779B97F4A7C15, vacant: -1, dying: make([]int32, l.level+1)}
	g.blocks = make([]block, 0, l.most)
	for i := range g.dying {
		g.dying[i] = -1
	}
	return g
}

// run plays all frames, and looks at the heap once per simulated second.
func (g *game) run(look func() [2]memory.Stats) (samples []sample, err error) {
	for f := range g.Frames {
		if err := g.frame(f); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
		if (f+1)%framesPerSecond == 0 {
			samples = append(samples, sample{Frame: f + 1, Live: g.live, Asked: g.asked, Tiers: look()})
		}
	}
	return samples, g.end()
}

// next is xorshift64*.
func (g *game) next() uint64 {
	g.rng ^= g.rng >> 12
	g.rng ^= g.rng << 25
	g.rng ^= g.rng >> 27
	return g.rng * 0x2545F4914F6CDD1D
}

// share returns a number from 0 up to 1.
func (g *game) share() float64 { return float64(g.next()>>11) / (1 << 53) }

// between returns a whole number from lo to hi, small ones as likely as large ones.
func (g *game) between(lo, hi float64) int {
	return int(lo * math.Pow(hi/lo, g.share()))
}

// size is that of the next block: names, lists and paths for the most part, then buffers, then
// meshes and pictures.
func (g *game) size() uintptr {
	switch k := g.next() >> 32 % 1000; {
	case k < 800:
		return uintptr(g.between(16, 257))
	case k < 950:
		return uintptr(g.between(256, 4097))
	case k < 995:
		return uintptr(g.between(4096, 32<<10+1))
	default:
		return uintptr(g.between(32<<10, 256<<10+1))
	}
}

// tierOf is the index in sampled of the tier that serves a size.
func tierOf(size uintptr) int {
	if size > 4096 {
		return 1
	}
	return 0
}

// life is how many frames the next block lives: seconds for the most part, a whole level for some.
func (g *game) life() int {
	if g.next()>>32%64 == 0 {
		return g.between(1, float64(g.level+1))
	}
	return g.between(1, 8*framesPerSecond)
}

// target is how many blocks live in a frame: the loading of a level brings the most, then
// calm and heat take turns, of which none is like the other.
func (g *game) target(f int) int {
	into := f % g.level
	if into < 10*framesPerSecond {
		return g.most
	}
	if into%framesPerMinute == 0 {
		g.phase = g.share() * 2 * math.Pi
	}
	wave := math.Sin(2*math.Pi*float64(into)/(20*framesPerSecond)+g.phase)*0.6 + math.Sin(2*math.Pi*float64(into)/(7*framesPerSecond))*0.4
	wave = min(max(wave*1.4, -1), 1)
	return g.least + int((wave+1)/2*float64(g.most-g.least))
}

func (g *game) frame(f int) error {
	if g.Levels && f%g.level == 0 {
		if err := g.changeLevel(f); err != nil {
			return err
		}
	}
	if err := g.m.BeginFrame(); err != nil {
		return err
	}
	return errors.Join(g.turn(f), g.m.EndFrame())
}

// turn frees what dies in the frame, and allocates up to its target.
func (g *game) turn(f int) error {
	for i := g.dying[f%len(g.dying)]; i >= 0; {
		next := g.blocks[i].next
		g.free(i)
		i = next
	}
	g.dying[f%len(g.dying)] = -1
	target := g.target(f)
	most := g.bytes / g.most * target
	for g.live < target && g.asks < most {
		size := g.size()
		if g.asks+int(size) > g.bytes {
			break
		}
		if err := g.alloc(f, size); err != nil {
			return err
		}
	}
	return nil
}

func (g *game) alloc(f int, size uintptr) error {
	p, err := g.m.Alloc(size, 16)
	if err != nil {
		return err
	}
	*(*uint64)(p) = uint64(f)
	i := g.vacant
	if i >= 0 {
		g.vacant = g.blocks[i].next
	} else {
		i = int32(len(g.blocks))
		g.blocks = append(g.blocks, block{})
	}
	end := g.level // from now
	if g.Levels {
		end -= f % g.level
	}
	at := (f + min(g.life(), end)) % len(g.dying)
	g.blocks[i] = block{p: p, size: size, next: g.dying[at]}
	g.dying[at] = i
	g.live++
	g.asks += int(size)
	g.asked[tierOf(size)] += uint64(size)
	return nil
}

// free gives block i back: every other one by its address alone.
func (g *game) free(i int32) {
	b := &g.blocks[i]
	if i&1 == 0 {
		g.m.Free(b.p, b.size)
	} else {
		g.m.FreeAny(b.p)
	}
	g.live--
	g.asks -= int(b.size)
	g.asked[tierOf(b.size)] -= uint64(b.size)
	b.p, b.next = nil, g.vacant
	g.vacant = i
}

// changeLevel frees what is left of the level, in the order of its table, and begins the next.
// One block in fifty belongs to the game, and lives on to die in the next level.
func (g *game) changeLevel(f int) error {
	if g.inLevel {
		g.sweep(f)
		if _, err := g.m.EndLevel(); err != nil {
			return err
		}
		if err := g.m.Check(); err != nil {
			return err
		}
	}
	g.inLevel = true
	return g.m.BeginLevel()
}

// sweep frees the level's blocks and gives the others a new end.
func (g *game) sweep(f int) {
	for i := range g.dying {
		g.dying[i] = -1
	}
	for i := range g.blocks {
		switch {
		case g.blocks[i].p == nil:
		case i%50 != 0:
			g.free(int32(i))
		default:
			at := (f + g.between(1, float64(g.level))) % len(g.dying)
			g.blocks[i].next = g.dying[at]
			g.dying[at] = int32(i)
		}
	}
}

func (g *game) end() error {
	if g.inLevel {
		g.sweep(g.Frames)
		if _, err := g.m.EndLevel(); err != nil {
			return err
		}
	}
	if err := g.m.Check(); err != nil {
		return err
	}
	return g.m.Close()
}
