package stream

import (
	"errors"
	"fmt"
	"time"
)

// A Phase is the state of a Flow.
type Phase uint8

// The phases.
//
//	Idle --Go--> Loading --complete--> Playing
//	Loading, Playing, Broken --Go--> Leaving --acknowledged--> Loading
//	Idle, Leaving, Loading --level file unusable, or a function fails--> Broken
const (
	Idle    Phase = iota // no level yet
	Leaving              // the old level's requests are cancelled, workers are finishing
	Loading              // the level file, then the assets of FlowConfig.Request
	Playing              // the simulation ticks in this phase only
	Broken               // see Err
)

// String returns the name of the phase in lower case, such as "playing".
func (p Phase) String() string {
	names := [...]string{"idle", "leaving", "loading", "playing", "broken"}
	if int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// A Flow changes levels while frames continue: only Finish waits. L is the type of a level. Call [Register] with a kind
// for L before the first Go: without a kind the phase becomes Broken with ErrKind. A Flow belongs to the game
// goroutine. All levels use the scope of Flow.Scope. Go closes the handles of this scope, unless the phase is Idle or
// Leaving.
//
// A panic of a callback continues to the caller of Go, Update or Finish. If the caller recovers, the flow can be used
// further. After a panic of Deliver the asset has failed. After a panic of Path, Request, Leave or Enter the phase is
// Broken, Err returns the reason, and Go can load another level. A panic of Kind.Release or Config.Free does not change
// the phase.
type Flow[L any] struct {
	cfg    FlowConfig[L]
	scope  *Scope
	phase  Phase
	target string
	file   Handle[L]
	level  L    // of Loading and Playing
	there  bool // level is there
	err    error
}

// FlowConfig configures NewFlow. L is the type of a level. If a level breaks, the phase becomes Broken, and Flow.Err
// returns the error. Flow.Go can then load any level.
type FlowConfig[L any] struct {
	// Streamer loads the levels and their assets. Required.
	Streamer *Streamer
	// Request requests the assets that must be loaded before the level is played, in the scope of the level. Other
	// assets should be requested later or in another scope. An error of Request breaks the level. With a nil Request
	// nothing is requested.
	Request func(*Scope, L) error
	// Path returns the name of a level's file. With a nil Path the name is levels/NAME.json.
	Path func(name string) string
	// Leave, if not nil, is called by Update after Go, as soon as Streamer.Settled returns true. Leave is not called
	// before the first level. Leave should reset the level's memory. Leave is also called after a load that was not
	// completed. An error of Leave breaks the level.
	Leave func() error
	// Enter, if not nil, is called before the first tick, when every asset in the scope is loaded, has failed or waits
	// for space. If Enter returns ErrMore, the phase stays Loading. Enter is called again in the next Update in which
	// every asset in the scope is in such a state. Any other error of Enter breaks the level.
	Enter func(L) error
}

// NewFlow returns a flow in phase Idle. If cfg.Streamer is nil, NewFlow returns an error.
func NewFlow[L any](cfg FlowConfig[L]) (*Flow[L], error) {
	if cfg.Streamer == nil {
		return nil, errors.New("stream: new Flow: Streamer is required")
	}
	if cfg.Path == nil {
		cfg.Path = func(name string) string { return "levels/" + name + ".json" }
	}
	return &Flow[L]{cfg: cfg, scope: cfg.Streamer.NewScope("level")}, nil
}

// Go begins to load the level with the given name, from any phase. A load in progress is cancelled. The old level ends
// at once: see Level. Go does not wait: Update does the work. In phase Idle Go itself calls Path and requests the level
// file.
func (f *Flow[L]) Go(name string) {
	f.forget()
	f.target, f.err = name, nil
	if f.phase == Idle {
		f.load()
		return
	}
	if f.phase != Leaving {
		f.phase = Leaving
		f.scope.Cancel()
	}
}

// Update does one frame's share of the work, including Streamer.Poll, and returns the new phase. Call it once a
// frame, in every phase.
func (f *Flow[L]) Update() Phase {
	f.cfg.Streamer.Poll()
	switch {
	case f.phase == Leaving && f.cfg.Streamer.Settled():
		f.left()
	case f.phase == Loading && !f.there:
		f.arrive()
	case f.phase == Loading && f.complete():
		f.enter()
	}
	return f.phase
}

// Finish waits until the phase is Playing, Broken or Idle, and returns Err. If the level file waits for space under
// Config.Resident, and nothing in flight can free space, Finish breaks the level. While a retry of Config.Retries
// counts Polls, or after Enter has returned ErrMore, Finish calls Update about once a millisecond. Finish is for
// headless runs.
func (f *Flow[L]) Finish() error {
	for f.phase == Leaving || f.phase == Loading {
		if f.Update(); f.phase == Leaving || f.phase == Loading {
			if err := f.stuck(); err != nil {
				f.fail(err)
				break
			}
			f.cfg.Streamer.Wait()
			if f.phase == Loading && f.there && f.complete() { // Enter has more to do
				time.Sleep(time.Millisecond)
			}
		}
	}
	return f.err
}

// stuck returns an error if the level file waits for space that only another call of the game can free.
func (f *Flow[L]) stuck() error {
	s := f.cfg.Streamer
	s.mu.Lock()
	defer s.mu.Unlock()
	_, e := s.find(f.file.index, f.file.gen)
	if e == nil || e.state != Waiting || e.retryAt != 0 || !e.passed || s.pending() || s.underWay() {
		return nil
	}
	return &LoadError{Kind: e.kind.name, Name: e.name, During: "reading", Err: errNoBudget}
}

func (f *Flow[L]) left() {
	if f.cfg.Leave != nil && !f.told("leaving for", f.cfg.Leave) {
		return
	}
	f.load()
}

// errPanicked stands for what a callback says that does not return.
var errPanicked = errors.New("it panicked")

// told calls a callback. Where that fails the level is broken, also on the way of a panic.
func (f *Flow[L]) told(doing string, callback func() error) (ok bool) {
	err := errPanicked
	defer func() {
		if err != nil {
			f.fail(fmt.Errorf("stream: %s level %q: %w", doing, f.target, err))
		}
	}()
	err = callback()
	return err == nil
}

// load requests the level file, before everything else that may be queued.
func (f *Flow[L]) load() {
	var path string
	if !f.told("looking for", func() error { path = f.cfg.Path(f.target); return nil }) {
		return
	}
	f.file = Request[L](f.scope, path, ETA(-1))
	f.phase = Loading
}

// arrive takes the level, once it is there, and requests what it needs.
func (f *Flow[L]) arrive() {
	l, ok := f.file.Get()
	switch {
	case ok:
		f.level, f.there = l, true
		if f.cfg.Request != nil {
			f.told("requesting what is needed of", func() error { return f.cfg.Request(f.scope, l) })
		}
	case f.file.State() == Failed:
		f.fail(f.file.Err())
	case f.file.State() == Vacant:
		f.fail(fmt.Errorf("stream: level %q: %w", f.target, ErrClosed))
	}
}

func (f *Flow[L]) complete() bool {
	p := f.scope.Progress()
	return p.Done == p.Total
}

func (f *Flow[L]) enter() {
	if f.file.State() == Vacant { // nothing is missing where everything was cancelled
		f.fail(fmt.Errorf("stream: level %q: %w", f.target, ErrClosed))
		return
	}
	more := false
	if f.cfg.Enter != nil && !f.told("entering", func() error {
		err := f.cfg.Enter(f.level)
		if more = errors.Is(err, ErrMore); more {
			return nil
		}
		return err
	}) || more {
		return
	}
	if f.phase == Loading { // Enter may have called Go
		f.phase = Playing
	}
}

func (f *Flow[L]) fail(err error) {
	f.forget()
	f.phase, f.err = Broken, err
}

func (f *Flow[L]) forget() {
	var none L
	f.level, f.there = none, false
}

// Phase returns the phase.
func (f *Flow[L]) Phase() Phase { return f.phase }

// Level returns the current level. After Go, Level returns the zero L until the level file of the new level is loaded.
// From then on Level returns the new level, even while assets of this level are being loaded. If the level breaks, and
// before the first Go, Level returns the zero L.
func (f *Flow[L]) Level() L { return f.level }

// Target returns the name that was passed to the last call of Go.
func (f *Flow[L]) Target() string { return f.target }

// Scope returns the scope of the level, for requests while the level is played.
func (f *Flow[L]) Scope() *Scope { return f.scope }

// Err returns the error that broke the level. Outside the phase Broken, Err returns nil. Except for the level file, a
// failed asset does not break the level: Streamer.Errors returns the asset's error, and Progress counts the asset.
func (f *Flow[L]) Err() error { return f.err }

// Progress returns the progress of loading the level. Progress counts the handles of Scope, including the level file.
// In the phase Leaving it also counts the level file of the next level, although it is not requested yet.
func (f *Flow[L]) Progress() Progress {
	p := f.scope.Progress()
	if f.phase == Leaving {
		p.Total++
	}
	return p
}
