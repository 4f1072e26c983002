package stream

// A Scope is tickets that end together: a level, a realm, the screen of a menu. It belongs to
// the game goroutine. There may be any number.
type Scope struct {
	s     *Streamer
	name  string
	first uint32 // its newest ticket, +1
	open  int
}

func (sc *Scope) scope() *Scope { return sc }

// NewScope makes a scope. It holds nothing that must be given back.
func (s *Streamer) NewScope(name string) *Scope { return &Scope{s: s, name: name} }

// Name returns the name.
func (sc *Scope) Name() string { return sc.name }

// Len returns how many tickets are open.
func (sc *Scope) Len() int { return sc.open }

// Cancel closes every ticket of the scope, which may be used again at once. It does not wait:
// Streamer.Settled tells when every worker has let go of what was cancelled. A panic of
// Release or Config.Free goes on to the caller when everything else is done.
func (sc *Scope) Cancel() {
	s := sc.s
	s.mu.Lock()
	for sc.first != 0 {
		s.shut(sc.first - 1)
	}
	s.again()
	s.mu.Unlock()
	defer s.raiseEpoch() // blocks go home first, so that a worker's Drain finds them there
	s.flush()
}

// Progress is how far the tickets of a scope have come.
type Progress struct {
	Done    int // loaded or failed, or waiting for room
	Failed  int // of those
	Waiting int // of those: for room under Config.Resident that a Poll did not find
	Total   int
}

// Fraction returns Done of Total, from 0 to 1; 1 where there is nothing to do.
func (p Progress) Fraction() float32 {
	if p.Total == 0 {
		return 1
	}
	return float32(p.Done) / float32(p.Total)
}

// Progress counts the tickets of the scope. It does not allocate.
func (sc *Scope) Progress() (p Progress) {
	s := sc.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := sc.first; t != 0; t = s.tickets[t-1].far {
		e := &s.entries[s.tickets[t-1].entry]
		p.Total++
		switch {
		case e.state == Loaded:
			p.Done++
		case e.state == Failed:
			p.Done++
			p.Failed++
		case e.state == Waiting && e.retryAt == 0 && e.passed: // before, what is cached may yet go for it
			p.Done++
			p.Waiting++
		}
	}
	return p
}

// AppendLoading appends the names of what is being loaded, or is to be delivered, for people to
// read beside a progress bar. It allocates only where dst lacks room.
func (s *Streamer) AppendLoading(dst []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.entries {
		if e := &s.entries[i]; e.state == Decoding || e.state == Ready {
			dst = append(dst, e.name)
		}
	}
	return dst
}
