package tiers

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Leaks is what a level allocated block by block and did not free: the blocks that were handed
// out after BeginLevel and are live at EndLevel, however many older ones have been freed
// meanwhile. In memfast builds Slab is the difference of two counts, and a lower bound.
//
// Where the general heap is behind a guard, its Leaks name the call sites.
type Leaks struct {
	Level   uint64 // the level's number, from 1
	Slab    Leak
	Large   Leak
	Workers Leak // of all workers' heaps: what is in flight or in somebody's hands
	// Pools has a row for each pool without a reset that holds more than at BeginLevel, or
	// than when it was registered. The manager knows its counts only, so the row is their
	// difference; and since such a pool outlives the level by choice, Any does not count it.
	// A pool with a reset has a row, which Any counts, if objects were taken from it after its
	// reset, by the reset of another pool or by a hook that was registered during EndLevel.
	Pools []PoolLeak
	// Tags has a row for each tag with blocks among Slab, Large and Workers, in the order of the
	// tags. In memfast builds those of slab are differences, too.
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
	return l.Slab.Blocks > 0 || l.Large.Blocks > 0 || l.Workers.Blocks > 0 ||
		slices.ContainsFunc(l.Pools, func(p PoolLeak) bool { return p.AfterReset })
}

// String says what leaked, for a log line.
func (l Leaks) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "level %d left ", l.Level)
	if !l.Any() {
		b.WriteString("nothing behind")
	} else {
		fmt.Fprintf(&b, "behind %s in slab, %s in large, %s with the workers", l.Slab, l.Large, l.Workers)
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
	m.slab.BeginEpoch()
	m.large.BeginEpoch()
	for _, w := range m.workers {
		w.beginEpoch()
	}
	if !invariant.Exact {
		for _, t := range m.tags.all {
			t.atLevel = m.tags.slab.books[t.id]
		}
	}
}

// poolLeaks returns a row for each pool that holds more than it should as the level ends.
func (m *Manager) poolLeaks() (rows []PoolLeak) {
	for _, p := range m.pools {
		row, before := PoolLeak{Pool: p.name, AfterReset: p.reset != nil}, &p.atLevel
		if row.AfterReset {
			before = &p.kept
		}
		if row.since(*before, p.books()); row.Blocks > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// leaks counts the level's blocks that are live. It runs no callback.
func (m *Manager) leaks(pools []PoolLeak) Leaks {
	l := Leaks{Level: m.levels, Pools: pools}
	var byTag [MaxTags + 1]Leak
	for p, size := range m.slab.Young {
		l.Slab.add(size)
		byTag[m.tags.slab.tagOf(p)].add(size)
	}
	if !invariant.Exact {
		l.Slab.since(m.atLevel[Slab], m.Stats(Slab))
		for _, t := range m.tags.all {
			byTag[t.id].since(t.atLevel.stats(), m.tags.slab.books[t.id].stats())
		}
	}
	for p, size := range m.large.Young {
		l.Large.add(size)
		byTag[m.tags.large.tagOf(p)].add(size)
	}
	for k, w := range m.workers {
		_ = m.outbox[k].flush()
		w.young(&l.Workers, &byTag)
	}
	for _, t := range m.tags.all {
		if leak := byTag[t.id]; leak.Blocks > 0 {
			l.Tags = append(l.Tags, TagLeak{t.name, leak})
		}
	}
	return l
}

// LevelBlocks yields the live blocks of slab and large that were handed out since BeginLevel,
// with the bytes that each takes up: what EndLevel would call leaked if the level ended now.
// Outside a level it yields nothing; in memfast builds nothing of slab. The manager must not
// be used meanwhile.
func (m *Manager) LevelBlocks(yield func(p unsafe.Pointer, size uintptr) bool) {
	if m.phase&inLevel == 0 {
		return
	}
	more := true
	each := func(p unsafe.Pointer, size uintptr) bool {
		more = yield(p, size)
		return more
	}
	if m.slab.Young(each); more {
		m.large.Young(each)
	}
}

// Leaks returns what the last EndLevel that succeeded did: what an instrument shows while the next level
// is played. Before there was one it is zero.
func (m *Manager) Leaks() Leaks { return m.left }
