package memtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/save"
)

// BenchSaved measures saving and loading of a set, compared with copies of the same number of bytes. The set must be
// sealed, and must not be busy. Call BenchSaved in a benchmark, on the goroutine that may call the set. An error of the
// set fails the benchmark.
//
// It reports quotients of times, each time a lower quartile. The divisor is the time of a copy to a slot (copy), or of
// a copy back from a slot (back):
//
//	save/copy, hash/copy                    save.Set.Save and save.Set.SaveHash
//	load/back                               save.Set.Load
//	copy-again/copy, copy-again-back/back   a second copy: the noise
//	pieces/copy, pieces-back/back           a third copy, in pieces of 16 KiB
//
// The pieces matter from 1 MiB on: there a single Go copy bypasses the caches, but the smaller parts of a state do not.
// The metrics state-B and copy-µs are the size of a state and the time of a copy.
//
// The set and each copy have a ring of ten slots, and load a slot five rounds after they wrote it. So all find their
// bytes in the same caches. BenchSaved allocates 43 times the bytes of a state. Afterwards the set has a state that
// BenchSaved saved.
func BenchSaved(b *testing.B, set *save.Set) {
	n, err := set.Size()
	mustDo(b, err)
	var slots [10]*save.Slot
	for i := range slots {
		slots[i] = set.NewSlot(n)
		mustDo(b, set.Save(slots[i]))
	}
	times := map[string][]time.Duration{}
	timed := func(name string, f func() error) {
		began := time.Now()
		err := f()
		took := time.Since(began) // before mustDo, which takes longer than a copy of 10 KiB
		mustDo(b, err)
		times[name] = append(times[name], took)
	}
	copies, copied := []*copyRing{newCopyRing(n), newCopyRing(n), newCopyRing(n)}, []string{"copy", "copy again", "pieces"}
	for i := 0; b.Loop(); i++ {
		for k, r := range copies {
			timed(copied[k], func() error { return r.copy(r.slots[i%10], r.state, k == 2) })
		}
		if slot := slots[i%10]; i%2 == 0 {
			timed("save", func() error { return set.Save(slot) })
		} else {
			timed("hash", func() error { _, err := set.SaveHash(slot); return err })
		}
		for k, r := range copies {
			timed(copied[k]+" back", func() error { return r.copy(r.state, r.slots[(i+5)%10], k == 2) })
		}
		timed("load", func() error { return set.Load(slots[(i+5)%10]) })
	}
	quartile := func(name string) float64 {
		t := append(times[name], 0) // one round has no hash
		slices.Sort(t[:len(t)-1])
		return float64(t[(len(t)-1)/4])
	}
	b.ReportMetric(float64(n), "state-B")
	b.ReportMetric(quartile("copy")/1e3, "copy-µs")
	for _, name := range []string{"copy again", "pieces", "save", "hash"} {
		b.ReportMetric(quartile(name)/quartile("copy"), strings.ReplaceAll(name, " ", "-")+"/copy")
	}
	for _, name := range []string{"copy again back", "pieces back", "load"} {
		b.ReportMetric(quartile(name)/quartile("copy back"), strings.ReplaceAll(name, " ", "-")+"/back")
	}
}

func mustDo(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// A copyRing has bytes in place of a state, and ten copies of them.
type copyRing struct {
	state []byte
	slots [10][]byte
}

func newCopyRing(n int) *copyRing {
	r := &copyRing{state: make([]byte, n)}
	for i := range r.state {
		r.state[i] = byte(i) // pages that were never written are all one page
	}
	for i := range r.slots {
		r.slots[i] = slices.Clone(r.state)
	}
	return r
}

func (r *copyRing) copy(to, from []byte, pieces bool) error {
	const pieceBytes = 16 << 10
	if !pieces {
		copy(to, from)
		return nil
	}
	for at := 0; at < len(from); at += pieceBytes {
		copy(to[at:], from[at:min(at+pieceBytes, len(from))])
	}
	return nil
}
