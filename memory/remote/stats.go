package remote

import "unsafe"

// Stats is a snapshot of an inbox's traffic since New, in which
// Pushed == Drained + Stale + InFlight.
type Stats struct {
	Pushed    uint64 // blocks that Freers pushed
	Drained   uint64 // blocks handed to the target, refused ones included
	Stale     uint64 // blocks that were given to Freers before a Reset, and so never freed
	InFlight  uint64 // blocks pushed that are neither drained nor found stale yet
	Batches   uint64 // batches emptied: (Drained + Stale) / Batches is how full they came
	Abandoned uint64 // blocks pushed after Close, which nobody frees
	Freers    int    // open Freers
	Books     uint64 // bytes of the Go heap in batches
}

// Stats may be called from any goroutine while others push and drain. What was drained is read
// first, so that InFlight is never too low; it is too high by what was drained during the
// call. It does not allocate.
func (in *Inbox) Stats() Stats {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := Stats{Drained: in.drained.Load(), Stale: in.stale.Load(), Batches: in.batches.Load(), Freers: len(in.homes) - len(in.idle)}
	for _, h := range in.homes {
		// What was counted as drained, stale or abandoned had been counted as pushed before.
		s.Abandoned += h.abandoned.Load()
		s.Pushed += h.pushed.Load()
		s.Books += h.made.Load() * uint64(unsafe.Sizeof(batch{})+ptrBytes*uintptr(in.size))
	}
	s.Pushed -= s.Abandoned
	s.InFlight = s.Pushed - s.Drained - s.Stale
	return s
}
