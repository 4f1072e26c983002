package tlsf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// furnished returns a heap that has blocks in every state, in two pools, a room and a refused growth.
func furnished(t *testing.T) *Heap {
	t.Helper()
	h := newHeap(t, nil, Config{Reserve: 64 << 10, Step: 16 << 10, QuickBytes: 4 << 10})
	if err := h.AddPool(nil, 64<<10); err != nil {
		t.Fatal(err)
	}
	var p []unsafe.Pointer
	for range 24 {
		p = append(p, memtest.MustAlloc(t, h, 4096, 1))
	}
	for _, i := range []int{2, 5, 8, 11, 12, 13, 18, 20} { // the first waits
		h.Free(p[i], 4096)
	}
	memtest.MustAlloc(t, h, 1000, 1)
	if !h.Resize(p[17], 4096, 5000) || h.Resize(p[0], 4096, 6000) || h.bins.lists[roomLevel] == 0 || h.outgrown == 0 {
		t.Fatal("there is no room, or nothing is awaited")
	}
	memtest.MustCheck(t, h)
	return h
}

// corrupted runs f on the heap and reports what Check says, then puts everything back.
func corrupted(h *Heap, f func()) error {
	restore, blocks := memtest.Keep(h), slices.Clone(h.blocks)
	starts, quick := slices.Clone(h.pools[0].starts), memtest.Keep(h.quick)
	defer func() {
		restore()
		quick()
		copy(h.blocks, blocks)
		copy(h.pools[0].starts, starts)
	}()
	f()
	return h.Check()
}

// The fields of a descriptor that carry meaning in each state; the others are leftovers.
var meaningful = map[state]string{
	anchor:  "off size prevFree nextFree state",
	live:    "off size prev next req bin pool state",
	free:    "off size prev next prevFree nextFree bin pool state",
	waiting: "off size prev next nextFree bin pool state",
	spare:   "nextFree state",
}

func TestCheck_FindsEveryCorruptField(t *testing.T) {
	h := furnished(t)
	met := map[state]bool{}
	for i := range h.blocks {
		x := &h.blocks[i]
		met[x.state] = true
		fields := strings.Fields(meaningful[x.state])
		if i < h.poolCount {
			fields = append(fields, "prev", "next")
		}
		for _, f := range fields {
			for _, delta := range []uint32{1, 7, 1 << 20} {
				err := corrupted(h, func() {
					switch f {
					case "off":
						x.off += delta
					case "size":
						x.size += delta
					case "prev":
						x.prev += delta
					case "next":
						x.next += delta
					case "prevFree":
						x.prevFree += delta
					case "nextFree":
						x.nextFree += delta
					case "req":
						x.req += 1 << 12
					case "bin":
						x.bin += uint16(delta%5) + 1
					case "pool":
						x.pool += uint8(delta%5) + 1
					case "state":
						x.state = (x.state + 1 + state(delta%4)) % 5
					}
				})
				if err == nil {
					t.Errorf("descriptor %d %+v: %s + %d goes unseen", i, *x, f, delta)
				}
			}
		}
	}
	if len(met) != 5 {
		t.Errorf("the heap has blocks in states %v only", met)
	}
	memtest.MustCheck(t, h)
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	h := furnished(t)
	firstLive := h.blocks[0].next
	for _, tt := range []struct {
		want    string
		corrupt func()
	}{
		{"a granule of 512 bytes is not the configured one of 256", func() { h.grain++ }},
		{"alignments up to 512", func() { h.fastAlign = 512 }},
		{"sizes up to 1 take", func() { h.fastSize = 1 }},
		{"17 pools; from 1 to 16", func() { h.poolCount = 17 }},
		{"pool 1 at", func() { h.pools[1].base = unsafe.Add(h.pools[1].base, 16) }},
		{"pool 0 at", func() { h.pools[0].starts = h.pools[0].starts[:10] }},
		{"budget is 3 granules", func() { h.quick.budget = 3 }},
		{"ends at granule", func() { h.pools[0].mem.Trim(page.Granule) }},
		{"follows 0", func() { h.blocks[firstLive].prev = 9 }},
		{"is in a ring twice", func() { h.blocks[h.blocks[firstLive].next].next = firstLive }},
		{"leads to descriptor 99999", func() { h.blocks[firstLive].next = 99999 }},
		{"neighbours and both free", func() { h.blocks[firstLive].state, h.blocks[h.blocks[firstLive].next].state = free, free }},
		{"granule 0 does not name the live block", func() { h.pools[0].starts[0] = 0 }},
		{"granule 1 names descriptor", func() { h.pools[0].starts[1] = firstLive }},
		{"granule 1 leads to descriptor 88888", func() { h.pools[0].starts[1] = 88888 }},
		{"holds 8192 bytes in 16 granules", func() { h.blocks[firstLive].req = 8192 }},
		{"level 31 has bit true", func() { h.bins.levels |= 1 << 31 }},
		{"beyond 16", func() { h.bins.lists[2] |= 1 << 16 }},
		{"bin 35 has bit true", func() { h.bins.lists[2] |= 1 << 3 }},
		{"quick stacks hold 17 granules", func() { h.quick.held++ }},
		{"is on a quick stack twice", func() {
			h.quick.heads[17] = h.quick.heads[16]
		}},
		{"head 77777 leads to descriptor 77777", func() { h.spare = 77777 }},
		{"is spare twice", func() { h.blocks[h.spare].nextFree = h.spare }},
		{"granules used for", func() { h.counts.Resized(0, 1, 0, 0) }},
		{"granules used for", func() { h.counts.Resized(0, 0, 1, 0) }},
		{"but 17 blocks are live", func() { h.counts.Out(0, 0) }},
		{"but 17 blocks are live", func() { h.counts.In(0, 0) }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if err := corrupted(h, tt.corrupt); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v", err)
			}
		})
	}
}

func TestCheck_ReportsEverythingAtOnce(t *testing.T) {
	h := furnished(t)
	err := corrupted(h, func() { h.counts.Out(1, 0); h.bins.levels = 0 })
	for _, want := range []string{"granules used", "blocks are live", "has bit false"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %v", want, err)
		}
	}
	if n := len(strings.Split(fmt.Sprint(err), "\n")); n < 3 {
		t.Errorf("%d lines", n)
	}
}
