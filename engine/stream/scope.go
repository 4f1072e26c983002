package stream

// A Scope is a set of handles that are closed together, for example the handles of a level or of a menu's screen. Only
// [Streamer.NewScope] makes a Scope that can be used. A Scope is for the game goroutine. The number of scopes is not
// limited.
type Scope struct {
	s     *Streamer
	name  string
	first uint32 // its newest handle, +1
	open  int
}

func (sc *Scope) scope() *Scope { return sc }

// NewScope returns a scope without handles. The name is for display. A scope without open handles needs no
// cleanup.
func (s *Streamer) NewScope(name string) *Scope { return &Scope{s: s, name: name} }

// Name returns the name that was passed to NewScope.
func (sc *Scope) Name() string { return sc.name }

// Len returns the number of open handles of the scope.
func (sc *Scope) Len() int { return sc.open }

// Cancel closes every handle of the scope, as [Handle.Close] does, and makes every worker call Config.Drain soon. The
// scope may be used again at once. Cancel does not wait: Streamer.Settled reports whether every worker has freed the
// blocks of cancelled assets. If Kind.Release or Config.Free panics, Cancel completes its work, and then the panic
// continues to the caller.
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

// Progress counts the handles of a scope by the state of their assets.
type Progress struct {
	Done    int // handles of loaded assets, plus Failed, plus Waiting: a Flow waits for all others
	Failed  int // handles of failed assets
	Waiting int // handles of assets that wait for space under Config.Resident, and for which a Poll has found none
	Total   int // all open handles
}

// Fraction returns Done divided by Total, from 0 to 1. If Total is 0, Fraction returns 1.
func (p Progress) Fraction() float32 {
	if p.Total == 0 {
		return 1
	}
	return float32(p.Done) / float32(p.Total)
}

// Progress counts the handles of the scope. It does not allocate.
func (sc *Scope) Progress() (p Progress) {
	s := sc.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := sc.first; t != 0; t = s.requests[t-1].far {
		e := &s.entries[s.requests[t-1].entry]
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

// AppendLoading appends the names of the assets that workers decode or that wait for delivery, for a progress
// display. Queued assets are not included. AppendLoading returns the extended slice, and allocates only if the
// capacity of dst does not suffice.
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
