package meter

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

// Config configures [New]. The zero Config means the defaults. New refuses values out of range.
type Config struct {
	// Window is the period, from 1 second to 10 minutes, that the curves and [Meter.Times] cover. 0 means 10 seconds.
	// The rates of a Row cover a tenth of Window. Window does not affect how growth is judged.
	Window time.Duration

	// Frame is the time that a frame should take, up to an hour. 0 means 1/60 s. A frame above 1.5 times Frame is late.
	Frame time.Duration

	// Now is the clock. It must not go backwards. Nil means time.Now.
	Now func() time.Time
}

const (
	defaultWindow = 10 * time.Second
	defaultFrame  = time.Second / 60
	settles       = 4 // times a second that figures change, so that they can be read
)

// A Meter watches one manager and belongs to the manager's goroutine. It records every frame, whether or not the
// results are read. The memory of a Meter grows only with the number of tags, pools, monitors and timers.
type Meter struct {
	// Invariants, verified in this order by Check:
	//
	//	(1) there is a row for each tier, for the Go heap, for the rest and for each tag, in this order, and
	//	    every record of a frame has as many tags
	//	(2) the figures of a row are series in order
	//	(3) the present part of the window is part of seconds
	//	(4) every row of a pool has its notes, a series in order

	m      *tiers.Manager
	cfg    Config
	rows   []Row
	series []series
	was    []books // of the rows, at the last Frame

	snap   tiers.Snapshot // of the last Frame
	go0    gcpace.Stats   // of the one before
	at     time.Time      // of the last Frame
	begun  time.Time
	frames uint64

	slot    int64 // since begun
	second  int64 // since begun
	part    int64 // of the window, since begun
	settled time.Time
	level   uint64 // of the last Frame
	inLevel bool

	times  times
	live   live
	points points // for judging one row after the other
	turn   int64  // quarters of a second since begun: in each a quarter of the rows is judged
	sums   [seconds]sums
	worst  [seconds]Frame // each second's
	frame  Frame          // the present one
	kept   Frame
	frameB float64 // bytes that the frame's buffer holds
	ticked float64 // bytes of it that were used, at most, by the calls of Tick since the last Frame
	again  bool    // Resume was called

	pools  []Row // see Pools
	notes  []poolBooks
	poolAt int
	visit  func(name string, s memory.Stats) // notePool, made once

	monitors []*Monitor
	timers   []*Timer
	marks    [2]mark
	verdict  Verdict
}

// books has the counts of a row. The figures are their differences.
type books struct{ allocs, frees, failures, inUse, live uint64 }

// since returns the change since was. The counts of a pool that is removed are no longer in those of its tier and
// tag. So if a count has decreased, the change of the counts in this frame is unknown.
func (b books) since(was books) Delta {
	d := Delta{Bytes: int64(b.inUse - was.inUse)}
	if b.allocs >= was.allocs && b.frees >= was.frees && b.failures >= was.failures {
		d.Allocs, d.Frees, d.Failures = b.allocs-was.allocs, b.frees-was.frees, b.failures-was.failures
	}
	return d
}

// sums are the sums over a part of the window.
type sums struct {
	took time.Duration
	rows []sum
}

type sum struct {
	allocs, frees, failures uint64
	most                    uint64 // allocations in one frame
	young                   uint64 // see Row.Churn
}

// New returns a meter of m. The meter may be used after m is closed: its tiers then count as empty. If m is nil, or a
// field of cfg is out of range, the error wraps memory.ErrConfig.
func New(m *tiers.Manager, cfg Config) (*Meter, error) {
	if m == nil {
		return nil, fmt.Errorf("meter: New needs a manager: %w", memory.ErrConfig)
	}
	cfg.Window = cmp.Or(cfg.Window, defaultWindow)
	cfg.Frame = cmp.Or(cfg.Frame, defaultFrame)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Window < time.Second || cfg.Window > 10*time.Minute {
		return nil, fmt.Errorf("meter: Config.Window %v: want 1s to 10m: %w", cfg.Window, memory.ErrConfig)
	}
	if cfg.Frame < 0 || cfg.Frame > time.Hour {
		return nil, fmt.Errorf("meter: Config.Frame %v: want up to 1h: %w", cfg.Frame, memory.ErrConfig)
	}
	r := &Meter{m: m, cfg: cfg, live: newLive()}
	r.visit = r.notePool
	for t := range tiers.Tier(tiers.Count) {
		r.grow(Row{Name: t.String(), Kind: TierRow, Tier: t})
	}
	r.grow(Row{Name: "go heap", Kind: GoRow})
	r.grow(Row{Name: "untracked", Kind: RestRow})
	return r, nil
}

// The rows behind those of the tiers.
const (
	goRow    = int(tiers.Count)
	restRow  = goRow + 1
	firstTag = restRow + 1
)

// grow adds a row to everything that has one for each.
func (r *Meter) grow(row Row) {
	r.rows = append(r.rows, row)
	r.series = append(r.series, newSeries())
	r.was = append(r.was, books{})
	for i := range r.sums {
		r.sums[i].rows = append(r.sums[i].rows, sum{})
	}
	for _, f := range r.records() {
		f.Rows = append(f.Rows, Delta{})
	}
	for k := range r.marks {
		if m := &r.marks[k]; m.rows != nil {
			m.rows = append(m.rows, books{})
		}
	}
}

// records returns all records of frames.
func (r *Meter) records() (all [seconds + 2]*Frame) {
	for i := range r.worst {
		all[i] = &r.worst[i]
	}
	all[seconds], all[seconds+1] = &r.frame, &r.kept
	return all
}

// Frame measures the time and the changes since its last call; the first call measures no changes. Call Frame once a
// frame and always at the same place, best directly before EndFrame, or in Draw. After the first call Frame allocates
// only if tags or pools are new. Cost: a Snapshot, and about 10 ns a row.
func (r *Meter) Frame() {
	now := r.cfg.Now()
	r.go0 = r.snap.Go
	r.m.Snapshot(&r.snap)
	r.follow()
	first := r.frames == 0 || r.again
	if r.frames == 0 {
		r.begun = now
	}
	if r.frames++; first {
		r.at, r.settled = now, now
	}
	took := max(now.Sub(r.at), 0)
	r.levels()
	r.readPools()
	r.cross(now, took)
	r.at = now
	if r.live.follow(r.frames == 1, r.snap.Go.Cycles, r.snap.Go.Pauses) || first {
		r.lookAtHeap(now)
	}
	r.count(took, first)
	r.countPools()
	if part := r.part % seconds; !first {
		r.times.parts[part].add(took, r.cfg.Frame*3/2)
		if took > r.worst[part].Took {
			r.worst[part].copy(&r.frame)
		}
	}
	if now.Sub(r.settled) >= time.Second/settles || first {
		r.settled = now
		r.settle()
	}
	r.ticked, r.again = 0, false
}

// Tick records the frame memory that a tick has used. If several ticks may run between two calls of Frame, call Tick
// at the end of each tick, before EndFrame. The meter then reports the highest use of these ticks. Without Tick it
// reports the use of the last tick, at the call of Frame. Cost: a few ns.
func (r *Meter) Tick() { r.ticked = max(r.ticked, float64(r.m.Frames().Current().Used())) }

// Resume tells the meter that Frame was not called for a while, for example because the game was paused. The next
// Frame measures no time and no changes. The meter also forgets the past figures from which it computes growth, except
// those of the Go heap. Config.Window includes the pause: if the pause was longer than the window, rates and Worst have
// no figures from before it.
func (r *Meter) Resume() { r.again = true }

// restart clears the history for growth.
func (r *Meter) restart() {
	for i := range r.series {
		r.series[i].floor.restart()
	}
	for i := range r.notes {
		r.notes[i].series.floor.restart()
	}
}

// follow makes rows for new tags. The last row of a Snapshot is the untagged memory: if there are more tags, its
// figures move to the new last row.
func (r *Meter) follow() {
	had, n := len(r.rows)-firstTag, len(r.snap.Tags)
	if had == n {
		return
	}
	for i := had; i < n; i++ {
		r.grow(Row{Kind: TagRow})
	}
	if had > 0 {
		r.exchange(firstTag+had-1, len(r.rows)-1)
	}
	for i := range n {
		if r.rows[firstTag+i].Name = r.snap.Tags[i].Name; i == n-1 {
			r.rows[firstTag+i].Name = noTag
		}
	}
	r.judge() // it points at rows, which may lie elsewhere now
}

// noTag is the name of the row of memory without a tag.
const noTag = "untagged"

// exchange swaps two rows in everything that has one for each.
func (r *Meter) exchange(i, j int) {
	r.rows[i], r.rows[j] = r.rows[j], r.rows[i]
	r.series[i], r.series[j] = r.series[j], r.series[i]
	r.was[i], r.was[j] = r.was[j], r.was[i]
	for k := range r.sums {
		s := r.sums[k].rows
		s[i], s[j] = s[j], s[i]
	}
	for _, f := range r.records() {
		f.Rows[i], f.Rows[j] = f.Rows[j], f.Rows[i]
	}
	for k := range r.marks {
		if m := r.marks[k].rows; len(m) > max(i, j) {
			m[i], m[j] = m[j], m[i]
		}
	}
}

// levels clears the history for growth if a level has begun or ended.
func (r *Meter) levels() {
	if r.snap.Level == r.level && r.snap.InLevel == r.inLevel {
		return
	}
	r.level, r.inLevel = r.snap.Level, r.snap.InLevel
	for i := range r.series {
		if i != goRow && i != restRow {
			r.series[i].floor.restart()
		}
	}
	for i := range r.notes {
		r.notes[i].series.floor.restart()
	}
}

// longSleep is a frame in which the history of a figure is lost. In a shorter one the figure is taken to lie on a line.
const longSleep = 10 * time.Second

// cross ends the slots, the seconds and the parts of the window that have ended since the last call.
func (r *Meter) cross(now time.Time, took time.Duration) {
	wide := r.cfg.Window / SlotCount
	last := int64(now.Sub(r.begun) / wide)
	r.slot = max(r.slot, last-SlotCount)
	for ; r.slot < last; r.slot++ {
		share := shareAt(r.begun.Add(time.Duration(r.slot+1)*wide), now, took)
		for i := range r.series {
			r.series[i].cross(r.series[i].between(r.value(i), share))
		}
		for i := range r.notes {
			s := &r.notes[i].series
			s.cross(s.between(float64(r.notes[i].next.inUse), share))
		}
	}
	second := int64(now.Sub(r.begun) / time.Second)
	if took > longSleep || r.again { // nothing is known of the time between
		r.restart()
		r.second = second
	}
	for ; r.second < second; r.second++ {
		share := shareAt(r.begun.Add(time.Duration(r.second+1)*time.Second), now, took)
		for i := range r.series {
			s := &r.series[i]
			s.floor.cross(s.between(r.value(i), share))
		}
		for i := range r.notes {
			s := &r.notes[i].series
			s.floor.cross(s.between(float64(r.notes[i].next.inUse), share))
		}
	}
	r.crossParts(now)
}

// shareAt returns where at lies in the frame that ends now and took so long: 0 at its beginning, 1 at its end. Figures
// are known at both, and taken to lie on a line between.
func shareAt(at, now time.Time, took time.Duration) float64 {
	if took <= 0 {
		return 1
	}
	return min(max(1-float64(now.Sub(at))/float64(took), 0), 1)
}

// crossParts ends the parts of the window that have ended since the last call.
func (r *Meter) crossParts(now time.Time) {
	part := int64(now.Sub(r.begun) / (r.cfg.Window / seconds))
	if part-r.part > seconds {
		r.part = part - seconds
	}
	for r.part < part {
		r.part++
		k := r.part % seconds
		r.times.parts[k] = frames{}
		r.sums[k].took = 0
		clear(r.sums[k].rows)
		for i := range r.notes {
			r.notes[i].sums[k] = sum{}
		}
		r.worst[k].clear()
	}
}

// value returns the bytes of row i, as of the last Snapshot.
func (r *Meter) value(i int) float64 {
	switch {
	case i == int(tiers.Frame):
		return max(float64(r.m.Frames().Current().Used()), r.ticked)
	case i < goRow:
		return float64(r.snap.Tiers[i].InUse)
	case i == goRow:
		return float64(r.snap.Go.HeapBytes)
	case i == restRow:
		return float64(r.snap.Untracked)
	}
	return float64(tagBytes(&r.snap.Tags[i-firstTag]))
}

// tagBytes returns the bytes of a tag in all tiers.
func tagBytes(t *tiers.TagStats) uint64 { return t.InUse + t.Frame.Bytes + t.Level.Bytes }

// books returns the counts of row i, as of the last Snapshot.
func (r *Meter) books(i int) books {
	switch {
	case i < goRow:
		s := &r.snap.Tiers[i]
		return books{s.Allocs, s.Frees, s.Failures, s.InUse, s.Live}
	case i == goRow:
		g := &r.snap.Go
		return books{allocs: g.TotalObjects, frees: g.TotalObjects - g.HeapObjects, inUse: g.HeapBytes, live: g.HeapObjects}
	case i == restRow:
		return books{inUse: r.snap.Untracked}
	}
	s := &r.snap.Tags[i-firstTag]
	return books{s.Allocs, s.Frees, s.Failures, tagBytes(s), s.Live}
}

// when returns at which 256th of its second the last Frame was.
func (r *Meter) when() uint8 {
	return uint8(r.at.Sub(r.begun) % time.Second * 256 / time.Second)
}

// count makes the record of the frame, and adds it up.
func (r *Meter) count(took time.Duration, first bool) {
	f := &r.frame
	f.Number, f.At, f.Took = r.frames, r.at, took
	f.Level, f.Collections, f.Pause = r.snap.Level, r.snap.Go.Cycles-r.go0.Cycles, r.snap.Go.MaxPause
	part := &r.sums[r.part%seconds]
	part.took += took
	when := r.when()
	for i := range r.rows {
		now := r.books(i)
		was := r.was[i]
		r.was[i] = now
		r.series[i].set(r.value(i), when)
		if first {
			f.Rows[i] = Delta{}
			continue
		}
		d := now.since(was)
		s := &part.rows[i]
		s.young += min(d.Frees, f.Rows[i].Allocs+d.Allocs)
		s.allocs, s.frees, s.failures, s.most = s.allocs+d.Allocs, s.frees+d.Frees, s.failures+d.Failures, max(s.most, d.Allocs)
		f.Rows[i] = d
	}
	for i, m := range r.monitors {
		m.value = m.read()
		f.Monitors[i] = m.value
	}
	for i, t := range r.timers {
		t.last, t.sum = t.sum, 0
		f.Timers[i] = t.last
	}
	r.frameB = float64(r.m.Frames().Current().Used() + r.m.Frames().Current().Available())
}

// Snapshot returns the snapshot of the last Frame. The next Frame overwrites it. Before the first Frame it is empty.
func (r *Meter) Snapshot() *tiers.Snapshot { return &r.snap }

// Manager returns the manager that the meter watches.
func (r *Meter) Manager() *tiers.Manager { return r.m }

// Frames returns the number of calls of Frame.
func (r *Meter) Frames() uint64 { return r.frames }

// Curve copies the bytes in use of row i over the window to dst, oldest first. Each value is the maximum of one slot,
// a 240th of the window. Curve returns the number of known slots, the last values of dst. The other slots are older
// than the first Frame. Slots from before a tag was made are 0. If there is no such row, Curve panics.
func (r *Meter) Curve(i int, dst *[SlotCount]float32) int {
	r.series[i].curve(dst)
	return r.knownSlots()
}

func (r *Meter) knownSlots() int {
	if r.frames == 0 {
		return 0
	}
	return int(min(r.slot+1, SlotCount))
}

// Footprint returns the approximate number of bytes of the Go heap that the meter takes for rows, tags and pools,
// without monitors and timers.
func (r *Meter) Footprint() uintptr {
	frames := unsafe.Sizeof(Delta{}) * uintptr(len(r.records()))
	row := unsafe.Sizeof(Row{}) + unsafe.Sizeof(series{}) + unsafe.Sizeof(books{})*3 + unsafe.Sizeof(sum{})*seconds + frames
	pool := unsafe.Sizeof(Row{}) + unsafe.Sizeof(poolBooks{})
	return unsafe.Sizeof(*r) + row*uintptr(cap(r.rows)) + pool*uintptr(cap(r.pools)) + unsafe.Sizeof(tiers.TagStats{})*uintptr(cap(r.snap.Tags))
}

// Check verifies the metadata of the meter and returns all inconsistencies, joined into one error, or nil.
func (r *Meter) Check() error {
	var errs []error
	for _, n := range [...]int{len(r.series), len(r.was)} {
		if n != len(r.rows) || n < firstTag {
			errs = append(errs, fmt.Errorf("meter: %d rows, and %d figures", len(r.rows), n))
		}
	}
	for _, f := range r.records() {
		if len(f.Rows) != len(r.rows) || len(f.Monitors) != len(r.monitors) || len(f.Timers) != len(r.timers) {
			errs = append(errs, fmt.Errorf("meter: a frame of %d rows of %d", len(f.Rows), len(r.rows)))
		}
	}
	for i := range r.sums {
		if len(r.sums[i].rows) != len(r.rows) {
			errs = append(errs, fmt.Errorf("meter: %d sums of %d rows", len(r.sums[i].rows), len(r.rows)))
		}
	}
	for i := range r.series {
		if !r.series[i].check() {
			errs = append(errs, fmt.Errorf("meter: the curve of row %d is out of order", i))
		}
	}
	if !r.live.check() {
		errs = append(errs, errors.New("meter: the live sizes of the Go heap are out of order"))
	}
	if len(r.pools) != len(r.notes) {
		errs = append(errs, fmt.Errorf("meter: %d pools, and notes of %d", len(r.pools), len(r.notes)))
	}
	for i := range r.notes {
		if !r.notes[i].series.check() {
			errs = append(errs, fmt.Errorf("meter: the curve of pool %d is out of order", i))
		}
	}
	if r.part < 0 || r.slot < 0 {
		errs = append(errs, fmt.Errorf("meter: part %d, slot %d", r.part, r.slot))
	}
	return errors.Join(errs...)
}
