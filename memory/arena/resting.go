package arena

// advanceResting is Advance in memdebug builds. The frame that expires decommits its memory and the one that begins
// commits as much, so a budget for N buffers is enough.
func (f *Frames) advanceResting() {
	all, n, at := uint64(len(f.ring)), uint64(f.n), f.frame+1
	next := &f.ring[at%all]
	next.reset("Advance", nil)
	if all > n && at >= n {
		f.ring[(at-n)%all].expire()
	}
	if next.limit == 0 {
		f.ready(next)
	}
	f.frame, f.cur = at, next
}

// expire resets l and decommits its memory. If the source refuses, the memory stays filled.
func (l *Linear) expire() {
	l.reset("Advance", nil)
	if l.mem.Trim(0) == nil {
		l.limit = 0
	}
}
