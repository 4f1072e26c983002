package engine

import (
	"errors"
	"fmt"
)

// Progress is how far the assets of a scope have come; of levels, the newest counts.
type Progress struct {
	Done   int // uploaded, taken or failed
	Failed int // of those
	Total  int
}

// Fraction returns Done of Total, from 0 to 1; 1 where there is nothing to do.
func (p Progress) Fraction() float32 {
	if p.Total == 0 {
		return 1
	}
	return float32(p.Done) / float32(p.Total)
}

// Progress counts the assets of the scope. It does not allocate.
func (l *Loader) Progress(scope Scope) (p Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		e := &l.entries[i]
		if e.state == Vacant || e.scope != scope || l.old(e) {
			continue
		}
		p.Total++
		if e.state.Finished() {
			p.Done++
		}
		if e.state == Failed {
			p.Failed++
		}
	}
	return p
}

// AppendLoading appends the ids of what is being read, decoded or waits for its upload, for
// people to read beside a progress bar. It allocates only where dst lacks room.
func (l *Loader) AppendLoading(dst []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if e := &l.entries[i]; e.state == Reading || e.state == Decoding || e.state == Ready {
			dst = append(dst, e.id)
		}
	}
	return dst
}

// LoaderStats is a snapshot of a loader's books: counts and bytes, no pointers.
//
//	Staging <= StagingPeak
//	the sum of Counts is LoaderConfig.Assets
type LoaderStats struct {
	Counts [stateCount]int // of assets, by State

	Requests uint64 // accepted since NewLoader
	Uploads  uint64 // handed to a sink, or taken, and not refused
	Failures uint64
	Cancels  uint64

	BytesRead     uint64 // of files
	BytesDecoded  uint64 // of pixels
	BytesUploaded uint64 // handed to a sink, or taken

	Staging     uint64 // bytes that the workers' heaps have handed out and not had back
	StagingPeak uint64
	Workers     int
	Busy        int // workers with an asset in hand
}

// Stats returns a snapshot. It does not allocate.
func (l *Loader) Stats() LoaderStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Workers, s.Busy = l.cfg.Workers, l.busy
	return s
}

// Check verifies the equations above Loader, entry and LoaderStats. It may be called at any
// time; its cost is proportional to the number of assets, squared.
func (l *Loader) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf("engine: loader: "+format, args...)) }

	var counts [stateCount]int
	waiting := make([]int, len(l.waiting))
	var published uint64
	for i := range l.entries {
		e := &l.entries[i]
		if e.state >= stateCount {
			report("entry %d is in no state: %d", i, e.state)
			continue
		}
		counts[e.state]++
		if (e.gen&1 == 1) != (e.state != Vacant) {
			report("entry %d is %v with generation %d", i, e.state, e.gen)
		}
		if e.block != nil && e.state != Ready && e.state != Cancelled {
			report("entry %d (%s) is %v and holds a block", i, e.id, e.state)
		}
		if (e.err != nil) != (e.state == Failed) {
			report("entry %d (%s) is %v with error %v", i, e.id, e.state, e.err)
		}
		if e.block != nil {
			published += uint64(e.size)
			if e.picture {
				waiting[e.worker]++
			}
		}
	}
	if counts != l.stats.Counts {
		report("states are counted as %v and are %v", l.stats.Counts, counts)
	}
	for w := range waiting {
		if n := l.waiting[w]; n < waiting[w] || n > waiting[w]+l.handed {
			report("worker %d: %d pictures are counted as published, %d are, and %d blocks are on their way", w, n, waiting[w], l.handed)
		}
	}
	if published > l.stats.Staging || l.stats.Staging > l.stats.StagingPeak {
		report("%d bytes ready, %d staged, peak %d are not in order", published, l.stats.Staging, l.stats.StagingPeak)
	}
	errs = append(errs, l.checkOrder(&l.queue, "queue", Queued), l.checkOrder(&l.ready, "ready", Ready))
	return errors.Join(errs...)
}

// checkOrder verifies that o is a heap of exactly the entries in the state (of Ready, of
// those with a picture and its block).
func (l *Loader) checkOrder(o *order, name string, s State) error {
	want := 0
	for i := range l.entries {
		if e := &l.entries[i]; e.state == s && (s != Ready || e.picture && e.block != nil) {
			want++
		}
	}
	if len(o.heap) != want {
		return fmt.Errorf("engine: loader: %s holds %d assets; %d belong there", name, len(o.heap), want)
	}
	for at, i := range o.heap {
		if int(i) >= len(l.entries) || l.entries[i].state != s {
			return fmt.Errorf("engine: loader: %s holds entry %d, which does not belong there", name, i)
		}
		if at > 0 && before(l.entries, i, o.heap[(at-1)/2]) {
			return fmt.Errorf("engine: loader: %s is out of order at %d", name, at)
		}
	}
	return nil
}
