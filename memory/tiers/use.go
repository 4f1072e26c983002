package tiers

import "github.com/strata-go/strata/memory"

// A Use is the memory of one tier that counts under one tag, or under none. In Pools it is the memory of one pool.
type Use struct {
	Tier Tier
	Tag  string // empty without a tag
	Pool string // in Pools the name of a registered pool; otherwise empty
	// Stats has InUse, Live and Allocs; the other statistics are zero. In Frame and Level, the Allocs of a tag are the
	// blocks that were allocated in this frame or level.
	memory.Stats
}

// EachUse calls f with every part of the memory in use, tier by tier. A part is a pool, or the memory of a tier under
// one tag or under none. Parts whose statistics are all zero are left out. Only InUse, Live and Allocs are set. The
// parts of a tier add up to the tier's [Manager.Stats]. Without [Config.Tags] only the parts of pools have a tag.
//
// With Config.Tags, the parts of a tag outside of Frame and Level add up to [Tag.Stats]. In Frame and Level the part of
// a tag is [TagArena.Taken], with Blocks as Live and as Allocs. Blocks of earlier frames are in the part without a tag.
// After a Free or a Rewind, Taken may be more than the tier has. Then the parts are cut to the sum of the tier, those
// of later tags first. While workers run, the sums can differ by the effect of their calls.
//
// f must not use the manager. EachUse belongs to the game goroutine, and allocates nothing.
func (i Inspector) EachUse(f func(Use)) {
	m := i.m
	for t, state := range m.states {
		rest := m.Stats(Tier(t))
		for k := 0; ; k++ {
			u, ok := state.use(m, k)
			if !ok {
				break
			}
			u.Tier = Tier(t)
			u.Stats = memory.Stats{InUse: min(u.InUse, rest.InUse), Live: min(u.Live, rest.Live), Allocs: min(u.Allocs, rest.Allocs)}
			rest.InUse, rest.Live, rest.Allocs = rest.InUse-u.InUse, rest.Live-u.Live, rest.Allocs-u.Allocs
			if u.Stats != (memory.Stats{}) {
				f(u)
			}
		}
		if last := (memory.Stats{InUse: rest.InUse, Live: rest.Live, Allocs: rest.Allocs}); last != (memory.Stats{}) {
			f(Use{Tier: Tier(t), Stats: last})
		}
	}
}

// tagUse returns what tag k has in a heap with these counts.
func (m *Manager) tagUse(counts []tagCounts, k int) (Use, bool) {
	if !m.cfg.Tags || k >= len(m.tags) {
		return Use{}, false
	}
	t := m.tags[k]
	return Use{Tag: t.name, Stats: counts[t.id].stats()}, true
}

func (basic) use(*Manager, int) (u Use, ok bool) { return u, false }

func (s *slabTier) use(m *Manager, k int) (Use, bool)  { return m.tagUse(s.notes.counts, k) }
func (s *largeTier) use(m *Manager, k int) (Use, bool) { return m.tagUse(s.notes.counts, k) }

func (s *inboxTier) use(m *Manager, k int) (u Use, ok bool) {
	if k >= len(m.tags) {
		return u, false
	}
	u.Tag = m.tags[k].name
	for _, w := range s.workers {
		b := w.countsOf(m.tags[k].id)
		u.Stats = u.Add(b.stats())
	}
	return u, true
}

func (s *frameTier) use(m *Manager, k int) (u Use, ok bool) {
	if k >= len(m.tags) {
		return u, false
	}
	return Use{Tag: m.tags[k].name, Stats: m.tags[k].frame.Taken().stats()}, true
}

func (s *levelTier) use(m *Manager, k int) (u Use, ok bool) {
	if k >= len(m.tags) {
		return u, false
	}
	return Use{Tag: m.tags[k].name, Stats: m.tags[k].level.Taken().stats()}, true
}

func (b Bumped) stats() memory.Stats {
	return memory.Stats{InUse: b.Bytes, Live: b.Blocks, Allocs: b.Blocks}
}

func (s *poolsTier) use(_ *Manager, k int) (u Use, ok bool) {
	if k >= len(s.all) {
		return u, false
	}
	p := s.all[k]
	u = Use{Pool: p.name, Stats: p.read()}
	if p.tag != nil {
		u.Tag = p.tag.name
	}
	return u, true
}
