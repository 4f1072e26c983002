package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
)

// BenchmarkTag is the price of tags: blocks of many sizes that replace each other among a few
// thousand live ones, through a manager without them, through one with them for what has no tag
// and for what has, freed with the size and by address alone. "A/A" is "off" again. ns for an Alloc
// and a Free, and bytes of notes for each live block:
//
//	                        16-1024 bytes: ns  notes    4-64 KiB: ns  notes
//	off                                    11      -              42      -
//	A/A                                    11      -              42      -
//	on, untagged                           16      -              47      -
//	on, tagged                             36   11.2              68     98
//	on, tagged, by address                 35   11.2              70     98
//
//	off, samples                           36      -               *      -
//	on, tagged, samples                    47   11.2               *     98
//
// * about half of these blocks are sampled with SampleBytes 64 KiB, which takes about 1 µs each.
//
// The lowest of five rounds of a second, EPYC, Go 1.26.8; a neighbour's load makes it half as much
// again. The notes of large blocks are by the place where one began: 107 bytes a block after
// 300,000 replacements, 199 after 100 million, when one has begun in every 4 KiB, and no more.
//
// Without the branches that tags need when they are off, cut out by hand, and in three orders of
// the functions (-ldflags=-randlayout), on an older Xeon, off is 9.2, 9.2, 9.2 where it is 9.1, 9.1, 8.8 with them, and
// 40.4, 41.9, 42.5 where it is 40.0, 40.1, 40.2: nothing.
func BenchmarkTag(b *testing.B) {
	for _, size := range []struct {
		name        string
		least, most uintptr
	}{{"size=16-1024", 16, 1024}, {"size=4-64K", 4097, 64 << 10}} {
		for _, c := range []struct {
			name        string
			on, tag, by bool
			sample      uintptr
		}{
			{"off", false, false, false, 0}, {"A A", false, false, false, 0}, {"on, untagged", true, false, false, 0},
			{"on, tagged", true, true, false, 0}, {"on, tagged, by address", true, true, true, 0},
			{"off, samples", false, false, false, 64 << 10}, {"on, tagged, samples", true, true, false, 64 << 10},
		} {
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				m := newManager(b, Config{GC: gcpace.Config{Keep: true}, Tags: c.on, SampleBytes: c.sample, Reserve: [Count]uintptr{Large: 256 << 20}})
				a := memory.Allocator(m)
				if c.tag {
					a = newTag(b, m, "tag")
				}
				const n = 2048
				var live [n]unsafe.Pointer
				var sizes [n]uintptr
				x := uint64(1)
				for i := range n {
					sizes[i] = size.least + uintptr(i)*(size.most-size.least)/n
					live[i] = alloc(b, a, sizes[i])
				}
				for b.Loop() {
					x = x*6364136223846793005 + 1442695040888963407
					i := x >> 53
					if c.by {
						m.FreeAny(live[i])
					} else {
						m.Free(live[i], sizes[i])
					}
					p, err := a.Alloc(sizes[i], 16)
					if err != nil {
						b.Fatal(err)
					}
					live[i] = p
				}
				if c.tag {
					bytes := 8*len(m.slab.notes.units) + 4*notesWords(m) + 4*len(m.large.notes.units) + 4*int(m.large.notes.next)
					b.ReportMetric(float64(bytes)/n, "notes-B/block")
				}
			})
		}
	}
}

// BenchmarkTask is a task of a worker with ten blocks of its scratch arena.
func BenchmarkTask(b *testing.B) {
	m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
	w := m.Worker(0)
	for b.Loop() {
		a, err := w.BeginTask()
		if err != nil {
			b.Fatal(err)
		}
		for range 10 {
			if _, err := a.Alloc(64, 16); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.EndTask(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHome is what a block costs that another goroutine frees, at the drain: blocks of one size
// in the order of their addresses, of sizes drawn from 16 to 512, and these with every fourth one of
// the large tier. ns for a block of slab, the others with theirs:
//
//	              by FreeRun  one by one
//	same                 2.6         8.2
//	mixed                3.0         8.2
//	mixed, large         7.9        10.5
//
// The lowest of 6 rounds of 300 drains of 1,024 blocks, Xeon, Go 1.26.8.
func BenchmarkHome(b *testing.B) {
	for _, c := range []struct {
		name        string
		least, most uintptr
		large       int
	}{{"same", 64, 64, 0}, {"mixed", 16, 512, 0}, {"mixed, large", 16, 512, 4}} {
		b.Run(c.name, func(b *testing.B) {
			m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
			f := m.NewFreer()
			const n = 1024
			var live [n]unsafe.Pointer
			x := uint64(1)
			for b.Loop() {
				b.StopTimer()
				for i := range live {
					x = x*6364136223846793005 + 1442695040888963407
					size := c.least + uintptr(x>>40)%(c.most-c.least+1)
					if c.large > 0 && i%c.large == 0 {
						size = 5000
					}
					live[i] = alloc(b, m, size)
				}
				for _, p := range live {
					f.FreeAny(p)
				}
				_ = f.Flush()
				b.StartTimer()
				m.returned.Drain()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/block")
		})
	}
}
