package engine

import (
	"errors"
	"fmt"
)

// Check verifies the equations above Loader, entry, worker and LoaderStats. It may be called
// at any time, by the game goroutine; its cost is proportional to the number of assets.
func (l *Loader) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.checkEntries(), l.checkOrder(&l.queue, "queue", Queued), l.checkOrder(&l.ready, "ready", Ready),
		l.checkVacant(), l.checkWorkers())
}

func (l *Loader) checkEntries() error {
	var errs []error
	report := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("engine: loader: "+format, args...))
	}
	var counts [stateCount]int
	waiting := make([]int, len(l.waiting))
	inHand := 0
	published := uint64(0)
	for i := range l.entries {
		e := &l.entries[i]
		if e.state >= stateCount {
			report("entry %d is in no state: %d", i, uint8(e.state))
			continue
		}
		counts[e.state]++
		if (e.gen&1 == 1) != (e.state != Vacant) {
			report("entry %d is %v with generation %d", i, e.state, e.gen)
		}
		if (e.err != nil) != (e.state == Failed) {
			report("entry %d (%s) is %v with error %v", i, e.id, e.state, e.err)
		}
		if e.block == nil {
			if e.state == Ready {
				inHand++
			}
			continue
		}
		if e.state != Ready && e.state != Cancelled {
			report("entry %d (%s) is %v and holds a block", i, e.id, e.state)
		}
		published += uint64(e.size)
		if e.worker < 0 || e.worker >= len(waiting) {
			report("entry %d (%s) has a block of worker %d, and there are %d", i, e.id, e.worker, len(waiting))
		} else if e.picture {
			waiting[e.worker]++
		}
	}
	if counts != l.stats.Counts {
		report("states are counted as %v and are %v", l.stats.Counts, counts)
	}
	if inHand > l.handed {
		report("%d assets are ready and without their blocks, and %d blocks are on their way: nobody will finish them", inHand, l.handed)
	}
	for w := range waiting {
		if n := l.waiting[w]; n < waiting[w] || n-waiting[w] > l.handed {
			report("worker %d: %d pictures are counted as published, %d are, and %d blocks are on their way", w, n, waiting[w], l.handed)
		}
	}
	for _, s := range l.strays {
		published += uint64(s.size)
	}
	if published > l.stats.Staging || l.stats.Staging > l.stats.StagingPeak {
		report("%d bytes ready, %d staged, peak %d are not in order", published, l.stats.Staging, l.stats.StagingPeak)
	}
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
	seen := make([]bool, len(l.entries))
	for at, i := range o.heap {
		if int64(i) >= int64(len(l.entries)) || l.entries[i].state != s || seen[i] {
			return fmt.Errorf("engine: loader: %s holds entry %d, which does not belong there, or twice", name, i)
		}
		seen[i] = true
		if at > 0 && before(l.entries, i, o.heap[(at-1)/2]) {
			return fmt.Errorf("engine: loader: %s is out of order at %d", name, at)
		}
	}
	return nil
}

func (l *Loader) checkVacant() error {
	seen := make([]bool, len(l.entries))
	for _, i := range l.vacant {
		if int64(i) >= int64(len(l.entries)) || l.entries[i].state != Vacant || seen[i] {
			return fmt.Errorf("engine: loader: entry %d is listed as vacant and is not, or twice", i)
		}
		seen[i] = true
	}
	for i := range l.entries {
		if e := &l.entries[i]; e.state == Vacant && e.gen != 0 && !seen[i] {
			return fmt.Errorf("engine: loader: entry %d is vacant and not listed", i)
		}
	}
	return nil
}

func (l *Loader) checkWorkers() error {
	var errs []error
	report := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("engine: loader: "+format, args...))
	}
	running, busy, lost := 0, 0, 0
	for i, w := range l.workers {
		switch {
		case w.lost:
			lost++
		case !w.ended:
			running++
		}
		if w.inHand {
			busy++
		}
		if l.acked[i] > l.epoch {
			report("worker %d has acknowledged cancellation %d of %d", i, l.acked[i], l.epoch)
		}
	}
	if busy != l.busy || l.starved < 0 || l.starved > busy {
		report("%d workers are busy, counted as %d, %d of them wait for room", busy, l.busy, l.starved)
	}
	if lost != l.stats.Abandoned || running > l.running || l.running > len(l.workers)-lost {
		report("%d workers run and %d are given up; counted as %d and %d", running, lost, l.running, l.stats.Abandoned)
	}
	return errors.Join(errs...)
}
