package resident

import (
	"errors"
	"runtime/metrics"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// work is the scratch memory that a Report keeps from one Read to the next.
type work struct {
	process process
	noted   owners // the tiers
	mapped  []page.Span
	metric  [1]metrics.Sample
}

// tries is how often Read reads the mappings, at most, if they change during that.
const tries = 5

// Read fills dst with the owners of the process's resident memory at this moment. The class Tiers has the tiers of m; m
// may be nil. The tiers of every other manager are in class Pages, or in GoHeap if page.Heap backs them. Call Read on
// the goroutine of m. Other goroutines continue during the Read: memory that they map or touch may or may not be in the
// report.
//
// The caller owns dst and may use it for several Reads. Read overwrites dst and reuses the slices and the scratch
// memory of dst, about 200 KiB of the Go heap. If dst is nil, Read panics with a *memory.Misuse.
//
// On systems other than Linux the error wraps [errors.ErrUnsupported]. If /proc cannot be read, the error wraps the
// system's error. Other errors report that smaps has an unknown format, or that the mappings changed during each of
// five tries. After an error dst is empty.
//
// Cost: 0.3 ms in a small process, 6 ms in a game with a window, and 15 to 24 ms for each GiB that is resident. So
// call Read at the end of a level or at a developer's request, not in every frame.
func Read(m *tiers.Manager, dst *Report) error {
	if dst == nil {
		panic(&memory.Misuse{Package: "resident", Op: "Read", Reason: "it needs a Report to fill"})
	}
	dst.Note(m)
	return dst.Fill()
}

// Note is the first step of a [Read] in two steps, for a game that cannot wait; Fill is the second. Note records the
// address ranges of the tiers of m; m may be nil. Note takes microseconds. Call Note on the goroutine of m, and then
// Fill on any goroutine. Until Fill returns, r must not be used elsewhere. If m changes or is closed after Note, the
// report shows the ranges that Note has recorded.
func (r *Report) Note(m *tiers.Manager) { r.work.note(m) }

// Fill reads the system's data and completes the report that [Report.Note] has begun. Fill may be called several times
// after one Note. Without a Note, or after Note(nil), no memory is in class Tiers. Fill returns the errors of [Read],
// and has its cost. After an error r is empty.
func (r *Report) Fill() error {
	for try := 1; ; try++ {
		r.clear()
		err := r.work.read(r)
		if err == nil {
			return nil
		}
		r.clear()
		if try == tries || !errors.Is(err, errTorn) {
			return err
		}
	}
}

func (r *Report) clear() {
	w := r.work
	*r = Report{Libraries: r.Libraries[:0], Suspects: r.Suspects[:0], work: w}
}

// note enters the addresses of m's tiers.
func (w *work) note(m *tiers.Manager) {
	w.noted = w.noted[:0]
	if m == nil {
		return
	}
	for t := range tiers.Tier(tiers.Count) {
		base, size := m.Inspect().Span(t)
		from := uint64(uintptr(base))
		w.noted = w.noted.claim(owner{from: from, to: from + uint64(size), class: Tiers, tier: t})
	}
}

// known enters the addresses of tiers and of package page.
func (w *work) known() {
	p := &w.process
	p.owners = append(p.owners[:0], w.noted...)
	w.mapped = page.AppendMapped(w.mapped[:0])
	for _, s := range w.mapped {
		p.owners = p.owners.claim(owner{from: uint64(s.Base), to: uint64(s.Base) + uint64(s.Size), class: Pages})
	}
	p.word = uint64(unsafe.Sizeof(uintptr(0)))
}

// goMapped returns the bytes that the Go runtime says it has mapped.
func (w *work) goMapped() uint64 {
	w.metric[0].Name = "/memory/classes/total:bytes"
	metrics.Read(w.metric[:])
	if w.metric[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return w.metric[0].Value.Uint64()
}
