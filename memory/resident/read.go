package resident

import (
	"errors"
	"runtime/metrics"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// work is what a Report keeps from one Read to the next.
type work struct {
	process process
	noted   owners // the tiers
	mapped  []page.Span
	metric  [1]metrics.Sample
}

// tries is how often Read begins again when the mappings change under it.
const tries = 5

// Read fills dst with whose the resident memory of the process is now. m is the manager whose tiers
// are told apart; without it, and for every other one, tiers are other reservations of package page.
//
// dst may be used again, and is then as good as new: its slices and scratch, some 200 KiB of Go
// heap, are. It is the caller's, for one goroutine at a time; with a manager that is the game
// goroutine. Other goroutines run on meanwhile: what they map or touch is in the report or not.
//
// A Read takes a third of a millisecond in a small process, 6 in a game with a window, and 24 for
// each GiB that is resident: it is for the end of a level or a key that a developer presses, not for
// a frame.
//
// Where the system does not tell, the error wraps [errors.ErrUnsupported]; where /proc cannot be
// read, what the system said. If the mappings changed each time that they were read, or are not in
// the form of smaps, it says so. On any error dst is empty. A nil dst panics with a *memory.Misuse.
func Read(m *tiers.Manager, dst *Report) error {
	if dst == nil {
		panic(&memory.Misuse{Package: "resident", Op: "Read", Reason: "it needs a Report to fill"})
	}
	dst.Note(m)
	return dst.Fill()
}

// Note and Fill are Read in two, for a game that cannot wait: Note takes from m, which may be nil, where its tiers
// are, on the game's goroutine and within microseconds, and Fill asks the system, on any one. Nobody else may use
// r until it has returned. What becomes of m meanwhile, its Close too, only makes the report older.
func (r *Report) Note(m *tiers.Manager) { r.work.note(m) }

// Fill is the other half of Note, and may be called again. It fails as Read does.
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

// known enters the addresses that Strata knows the owners of.
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
