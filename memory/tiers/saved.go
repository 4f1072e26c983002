package tiers

import (
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// Saved selects what [Manager.State] saves.
type Saved struct {
	// Tiers are the tiers that are saved. Nil means all but Frame; Frame is never saved. Loading does not restore the
	// other tiers. A tier that the game does not change during a level, such as Level, can be left out. If both Slab
	// and Large are saved, a load restores the peaks of tags. If only one is saved, TagStats.Peak is an upper bound
	// after a load.
	Tiers []Tier
	// Workers has the numbers of the workers whose heaps and scratch arenas are saved. Nil means all. These workers
	// must be in no task during a save or a load, see [Manager.Rest]. If the tier Inbox is not saved, Workers has no
	// effect. Leave out a worker whose blocks do not influence the simulation, such as one that streams pictures: it
	// may be in a task.
	Workers []int
	// Scratch returns true if the contents of the live block of Large that starts at p need not be saved. The block
	// itself is saved nevertheless, and its contents are undefined after a load. A nil Scratch means that all contents
	// are saved. Scratch is called in several passes, must return the same result each time, and must not use the
	// manager. See tlsf.Heap.SaveStateExcept.
	Scratch func(p unsafe.Pointer) bool
}

// A managerState is a Saved with its manager. The statistics of the last BeginFrame are not saved: they are used in
// frames only. Those of the last BeginLevel are not either: a state is loaded in the level in which it was saved.
type managerState struct {
	m       *Manager
	tiers   [Count]bool
	workers []int
	scratch func(p unsafe.Pointer) bool
	was     savedTag // here, so that no pass allocates
}

// A savedTag is what a state has of a tag.
type savedTag struct {
	peak  uint64
	taken Bumped // of the level
}

// State returns a State of the manager, for a save.Set. Save and load it outside of frames, with the workers at rest:
// see [Manager.Rest]. Load it within the level in which it was saved. In the tier Pools, the pools that are a
// save.State are saved. Add other registered pools, such as a world that is registered by [Funcs], to the Set after the
// manager. Budgets, the history, the samples, the figures of the collector and the trace are not saved. In the saved
// tiers, loading removes the hooks of [Manager.OnReset] that were registered after the state was saved. Saving and
// loading also free the blocks that other goroutines have sent to the game goroutine and to the saved workers. Flush
// all Freers first: blocks that a Freer sends after a load are freed in the loaded state. A Set with the manager cannot
// be written to a file.
//
// The error of the Set wraps save.ErrBusy if a frame or a task of a saved worker is open, or if a hook or Config.OnSoft
// uses the Set. After Close the error wraps memory.ErrClosed. If a load cannot commit the memory that it needs, as with
// a lower budget, the error wraps memory.ErrOutOfMemory. The error of a load wraps save.ErrLayout in these cases:
//
//   - A level has begun or ended since the state was saved.
//   - Static is saved, and static buffers were declared since.
//   - Pools is saved, and the registered pools are not those of the saved state.
//   - A hook of a saved tier was registered when the state was saved, and has run or was removed by a load since.
//
// A slot of [save.Set.NewCanonical] has only the number of the registration of each pool and hook. After a load, a new
// pool or hook may get the number of a removed one. A load from such a slot does not detect this.
//
// State panics with a *memory.Misuse if cfg contains Frame, or a number that is no tier or no worker.
func (m *Manager) State(cfg Saved) save.State {
	s := &managerState{m: m, workers: slices.Clone(cfg.Workers), scratch: cfg.Scratch}
	for t := range Tier(Count) {
		s.tiers[t] = cfg.Tiers == nil // of Frame nothing is visited
	}
	for _, t := range cfg.Tiers {
		if t >= Count || t == Frame {
			panic(&memory.Misuse{Package: "tiers", Op: "State", Reason: fmt.Sprintf("the tier %v cannot be saved", t)})
		}
		s.tiers[t] = true
	}
	for k := range m.inbox.workers {
		if cfg.Workers == nil {
			s.workers = append(s.workers, k)
		}
	}
	for _, k := range s.workers {
		m.Worker(k) // panics for another number
	}
	slices.Sort(s.workers)
	s.workers = slices.Compact(s.workers)
	return s
}

// SaveState implements save.State for all tiers but Frame, with all workers: see [Manager.State].
func (m *Manager) SaveState(c *save.Coder) {
	if m.saving == nil {
		m.saving = m.State(Saved{})
	}
	m.saving.SaveState(c)
}

// States yields the allocators and pools that SaveState saves, for package save: see save.Composite.
func (m *Manager) States(yield func(save.State) bool) {
	m.State(Saved{}).(*managerState).States(yield)
}

// States yields the allocators of the tiers, and the pools.
func (s *managerState) States(yield func(save.State) bool) {
	m := s.m
	if m.phase >= closing {
		return
	}
	all := []save.State{Slab: m.slab.heap, Large: m.large.heap, Level: m.level.arena, Count: nil}
	if m.static.arena != nil {
		all[Static] = m.static.arena
	}
	for t, x := range all {
		if x != nil && s.tiers[t] && !yield(x) {
			return
		}
	}
	for _, p := range m.pools.all {
		if x, ok := p.pool.(save.State); ok && s.tiers[Pools] && !yield(x) {
			return
		}
	}
	for _, k := range s.workers {
		if s.tiers[Inbox] && !yield(m.inbox.workers[k].heap) {
			return
		}
	}
}

// Rest prepares the manager for a save or a load by a [save.Set]. It waits until the given workers are in no task, and
// frees the blocks in flight to them and to the game goroutine. Blocks that a Freer has not sent are not freed: see
// [Manager.State]. If no workers are given, Rest waits for all. limit is for all workers together; with 0 or less Rest
// does not wait for tasks. Call Rest on the game goroutine. While it waits, it keeps a processor busy. Until the Set
// has saved or loaded, none of these workers may begin a task. None of their results may wait in a channel, because
// a load does not remove it.
//
// If a worker is still in a task after the limit, the error wraps save.ErrBusy. After Close the error wraps
// memory.ErrClosed. Rest panics with a *memory.Misuse if a number is not that of a worker. It also panics if a block in
// flight was misused, for example freed twice: see [Manager.NewFreer].
func (m *Manager) Rest(limit time.Duration, workers ...int) error {
	if m.phase >= closing {
		return memory.ErrClosed
	}
	for _, k := range workers {
		m.Worker(k) // panics for another number
	}
	end := time.Now().Add(limit)
	rests := func(k int) bool { return len(workers) == 0 || slices.Contains(workers, k) }
	for k, w := range m.inbox.workers {
		for rests(k) && w.inTask() {
			if !time.Now().Before(end) {
				return fmt.Errorf("tiers: rest: %w: worker %d is in a task", save.ErrBusy, k)
			}
			runtime.Gosched()
		}
	}
	m.returned.Drain() // sends blocks of workers on to them
	for k, w := range m.inbox.workers {
		if !rests(k) {
			continue
		}
		_ = m.inbox.links[k].flush() // fails only after Close
		w.Settle()
	}
	return nil
}

// SaveState visits the selected tiers.
func (s *managerState) SaveState(c *save.Coder) {
	m := s.m
	switch {
	case m.phase >= closing:
		c.Fail(memory.ErrClosed)
		return
	case m.phase&inFrame != 0:
		c.Busy("a frame is open; EndFrame first")
		return
	case m.running != "":
		c.Busy(m.running + " is running")
		return
	case m.rewinds(): // also if the level is not saved
		c.Busy("a hook of an arena is running")
		return
	}
	c.Same("the number of levels that have begun", m.level.begun)
	c.Same("the number of open levels", uint64(m.phase&inLevel))
	if !c.Scanning() {
		m.returned.Drain()
	}
	s.saveTags(c)
	defer s.raisePeaks()
	for t, state := range m.states {
		if !s.tiers[t] {
			continue
		}
		c.Enter(Tier(t).String())
		switch Tier(t) {
		case Inbox:
			s.saveWorkers(c)
		case Large:
			m.large.heap.SaveStateExcept(c, s.scratch)
			m.large.saveNotes(c)
		case Pools:
			m.pools.saveRefused(c, m.limits[Pools])
			m.pools.saveState(c)
		default:
			state.saveState(c)
		}
		c.Leave()
	}
}

// saveState of a tier that needs none.
func (basic) saveState(*save.Coder) {}

// saveState drops the hooks that were registered after the state was saved.
func (l *hookList) saveState(c *save.Coder) {
	n := l.newest.SaveState(c, len(l.hooks), func(i int) saved.HookID { return l.hooks[i].id })
	clear(l.hooks[n:])
	l.hooks = l.hooks[:n]
}

func (s *staticTier) saveState(c *save.Coder) {
	s.hookList.saveState(c)
	save.Var(c, &s.past)
	number := uint64(0)
	if s.arena != nil {
		number = s.declared // EndLevel may have failed after it closed the arena of another plan
	}
	if c.Same("the number of the static plan", number); s.arena != nil {
		s.arena.SaveState(c)
	}
}

func (l *levelTier) saveState(c *save.Coder) { l.arena.SaveState(c) }

func (s *slabTier) saveState(c *save.Coder) {
	s.heap.SaveState(c)
	s.notes.saveState(c)
	save.Var(c, &s.idle)
}

func (s *largeTier) saveNotes(c *save.Coder) {
	s.notes.saveState(c)
	save.Var(c, &s.idle)
}

// saveRefused visits how many commits were refused. The limit itself goes on counting. Canonical bytes lack the number,
// because it includes commits for pools that the Set does not save.
func (t *poolsTier) saveRefused(c *save.Coder, l *page.Limit) {
	if c.Canonical() {
		return
	}
	if n := c.Word(t.refused(l)); c.Loading() {
		t.undone = l.Failures() - n
	}
}

// saveState visits the pools that are a State, in the order of their registration.
func (t *poolsTier) saveState(c *save.Coder) {
	t.hookList.saveState(c)
	save.Num(c, &t.ending)
	save.Num(c, &t.registered)
	if n := c.Count(len(t.all)); n != len(t.all) {
		c.Differs("%d pools were registered, %d are; the last is %q", n, len(t.all), t.lastName())
		return
	}
	for i, p := range t.all {
		c.EnterAt("pool", i)
		id := p.serial
		if c.Canonical() {
			id = p.number
		}
		c.Same("the number of the registration", id)
		save.Num(c, &p.ended)
		save.Num(c, &p.kept.Live) // the rest of kept is not read
		save.Num(c, &p.kept.InUse)
		if s, ok := p.pool.(save.State); ok {
			s.SaveState(c)
		}
		c.Leave()
	}
}

func (t *poolsTier) lastName() string {
	if len(t.all) == 0 {
		return ""
	}
	return t.all[len(t.all)-1].name
}

// saveWorkers visits the heaps and scratch arenas of the selected workers.
func (s *managerState) saveWorkers(c *save.Coder) {
	for _, k := range s.workers {
		c.EnterAt("worker", k)
		w := s.m.inbox.workers[k]
		if w.saveState(c); c.Loading() { // what others see during a call of the worker is replaced, too
			w.Stats()
			for _, t := range s.m.tags {
				w.countsOf(t.id)
			}
		}
		c.Leave()
	}
}

func (w *Worker) saveState(c *save.Coder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		c.Fail(memory.ErrClosed)
		return
	case w.scratch.busy:
		c.Busy("a task is open; EndTask first")
		return
	case !c.Scanning():
		w.inbox.Drain()
	}
	w.heap.SaveState(c)
	w.scratch.saveState(c)
	saved.Lives(c, &w.sizes)
	if w.tags != nil {
		w.tags.saveState(c)
	}
	save.Var(c, &w.idle)
}

// saveState visits the arena. A load that fails may have committed memory, also if the page source panics.
func (s *scratch) saveState(c *save.Coder) {
	defer func() { s.stats = s.frames.Stats() }()
	s.frames.SaveState(c)
}

// saveTags visits what each tag has counted. A tag that was made after the state was saved stays. Loading changes what
// the tags have counted in the saved tiers.
func (s *managerState) saveTags(c *save.Coder) {
	known := len(s.m.tags)
	for known > 0 && s.tag(s.m.tags[known-1]) == (savedTag{}) { // a load leaves tags that were made since
		known--
	}
	n := c.Count(known)
	if n > len(s.m.tags) {
		c.Differs("%d tags were made, %d are", n, len(s.m.tags))
		return
	}
	for i, t := range s.m.tags {
		was := &s.was
		if *was = (savedTag{}); c.Saving() {
			*was = s.tag(t)
		}
		if i < n { // a later tag had counted nothing
			save.Num(c, &was.peak)
			save.Var(c, &was.taken)
		}
		if !c.Loading() {
			continue
		}
		if s.tiers[Slab] && s.tiers[Large] {
			t.peak = was.peak
		}
		if s.tiers[Level] {
			t.level.taken = was.taken
		}
	}
}

// tag returns what a tag has counted in the saved tiers.
func (s *managerState) tag(t *Tag) (v savedTag) {
	if s.tiers[Slab] && s.tiers[Large] {
		v.peak = t.peak
	}
	if s.tiers[Level] {
		v.taken = t.level.taken
	}
	return v
}

// raisePeaks follows the load of Slab or Large alone: a tag may then have more in both together than ever before.
func (s *managerState) raisePeaks() {
	for _, t := range s.m.tags {
		t.peak = max(t.peak, s.m.taggedBytes(t.id))
	}
}

func (s *slabNotes) saveState(c *save.Coder) {
	save.List(c, &s.units)
	save.Var(c, &s.spare)
	saveChunks(c, &s.chunks, &s.next)
	saveCounts(c, s.counts)
}

func (s *largeNotes) saveState(c *save.Coder) {
	save.List(c, &s.units)
	save.List(c, &s.huge)
	saveChunks(c, &s.chunks, &s.next)
	saveCounts(c, s.counts)
}

// saveChunks visits the words below next. Those behind are 0: a new leaf begins there.
func saveChunks[T note | uint32](c *save.Coder, chunks *[]*[chunkWords]T, next *uint32) {
	end := int(c.Word(uint64(*next)))
	for i := 0; i*chunkWords < end && !c.Failed(); i++ {
		if i == len(*chunks) { // of a new manager
			if c.Scanning() {
				c.Differs("%d words of tags", end)
				return
			}
			*chunks = append(*chunks, new([chunkWords]T))
		}
		save.Vec(c, (*chunks)[i][:min(end-i*chunkWords, chunkWords)])
	}
	if !c.Loading() {
		return
	}
	*next = uint32(end)
	for i, chunk := range *chunks {
		clear(chunk[min(max(end-i*chunkWords, 0), chunkWords):])
	}
}

// saveCounts visits the counts of the tags. Those of later tags begin again.
func saveCounts(c *save.Coder, counts []tagCounts) {
	known := counts
	for len(known) > 0 && known[len(known)-1] == (tagCounts{}) { // a load leaves counts that were added since
		known = known[:len(known)-1]
	}
	n := c.Count(len(known))
	if n > len(counts) {
		c.Differs("the counts of %d tags, %d are", n, len(counts))
		return
	}
	if save.Vec(c, counts[:n]); c.Loading() {
		clear(counts[n:])
	}
}
