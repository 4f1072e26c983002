package stream

import (
	"math/bits"
	"time"
)

// Stats is a snapshot of a streamer's books: counts, bytes and times, no pointers. Counts of
// what happened are since New.
//
//	Staging <= StagingPeak;  Resident <= ResidentPeak <= Budget, where that is not 0
type Stats struct {
	Queued   int // no worker has begun
	InFlight int // in the hands of workers
	Waiting  int // for room, or another attempt
	Ready    int // to be delivered
	Loaded   int // cached ones as well
	Failed   int

	Resident     int64 // bytes: reserved by workers, on the way, loaded
	ResidentPeak int64
	Cached       int64 // of Resident: without a ticket
	Budget       int64 // Config.Resident
	Wanted       int64 // Resident without Cached, and what those that wait for room are known to need

	Staging     int64 // bytes that the workers' heaps have handed out and not had back
	StagingPeak int64

	Requests   uint64 // accepted
	Hits       uint64 // of those: cached
	Deliveries uint64
	Failures   uint64 // whatever Errors was told of
	Retries    uint64 // attempts after the first
	Reloads    uint64

	CancelledQueued   uint64
	CancelledDecoding uint64 // in the middle of reading or decoding
	CancelledReady    uint64 // decoded, and not delivered
	Wasted            uint64 // bytes decoded, in whole or in part, for what was cancelled
	Evicted           uint64
	Thrash            uint64 // requested again within 2 s of the eviction

	BytesRead      uint64 // of files
	BytesDecoded   uint64
	BytesDelivered uint64
	FrameBytesMax  int64 // handed over by one Poll

	Latency  Spread // from request to delivery
	HandOver Spread // of Polls
	Lead     Lead

	// External fragmentation of the workers' heaps, where these have a Stats() memory.Stats: as it is in the worst
	// of them, and the mean over all looks, one after each asset.
	Fragmentation, FragmentationMean float64

	Workers   int
	Busy      int // workers with an asset in hand
	Abandoned int // workers given up, with what they held: see Config.Patience

	counts [stateCount]int // of assets
}

// Lead is by how much what was delivered came before it was needed, as its priority in seconds, see ETA, said last:
// negative where it came too late. What had no ETA does not count.
type Lead struct {
	Median, Worst time.Duration
	Count, Late   uint64 // assets; of these, that came too late
}

// A Spread is how a time is distributed; the percentiles are rounded up by an eighth at most.
type Spread struct {
	P50, P99, P999, Max time.Duration
}

// Stats returns a snapshot. It does not allocate.
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

// A histogram counts times in classes: below 8 µs one each, then 8 a doubling, so that a class
// is at most an eighth of its times wide. The last one is that of 19 hours and all that is longer.
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

// upper returns the time that class c does not reach.
func upper(c int) time.Duration {
	if c < 8 {
		return time.Duration(c+1) * time.Microsecond
	}
	exp := c/8 - 1
	return time.Duration(uint64(c%8+9)<<exp) * time.Microsecond
}

// at returns the time that the share of all stayed below, or the longest.
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
