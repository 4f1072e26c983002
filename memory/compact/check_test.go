package compact

import (
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// furnished returns a heap with a record in every state, one of them half moved.
func furnished(t *testing.T) *Heap {
	t.Helper()
	h := newHeap(t, nil, Config{Reserve: 1 << 20, Step: 64 << 10})
	var x []Handle
	for range 12 {
		x = append(x, mustAlloc(t, h, 1000))
	}
	for _, i := range []int{2, 5, 6, 9, 10} {
		h.Free(x[i])
	}
	h.Lock(x[3])
	worn := x[8].Index()
	h.records[worn].gen = ^uint32(0)
	h.Free(x[0])
	h.discardForTest(worn)
	for h.moving.record == 0 || h.moving.done == 0 {
		h.Compact(Budget{Bytes: 100})
	}
	mustCheck(t, h)
	return h
}

// discardForTest frees a block in its last generation.
func (h *Heap) discardForTest(i uint32) {
	r := &h.records[i]
	h.frees++
	h.used -= uint64(r.room)
	h.requested -= uint64(r.size)
	h.absorb(i, r)
	h.discard(i, r)
}

// corrupted runs f on the heap and reports what Check says, then puts everything back.
func corrupted(h *Heap, f func()) error {
	restore, records := memtest.Keep(h), slices.Clone(h.records)
	defer func() {
		restore()
		copy(h.records, records)
	}()
	f()
	return h.Check()
}

func TestCheck_FindsEveryCorruptField(t *testing.T) {
	h := furnished(t)
	met := map[string]bool{}
	for i := range h.records {
		r := &h.records[i]
		fields, kind := "off size room gap next prev gen", "live"
		switch {
		case i <= head:
			fields, kind = "off size room gen", "head"
		case !r.live() && r.gen == 0:
			fields, kind = "off size room gap gen", "retired"
		case !r.live():
			fields, kind = "off size room gap gen", "spare"
		case r.gap != 0:
			fields, kind = fields+" nextGap prevGap", "gap"
		}
		met[kind] = true
		for f := range strings.FieldsSeq(fields) {
			for _, delta := range []uint32{1, 3, 1 << 20} {
				err := corrupted(h, func() {
					switch f {
					case "off":
						r.off += uintptr(delta)
					case "size":
						r.size += uintptr(delta)
					case "room":
						r.room += uintptr(delta)
					case "gap":
						r.gap += uintptr(delta)
					case "next":
						r.next += delta
					case "prev":
						r.prev += delta
					case "nextGap":
						r.nextGap += delta
					case "prevGap":
						r.prevGap += delta
					case "gen":
						r.gen += 1 | delta&1
					}
				})
				if err == nil {
					t.Errorf("record %d %+v: %s + %d goes unseen", i, *r, f, delta)
				}
			}
		}
	}
	if len(met) != 5 {
		t.Errorf("records of kinds %v only", met)
	}
	mustCheck(t, h)
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	h := furnished(t)
	first := h.records[head].next
	r := &h.records[first]
	for _, tt := range []struct {
		want    string
		corrupt func()
	}{
		{"alignment 48", func() { h.align = 48 }},
		{"alignment 8 ", func() { h.align = 8 }},
		{"base 0x", func() { h.base = h.at(16) }},
		{"leads to record 9999", func() { r.next = 9999 }},
		{"leads to record 0", func() { r.next = 0 }},
		{"is in the ring twice", func() { r.next = first }},
		{"but follows 1", func() { r.prev = 5 }},
		{"a multiple of 16 within what is committed", func() { r.gap -= 1 << 20 }}, // wraps, and sums agree modulo 2^64
		{"the last gap ends at", func() { h.mem.Ensure(h.mem.Committed() + 1) }},
		{"the cursor is at record 7777", func() { h.cursor = 7777 }},
		{"the cursor is at record 0", func() { h.cursor = 0 }},
		{"the next pass begins at 5555", func() { h.again = 5555 }},
		{"not both are in the ring", func() { h.again = h.spare }},
		{"has passed the gap", func() { h.cursor = h.records[head].prev }},
		{"the head is", func() { h.records[head].locks = 1 }},
		{"has room for", func() { r.room += 16 }},
		{"the spare link of record 0 leads to record 6666", func() { h.spare = 6666 }},
		{"is spare twice", func() { h.records[h.spare].next = h.spare }},
		{"in the ring is false, spare is false", func() { h.spare = h.records[h.spare].next }},
		{"is vacant but", func() { h.records[h.spare].locks = 1 }},
		{"a handle could name", func() { h.records[0].gen = 1 }},
		{"bin 165 has bit true", func() { h.bins.sets[20] |= 1 << 5 }},
		{"power 25 has bit true and set 0x0", func() { h.bins.powers |= 1 << 25 }},
		{"has bit false", func() { h.bins.powers = 0 }},
		{"has bit false and head", func() { h.bins.sets = [len(h.bins.sets)]uint8{} }},
		{"the key 0x1 is odd", func() { h.key = 1 }},
		{"in bin 242 behind 0", func() {
			h.bins.heads[242] = h.records[head].prev
			h.bins.heads[binOf(h.records[h.records[head].prev].gap)] = 0
		}},
		{"is in no bin", func() { h.bins = bins{} }},
		{"is in a bin twice", func() { g := h.records[head].prev; h.records[g].nextGap = g }},
		{"nothing moves, but", func() { h.moving.record = 0 }},
		{"which is no live block", func() { h.moving.record = head }},
		{"which is no live block", func() { h.moving.record = uint32(len(h.records)) }},
		{"is on its way", func() { h.moving.done = 1 << 20 }},
		{"is on its way", func() { h.records[h.moving.record].locks = 1 }},
		{"in front of the cursor", func() { h.cursor = h.records[h.moving.record].next }},
		{"bytes used for", func() { h.used++ }},
		{"bytes used for", func() { h.requested++ }},
		{"at a peak of 1;", func() { h.peak = 1 }},
		{"blocks are live", func() { h.allocs++ }},
		{"blocks are live", func() { h.frees++ }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if err := corrupted(h, tt.corrupt); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v", err)
			}
		})
	}
}
