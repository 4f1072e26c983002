package main

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/tiers"
)

// A row is what -every keeps of each N ticks.
type row struct {
	Tick        uint64               `json:"tick"`
	Entities    int                  `json:"entities"`
	Particles   int                  `json:"particles"`
	Tiers       [tiers.Count]rowTier `json:"tiers"` // in the order of the report's
	Collections uint64               `json:"gc_cycles"`
	MeanMS      float64              `json:"tick_ms"` // of the N ticks
	MaxMS       float64              `json:"tick_ms_max"`
}

// rowTier is one tier's part of a row.
type rowTier struct {
	InUse     uint64 `json:"in_use"`
	Committed uint64 `json:"committed"`
	Failures  uint64 `json:"failures"`
}

// series takes a row each every ticks. Times are those of whole frames of the session, a level's loading
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

// newSeries makes room for the rows of so many ticks, so that none is made in play; 0 is a game without
// an end.
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
func (s *series) add(g *game.Session, took time.Duration) {
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
	for t := range r.Tiers {
		x := &s.snap.Tiers[t]
		r.Tiers[t] = rowTier{x.InUse, x.Committed, x.Failures}
	}
	s.rows = append(s.rows, r)
	s.sum, s.max, s.n = 0, 0, 0
}

// result returns the rows; nil where none were asked for.
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
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}
