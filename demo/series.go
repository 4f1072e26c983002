package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/memory/tiers"
)

// A row is what -every keeps of each N ticks.
type row struct {
	Tick        uint64               `json:"tick"`
	Entities    int                  `json:"entities"`
	Particles   int                  `json:"particles"`
	Tiers       [tiers.Count]rowTier `json:"tiers"` // in the order of the report's
	Collections uint64               `json:"gc_cycles"`
	Ground      rowGround            `json:"ground"`
	MeanMS      float64              `json:"tick_ms"` // of the N ticks
	MaxMS       float64              `json:"tick_ms_max"`
}

// rowTier is one tier's part of a row.
type rowTier struct {
	InUse     uint64 `json:"in_use"`
	Committed uint64 `json:"committed"`
	Failures  uint64 `json:"failures"`
}

// rowGround is the ground's part of a row: the state, and sums since the realm began.
type rowGround struct {
	Resident     int64   `json:"resident"`
	ResidentPeak int64   `json:"resident_peak"`
	SeenSeconds  float64 `json:"seen_tile_seconds"`
	SoftSeconds  float64 `json:"soft_tile_seconds"`
	Asked        uint64  `json:"asked"`
	Again        uint64  `json:"asked_again"` // within two seconds of being let go
	Cancelled    uint64  `json:"cancelled"`
	Lead         float64 `json:"lead_ms_median"`
	LeadWorst    float64 `json:"lead_ms_worst"`
	FrameBytes   int64   `json:"frame_bytes_max"`
	HandOver     float64 `json:"hand_over_ms_p99_9"`
	Frayed       float64 `json:"worker_fragmentation"`
	Wasted       uint64  `json:"bytes_wasted"`
}

func groundRow(g *session.Session) rowGround {
	p, st := g.Ground.Stats(), g.Stream.Stats()
	now, peak, _ := g.Ground.Resident()
	return rowGround{
		Resident: now, ResidentPeak: peak, SeenSeconds: p.SeenSeconds, SoftSeconds: p.SoftSeconds,
		Asked: p.Asked, Again: p.Again, Cancelled: p.Cancelled, Lead: float64(p.LeadMedian) * 1e3, LeadWorst: float64(p.LeadWorst) * 1e3,
		FrameBytes: st.FrameBytesMax, HandOver: ms(st.HandOver.P999), Frayed: st.Fragmentation, Wasted: st.Wasted,
	}
}

// series takes a row each every ticks. Times are those of whole frames of the session, a realm's loading
// left out.
type series struct {
	every uint64
	rows  []row
	snap  tiers.Snapshot
	sum   time.Duration
	max   time.Duration
	n     int64
	next  uint64
}

// newSeries allocates the rows of so many ticks, so that none is allocated during play; 0 means a game without an
// end.
func newSeries(every, ticks uint64) *series {
	if every == 0 {
		return nil
	}
	const most = 1 << 14 // 4 MiB; further rows are allocated as they come
	n := most
	if ticks > 0 {
		n = int(min(ticks/every+1, most))
	}
	return &series{every: every, rows: make([]row, 0, n), next: every}
}

// add counts a frame of a session in, and takes a row when it is time. A nil series does nothing.
func (s *series) add(g *session.Session, took time.Duration) {
	if s == nil || !g.Playing() {
		return
	}
	s.sum, s.max, s.n = s.sum+took, max(s.max, took), s.n+1
	if g.Game.Ticks < s.next {
		return
	}
	s.next = g.Game.Ticks - g.Game.Ticks%s.every + s.every
	g.Mem.Snapshot(&s.snap)
	r := row{
		Tick: g.Game.Ticks, Entities: g.Game.Entities(), Particles: g.Game.Particles().Len(), Collections: s.snap.Go.Cycles,
		MeanMS: s.sum.Seconds() * 1e3 / float64(s.n), MaxMS: s.max.Seconds() * 1e3,
	}
	r.Ground = groundRow(g)
	for t := range r.Tiers {
		x := &s.snap.Tiers[t]
		r.Tiers[t] = rowTier{x.InUse, x.Committed, x.Failures}
	}
	s.rows = append(s.rows, r)
	s.sum, s.max, s.n = 0, 0, 0
}

// result returns the rows, or nil if none were requested.
func (s *series) result() []row {
	if s == nil {
		return nil
	}
	return s.rows
}

// writeSeries writes a line for each row, three columns for each tier.
func writeSeries(w io.Writer, rows []row) error {
	out := csv.NewWriter(w)
	head := []string{"tick", "entities", "particles", "gc_cycles", "tick_ms", "tick_ms_max"}
	for t := range tiers.Tier(tiers.Count) {
		head = append(head, t.String()+"_in_use", t.String()+"_committed", t.String()+"_failures")
	}
	head = append(head, "ground_resident", "ground_resident_peak", "seen_tile_seconds", "soft_tile_seconds", "asked", "asked_again", "cancelled",
		"lead_ms_median", "lead_ms_worst", "frame_bytes_max", "hand_over_ms_p99_9", "worker_fragmentation", "bytes_wasted")
	out.Write(head) // Error reports it
	for i := range rows {
		r := &rows[i]
		line := []string{
			strconv.FormatUint(r.Tick, 10), strconv.Itoa(r.Entities), strconv.Itoa(r.Particles), strconv.FormatUint(r.Collections, 10),
			strconv.FormatFloat(r.MeanMS, 'f', 4, 64), strconv.FormatFloat(r.MaxMS, 'f', 4, 64),
		}
		for _, t := range r.Tiers {
			line = append(line, strconv.FormatUint(t.InUse, 10), strconv.FormatUint(t.Committed, 10), strconv.FormatUint(t.Failures, 10))
		}
		g := &r.Ground
		line = append(line, fmt.Sprint(g.Resident), fmt.Sprint(g.ResidentPeak), fmt.Sprintf("%.3f", g.SeenSeconds), fmt.Sprintf("%.3f", g.SoftSeconds),
			fmt.Sprint(g.Asked), fmt.Sprint(g.Again), fmt.Sprint(g.Cancelled), fmt.Sprintf("%.1f", g.Lead), fmt.Sprintf("%.1f", g.LeadWorst),
			fmt.Sprint(g.FrameBytes), fmt.Sprintf("%.4f", g.HandOver), fmt.Sprintf("%.4f", g.Frayed), fmt.Sprint(g.Wasted))
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}
