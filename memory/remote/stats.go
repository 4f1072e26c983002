package remote

import "unsafe"

// Stats is a snapshot of the traffic of an inbox since New: Pushed == Drained + Stale + InFlight.
type Stats struct {
	Pushed    uint64 // blocks that Freers pushed before Close
	Drained   uint64 // blocks passed to the target, including refused blocks
	Stale     uint64 // blocks that were dropped because they were passed to a Freer before a Reset
	InFlight  uint64 // blocks pushed that are not yet counted as drained or stale
	Batches   uint64 // batches emptied, with (Drained + Stale) / Batches blocks on average
	Abandoned uint64 // blocks pushed after Close: their memory is released only with that of the target
	Freers    int    // Freers that were not closed, including those that the program has lost
	Books     uint64 // bytes of the Go heap that batches take, without data of debug builds
}

// Stats returns the statistics of the inbox. It is safe for concurrent use with pushes and drains, also after Close.
// During a drain, InFlight may include blocks that this drain has already freed; InFlight is never too low. Stats
// takes a mutex and does not allocate. Cost: proportional to the highest number of Freers open at once.
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
