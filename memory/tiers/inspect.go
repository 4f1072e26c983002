package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

// An Inspector is a view of a manager for instruments: overlays, meters, reports and tests. It changes nothing, with
// one exception: EachTag and EachUse coalesce the blocks of Large that wait because of [Config.QuickBytes]. Pages,
// RemoteFrees and TraceErr are safe for concurrent use. All other methods belong to the game goroutine. No method
// allocates. The zero Inspector must not be used.
type Inspector struct{ m *Manager }

// Inspect returns the manager's view for instruments. The Inspector stays valid after Close of the manager.
func (m *Manager) Inspect() Inspector { return Inspector{m} }

// TierOf returns the tier whose address space contains p, and true, whether or not a live block is there. If no tier
// contains p, and after Close, TierOf returns false. The blocks of workers are in the Inbox tier.
func (i Inspector) TierOf(p unsafe.Pointer) (Tier, bool) { return i.m.tierOf(p) }

// TagOf returns the tag of the live block of slab or large that starts at p. TagOf returns nil in three cases:
// [Config.Tags] is false, the block has no tag, or no such block starts at p.
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

// Span returns the start and the size in bytes of a tier's address range, committed or not. The range may be longer
// than Reserved in the tier's Stats. The range of Inbox contains the ranges of all workers. Span returns nil and 0 for
// a number that is no tier, for Inbox without workers, and after Close.
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

// Pages returns on how many bytes huge pages or prefaulting had an effect: see [page.GrantedBy]. It counts for the
// whole page source of the manager. Safe for concurrent use.
func (i Inspector) Pages() page.Granted { return page.GrantedBy(i.m.cfg.Source) }

// RemoteFrees returns the statistics of the manager's inbox. The Freers of [Manager.NewFreer] send blocks to this
// inbox, and the game goroutine frees them. Safe for concurrent use.
func (i Inspector) RemoteFrees() remote.Stats { return i.m.returned.Stats() }

// TraceErr returns the error that has stopped the recording of Config.Trace, or nil. The error wraps that of the
// io.Writer or [trace.ErrLimit], or reports that too many blocks are live. Safe for concurrent use.
func (i Inspector) TraceErr() error { return i.m.recorder.failure() }

// InLevel reports whether a level has begun and not ended. After Close the result is false.
func (i Inspector) InLevel() bool { return i.m.phase&inLevel != 0 }

// InFrame reports whether a frame has begun and not ended. After Close the result is false.
func (i Inspector) InFrame() bool { return i.m.phase&inFrame != 0 }

// History copies a tier's bytes in use at the end of the last HistoryLen frames into dst, oldest first. For the tier
// Frame, each value counts the bytes in the buffer of one frame. Before HistoryLen frames have ended, the oldest values
// are 0. For a number that is no tier all values are 0.
func (i Inspector) History(t Tier, dst *[HistoryLen]float32) {
	if t >= Count {
		*dst = [HistoryLen]float32{}
		return
	}
	r := &i.m.history[t]
	n := copy(dst[:], r.vals[r.at:])
	copy(dst[n:], r.vals[:r.at])
}

// Leaks returns the result of the last EndLevel that succeeded. Before the first EndLevel the result is zero.
func (i Inspector) Leaks() Leaks { return i.m.left }

// LevelBlocks calls yield with each live block of slab and large that was allocated since BeginLevel, until yield
// returns false. size is the block's bytes after rounding. If such a block is still live at EndLevel, EndLevel reports
// it as a leak. Outside a level LevelBlocks yields nothing. In memfast builds it yields no blocks of slab. yield must
// not use the manager.
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

// EachPool calls f with the name and the statistics of every pool that is registered when EachPool begins, in the order
// of registration. f may register and remove pools.
func (i Inspector) EachPool(f func(name string, s memory.Stats)) {
	for _, p := range i.m.pools.all {
		f(p.name, p.read())
	}
}

// EachTag calls f with the statistics of every tag, in the order of creation. The last call has the statistics of all
// untagged blocks, and an empty Name. Without [Config.Tags] f is not called.
//
// The sums of InUse, Live, Allocs, Frees and Failures over all calls are those of the tiers Slab, Large, Pools and
// Inbox together. While workers run, the row of the untagged blocks can differ by the effect of their calls. The fields
// Frame and Level add up to the bytes in use of the current frame and of the level. After a Rewind or a Manager.Free,
// their sums may be higher.
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
