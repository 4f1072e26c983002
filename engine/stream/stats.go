package stream

import (
	"time"

	"github.com/strata-go/strata/memory/histogram"
)

// Stats are the statistics of a streamer: counts, bytes and times, without pointers. Counts of events are since New. A
// reload in progress counts as a further asset.
//
//	Staging <= StagingPeak;  Resident <= ResidentPeak; ResidentPeak <= Budget if Budget is not 0
type Stats struct {
	Queued       int   // assets that no worker has begun
	InFlight     int   // assets that workers read or decode
	Waiting      int   // assets that wait for space, or for another attempt
	Ready        int   // assets that are decoded and not delivered
	Loaded       int   // loaded assets, including cached assets
	Failed       int   // assets that have failed and will not be retried automatically
	Resident     int64 // bytes of assets that are being decoded, wait for delivery or are loaded; see Config.Resident
	ResidentPeak int64 // high-water mark of Resident
	Cached       int64 // the bytes of Resident that belong to cached assets
	Budget       int64 // Config.Resident
	Wanted       int64 // Resident without Cached, plus the known needs of assets that wait for space

	Staging     int64 // bytes of the workers' heaps that are allocated
	StagingPeak int64 // high-water mark of Staging

	Requests   uint64 // accepted requests
	Hits       uint64 // accepted requests for cached assets
	Deliveries uint64 // assets and reloads that were delivered
	Failures   uint64 // errors that were logged, see Streamer.Errors
	Retries    uint64 // automatic retries that were planned, and calls of Handle.Retry that had an effect
	Reloads    uint64 // reloads of loaded assets that were begun

	CancelledQueued   uint64 // assets that were cancelled while they were queued or waiting
	CancelledDecoding uint64 // assets that were cancelled during reading or decoding
	CancelledReady    uint64 // assets that were cancelled between decoding and the end of delivery
	Wasted            uint64 // bytes of the blocks of cancelled assets, except of those that Deliver has cancelled
	Evicted           uint64 // cached assets that were evicted
	Thrash            uint64 // requests for one of the last 256 evicted assets, less than 2 s after its eviction

	BytesRead      uint64 // bytes that were read from files
	BytesDecoded   uint64 // bytes of the blocks of all assets that were decoded to their end
	BytesDelivered uint64 // bytes of the blocks of all assets that were delivered
	FrameBytesMax  int64  // the most decoded bytes that one Poll tried to deliver

	Latency  histogram.Spread // time from the first request of an asset to its delivery, without reloads
	HandOver histogram.Spread // duration of each Poll
	Lead     Lead

	// External fragmentation of the workers' heaps, from 0 to 1; 0 if the heaps have no method Stats()
	// memory.Stats. A worker measures its heap after each asset. Fragmentation is the largest of the newest values
	// of all heaps. FragmentationMean is the mean of all measurements.
	Fragmentation, FragmentationMean float64

	Workers   int // Config.Workers
	Busy      int // workers with an asset
	Abandoned int // workers that were abandoned, see Config.Patience

	counts [stateCount]int // of assets
}

// Lead describes how early assets were delivered. The lead of an asset is the time from its delivery to the moment at
// which it was needed. This moment follows from the priority of the asset at the newest Request, Handle.Priority or
// Handle.Close for it. A priority of 0 or less does not change a moment that has passed. If the asset was delivered too
// late, the lead is negative. Reloads, and assets whose priority is the constant [Last], do not count.
type Lead struct {
	Median, Worst time.Duration // Worst is the smallest lead
	Count, Late   uint64        // number of measured assets; number of measured assets that were delivered too late
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
	for _, i := range s.blocked.heap {
		v.Wanted += s.entries[i].need
	}
	v.Latency, v.HandOver = s.latency.Spread(), s.handing.Spread()
	v.Lead = s.leads.lead()
	for _, w := range s.workers {
		v.Fragmentation = max(v.Fragmentation, w.frayed)
	}
	v.FragmentationMean = s.frays / float64(max(s.surveys, 1))
	v.Workers, v.Busy = s.cfg.Workers, s.busy
	return v
}

// leads are times that may be negative.
type leads struct{ early, late histogram.Durations }

func (l *leads) add(d time.Duration) {
	if d < 0 {
		l.late.Add(-d)
		return
	}
	l.early.Add(d)
}

func (l *leads) lead() Lead {
	late := l.late.Count()
	v := Lead{Count: l.early.Count() + late, Late: late}
	if mid := v.Count / 2; mid < late { // from the latest on
		v.Median = -l.late.Nth(late - 1 - mid)
	} else {
		v.Median = l.early.Nth(mid - late)
	}
	if v.Worst = -l.late.Max(); late == 0 {
		v.Worst = l.early.Nth(0)
	}
	return v
}
