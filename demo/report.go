package main

import (
	"fmt"
	"io"
	"runtime/metrics"
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
	Mem           string             `json:"mem"`    // what -mem names
	RSS           uint64             `json:"rss"`    // bytes of the process as the run ends; 0: not known
	Levels        int                `json:"levels"` // level changes
	EntitiesPeak  int                `json:"entities_peak"`
	ParticlesPeak int                `json:"particles_peak"`
	Tiers         []tiers.TierRecord `json:"tiers"`
	Go            goReport           `json:"go"`
	Loader        loaderReport       `json:"loader"`
	TickMS        game.Percentiles   `json:"tick_ms"`
	TickCPUMS     game.Percentiles   `json:"tick_cpu_ms,omitzero"` // of the game's thread, with -paced, where the system says
	Lost          game.Lost          `json:"lost"`                 // what full tiers cost the game
	Series        []row              `json:"series,omitempty"`     // what -every asks for
	Books         *books             `json:"books,omitempty"`

	snapshot tiers.Snapshot
}

type goReport struct {
	Cycles         uint64  `json:"gc_cycles"`
	CyclesInPlay   uint64  `json:"gc_cycles_in_play"`
	ObjectsPerTick float64 `json:"heap_objects_per_tick"`
	MaxPauseMS     float64 `json:"max_pause_ms"`
	MarkMS         float64 `json:"mark_cpu_ms"`      // of processors, by the runtime's estimate: dedicated and assists
	IdleMarkMS     float64 `json:"mark_idle_cpu_ms"` // of processors that had nothing else to do
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
func summarize(s *game.Session, before marking) *report {
	r := &report{
		Ticks: s.Game.Ticks, Hash: fmt.Sprintf("%016x", s.Game.Hash()), Levels: s.Levels(),
		EntitiesPeak: s.EntitiesPeak(), ParticlesPeak: s.Game.Best, TickMS: s.TickTimes(), TickCPUMS: s.TickCPU(), Lost: s.Game.Lost,
		Loader: loaded(s.Stream), Mem: s.Game.Store().String(),
	}
	s.Mem.Snapshot(&r.snapshot)
	r.Tiers = r.snapshot.Records()
	g := r.snapshot.Go
	r.Go = goReport{Cycles: g.Cycles, CyclesInPlay: g.InPlay, ObjectsPerTick: s.ObjectsPerTick(), MaxPauseMS: g.MaxPause * 1e3}
	r.RSS = r.snapshot.RSS
	now := readMarking()
	r.Go.MarkMS, r.Go.IdleMarkMS = (now.busy-before.busy)*1e3, (now.idle-before.idle)*1e3
	return r
}

// marking is what the collector's marking has cost so far, in seconds of processors. The runtime
// estimates it at the end of each collection.
type marking struct{ busy, idle float64 }

func readMarking() (m marking) {
	v := []metrics.Sample{
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
	}
	metrics.Read(v)
	of := func(i int) float64 {
		if v[i].Value.Kind() != metrics.KindFloat64 {
			return 0 // a runtime that does not know it
		}
		return v[i].Value.Float64()
	}
	return marking{of(0) + of(1), of(2)}
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
	fmt.Fprintf(w, "\nGo: %d collections, %d of them in play; %.2f heap objects a tick\n", r.Go.Cycles, r.Go.CyclesInPlay, r.Go.ObjectsPerTick)
	if hash {
		fmt.Fprintln(w, "hash", r.Hash)
	}
	return err
}
