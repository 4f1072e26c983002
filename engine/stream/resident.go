package stream

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// cache keeps entry i, which is Loaded and has no handle any more, until its room is needed.
func (s *Streamer) cache(i uint32) {
	e := &s.entries[i]
	e.older, e.newer = s.newest, 0
	if s.newest != 0 {
		s.entries[s.newest-1].newer = i + 1
	}
	s.newest = i + 1
	if s.oldest == 0 {
		s.oldest = i + 1
	}
	s.stats.Cached += e.size
	if e.kind.stays {
		s.wake.Broadcast() // a starved worker may have its room
	}
}

// uncache takes entry i out of the list of what is cached.
func (s *Streamer) uncache(i uint32) {
	e := &s.entries[i]
	if e.newer != 0 {
		s.entries[e.newer-1].older = e.older
	} else {
		s.newest = e.older
	}
	if e.older != 0 {
		s.entries[e.older-1].newer = e.newer
	} else {
		s.oldest = e.newer
	}
	e.newer, e.older = 0, 0
	s.stats.Cached -= e.size
}

// evict has what is cached as entry i go.
func (s *Streamer) evict(i uint32) {
	e := &s.entries[i]
	s.stats.Evicted++
	s.evicted.add(key{e.kind, e.name}, s.now())
	s.uncache(i)
	s.discard(i)
}

// makeRoom evicts for those that wait for room, in the order of their priority, and for the
// workers whose heaps are full of what is cached. What is ticketed stays: who does not fit
// beside it waits on, and does not keep others that fit from their room.
func (s *Streamer) makeRoom() {
	for _, w := range s.workers {
		if w.pressing {
			w.pressing = false
			s.relieve(int32(w.index))
			s.wake.Broadcast() // where that was nothing it finds out
		}
	}
	if len(s.blocked.heap) == 0 {
		return
	}
	// The space that is free or cached only decreases in this loop: one pass in order finds all that fit. A sorted list is
	// a heap.
	all := s.blocked.heap
	slices.SortFunc(all, func(a, b uint32) int {
		x, y := &s.entries[a], &s.entries[b]
		return cmp.Or(cmp.Compare(x.eta, y.eta), cmp.Compare(x.seq, y.seq))
	})
	promised := int64(0) // to those that are queued by this loop
	s.blocked.heap = all[:0]
	for _, i := range all {
		e := &s.entries[i]
		if e.need > s.cfg.Resident-s.resident-promised+s.stats.Cached {
			e.passed = true
			s.blocked.heap = append(s.blocked.heap, i)
			e.pos = int32(len(s.blocked.heap) - 1)
			continue
		}
		for s.resident+promised+e.need > s.cfg.Resident && s.oldest != 0 {
			s.evict(s.oldest - 1)
		}
		promised += e.need
		e.pos = -1
		s.enqueue(i)
	}
}

// relieve evicts what is cached and has a block of that worker's heap, the oldest first, one
// of them.
func (s *Streamer) relieve(worker int32) {
	for at := s.oldest; at != 0; at = s.entries[at-1].newer {
		if e := &s.entries[at-1]; e.held.n > 0 && e.held.worker == worker {
			s.evict(at - 1)
			return
		}
	}
}

// thrashTime is how soon after its eviction a new request counts as thrash.
const thrashTime = 2 * time.Second

// evictions remembers what went lately. The names themselves would be kept alive.
type evictions struct {
	ring [256]struct {
		hash uint64
		at   time.Time
	}
	n uint64
}

var evictionSeed = maphash.MakeSeed()

func hashOf(k key) uint64 { return maphash.Comparable(evictionSeed, k) }

func (v *evictions) add(k key, at time.Time) {
	slot := &v.ring[v.n%uint64(len(v.ring))]
	slot.hash, slot.at = hashOf(k), at
	v.n++
}

// lately reports whether k went within the last two seconds, and forgets it.
func (v *evictions) lately(k key, now time.Time) bool {
	hash := hashOf(k)
	for i := range v.ring[:min(v.n, uint64(len(v.ring)))] {
		if s := &v.ring[i]; s.hash == hash && !s.at.IsZero() {
			again := now.Sub(s.at) < thrashTime
			s.at = time.Time{}
			if again {
				return true
			}
		}
	}
	return false
}
