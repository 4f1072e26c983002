package freelist

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

// corrupted runs f on the heap and reports what Check says, then puts everything back.
func corrupted(h *Heap, f func()) error {
	restore, runs, live := memtest.Keep(h), slices.Clone(h.runs), slices.Clone(h.live)
	defer func() {
		restore()
		h.runs = append(h.runs[:0], runs...)
		copy(h.live, live)
	}()
	f()
	return h.Check()
}

func TestCheck_FindsEveryCorruptWord(t *testing.T) {
	h := holes(t, FirstFit)
	for _, delta := range []uint32{1, 7, 1 << 20, ^uint32(0)} {
		for k := range h.runs {
			if corrupted(h, func() { h.runs[k].off += delta }) == nil {
				t.Errorf("offset of run %d + %d goes unseen", k, int32(delta))
			}
			if corrupted(h, func() { h.runs[k].size += delta }) == nil {
				t.Errorf("size of run %d + %d goes unseen", k, int32(delta))
			}
		}
		for g := range h.live {
			if corrupted(h, func() { h.live[g] += delta }) == nil {
				t.Errorf("live[%d] + %d goes unseen", g, int32(delta))
			}
		}
	}
	for k := range h.runs {
		if corrupted(h, func() { h.runs = slices.Delete(h.runs, k, k+1) }) == nil {
			t.Errorf("a lost run %d goes unseen", k)
		}
	}
	memtest.MustCheck(t, h)
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	h := holes(t, FirstFit)
	for _, tt := range []struct {
		want    string
		corrupt func()
	}{
		{"a granule of 8 bytes", func() { h.grain = 3 }},
		{"alignments up to 512", func() { h.align = 512 }},
		{"Policy(4): want FirstFit", func() { h.policy = 4 }},
		{"requests up to 1 are not the reservation", func() { h.limit = 1 }},
		{"are not the reservation of 16384 bytes", func() { h.base = unsafe.Add(h.base, 16) }},
		{"10 granules and requests", func() { h.live = h.live[:10] }},
		{"rover is at granule 17, 16", func() { h.rover = 17 }},
		{"run 1 of 0 granules at 4 is empty", func() { h.runs[1].size = 0 }},
		{"does not lie apart from the one that ends at 4", func() { h.runs[0].size = 4 }},
		{"2 runs, from the one at granule 0 on, are out of order", func() { h.runs[0], h.runs[1] = h.runs[1], h.runs[0] }},
		{"granule 3 is neither live nor free", func() { h.live[3] = 0 }},
		{"starts inside what reaches to 15", func() { h.live[14] = 1 }},
		{"at granule 4 something starts inside what reaches to 6", func() { h.live[3] = 3*1024 + 1 }}, // a run does
		{"starts a live block and a free run", func() { h.live[4] = 1 }},
		{"end at granule 17, 16 are committed", func() { h.live[15] = 1026 }},
		{"6 granules used for 7168 bytes", func() { h.counts.Resized(1, 0, 0, 0) }},
		{"7 granules used for 7169 bytes", func() { h.counts.Resized(0, 0, 0, 1) }},
		{"but 5 blocks are live", func() { h.counts.Out(0, 0) }},
		{"but 5 blocks are live", func() { h.counts.In(0, 0) }},
	} {
		if err := corrupted(h, tt.corrupt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check = %v, want %q", err, tt.want)
		}
	}
}

func TestCheck_ReportsEverythingAtOnce(t *testing.T) {
	h := holes(t, FirstFit)
	err := corrupted(h, func() { h.counts.Out(1, 0); h.rover = 99 })
	for _, want := range []string{"granules used", "blocks are live", "rover is at"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %v", want, err)
		}
	}
}
