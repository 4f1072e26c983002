package tiers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Leaks has what a level allocated and did not free, in the tiers whose blocks are freed one by one: the
// blocks that were handed out after BeginLevel and are live at EndLevel. Older blocks do not count. In memfast
// builds the figures of slab are differences of two counts, and lower bounds.
type Leaks struct {
	Level uint64      // the level's number, from 1
	Tiers [Count]Leak // Inbox: of all workers, what is in flight to them included
	// Pools has a row for each pool without a reset that holds more than at BeginLevel, or
	// than when it was registered. The manager knows its counts only, so the row is their
	// difference; and since such a pool outlives the level by choice, Any does not count it.
	// A pool with a reset has a row, which Any counts, if objects were taken from it after its
	// reset, by the reset of another pool or by a hook that was registered during EndLevel.
	Pools []PoolLeak
	// Tags has a row for each tag with blocks in Tiers, in the order of the tags.
	Tags []TagLeak
}

// A TagLeak is what of a level's leaks is of one tag.
type TagLeak struct {
	Tag string
	Leak
}

// A Leak is blocks, and bytes with the rounding that they cost, that outlived their level.
type Leak struct{ Blocks, Bytes uint64 }

// A PoolLeak is what a pool holds more than when the level began or, with AfterReset, more than its
// reset at the end of the level left.
type PoolLeak struct {
	Pool       string
	AfterReset bool
	Leak
}

// Any reports whether something leaked.
func (l *Leaks) Any() bool {
	return slices.ContainsFunc(l.Tiers[:], func(l Leak) bool { return l.Blocks > 0 }) ||
		slices.ContainsFunc(l.Pools, func(p PoolLeak) bool { return p.AfterReset })
}

// String says what leaked, for a log line.
func (l Leaks) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "level %d left ", l.Level)
	sep := "behind "
	for t, leak := range l.Tiers {
		if leak.Blocks > 0 {
			fmt.Fprintf(&b, "%s%s in %s", sep, leak, Tier(t))
			sep = ", "
		}
	}
	if sep == "behind " {
		b.WriteString("nothing behind")
	}
	for i, p := range l.Pools {
		sep := "; pools grew: "
		if i > 0 {
			sep = ", "
		}
		fmt.Fprintf(&b, "%s%s by %s", sep, p.Pool, p.Leak)
		if p.AfterReset {
			b.WriteString(" after its reset")
		}
	}
	for i, t := range l.Tags {
		sep := "; by tag: "
		if i > 0 {
			sep = ", "
		}
		fmt.Fprintf(&b, "%s%s %s", sep, t.Tag, t.Leak)
	}
	return b.String()
}

// String returns "3 blocks of 4096 bytes".
func (l Leak) String() string { return fmt.Sprintf("%d blocks of %d bytes", l.Blocks, l.Bytes) }

func (l *Leak) add(size uintptr) {
	l.Blocks++
	l.Bytes += uint64(size)
}

// since is the difference of two books.
func (l *Leak) since(before, now stats) {
	l.Blocks = max(now.Live, before.Live) - before.Live
	l.Bytes = max(now.InUse, before.InUse) - before.InUse
}

// beginEpochs has every heap tell the blocks from now on from those before. To repeat it does
// no harm.
func (m *Manager) beginEpochs() {
	for _, s := range m.states {
		s.beginLevel()
	}
	if !invariant.Exact {
		for _, t := range m.tags {
			t.atLevel = m.slab.notes.counts[t.id]
		}
	}
}

// leaks counts the level's blocks that are live. It runs no callback.
func (m *Manager) leaks(pools []PoolLeak) Leaks {
	l := Leaks{Level: m.level.begun, Pools: pools}
	var byTag [MaxTags + 1]Leak
	for t, s := range m.states {
		s.leaks(m, &l.Tiers[t], &byTag)
	}
	for _, t := range m.tags {
		if leak := byTag[t.id]; leak.Blocks > 0 {
			l.Tags = append(l.Tags, TagLeak{t.name, leak})
		}
	}
	return l
}
