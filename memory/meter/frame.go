package meter

import "time"

// A Frame has the figures of the time between two calls of Meter.Frame.
type Frame struct {
	Number uint64        // of the frame: the first call of Meter.Frame ends frame 1
	Level  uint64        // levels begun so far
	At     time.Time     // the end of the frame
	Took   time.Duration // from the previous call of Meter.Frame to this one

	Collections uint64          // collections of the Go heap that ended in the frame
	Pause       float64         // the longest stop of the world for a collection since the manager's New, in seconds
	Rows        []Delta         // in the order of Meter.Rows
	Monitors    []float64       // the values that the frame has read, in the order of Meter.Monitors
	Timers      []time.Duration // the sums of the frame, in the order of Meter.Timers
}

// A Delta is the change of a row in one frame. If one of the three counts has decreased, because a pool was removed,
// Allocs, Frees and Failures are 0.
type Delta struct {
	Allocs   uint64 `json:"allocs"`
	Frees    uint64 `json:"frees"`
	Failures uint64 `json:"failures"`
	Bytes    int64  `json:"bytes"` // growth of the bytes in use
}

// copy makes f equal to g and reuses its arrays.
func (f *Frame) copy(g *Frame) {
	rows, monitors, timers := f.Rows[:0], f.Monitors[:0], f.Timers[:0]
	*f = *g
	f.Rows, f.Monitors, f.Timers = append(rows, g.Rows...), append(monitors, g.Monitors...), append(timers, g.Timers...)
}

// clear makes f an empty record and keeps its arrays.
func (f *Frame) clear() {
	rows, monitors, timers := f.Rows, f.Monitors, f.Timers
	clear(rows)
	clear(monitors)
	clear(timers)
	*f = Frame{Rows: rows, Monitors: monitors, Timers: timers}
}

// Worst returns the longest frame of the window, or nil if no measured frame of the window took time. The first
// frame, and the first frame after Resume, are not measured. Later frames overwrite the result; Keep makes a copy.
func (r *Meter) Worst() *Frame {
	var f *Frame
	for i := range r.worst {
		if w := &r.worst[i]; w.Number > 0 && (f == nil || w.Took > f.Took) {
			f = w
		}
	}
	return f
}

// Keep copies the frame of [Meter.Worst] and returns the copy. The copy stays readable until the next Keep. If Worst
// returns nil, Keep returns nil and keeps the previous copy.
func (r *Meter) Keep() *Frame {
	f := r.Worst()
	if f == nil {
		return nil
	}
	r.kept.copy(f)
	return &r.kept
}

// Kept returns the copy of the last Keep that made one. The next Keep overwrites the copy. If there is no copy, Kept
// returns nil.
func (r *Meter) Kept() *Frame {
	if r.kept.Number == 0 {
		return nil
	}
	return &r.kept
}

// A Monitor is a figure of the game that the meter reads in each frame, such as enemies alive or bytes uploaded.
type Monitor struct {
	Name, Unit string
	read       func() float64
	value      float64
}

// Value returns the value that the last Meter.Frame has read, or 0 before the first.
func (m *Monitor) Value() float64 { return m.value }

// Monitor registers a figure of the game. Each Frame calls read once, on the goroutine of the meter. The function read
// must not call the meter. If read is nil, Monitor panics with a *memory.Misuse.
func (r *Meter) Monitor(name, unit string, read func() float64) *Monitor {
	if read == nil {
		panic(misuse("Monitor", "it needs a function"))
	}
	m := &Monitor{Name: name, Unit: unit, read: read}
	r.monitors = append(r.monitors, m)
	for _, f := range r.records() {
		f.Monitors = append(f.Monitors, 0)
	}
	return m
}

// Monitors returns all monitors, in order of registration. The slice belongs to the meter and must not be changed.
func (r *Meter) Monitors() []*Monitor { return r.monitors }

// A Timer sums the time that a system takes in a frame. It belongs to the goroutine of the meter. Cost of a Start and
// Stop: two readings of the clock.
type Timer struct {
	Name    string
	now     func() time.Time
	started time.Time
	running bool
	sum     time.Duration
	last    time.Duration
}

// Timer returns a new timer with the given name. Several timers may have the same name.
func (r *Meter) Timer(name string) *Timer {
	t := &Timer{Name: name, now: r.cfg.Now}
	r.timers = append(r.timers, t)
	for _, f := range r.records() {
		f.Timers = append(f.Timers, 0)
	}
	return t
}

// Timers returns all timers, in order of registration. The slice belongs to the meter and must not be changed.
func (r *Meter) Timers() []*Timer { return r.timers }

// Start starts the timer. If the timer is running already, the time since the previous Start is discarded.
func (t *Timer) Start() { t.started, t.running = t.now(), true }

// Stop adds the time since Start to the present frame, also if Start was called in an earlier frame. Without a Start,
// Stop does nothing.
func (t *Timer) Stop() {
	if t.running {
		t.sum += t.now().Sub(t.started)
		t.running = false
	}
}

// Last returns the sum of times in the last frame that has ended.
func (t *Timer) Last() time.Duration { return t.last }
