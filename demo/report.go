package main

import (
	"fmt"
	"io"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A report is what -stats writes.
type report struct {
	Ticks         uint64             `json:"ticks"`
	Hash          string             `json:"hash"`
	Levels        int                `json:"levels"` // level changes
	EntitiesPeak  int                `json:"entities_peak"`
	ParticlesPeak int                `json:"particles_peak"`
	Tiers         []tiers.TierRecord `json:"tiers"`
	Go            goReport           `json:"go"`
	Loader        loaderReport       `json:"loader"`
	TickMS        game.Percentiles   `json:"tick_ms"`
	Lost          game.Lost          `json:"lost"`             // what full tiers cost the game
	Traffic       trafficReport      `json:"traffic"`          // what the tiers carried
	Series        []row              `json:"series,omitempty"` // what -every asks for
	Books         *books             `json:"books,omitempty"`

	snapshot tiers.Snapshot
}

type goReport struct {
	Cycles         uint64  `json:"gc_cycles"`
	CyclesInPlay   uint64  `json:"gc_cycles_in_play"`
	ObjectsPerTick float64 `json:"heap_objects_per_tick"`
	MaxPauseMS     float64 `json:"max_pause_ms"`
}

// trafficReport is what the tiers carried: rates are those of the whole run, a second of play.
type trafficReport struct {
	StaticBytes      uint64  `json:"static_bytes"` // of the frame's passes
	StaticSideBySide uint64  `json:"static_bytes_side_by_side"`
	StaticSaves      float64 `json:"static_saves"` // share of that
	FrameBytesMax    uint64  `json:"frame_bytes_max"`
	SlabPerSecond    float64 `json:"slab_per_second"`
	SlabLive         uint64  `json:"slab_live"`
	SlabClasses      int     `json:"slab_classes"`
	LargePerSecond   float64 `json:"large_per_second"`
	InboxPerSecond   float64 `json:"inbox_per_second"`
}

func traffic(s *game.Session) trafficReport {
	now, none := s.Traffic(), game.Traffic{}
	return trafficReport{
		StaticBytes: now.Passes, StaticSideBySide: now.SideBySide, StaticSaves: now.Saves(), FrameBytesMax: now.FrameBytes,
		SlabPerSecond: now.PerSecond(tiers.Slab, &none), SlabLive: now.SlabLive, SlabClasses: now.SlabClasses,
		LargePerSecond: now.PerSecond(tiers.Large, &none), InboxPerSecond: now.PerSecond(tiers.Inbox, &none),
	}
}

type loaderReport struct {
	Requests      uint64       `json:"requests"`
	Uploads       uint64       `json:"uploads"`
	Failures      uint64       `json:"failures"`
	Cancels       uint64       `json:"cancels"`
	Wasted        uint64       `json:"bytes_wasted"`
	BytesRead     uint64       `json:"bytes_read"`
	BytesDecoded  uint64       `json:"bytes_decoded"`
	BytesUploaded uint64       `json:"bytes_uploaded"`
	FrameBytesMax int64        `json:"frame_bytes_max"`
	StagingPeak   uint64       `json:"staging_peak"`
	ResidentPeak  uint64       `json:"resident_peak"`
	ReadyMS       spreadReport `json:"ready_ms"`
	HandOverMS    spreadReport `json:"hand_over_ms"`
	Errors        []string     `json:"errors"`
}

type spreadReport struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// books are what -books asks for.
type books struct {
	Resident resident.Report `json:"resident"`
	Images   imagesReport    `json:"images"`
}

// imagesReport is what the graphics library has, which is beside what is resident or within it.
type imagesReport struct {
	Library string `json:"library"`
	Bytes   int64  `json:"bytes"`
}

// keepBooks takes the books of the process.
func keepBooks(s *game.Session) (*books, error) {
	b := new(books)
	if err := resident.Read(s.Mem, &b.Resident); err != nil {
		return nil, fmt.Errorf("-books: %w", err)
	}
	b.Images.Library, b.Images.Bytes = render.Images()
	return b, nil
}

// print writes the table for a person.
func (b *books) print(w io.Writer) error {
	fmt.Fprintln(w)
	err := b.Resident.WriteText(w)
	if b.Images.Bytes > 0 {
		fmt.Fprintf(w, "beside it: images of %s, %s\n", tiers.Bytes(uint64(b.Images.Bytes)), b.Images.Library)
	}
	return err
}

// summarize reads everything off a session that is about to close.
func summarize(s *game.Session) *report {
	r := &report{
		Ticks: s.Game.Ticks, Hash: fmt.Sprintf("%016x", s.Game.Hash()), Levels: s.Levels(),
		EntitiesPeak: s.EntitiesPeak(), ParticlesPeak: s.Game.Best, TickMS: s.TickTimes(), Lost: s.Game.Lost,
		Loader: loaded(s.Stream), Traffic: traffic(s),
	}
	s.Mem.Snapshot(&r.snapshot)
	r.Tiers = r.snapshot.Records()
	g := r.snapshot.Go
	r.Go = goReport{Cycles: g.Cycles, CyclesInPlay: g.InPlay, ObjectsPerTick: s.ObjectsPerTick(), MaxPauseMS: g.MaxPause * 1e3}
	return r
}

func loaded(s *stream.Streamer) loaderReport {
	st := s.Stats()
	r := loaderReport{
		Requests: st.Requests, Uploads: st.Deliveries, Failures: st.Failures,
		Cancels: st.CancelledQueued + st.CancelledDecoding + st.CancelledReady, Wasted: st.Wasted,
		BytesRead: st.BytesRead, BytesDecoded: st.BytesDecoded, BytesUploaded: st.BytesDelivered,
		FrameBytesMax: st.FrameBytesMax, StagingPeak: uint64(st.StagingPeak), ResidentPeak: uint64(st.ResidentPeak),
		ReadyMS: spread(st.Latency), HandOverMS: spread(st.HandOver), Errors: []string{},
	}
	for _, err := range s.Errors() {
		r.Errors = append(r.Errors, err.Error())
	}
	return r
}

// spread returns a distribution in milliseconds.
func spread(s stream.Spread) spreadReport {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return spreadReport{ms(s.P50), ms(s.P99), ms(s.P999), ms(s.Max)}
}

// print writes the table for a person.
func (r *report) print(w io.Writer, hash bool) error {
	fmt.Fprintf(w, "%d ticks, %d level changes, at most %d entities and %d particles, a tick took %.3f ms (99 %%: %.3f, longest %.3f)\n\n",
		r.Ticks, r.Levels, r.EntitiesPeak, r.ParticlesPeak, r.TickMS.P50, r.TickMS.P99, r.TickMS.Max)
	err := r.snapshot.WriteText(w)
	t := &r.Traffic
	fmt.Fprintf(w, "\ntraffic: the passes take %s, side by side %s (%.0f %% saved); %s in a frame; a second %.0f blocks of slab (%d live in %d classes), %.0f of large, %.0f home to workers\n",
		tiers.Bytes(t.StaticBytes), tiers.Bytes(t.StaticSideBySide), 100*t.StaticSaves, tiers.Bytes(t.FrameBytesMax), t.SlabPerSecond, t.SlabLive, t.SlabClasses, t.LargePerSecond, t.InboxPerSecond)
	fmt.Fprintf(w, "Go: %d collections, %d of them in play; %.2f heap objects a tick\n", r.Go.Cycles, r.Go.CyclesInPlay, r.Go.ObjectsPerTick)
	if hash {
		fmt.Fprintln(w, "hash", r.Hash)
	}
	return err
}
