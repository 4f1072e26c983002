package guard

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

// furnished returns a guard with records in every state.
func furnished(t *testing.T) *Allocator {
	t.Helper()
	a := newGuard(t, Config{QuarantineBytes: 300, History: 3})
	var p []unsafe.Pointer
	for range 12 {
		p = append(p, mustAlloc(t, a, 100, 8))
	}
	for _, q := range p[2:10] {
		a.Free(q, 100)
	}
	mustCheck(t, a)
	return a
}

// corrupted runs f on the books and reports what Check says, then puts everything back.
func corrupted(a *Allocator, f func()) error {
	restore := memtest.Keep(a)
	book, records, names := a.records, slices.Clone(a.records), maps.Clone(a.names)
	defer func() {
		restore()
		copy(book, records)
		a.names = names
	}()
	f()
	return a.Check()
}

func TestCheck_FindsEveryCorruptField(t *testing.T) {
	a := furnished(t)
	met := map[state]bool{}
	for i := range a.records {
		r := &a.records[i]
		met[r.state] = true
		fields := "addr block size front back allocSite freeSite next prev state"
		switch {
		case i < int(anchorCount):
			fields = "next prev"
		case r.state == spare:
			fields = "next state"
		case r.state == gone:
			fields = "addr block back allocSite freeSite next prev state"
		}
		for f := range strings.FieldsSeq(fields) {
			for _, delta := range []uint32{1, 3, 1 << 20} {
				err := corrupted(a, func() {
					switch f {
					case "addr":
						r.addr += uintptr(delta)
					case "block":
						r.block = unsafe.Pointer(a)
					case "size":
						r.size += uintptr(delta)
					case "front":
						r.front -= delta
					case "back":
						r.back += delta
					case "allocSite":
						r.allocSite += 1000 * delta
					case "freeSite":
						r.freeSite += 1000 * delta
					case "next":
						r.next += delta
					case "prev":
						r.prev += delta
					case "state":
						r.state = (r.state + 1 + state(delta%3)) % 4
					}
				})
				if err == nil {
					t.Errorf("record %d %+v: %s by %d goes unseen", i, *r, f, delta)
				}
			}
		}
	}
	if len(met) != 4 {
		t.Errorf("records in states %v only", met)
	}
	mustCheck(t, a)
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	a := furnished(t)
	first := a.records[live].next
	r := &a.records[first]
	for _, tt := range []struct {
		want    string
		corrupt func()
	}{
		{"is in a ring twice", func() { r.next = first }},
		{"leads to record 9999", func() { r.next = 9999 }},
		{"follows 0", func() { r.prev = 5 }},
		{"has state 1", func() { r.state = quarantined }},
		{"is lost", func() { a.spare = a.records[a.spare].next }},
		{"spare records lead to record 8888", func() { a.spare = 8888 }},
		{"is spare and met before", func() { a.spare = first }},
		{"names record 7", func() { a.names[r.addr] = 7 }},
		{"addresses are known for", func() { a.names[1] = first }},
		{"has memory at", func() { r.block = nil }},
		{"names call sites", func() { r.allocSite = 99 }},
		{"canaries of 15 and 16", func() { r.front = 15 }},
		{"is of allocation 13 of 12", func() { r.serial = 13 }},
		{"is of allocation 0 of 12", func() { r.serial = 0 }},
		{"bytes in use", func() { a.inUse++ }},
		{"requested", func() { a.requested++ }},
		{"the quarantine holds 265 bytes of 300", func() { a.held++ }},
		{"bytes of 10", func() { a.cfg.QuarantineBytes = 10 }},
		{"4 of 3 records are gone, the ring has 3", func() { a.goneCount++ }},
		{"but 4 blocks are live", func() { a.allocs++ }},
		{"but 4 blocks are live", func() { a.frees++ }},
		{"above the peak of 1", func() { a.peak = 1 }},
		{"use after free", func() {
			q := a.records[a.records[quarantined].next].bytes()
			q[3] = 1
			t.Cleanup(func() { q[3] = 0xDD })
		}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if err := corrupted(a, tt.corrupt); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v", err)
			}
		})
	}
}
