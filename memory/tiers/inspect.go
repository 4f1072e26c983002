package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

// An Inspector is a view of a manager for instruments: overlays, meters, reports and tests. It changes
// nothing. Its methods belong to the game goroutine, except Pages and RemoteFrees, and allocate nothing.
// The zero Inspector panics.
type Inspector struct{ m *Manager }

// Inspect returns the manager's view for instruments. It is valid as long as the manager, also after Close.
func (m *Manager) Inspect() Inspector { return Inspector{m} }

// TierOf returns the tier that contains an address, whether or not a live block starts there. It returns
// false if no tier does, and after Close. The blocks of workers are of the Inbox tier.
func (i Inspector) TierOf(p unsafe.Pointer) (Tier, bool) { return i.m.tierOf(p) }

// TagOf returns the tag under which a live block of slab or large was allocated. It returns nil for every
// other address, and without [Config.Tags].
func (i Inspector) TagOf(p unsafe.Pointer) *Tag {
	id := i.m.slab.notes.tagOf(p)
	if id == 0 {
		id = i.m.large.notes.tagOf(p)
	}
	if id == 0 {
		return nil
	}
	return i.m.tags[id-1]
}

// Span returns the address range of a tier, committed or not. For Inbox it contains the ranges of all
// workers. It is nil and 0 for a number that is no tier, for Inbox without workers, and after Close.
func (i Inspector) Span(t Tier) (base unsafe.Pointer, size uintptr) {
	if i.m.size == 0 || t >= Count {
		return nil, 0
	}
	for route, part := range i.m.eachPart {
		if tierOfRoute[route] != t {
			continue
		}
		if base == nil {
			base = part.Memory().Base
		}
		size += part.Memory().Size
	}
	return base, size
}

// Pages returns what the page source has granted of huge pages and prefaulting. Safe for concurrent use.
func (i Inspector) Pages() page.Granted { return page.GrantedBy(i.m.cfg.Source) }

// RemoteFrees returns the statistics of blocks that other goroutines free for the game goroutine: those
// sent, and those freed. Safe for concurrent use.
func (i Inspector) RemoteFrees() remote.Stats { return i.m.returned.Stats() }

// InLevel reports whether a level has begun and not ended.
func (i Inspector) InLevel() bool { return i.m.phase&inLevel != 0 }

// History copies a tier's bytes in use at the end of the last HistoryLen frames into dst, oldest first. For
// Frame they are those of the frame's own buffer. Frames that have not ended yet are 0, and so is everything
// for a number that is no tier.
func (i Inspector) History(t Tier, dst *[HistoryLen]float32) {
	if t >= Count {
		*dst = [HistoryLen]float32{}
		return
	}
	r := &i.m.history[t]
	n := copy(dst[:], r.vals[r.at:])
	copy(dst[n:], r.vals[:r.at])
}

// Leaks returns the result of the last EndLevel that succeeded. Before the first one it is zero.
func (i Inspector) Leaks() Leaks { return i.m.left }

// LevelBlocks yields the live blocks of slab and large that were allocated since BeginLevel, with their
// bytes after rounding: what EndLevel would report as leaks. Outside a level it yields nothing. In memfast
// builds it yields nothing of slab. The manager must not be used meanwhile.
func (i Inspector) LevelBlocks(yield func(p unsafe.Pointer, size uintptr) bool) {
	if i.m.phase&inLevel == 0 {
		return
	}
	more := true
	each := func(p unsafe.Pointer, size uintptr) bool {
		more = yield(p, size)
		return more
	}
	if i.m.slab.heap.Young(each); more {
		i.m.large.heap.Young(each)
	}
}

// EachPool calls f with the name and the statistics of every registered pool, in the order of registration.
// f may register and remove pools; it gets those that were registered before the call.
func (i Inspector) EachPool(f func(name string, s memory.Stats)) {
	for _, p := range i.m.pools.all {
		f(p.name, p.read())
	}
}

// EachTag calls f with the statistics of every tag, in the order of creation. A last row, with an empty
// name, has what no tag has. The rows together are the tiers slab, large, pools and inbox, and what the
// frame and the level have allocated. Without [Config.Tags] f is not called. If a worker is inside a call,
// the last row may lack that call.
func (i Inspector) EachTag(f func(TagStats)) {
	m := i.m
	if !m.cfg.Tags {
		return
	}
	var sum TagStats
	for k := 0; k < len(m.tags); k++ {
		row := m.tags[k].row()
		sum.Stats = sum.Add(row.Stats)
		sum.Frame.add(row.Frame)
		sum.Level.add(row.Level)
		f(row)
	}
	f(m.untagged(&sum))
}
