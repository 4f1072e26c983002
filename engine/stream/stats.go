package stream

import (
	"math/bits"
	"time"
)

// Stats are the statistics of a streamer: counts, bytes and times, without pointers. Counts of events
// are since New.
//
//	Staging <= StagingPeak;  Resident <= ResidentPeak <= Budget, where that is not 0
type Stats struct {
	Queued   int // no worker has begun
	InFlight int // workers read or decode them
	Waiting  int // for space, or for another attempt
	Ready    int // decoded and not delivered
	Loaded   int // cached ones included
	Failed   int

	Resident     int64 // bytes that count against Config.Resident: reserved by workers, in flight, loaded
	ResidentPeak int64 // high-water mark of Resident
	Cached       int64 // the share of Resident without a handle
	Budget       int64 // Config.Resident
	Wanted       int64 // Resident without Cached, and the known needs of assets that wait for space

	Staging     int64 // bytes of the workers' heaps that are allocated
	StagingPeak int64 // high-water mark of Staging

	Requests   uint64 // accepted requests
	Hits       uint64 // of those, for cached assets
	Deliveries uint64 // assets that were delivered
	Failures   uint64 // errors that were logged, see Streamer.Errors
	Retries    uint64 // attempts after the first
	Reloads    uint64 // changed files that were loaded again

	CancelledQueued   uint64 // assets that were cancelled before a worker began
	CancelledDecoding uint64 // during reading or decoding
	CancelledReady    uint64 // decoded and not delivered
	Wasted            uint64 // decoded bytes, also partly decoded, of cancelled assets
	Evicted           uint64 // cached assets that were evicted
	Thrash            uint64 // requests within 2 s of the asset's eviction

	BytesRead      uint64 // of files
	BytesDecoded   uint64
	BytesDelivered uint64
	FrameBytesMax  int64 // the most decoded bytes that one Poll delivered

	Latency  Spread // time from request to delivery
	HandOver Spread // time of Polls
	Lead     Lead

	// External fragmentation of the workers' heaps, from 0 to 1, if these have a method Stats() memory.Stats. It is
	// measured after each asset: the newest value of the worst heap, and the mean of all measurements.
	Fragmentation, FragmentationMean float64

	Workers   int // Config.Workers
	Busy      int // workers with an asset
	Abandoned int // workers that were abandoned, see Config.Patience

	counts [stateCount]int // of assets
}

// Lead is the time between the delivery of an asset and the time at which it was needed by its last priority, see ETA.
// It is negative if the asset came too late. Assets without an ETA do not count.
type Lead struct {
	Median, Worst time.Duration
	Count, Late   uint64 // assets that were measured; of these, those that came too late
}

// A Spread has percentiles of a time. They are rounded up by at most an eighth.
type Spread struct {
	P50, P99, P999, Max time.Duration
}

// Stats returns the statistics. It does not allocate. Safe for concurrent use.
func (s *Streamer) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.stats
	c := &v.counts
	v.Queued, v.InFlight, v.Waiting, v.Loaded, v.Failed = c[Queued], c[Decoding], c[Waiting], c[Loaded], c[Failed]
	v.Ready = c[Ready] + c[delivering]
	v.Resident, v.Budget = s.resident, s.cfg.Resident
	v.Wanted = v.Resident - v.Cached
	for _, i := range s.room.heap {
		v.Wanted += s.entries[i].need
	}
	v.Latency, v.HandOver = s.latency.spread(), s.handing.spread()
	v.Lead = s.leads.lead()
	for _, w := range s.workers {
		v.Fragmentation = max(v.Fragmentation, w.frayed)
	}
	v.FragmentationMean = s.frays / float64(max(s.surveys, 1))
	v.Workers, v.Busy = s.cfg.Workers, s.busy
	return v
}

// A histogram counts times in classes: one for each microsecond below 8, then 8 for each doubling. A
// class is at most an eighth of its times wide. The last one has 19 hours and all longer times.
type histogram struct {
	classes [8 * 34]uint64
	n       uint64
	max     time.Duration
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.classes[classOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

func classOf(d time.Duration) int {
	us := uint64(d / time.Microsecond)
	if us < 8 {
		return int(us)
	}
	exp := bits.Len64(us) - 4 // us>>exp is 8 to 15
	return min(8*exp+int(us>>exp), len(histogram{}.classes)-1)
}

// upper returns the exclusive upper bound of class c.
func upper(c int) time.Duration {
	if c < 8 {
		return time.Duration(c+1) * time.Microsecond
	}
	exp := c/8 - 1
	return time.Duration(uint64(c%8+9)<<exp) * time.Microsecond
}

// at returns an upper bound of the given share of all times.
func (h *histogram) at(share float64) time.Duration {
	want := uint64(share*float64(h.n)) + 1
	for c := range h.classes {
		if n := h.classes[c]; n >= want {
			return min(upper(c), h.max)
		} else {
			want -= n
		}
	}
	return h.max
}

func (h *histogram) spread() Spread {
	return Spread{h.at(0.5), h.at(0.99), h.at(0.999), h.max}
}

// leads are times that may be negative.
type leads struct{ early, late histogram }

func (l *leads) add(d time.Duration) {
	if d < 0 {
		l.late.add(-d)
		return
	}
	l.early.add(d)
}

func (l *leads) lead() Lead {
	n := l.early.n + l.late.n
	v := Lead{Count: n, Late: l.late.n}
	if n == 0 {
		return v
	}
	if mid := n / 2; mid < l.late.n { // from the latest on
		v.Median = -l.late.at(float64(l.late.n-1-mid) / float64(l.late.n))
	} else {
		v.Median = l.early.at(float64(mid-l.late.n) / float64(l.early.n))
	}
	if v.Worst = -l.late.max; l.late.n == 0 {
		v.Worst = l.early.at(0)
	}
	return v
}
