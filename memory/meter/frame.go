package meter

import "time"

// A Frame is what happened between two calls of Meter.Frame.
type Frame struct {
	Number uint64 // of the meter, from 1
	Level  uint64
	At     time.Time     // its end
	Took   time.Duration // by the clock

	Collections uint64  // of the Go heap that ended in it
	Pause       float64 // the longest stop of the world until then, in seconds
	Rows        []Delta // by the rows of the meter
	Monitors    []float64
	Timers      []time.Duration
}

// A Delta is what a frame did to a row.
type Delta struct {
	Allocs   uint64 `json:"allocs"`
	Frees    uint64 `json:"frees"`
	Failures uint64 `json:"failures"`
	Bytes    int64  `json:"bytes"` // by which it grew
}

// copy makes f equal to g, in the room that it has.
func (f *Frame) copy(g *Frame) {
	rows, monitors, timers := f.Rows[:0], f.Monitors[:0], f.Timers[:0]
	*f = *g
	f.Rows, f.Monitors, f.Timers = append(rows, g.Rows...), append(monitors, g.Monitors...), append(timers, g.Timers...)
}

// clear makes f no frame, in the room that it has.
func (f *Frame) clear() {
	rows, monitors, timers := f.Rows, f.Monitors, f.Timers
	clear(rows)
	clear(monitors)
	clear(timers)
	*f = Frame{Rows: rows, Monitors: monitors, Timers: timers}
}

// Worst returns the frame of the window that took longest, nil before the second. It is overwritten by
// later ones: see Keep.
func (r *Meter) Worst() *Frame {
	var f *Frame
	for i := range r.worst {
		if w := &r.worst[i]; w.Number > 0 && (f == nil || w.Took > f.Took) {
			f = w
		}
	}
	return f
}

// Keep keeps the worst frame to be looked at, until the next Keep, and returns it; nil before the second
// frame.
func (r *Meter) Keep() *Frame {
	f := r.Worst()
	if f == nil {
		return nil
	}
	r.kept.copy(f)
	return &r.kept
}

// Kept returns what Keep has kept, or nil.
func (r *Meter) Kept() *Frame {
	if r.kept.Number == 0 {
		return nil
	}
	return &r.kept
}

// A Monitor is a figure of the game's own, read once a frame.
type Monitor struct {
	Name, Unit string
	read       func() float64
	value      float64
}

// Value returns what was read last.
func (m *Monitor) Value() float64 { return m.value }

// Monitor has read called once a frame, on the goroutine of the meter, for a figure beside those of
// memory: enemies alive, bytes uploaded. It must not call the meter.
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

// Monitors returns all, in order of registration.
func (r *Meter) Monitors() []*Monitor { return r.monitors }

// A Timer adds up the time that a system takes in a frame. It belongs to the goroutine of the meter.
// Cost of a Start and Stop: two readings of the clock.
type Timer struct {
	Name    string
	now     func() time.Time
	started time.Time
	running bool
	sum     time.Duration
	last    time.Duration
}

// Timer returns a timer of that name, a new one each time.
func (r *Meter) Timer(name string) *Timer {
	t := &Timer{Name: name, now: r.cfg.Now}
	r.timers = append(r.timers, t)
	for _, f := range r.records() {
		f.Timers = append(f.Timers, 0)
	}
	return t
}

// Timers returns all, in order of registration.
func (r *Meter) Timers() []*Timer { return r.timers }

// Start begins to take the time. One that runs begins anew.
func (t *Timer) Start() { t.started, t.running = t.now(), true }

// Stop adds what has passed since Start; without one it does nothing.
func (t *Timer) Stop() {
	if t.running {
		t.sum += t.now().Sub(t.started)
		t.running = false
	}
}

// Last returns what the last frame took.
func (t *Timer) Last() time.Duration { return t.last }
