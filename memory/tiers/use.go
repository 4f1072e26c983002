package tiers

import "github.com/strata-go/strata/memory"

// A Use is the memory of one tier that counts under one tag and, in Pools, belongs to one pool.
type Use struct {
	Tier Tier
	Tag  string // empty without a tag
	Pool string // in Pools the name of a registered pool; otherwise empty
	// Stats has InUse, Live and Allocs; the other statistics are zero. Of a tag in Frame and Level, Allocs are those
	// of this frame or level.
	memory.Stats
}

// EachUse calls f with every part of the memory in use, tier by tier, and leaves out parts whose statistics are all zero.
// In the sum of the rows of a tier, InUse, Live and Allocs are those of [Manager.Stats]. In the sum of the rows of a tag
// outside Frame and Level, they are those of [Tag.Stats]. The rows of a tag in Frame and Level are those of
// [TagArena.Taken]; after a Rewind they may be smaller, because the tier has less in use. If a worker is inside a call, the
// sums may lack that call. Without [Config.Tags] all rows but those of pools have no tag. f must not use the manager.
// EachUse belongs to the game goroutine. It may allocate some words for each tier.
func (i Inspector) EachUse(f func(Use)) {
	m := i.m
	for t, state := range m.states {
		rest := m.Stats(Tier(t))
		state.uses(m, func(u Use) {
			u.Tier = Tier(t)
			u.Stats = memory.Stats{InUse: min(u.InUse, rest.InUse), Live: min(u.Live, rest.Live), Allocs: min(u.Allocs, rest.Allocs)}
			rest.InUse, rest.Live, rest.Allocs = rest.InUse-u.InUse, rest.Live-u.Live, rest.Allocs-u.Allocs
			if u.Stats != (memory.Stats{}) {
				f(u)
			}
		})
		if last := (memory.Stats{InUse: rest.InUse, Live: rest.Live, Allocs: rest.Allocs}); last != (memory.Stats{}) {
			f(Use{Tier: Tier(t), Stats: last})
		}
	}
}

// tagUses yields what the tags have in a heap with these counts.
func (m *Manager) tagUses(counts []tagCounts, f func(Use)) {
	if !m.cfg.Tags {
		return
	}
	for _, t := range m.tags {
		f(Use{Tag: t.name, Stats: counts[t.id].stats()})
	}
}

func (basic) uses(*Manager, func(Use)) {}

func (s *slabTier) uses(m *Manager, f func(Use))  { m.tagUses(s.notes.counts, f) }
func (s *largeTier) uses(m *Manager, f func(Use)) { m.tagUses(s.notes.counts, f) }

func (s *inboxTier) uses(m *Manager, f func(Use)) {
	for _, t := range m.tags {
		var sum memory.Stats
		for _, w := range s.workers {
			b := w.countsOf(t.id)
			sum = sum.Add(b.stats())
		}
		f(Use{Tag: t.name, Stats: sum})
	}
}

func (s *frameTier) uses(m *Manager, f func(Use)) {
	for _, t := range m.tags {
		f(Use{Tag: t.name, Stats: t.frame.Taken().stats()})
	}
}

func (s *levelTier) uses(m *Manager, f func(Use)) {
	for _, t := range m.tags {
		f(Use{Tag: t.name, Stats: t.level.Taken().stats()})
	}
}

func (b Bumped) stats() memory.Stats {
	return memory.Stats{InUse: b.Bytes, Live: b.Blocks, Allocs: b.Blocks}
}

func (s *poolsTier) uses(_ *Manager, f func(Use)) {
	for _, p := range s.all {
		u := Use{Pool: p.name, Stats: p.read()}
		if p.tag != nil {
			u.Tag = p.tag.name
		}
		f(u)
	}
}
