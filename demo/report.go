package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/heapsites"
	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A report is what -stats writes.
type report struct {
	Ticks         uint64              `json:"ticks"`
	Hash          string              `json:"hash"`
	Mem           string              `json:"mem"`     // what -mem names
	RSS           uint64              `json:"rss"`     // bytes of the process as the run ends; 0: not known
	Levels        int                 `json:"levels"`  // realms that have ended
	Cleared       int                 `json:"cleared"` // of these, those that the player has left through the portal
	EntitiesPeak  int                 `json:"entities_peak"`
	ParticlesPeak int                 `json:"particles_peak"`
	Tiers         []tiers.TierRecord  `json:"tiers"`
	Go            goReport            `json:"go"`
	Stream        streamReport        `json:"stream"`
	TickMS        session.Percentiles `json:"tick_ms"`
	TickCPUMS     session.Percentiles `json:"tick_cpu_ms,omitzero"`  // of the game's thread, with -paced, where the system says
	Bound         bool                `json:"thread_bound,omitzero"` // the game's thread to a processor, in a run of -compare
	Lost          game.Lost           `json:"lost"`                  // what full tiers cost the game
	Traffic       trafficReport       `json:"traffic"`               // what the tiers carried
	Series        []row               `json:"series,omitempty"`      // what -every asks for
	Rewind        *rewindReport       `json:"rewind,omitempty"`      // what -rewind keeps
	Sound         *soundReport        `json:"sound,omitempty"`       // what -wav hears
	Books         *books              `json:"books,omitempty"`

	snapshot tiers.Snapshot
}

// rewindReport is what was kept of the last ticks.
type rewindReport struct {
	States  int     `json:"states"`
	Bytes   int     `json:"bytes"`   // of all states
	Seconds float64 `json:"seconds"` // that they cover
	Share   float64 `json:"share"`   // of the ticks' time that keeping took
	EachMS  float64 `json:"each_ms"` // a state
	WaitMS  float64 `json:"wait_ms"` // for the worker of the fields, in all: ticks wait less for it
	Off     string  `json:"off,omitempty"`
}

func rewound(s *session.Session) *rewindReport {
	if s.Past == nil {
		return nil
	}
	f := s.Past.Figures()
	return &rewindReport{
		States: f.States, Bytes: f.Used, Seconds: float64(f.Span) / engine.TickRate, Share: f.Keep.Seconds() / max(f.Ticks.Seconds(), 1e-9),
		EachMS: ms(f.Keep) / float64(max(f.Saves, 1)), WaitMS: ms(f.Wait), Off: s.Past.Off(),
	}
}

func (r *rewindReport) print(w io.Writer) {
	fmt.Fprintf(w, "rewind: %d states in %s cover %.1f s; keeping them took %.1f %% of the ticks, %.2f ms each %s\n",
		r.States, memory.FormatBytes(uint64(r.Bytes)), r.Seconds, 100*r.Share, r.EachMS, r.Off)
}

type goReport struct {
	Cycles         uint64     `json:"gc_cycles"`
	CyclesInPlay   uint64     `json:"gc_cycles_in_play"`
	ObjectsPerTick float64    `json:"heap_objects_per_tick"`
	Own            *ownReport `json:"own,omitempty"`
	MaxPauseMS     float64    `json:"max_pause_ms"`
	MarkMS         float64    `json:"mark_cpu_ms"`      // of processors, by the runtime's estimate: dedicated and assists
	IdleMarkMS     float64    `json:"mark_idle_cpu_ms"` // of processors that had nothing else to do
}

// ownReport is what functions of this module have allocated on the Go heap, with GODEBUG=memprofilerate=1, in the first
// 3,600 ticks of the last realm, and since then.
type ownReport struct {
	WarmUp ownCount `json:"warm_up"`
	Steady ownCount `json:"steady"` // of no ticks in a shorter run
}

type ownCount struct {
	PerTick float64           `json:"objects_per_tick"`
	Ticks   uint64            `json:"ticks"`
	Sites   []session.OwnSite `json:"sites"`
}

// streamReport is how the streaming of files goes: of all of them, and of the ground.
type streamReport struct {
	Requests          uint64              `json:"requests"`
	Uploads           uint64              `json:"uploads"`
	Failures          uint64              `json:"failures"`
	Cancels           uint64              `json:"cancels"`
	CancelledQueued   uint64              `json:"cancelled_queued"`
	CancelledDecoding uint64              `json:"cancelled_decoding"` // in mid decode
	CancelledReady    uint64              `json:"cancelled_ready"`
	Wasted            uint64              `json:"bytes_wasted"`
	BytesRead         uint64              `json:"bytes_read"`
	BytesDecoded      uint64              `json:"bytes_decoded"`
	BytesUploaded     uint64              `json:"bytes_uploaded"`
	FrameBytesMax     int64               `json:"frame_bytes_max"`
	FrameBudget       int64               `json:"frame_bytes_budget"`
	StagingPeak       uint64              `json:"staging_peak"`
	ResidentPeak      uint64              `json:"resident_peak"`
	ReadyMS           session.Percentiles `json:"ready_ms"`
	HandOverMS        session.Percentiles `json:"hand_over_ms"`
	LeadMS            leadReport          `json:"lead_ms"` // of what was asked for with a time
	Fragmentation     float64             `json:"worker_fragmentation"`
	FragmentationMean float64             `json:"worker_fragmentation_mean"`
	Ground            groundReport        `json:"ground"`
	Errors            []string            `json:"errors"`
}

// groundReport is how the ground of the last realm was streamed; zero without a view.
type groundReport struct {
	Resident       int64      `json:"resident"`
	ResidentPeak   int64      `json:"resident_peak"`
	ResidentBudget int64      `json:"resident_budget"`
	Asked          uint64     `json:"asked"`
	Ready          uint64     `json:"ready"`
	Cancelled      uint64     `json:"cancelled"`
	SeenSeconds    float64    `json:"seen_tile_seconds"`
	SoftSeconds    float64    `json:"soft_tile_seconds"`
	Soft           float64    `json:"soft_share"`
	Thrash         float64    `json:"thrash_share"` // asked for again within two seconds of being let go
	LeadMS         leadReport `json:"lead_ms"`      // time until seen less time until there
}

type leadReport struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
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

func traffic(s *session.Session) trafficReport {
	now, none := s.Traffic(), session.Traffic{}
	return trafficReport{
		StaticBytes: now.Passes, StaticSideBySide: now.SideBySide, StaticSaves: now.Saves(), FrameBytesMax: now.FrameBytes,
		SlabPerSecond: now.PerSecond(tiers.Slab, &none), SlabLive: now.SlabLive, SlabClasses: now.SlabClasses,
		LargePerSecond: now.PerSecond(tiers.Large, &none), InboxPerSecond: now.PerSecond(tiers.Inbox, &none),
	}
}

// The output of -books: the owners of the resident memory.
type books struct {
	Resident resident.Report  `json:"resident"`
	Images   imagesReport     `json:"images"`
	GoHeap   []heapsites.Site `json:"go_heap"` // functions that keep or allocate the most, estimated from samples
}

// goHeapRows is how many functions -books lists.
const goHeapRows = 10

// imagesReport is the memory of the graphics library, which is in addition to the resident memory or a part of it.
type imagesReport struct {
	Library string `json:"library"`
	Bytes   int64  `json:"bytes"`
}

// keepBooks reads the owners of the process's resident memory.
func keepBooks(s *session.Session) (*books, error) {
	b := new(books)
	if err := resident.Read(s.Mem, &b.Resident); err != nil {
		return nil, fmt.Errorf("-books: %w", err)
	}
	b.Images.Library, b.Images.Bytes = render.Images()
	b.GoHeap = goHeap()
	return b, nil
}

// goHeap returns the functions that keep or allocate the most of the Go heap now.
func goHeap() []heapsites.Site {
	runtime.GC()
	runtime.GC()
	var p heapsites.Profile
	p.Read()
	return p.Sites[:min(goHeapRows, len(p.Sites))]
}

// print writes the table for a person.
func (b *books) print(w io.Writer) error {
	fmt.Fprintln(w)
	err := b.Resident.WriteText(w)
	if b.Images.Bytes > 0 {
		fmt.Fprintf(w, "beside it: images of %s, %s\n", memory.FormatBytes(uint64(b.Images.Bytes)), b.Images.Library)
	}
	fmt.Fprintf(w, "\n%-60s %12s %12s\n", "Go heap, by function (estimated)", "live", "allocated")
	for _, s := range b.GoHeap {
		fmt.Fprintf(w, "%-60s %12s %12s\n", s.Package[strings.LastIndexByte(s.Package, '/')+1:]+"."+s.Function, memory.FormatBytes(s.Live), memory.FormatBytes(s.Bytes))
	}
	return err
}

// summarize reads everything off a session that is about to close.
func summarize(s *session.Session, before marking) *report {
	own := ownAllocs(s) // before the report allocates
	r := &report{
		Ticks: s.Game.Ticks, Hash: fmt.Sprintf("%016x", s.Game.Hash()), Levels: s.RealmsEnded(), Cleared: s.Game.Cleared,
		EntitiesPeak: s.EntitiesPeak(), ParticlesPeak: s.Game.Best, TickMS: s.TickTimes(), TickCPUMS: s.TickCPU(), Lost: s.Game.Lost,
		Stream: streamed(s), Mem: s.Store().String(), Traffic: traffic(s), Rewind: rewound(s),
	}
	s.Mem.Snapshot(&r.snapshot)
	r.Tiers = r.snapshot.Records()
	g := r.snapshot.Go
	r.Go = goReport{Cycles: g.Cycles, CyclesInPlay: g.InPlay, ObjectsPerTick: s.ObjectsPerTick(), MaxPauseMS: g.MaxPause * 1e3}
	r.RSS = r.snapshot.RSS
	r.Go.Own = own
	now := readMarking()
	r.Go.MarkMS, r.Go.IdleMarkMS = (now.busy-before.busy)*1e3, (now.idle-before.idle)*1e3
	return r
}

// ownAllocs returns what functions of this module have allocated, or nil if that is not counted.
func ownAllocs(s *session.Session) *ownReport {
	warmUp, steady, exact := s.OwnSites()
	if !exact {
		return nil
	}
	return &ownReport{countOf(warmUp), countOf(steady)}
}

func countOf(c session.OwnCount) ownCount {
	r := ownCount{Ticks: c.Ticks, Sites: c.Sites}
	for _, x := range c.Sites {
		r.PerTick += float64(x.Objects) / float64(max(c.Ticks, 1))
	}
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

func streamed(s *session.Session) streamReport {
	st := s.Stream.Stats()
	r := streamReport{
		Requests: st.Requests, Uploads: st.Deliveries, Failures: st.Failures,
		Cancels:         st.CancelledQueued + st.CancelledDecoding + st.CancelledReady,
		CancelledQueued: st.CancelledQueued, CancelledDecoding: st.CancelledDecoding, CancelledReady: st.CancelledReady,
		Wasted: st.Wasted, BytesRead: st.BytesRead, BytesDecoded: st.BytesDecoded, BytesUploaded: st.BytesDelivered,
		FrameBytesMax: st.FrameBytesMax, FrameBudget: session.UploadBytes,
		StagingPeak: uint64(st.StagingPeak), ResidentPeak: uint64(st.ResidentPeak),
		ReadyMS: session.Milliseconds(st.Latency), HandOverMS: session.Milliseconds(st.HandOver), LeadMS: leadReport{ms(st.Lead.Median), ms(st.Lead.Worst)},
		Fragmentation: st.Fragmentation, FragmentationMean: st.FragmentationMean, Ground: grounded(s), Errors: []string{},
	}
	for _, err := range s.Stream.Errors() {
		r.Errors = append(r.Errors, err.Error())
	}
	return r
}

func grounded(s *session.Session) groundReport {
	p := s.Ground.Stats()
	r := groundReport{
		Asked: p.Asked, Ready: p.Ready, Cancelled: p.Cancelled, SeenSeconds: p.SeenSeconds, SoftSeconds: p.SoftSeconds,
		Soft: p.Soft(), Thrash: p.Thrash(), LeadMS: leadReport{float64(p.LeadMedian) * 1e3, float64(p.LeadWorst) * 1e3},
	}
	r.Resident, r.ResidentPeak, r.ResidentBudget = s.Ground.Resident()
	return r
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// print writes the table for a person.
func (r *report) print(w io.Writer, hash bool) error {
	fmt.Fprintf(w, "%d ticks, %d realms ended, at most %d entities and %d particles, a tick took %.3f ms (99 %%: %.3f, longest %.3f)\n\n",
		r.Ticks, r.Levels, r.EntitiesPeak, r.ParticlesPeak, r.TickMS.P50, r.TickMS.P99, r.TickMS.Max)
	err := r.snapshot.WriteText(w)
	t := &r.Traffic
	fmt.Fprintf(w, "\ntraffic: the passes take %s, side by side %s (%.0f %% saved); %s in a frame; a second %.0f blocks of slab (%d live in %d classes), %.0f of large, %.0f home to workers\n",
		memory.FormatBytes(t.StaticBytes), memory.FormatBytes(t.StaticSideBySide), 100*t.StaticSaves, memory.FormatBytes(t.FrameBytesMax), t.SlabPerSecond, t.SlabLive, t.SlabClasses, t.LargePerSecond, t.InboxPerSecond)
	fmt.Fprintf(w, "Go: %d collections, %d of them in play; %.2f heap objects a tick\n", r.Go.Cycles, r.Go.CyclesInPlay, r.Go.ObjectsPerTick)
	if r.Rewind != nil {
		r.Rewind.print(w)
	}
	if r.Sound != nil {
		r.Sound.print(w)
	}
	if hash {
		fmt.Fprintln(w, "hash", r.Hash)
	}
	return err
}
