package meter

import "github.com/strata-go/strata/memory"

// MostPools is the largest number of pools that a Meter watches. Pools that are registered later are not watched
// until others are removed.
const MostPools = 256

// poolBooks has the data of the row of a pool.
type poolBooks struct {
	series    series
	was, next books // at the last Frame, and at this one
	committed uint64
	peak      uint64
	sums      [seconds]sum
}

// Pools returns the rows of the first MostPools pools of the manager, in order of registration. The slice belongs to
// the meter, must not be changed and is valid until the next Frame. The rows of the tier Pools and of the pool's tag
// include these figures. Churn and Budget are 0. Pools are identified by name. If several pools have one name and one
// of them is removed, the change of the next pool may be wrong for one frame.
func (r *Meter) Pools() []Row { return r.pools }

// PoolCurve is [Meter.Curve] for pool i of [Meter.Pools]. Slots from before the pool was registered are 0.
func (r *Meter) PoolCurve(i int, dst *[SlotCount]float32) int {
	r.notes[i].series.curve(dst)
	return r.knownSlots()
}

// readPools reads the statistics of the pools, before cross ends slots.
func (r *Meter) readPools() {
	r.poolAt = 0
	r.m.Inspect().EachPool(r.visit)
	if n := min(r.poolAt, MostPools); n < len(r.pools) {
		r.dropPools(n, len(r.pools))
	}
}

// notePool reads the statistics of the next pool. If its counts have decreased, it is another pool of that name.
func (r *Meter) notePool(name string, s memory.Stats) {
	i := r.poolAt
	if r.poolAt++; i >= MostPools {
		return
	}
	now := books{s.Allocs, s.Frees, s.Failures, s.InUse, s.Live}
	if i >= len(r.pools) || r.pools[i].Name != name {
		r.placePool(i, name, now)
	}
	k := &r.notes[i]
	if r.again || now.allocs < k.was.allocs || now.frees < k.was.frees || now.failures < k.was.failures {
		k.was = now
		k.series.floor.restart()
	}
	k.next, k.committed, k.peak = now, s.Committed, s.Peak
}

// countPools adds up what this frame did to the pools.
func (r *Meter) countPools() {
	for i := range r.notes {
		k := &r.notes[i]
		part := &k.sums[r.part%seconds]
		allocs := k.next.allocs - k.was.allocs
		part.allocs, part.most = part.allocs+allocs, max(part.most, allocs)
		part.frees, part.failures = part.frees+k.next.frees-k.was.frees, part.failures+k.next.failures-k.was.failures
		k.was = k.next
		k.series.set(float64(k.was.inUse), r.when())
	}
}

// placePool makes pool i the one of that name. If a later one has the name, the pools between have been removed.
// Otherwise it is new and has allocated nothing yet.
func (r *Meter) placePool(i int, name string, now books) {
	for j := i + 1; j < len(r.pools); j++ {
		if r.pools[j].Name == name {
			r.dropPools(i, j)
			return
		}
	}
	r.pools = append(r.pools, Row{})
	r.notes = append(r.notes, poolBooks{})
	copy(r.pools[i+1:], r.pools[i:])
	copy(r.notes[i+1:], r.notes[i:])
	r.pools[i] = Row{Name: name, Kind: PoolRow}
	r.notes[i] = poolBooks{was: now, series: newSeries()}
	r.notes[i].series.slot = r.series[0].slot
	r.forgetPools()
}

// dropPools removes the rows from i to j.
func (r *Meter) dropPools(i, j int) {
	r.pools = append(r.pools[:i], r.pools[j:]...)
	r.notes = append(r.notes[:i], r.notes[j:]...)
	r.forgetPools()
}

// forgetPools removes the verdict's pointer to a row that may have moved.
func (r *Meter) forgetPools() { r.verdict.Pool = nil }

// settlePools updates the figures that change four times a second.
func (r *Meter) settlePools(span float64) {
	last := r.lastIndex()
	for i := range r.pools {
		w, k := &r.pools[i], &r.notes[i]
		w.InUse, w.Committed, w.Peak, w.Live, w.Refused = k.was.inUse, k.committed, k.peak, k.was.live, k.was.failures
		w.Growth = k.series.floor.growth()
		w.Allocs, w.Frees = 0, 0
		if s := &k.sums[last]; span > 0 {
			w.Allocs, w.Frees = float64(s.allocs)/span, float64(s.frees)/span
		}
		w.Most, w.Failures = 0, 0
		for j := range k.sums {
			w.Most = max(w.Most, k.sums[j].most)
			w.Failures += k.sums[j].failures
		}
	}
}
