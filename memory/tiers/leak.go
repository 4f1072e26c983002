package tiers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Leaks describes the leaks of a level. A leak is a block that was allocated after BeginLevel and is live at EndLevel,
// in a tier whose blocks are freed one by one. Older blocks do not count. In memfast builds the figures of slab are
// lower bounds: the growth of the live blocks during the level.
type Leaks struct {
	Level uint64      // the level's number, from 1
	Tiers [Count]Leak // by tier; Inbox has those of all workers; a block that waits in a Freer counts as live
	// Pools has a row for each pool whose number of objects has grown:
	//
	//   - A pool without a reset has grown since BeginLevel, or since its registration if that was later. It keeps its
	//     objects on purpose, so [Leaks.Any] ignores the row.
	//   - A pool with a reset has grown since this reset, because the reset of another pool, or a hook that was
	//     registered during EndLevel, has allocated from it. [Leaks.Any] counts the row.
	Pools []PoolLeak
	// Tags has a row for each tag that has leaks in Tiers, in the order in which the tags were made.
	Tags []TagLeak
}

// A TagLeak is the sum of the leaks of a level under one tag.
type TagLeak struct {
	Tag string
	Leak
}

// A Leak is the number of blocks that outlived their level, and the bytes of these blocks after the allocator's
// rounding.
type Leak struct{ Blocks, Bytes uint64 }

// A PoolLeak is the growth of a pool during the level. Blocks is the number of additional objects. If AfterReset is
// true, the growth counts from the pool's reset at the end of the level.
type PoolLeak struct {
	Pool       string
	AfterReset bool
	Leak
}

// Any reports whether something leaked: a block in Tiers, or a row of Pools with AfterReset.
func (l *Leaks) Any() bool {
	return slices.ContainsFunc(l.Tiers[:], func(l Leak) bool { return l.Blocks > 0 }) ||
		slices.ContainsFunc(l.Pools, func(p PoolLeak) bool { return p.AfterReset })
}

// String describes the leaks in one line, for a log. For the zero Leaks, the result of a failed EndLevel, the
// text says that no level has ended.
func (l Leaks) String() string {
	if l.Level == 0 {
		return "no level has ended"
	}
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

// String returns a text such as "3 blocks of 4096 bytes", with the bytes of all blocks together.
func (l Leak) String() string {
	if l.Blocks == 1 {
		return fmt.Sprintf("1 block of %d bytes", l.Bytes)
	}
	return fmt.Sprintf("%d blocks of %d bytes", l.Blocks, l.Bytes)
}

func (l *Leak) add(size uintptr) {
	l.Blocks++
	l.Bytes += uint64(size)
}

// since sets l to the growth from before to now.
func (l *Leak) since(before, now stats) {
	l.Blocks = max(now.Live, before.Live) - before.Live
	l.Bytes = max(now.InUse, before.InUse) - before.InUse
}

// beginEpochs lets every heap distinguish later blocks from earlier ones. It may be repeated.
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
