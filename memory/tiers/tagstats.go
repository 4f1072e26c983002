package tiers

import "github.com/strata-go/strata/memory"

// TagStats has the statistics of one tag, for a row of a table or an overlay.
type TagStats struct {
	Name string // empty in the row of all untagged blocks
	// Stats is the sum over the tag's blocks in slab, large and the workers' heaps, and over its pools. InUse and Peak
	// include rounding. Requested and Measured are as in memory.Stats. Committed is the InUse of the blocks plus the
	// Committed of the pools; Reserved counts in the same way. Peak is exact for slab and large together, and an upper
	// bound if the tag has blocks of workers or pools.
	//
	// In the row of all untagged blocks, Peak, Committed and Reserved equal InUse. With Config.QuickBytes, blocks of
	// Large take up to 1/16 more bytes. These bytes are not in the tag's InUse, but in that of the row of all untagged
	// blocks.
	memory.Stats
	Frame Bumped // see TagArena.Taken
	Level Bumped
}

// Stats returns the statistics of the tag's blocks and pools, see [TagStats]. Without [Config.Tags] they are zero.
// Stats does not allocate.
func (t *Tag) Stats() (s memory.Stats) {
	m := t.of("Stats")
	if !m.cfg.Tags {
		return s
	}
	s = m.slab.notes.counts[t.id].stats()
	s = s.Add(m.large.notes.counts[t.id].stats())
	s.Peak = t.peak
	for _, w := range m.inbox.workers {
		b := w.countsOf(t.id)
		s = s.Add(b.stats())
	}
	for _, p := range m.pools.all {
		if p.tag == t {
			s = s.Add(p.read())
		}
	}
	return s
}

func (t *Tag) row() TagStats {
	return TagStats{Name: t.name, Stats: t.Stats(), Frame: t.frame.Taken(), Level: t.level.Taken()}
}

// appendTags appends the rows of EachTag.
func (m *Manager) appendTags(rows []TagStats) []TagStats {
	if !m.cfg.Tags {
		return nil
	}
	if need := len(m.tags) + 1; cap(rows) < need {
		rows = make([]TagStats, 0, need)
	}
	m.Inspect().EachTag(func(row TagStats) { rows = append(rows, row) })
	return rows
}

// untagged returns the tiers' sum less that of the tags.
func (m *Manager) untagged(sum *TagStats) (rest TagStats) {
	var all memory.Stats
	for t := range Tier(Count) {
		if table[t].tagged {
			all = all.Add(m.Stats(t))
		}
	}
	rest.InUse, rest.Live = less(all.InUse, sum.InUse), less(all.Live, sum.Live)
	rest.Allocs, rest.Frees = less(all.Allocs, sum.Allocs), less(all.Frees, sum.Frees)
	rest.Failures = less(all.Failures, sum.Failures)
	rest.Requested, rest.Measured = less(all.Requested, sum.Requested), less(all.Measured, sum.Measured)
	rest.Peak, rest.Committed, rest.Reserved = rest.InUse, rest.InUse, rest.InUse
	if m.phase < closing {
		frame, level := m.frame.ring.Current().Stats(), m.level.arena.Stats()
		rest.Frame = Bumped{less(frame.InUse, sum.Frame.Bytes), less(frame.Live, sum.Frame.Blocks)}
		rest.Level = Bumped{less(level.InUse, sum.Level.Bytes), less(level.Live, sum.Level.Blocks)}
	}
	return rest
}

func (b *Bumped) add(c Bumped) { b.Bytes, b.Blocks = b.Bytes+c.Bytes, b.Blocks+c.Blocks }

// less returns a-b, or 0 if that is negative: a worker may have worked in between.
func less(a, b uint64) uint64 { return max(a, b) - b }

// closeTags counts every block as freed: the manager's memory is released.
func (m *Manager) closeTags() {
	m.slab.notes.close()
	m.large.notes.close()
	m.forgetTaken()
	for _, t := range m.tags {
		t.frame.taken = Bumped{}
	}
}
