package stream

import (
	"errors"
	"fmt"
)

// Check verifies the metadata of all assets, handles and workers. If there are faults, Check returns an error that
// lists up to 20 faults. Check may be called at any time. The cost is proportional to Config.Assets and
// Config.Handles. Check ends even if the metadata is corrupted.
func (s *Streamer) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &checker{s: s}
	c.entries()
	c.order(&s.queue, "queue", func(e *entry) bool { return e.state == Queued })
	c.order(&s.ready, "ready", func(e *entry) bool { return e.state == Ready && !e.parked })
	c.order(&s.blocked, "blocked", func(e *entry) bool { return e.state == Waiting && e.retryAt == 0 })
	c.handles()
	c.cached()
	c.places()
	c.workers()
	return errors.Join(c.errs...)
}

type checker struct {
	s    *Streamer
	errs []error
}

func (c *checker) report(format string, args ...any) {
	if len(c.errs) < 20 {
		c.errs = append(c.errs, fmt.Errorf("stream: "+format, args...))
	}
}

func (c *checker) entries() {
	s := c.s
	var counts [stateCount]int
	var resident, staged int64
	kinds, loads := map[*kind]int64{}, map[*kind]int64{}
	retries, changes, revoked := 0, 0, 0
	for i := range s.entries {
		e := &s.entries[i]
		if e.state >= stateCount {
			c.report("entry %d is in no state: %d", i, uint8(e.state))
			continue
		}
		counts[e.state]++
		resident += e.size
		kinds[e.kind] += e.size
		if e.state == Loaded {
			loads[e.kind] += e.size
		}
		c.holding(i, e)
		staged += c.bytes(&e.held)
		if e.state == Waiting && e.retryAt != 0 {
			retries++
		}
		if e.changed {
			changes++
		}
		if e.state == cancelled && e.started {
			revoked++
		}
		if (e.kind == nil) != (e.state == Vacant) {
			c.report("entry %d is %v, with a kind: %v", i, e.state, e.kind != nil)
		}
		if e.size < 0 || e.size != 0 && e.state != Ready && e.state != delivering && e.state != Loaded && e.state != cancelled {
			c.report("entry %d (%s) is %v and counts %d bytes", i, e.name, e.state, e.size)
		}
		if e.err == nil && e.state == Failed {
			c.report("entry %d (%s) has failed without an error", i, e.name)
		}
		c.reload(i, e)
	}
	for i := range s.leaving {
		staged += c.bytes(&s.leaving[i].held)
	}
	for i := range s.strays {
		staged += c.bytes(&s.strays[i].held)
	}
	for _, w := range s.workers {
		resident += w.reserved
		if w.inHand && int64(w.entry) < int64(len(s.entries)) {
			kinds[s.entries[w.entry].kind] += w.reserved
		}
		if !w.inHand && w.reserved != 0 {
			c.report("worker %d has nothing in hand and %d bytes reserved", w.index, w.reserved)
		}
	}
	if counts != s.stats.counts {
		c.report("states are counted as %v and are %v", s.stats.counts, counts)
	}
	if resident != s.resident || s.resident > s.stats.ResidentPeak || s.cfg.Resident > 0 && s.stats.ResidentPeak > s.cfg.Resident {
		c.report("%d bytes are resident, counted as %d, at most %d, allowed %d", resident, s.resident, s.stats.ResidentPeak, s.cfg.Resident)
	}
	for _, k := range s.kinds {
		if k.resident != kinds[k] || k.loaded != loads[k] {
			c.report("%d bytes are resident of kind %s, counted as %d; %d of them are loaded, counted as %d", kinds[k], k.name, k.resident, loads[k], k.loaded)
		}
	}
	if staged > s.stats.Staging || s.stats.Staging > s.stats.StagingPeak {
		c.report("%d bytes of assets, %d staged, peak %d are not in order", staged, s.stats.Staging, s.stats.StagingPeak)
	}
	if retries != s.retries || changes != s.changed {
		c.report("%d assets wait for another attempt, counted as %d; %d have changed, counted as %d", retries, s.retries, changes, s.changed)
	}
	if revoked != s.revoked {
		c.report("%d assets were cancelled by their deliver functions, counted as %d", revoked, s.revoked)
	}
}

// bytes is holding.bytes of what may be broken.
func (c *checker) bytes(h *holding) int64 {
	if h.n < 0 || h.n > maxBlocks {
		return 0
	}
	return h.bytes()
}

func (c *checker) holding(i int, e *entry) {
	switch {
	case e.held.n < 0 || e.held.n > maxBlocks || e.held.worker < 0 || int(e.held.worker) >= len(c.s.workers):
		c.report("entry %d (%s) holds %d blocks of worker %d", i, e.name, e.held.n, e.held.worker)
	case e.held.n > 0 && e.state != Ready && e.state != delivering && e.state != Loaded && e.state != cancelled:
		c.report("entry %d (%s) is %v and holds blocks", i, e.name, e.state)
	case e.state == Loaded && e.kind != nil && !e.kind.stays && e.held.n > 0:
		c.report("entry %d (%s) is loaded, and its blocks were not freed", i, e.name)
	}
}

func (c *checker) reload(i int, e *entry) {
	at := func(j uint32) *entry {
		if j == 0 || uint64(j) > uint64(len(c.s.entries)) {
			return nil
		}
		return &c.s.entries[j-1]
	}
	if n := at(e.next); e.next != 0 && (n == nil || n.of != uint32(i)+1 || e.state != Loaded) {
		c.report("entry %d (%s) is %v and has a reload that is none: %d", i, e.name, e.state, e.next)
	}
	if o := at(e.of); e.of != 0 && (o == nil || o.next != uint32(i)+1) {
		c.report("entry %d (%s) is the reload of none: %d", i, e.name, e.of)
	}
	named := e.state != Vacant && e.state != cancelled && e.of == 0
	if j, ok := c.s.names[key{e.kind, e.name}]; named && (!ok || int(j) != i) {
		c.report("entry %d (%s) is not found by its name", i, e.name)
	}
}

// order verifies that o is a heap of exactly the entries that belong there.
func (c *checker) order(o *order, name string, belongs func(*entry) bool) {
	s := c.s
	want := 0
	for i := range s.entries {
		if belongs(&s.entries[i]) {
			want++
		}
	}
	if len(o.heap) != want {
		c.report("%s holds %d assets; %d belong there", name, len(o.heap), want)
	}
	for at, i := range o.heap {
		if int64(i) >= int64(len(s.entries)) || !belongs(&s.entries[i]) || int(s.entries[i].pos) != at {
			c.report("%s holds entry %d, which does not belong there, or twice", name, i)
			return
		}
		if at > 0 && before(s.entries, i, o.heap[(at-1)/2]) {
			c.report("%s is out of order at %d", name, at)
		}
	}
}

func (c *checker) handles() {
	s := c.s
	open := make([]int, len(s.entries))
	for i := range s.requests {
		t := &s.requests[i]
		if t.gen&1 == 0 {
			continue
		}
		if int64(t.entry) >= int64(len(s.entries)) || t.scope == nil {
			c.report("ticket %d is of entry %d, scope %v", i, t.entry, t.scope != nil)
			continue
		}
		open[t.entry]++
	}
	for i := range s.entries {
		e := &s.entries[i]
		listed, eta := 0, Last
		for t := e.first; t != 0 && listed <= len(s.requests); listed++ {
			if uint64(t) > uint64(len(s.requests)) || int(s.requests[t-1].entry) != i || s.requests[t-1].gen&1 == 0 {
				c.report("entry %d (%s) lists ticket %d, which is not its", i, e.name, t-1)
				return
			}
			eta = min(eta, s.requests[t-1].eta)
			t = s.requests[t-1].next
		}
		if listed != open[i] || e.requests != open[i] {
			c.report("entry %d (%s) has %d handles, lists %d and counts %d", i, e.name, open[i], listed, e.requests)
		}
		if open[i] > 0 && (e.eta != eta || e.state == Vacant || e.state == cancelled) {
			c.report("entry %d (%s) is %v with %d handles and priority %v; the lowest is %v", i, e.name, e.state, open[i], e.eta, eta)
		}
		if open[i] == 0 && e.of == 0 && e.state != Vacant && e.state != cancelled && e.state != Loaded {
			c.report("entry %d (%s) is %v and nobody wants it", i, e.name, e.state)
		}
	}
}

func (c *checker) cached() {
	s := c.s
	n, sum, last := 0, int64(0), uint32(0)
	for at := s.newest; at != 0 && n <= len(s.entries); n++ {
		if uint64(at) > uint64(len(s.entries)) {
			c.report("the list of what is cached leads to entry %d", at)
			return
		}
		e := &s.entries[at-1]
		if e.state != Loaded || e.requests != 0 || e.newer != last {
			c.report("entry %d (%s) is %v with %d handles and listed as cached", at-1, e.name, e.state, e.requests)
			return
		}
		sum += e.size
		last, at = at, e.older
	}
	want := 0
	for i := range s.entries {
		if e := &s.entries[i]; e.state == Loaded && e.requests == 0 {
			want++
		}
	}
	if n != want || last != s.oldest || sum != s.stats.Cached {
		c.report("%d assets of %d bytes are listed as cached, up to %d; there are %d of %d, up to %d", n, sum, last, want, s.stats.Cached, s.oldest)
	}
}

func (c *checker) places() {
	s := c.s
	seen := make([]bool, len(s.entries))
	for _, i := range s.vacant {
		if int64(i) >= int64(len(s.entries)) || s.entries[i].state != Vacant || seen[i] {
			c.report("entry %d is listed as vacant and is not, or twice", i)
			return
		}
		seen[i] = true
	}
	if n := s.stats.counts[Vacant]; n != len(s.vacant) {
		c.report("%d entries are vacant, %d are listed", n, len(s.vacant))
	}
	named := 0
	for i := range s.entries {
		if e := &s.entries[i]; e.state != Vacant && e.state != cancelled && e.of == 0 {
			named++
		}
	}
	if named != len(s.names) {
		c.report("%d assets have a name, %d names are known", named, len(s.names))
	}
	taken := make([]bool, len(s.requests))
	for _, i := range s.free {
		if int64(i) >= int64(len(s.requests)) || s.requests[i].gen&1 == 1 || taken[i] {
			c.report("ticket %d is listed as free and is not, or twice", i)
			return
		}
		taken[i] = true
	}
}

func (c *checker) workers() {
	s := c.s
	running, busy, lost := 0, 0, 0
	for i, w := range s.workers {
		switch {
		case w.lost:
			lost++
		case !w.ended:
			running++
		}
		if w.inHand {
			busy++
		}
		if s.acked[i] > s.epoch || s.handed[i] < 0 {
			c.report("worker %d has acknowledged cancellation %d of %d, and %d blocks of it are on their way", i, s.acked[i], s.epoch, s.handed[i])
		}
	}
	if busy != s.busy || s.starved < 0 || s.starved > busy {
		c.report("%d workers are busy, counted as %d, %d of them wait for room", busy, s.busy, s.starved)
	}
	if lost != s.stats.Abandoned || running > s.running || s.running > len(s.workers)-lost {
		c.report("%d workers run and %d are given up; counted as %d and %d", running, lost, s.running, s.stats.Abandoned)
	}
}
