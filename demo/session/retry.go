package session

import (
	"errors"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
)

// The names of the ground's kinds of files.
const (
	sectorKind = "ground"
	stampsKind = "stamps"
)

// A retry is the wait before a failed file is read again: five seconds, then twice as long each time, up to 80 seconds.
type retry struct{ left, next uint16 } // ticks

// probeWait is the longest wait, in ticks, of the failed sector that is visible the soonest. It finds out whether files
// can be read again after a server was down. One request is cheap.
const probeWait = 10 * 60

// due is called once a tick, and reports whether the file should be read again.
func (r *retry) due(s stream.State) bool {
	const first, most = 5 * 60, 80 * 60
	switch {
	case s == stream.Loaded:
		*r = retry{}
	case s != stream.Failed:
	case r.left > 0:
		r.left--
		return r.left == 0
	default:
		r.next = min(max(2*r.next, first), most)
		r.left = r.next
	}
	return false
}

// failed reports whether the file has failed and was not loaded since.
func (r *retry) failed() bool { return r.next != 0 }

// failures are those of the ground in this realm, as far as they were reported.
type failures struct {
	missing int             // wanted sectors whose file could not be read, in this tick
	told    map[string]bool // files whose failure was reported, and kinds for which workers lacked space
	narrow  bool            // they lacked it at the last failure
}

func (f *failures) reset() {
	f.narrow = false
	clear(f.told)
}

// isNew reports whether an error is to be reported: a failed file is requested again when it becomes visible again, and
// without space for workers every sector fails. A kind is not the name of a file, which lies in a folder.
func (f *failures) isNew(err error) bool {
	var failed *stream.LoadError
	if !errors.As(err, &failed) || failed.Kind != sectorKind && failed.Kind != stampsKind {
		return true
	}
	what := failed.Name
	if f.narrow = errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge); f.narrow {
		what = failed.Kind
	}
	first := !f.told[what]
	f.told[what] = true
	return first
}

// miss counts a wanted sector if it could not be read. The first one does not wait for long.
func (f *failures) miss(r *retry) {
	if !r.failed() {
		return
	}
	if f.missing++; f.missing == 1 {
		r.left = min(r.left, probeWait)
	}
}

// loaded notes that a sector was loaded. If it could not be read before, all others may be readable now and are retried
// at once. A file that stays damaged is never loaded, and hurries nothing.
func (g *Ground) loaded(s ground.Sector) {
	r := &g.sectors[s.Index()].retry
	if !r.failed() {
		return
	}
	*r = retry{}
	for k := range g.sectors {
		r := &g.sectors[k].retry
		r.left = min(r.left, 1)
	}
}
