package engine

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
	Failures uint64 // whatever Errors was told of
	Cancels  uint64

	BytesRead     uint64 // of files
	BytesDecoded  uint64 // of pixels
	BytesUploaded uint64 // handed to a sink, or taken

	Staging     uint64 // bytes that the workers' heaps have handed out and not had back
	StagingPeak uint64
	Workers     int
	Busy        int // workers with an asset in hand
	Abandoned   int // workers given up, with what they held: see LoaderConfig.Patience
}

// Stats returns a snapshot. It does not allocate.
func (l *Loader) Stats() LoaderStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Workers, s.Busy = l.cfg.Workers, l.busy
	return s
}
