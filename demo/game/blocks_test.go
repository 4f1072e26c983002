package game

import (
	"runtime"
	"testing"

	"github.com/strata-go/strata/demo/goheap"
	"github.com/strata-go/strata/memory"
)

func TestBlocks_AreHeldUntilTheyAreDropped(t *testing.T) {
	for _, a := range []memory.Allocator{goheap.Plain{}, &goheap.Pooled{}} {
		b := blocks{a: a}
		var numbers []uint64
		for i := range 100 {
			n, _ := b.take(256, 8)
			*(*uint64)(b.at(n)) = uint64(i)
			numbers = append(numbers, n)
		}
		runtime.GC()
		for i, n := range numbers {
			if got := *(*uint64)(b.at(n)); got != uint64(i) {
				t.Fatalf("block %d holds %d: nobody kept it", i, got)
			}
		}
		if err := b.check(100); err != nil {
			t.Error(err)
		}
		for _, n := range numbers[:50] {
			b.give(n, 256)
		}
		if b.check(50) != nil || b.check(51) == nil {
			t.Errorf("%v, and of 51 %v", b.check(50), b.check(51))
		}
		if n, _ := b.take(8, 8); n > 49 || b.check(51) != nil {
			t.Errorf("number %d was not used again", n)
		}
	}
}

// Numbered blocks are compared with plain code: rows with a trail in a field. Each round
// takes a new trail in the place of one of 20,000, and writes ten points.
func BenchmarkBlocks_TrailAgainstByHand(b *testing.B) {
	const live, length = 20_000, 8
	b.Run("blocks", func(b *testing.B) {
		rs := ribbons{blocks: blocks{a: goheap.Plain{}}}
		g := &Game{}
		var ids [live]uint16
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			id := &ids[i%live]
			rs.give(*id)
			*id = rs.take(g, vec{}, length)
			for range 10 {
				rs.push(g, *id, vec{1, 2})
			}
		}
	})
	b.Run("by hand", func(b *testing.B) {
		type row struct {
			trail     []vec
			at, count uint8
		}
		all := make([]row, live)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e := &all[i%live]
			*e = row{trail: make([]vec, trailLeast)}
			for range 11 {
				if n := len(e.trail); int(e.count) == n && n < length {
					grown := make([]vec, min(n+n/2+1, length))
					e.at = uint8(copy(grown, e.trail))
					e.trail = grown
				}
				e.trail[e.at] = vec{1, 2}
				if e.at++; int(e.at) == len(e.trail) {
					e.at = 0
				}
				e.count = min(e.count+1, uint8(len(e.trail)))
			}
		}
	})
}
