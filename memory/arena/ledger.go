package arena

import (
	"fmt"
	"sort"
)

// A ledger has each block of a Linear that no Free, Rewind or Reset has reclaimed, oldest first, in debug builds. In
// other builds it is empty.
type ledger struct{ blocks []entry }

// An entry is one block.
type entry struct {
	off, size uintptr // from base
	freed     uintptr // 1: by a Free that did not reclaim it
}

func (g *ledger) add(off, size uintptr) { g.blocks = append(g.blocks, entry{off: off, size: size}) }

// cut removes all blocks but the live oldest.
func (g *ledger) cut(live uint64) { g.blocks = g.blocks[:min(live, uint64(len(g.blocks)))] }

// resize changes the size of the newest block.
func (g *ledger) resize(size uintptr) { g.blocks[len(g.blocks)-1].size = size }

// free marks a block as freed.
func (g *ledger) free(off, size uintptr) {
	if i := g.at(off, size); i >= 0 {
		g.blocks[i].freed = 1
	}
}

// above returns the index of the oldest block that starts above off.
func (g *ledger) above(off uintptr) int {
	return sort.Search(len(g.blocks), func(i int) bool { return g.blocks[i].off > off })
}

// at returns the newest block at off with size bytes that was not freed, or -1. Blocks of size 0 share their address.
func (g *ledger) at(off, size uintptr) int {
	for i := g.above(off) - 1; i >= 0 && g.blocks[i].off == off; i-- {
		if b := &g.blocks[i]; b.size == size && b.freed == 0 {
			return i
		}
	}
	return -1
}

// whyNot returns why no live block is [off, off+size), or "" if one is.
func (g *ledger) whyNot(off, size uintptr) string {
	if g.at(off, size) >= 0 {
		return ""
	}
	i := g.above(off) - 1
	if i < 0 || off-g.blocks[i].off >= max(g.blocks[i].size, 1) {
		return "the block does not lie in the live part of this arena: foreign, or freed already"
	}
	switch b := g.blocks[i]; {
	case b.off != off:
		return fmt.Sprintf("interior pointer: it points %d bytes into a block of %d", off-b.off, b.size)
	case b.freed != 0:
		return fmt.Sprintf("the block of %d bytes was freed already", b.size)
	default:
		return fmt.Sprintf("wrong size: the block has %d bytes", b.size)
	}
}
