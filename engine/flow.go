package engine

import (
	"errors"
	"fmt"
	"time"
)

// Phase is what a Flow is doing.
type Phase uint8

// The phases.
//
//	Idle --Go--> Loading --all there--> Playing --Go--> Leaving --acknowledged--> Loading ...
//	Loading --level file unusable--> Broken --Go--> Leaving ...
const (
	Idle    Phase = iota // no level yet
	Leaving              // the old level's requests are cancelled, workers are finishing
	Loading              // the level file, then its pictures
	Playing              // the simulation ticks in this phase only
	Broken               // see Err
)

func (p Phase) String() string {
	return nameOf([]string{"idle", "leaving", "loading", "playing", "broken"}, int(p), "Phase")
}

// A Flow takes a game from level to level while frames go on: no call of its waits, but
// Finish. What a level is the game says: L is its type, Parse and Request are its functions. A
// flow uses the level scope of its loader: nobody else calls CancelLevel or BeginCancel.
//
// A panic of a callback goes on to the caller of Go, Update or Finish. Whoever recovers finds
// a flow that goes on: a Sink that panicked has failed its picture; Path, Leave or Enter have
// broken the level, Err says so, and Go leads out of it.
type Flow[L any] struct {
	cfg    FlowConfig[L]
	phase  Phase
	target string
	file   FileAsset
	level  L    // of Loading and Playing
	parsed bool // level is there
	err    error
}

// FlowConfig configures NewFlow.
type FlowConfig[L any] struct {
	// Loader reads the files. Required.
	Loader *Loader
	// Sink takes the pictures, see Loader.Upload. Required.
	Sink func(Picture) error
	// Budget bounds the uploads of one Update. The zero Budget means 1 MiB and 2 ms.
	Budget Budget
	// Parse makes a level of its file, on the game goroutine. It keeps nothing of data. Required.
	Parse func(path string, data []byte) (L, error)
	// Request asks the loader for what the level shows. ErrRequested is no failure: what the
	// game holds for good is not loaded again. nil asks for nothing.
	Request func(*Loader, L) error
	// Path returns the path of a level's file. nil means levels/NAME.json.
	Path func(name string) string
	// Leave, if not nil, is called when no worker holds anything of the old level: here the
	// level's memory is reset, and its textures are dropped. It is also called after a load
	// that never ended.
	Leave func() error
	// Enter, if not nil, is called when everything was loaded, before the first tick.
	Enter func(L) error
}

// NewFlow makes a flow in phase Idle.
func NewFlow[L any](cfg FlowConfig[L]) (*Flow[L], error) {
	if cfg.Loader == nil || cfg.Sink == nil || cfg.Parse == nil {
		return nil, errors.New("engine: new Flow: Loader, Sink and Parse are required")
	}
	if cfg.Budget.Bytes < 0 || cfg.Budget.Time < 0 {
		return nil, fmt.Errorf("engine: new Flow: budget %+v; allowed: nothing negative", cfg.Budget)
	}
	if cfg.Budget == (Budget{}) {
		cfg.Budget = Budget{Bytes: 1 << 20, Time: 2 * time.Millisecond}
	}
	if cfg.Path == nil {
		cfg.Path = func(name string) string { return "levels/" + name + ".json" }
	}
	return &Flow[L]{cfg: cfg}, nil
}

// Go asks for the level of that name, from any phase; what was being loaded is given up. The
// old level is over at once: Level returns the zero L until the new one is parsed.
func (f *Flow[L]) Go(name string) {
	f.forget()
	f.target, f.err = name, nil
	if f.phase == Idle {
		f.load()
		return
	}
	if f.phase != Leaving {
		f.phase = Leaving
		f.cfg.Loader.BeginCancel()
	}
}

// Update does one frame's share of the work and returns the phase after it. Call it once a
// frame, in every phase. While leaving there are only pictures of [ScopeGame] to upload.
func (f *Flow[L]) Update() Phase {
	f.cfg.Loader.Upload(f.cfg.Budget, f.cfg.Sink)
	switch {
	case f.phase == Leaving && f.cfg.Loader.CancelDone():
		f.left()
	case f.phase == Loading && !f.parsed:
		f.parse()
	case f.phase == Loading && f.complete():
		f.enter()
	}
	return f.phase
}

// Finish waits until the phase is Playing, Broken or Idle, and returns Err. It is for headless
// runs, which have no frames to keep up.
func (f *Flow[L]) Finish() error {
	for f.phase == Leaving || f.phase == Loading {
		if f.Update(); f.phase == Leaving || f.phase == Loading {
			f.cfg.Loader.Wait()
		}
	}
	return f.err
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
			f.fail(fmt.Errorf("engine: %s level %q: %w", doing, f.target, err))
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
	file, err := f.cfg.Loader.RequestFile(ScopeLevel, "level "+f.target, path, 1<<20)
	if err != nil {
		f.fail(fmt.Errorf("engine: level %q: %w", f.target, err))
		return
	}
	f.file, f.phase = file, Loading
}

// parse takes the level file, once it is there, and requests what it lists, before the file's
// block goes home: a panic of LoaderConfig.Free then finds a level that goes on.
func (f *Flow[L]) parse() {
	if s, _ := f.cfg.Loader.State(f.file.Asset); s == Queued || s == Reading {
		return
	}
	err := f.cfg.Loader.Take(f.file, func(file File) error {
		l, err := f.cfg.Parse(file.Path, file.Data)
		if err == nil {
			f.level, f.parsed = l, true
			f.request()
		}
		return err
	})
	if err != nil {
		f.fail(err)
	}
}

// request asks for what the level shows.
func (f *Flow[L]) request() {
	if f.cfg.Request == nil {
		return
	}
	if err := f.cfg.Request(f.cfg.Loader, f.level); err != nil && !errors.Is(err, ErrRequested) {
		f.fail(fmt.Errorf("engine: level %q: %w", f.target, err))
	}
}

func (f *Flow[L]) complete() bool {
	p := f.cfg.Loader.Progress(ScopeLevel)
	return p.Done == p.Total
}

func (f *Flow[L]) enter() {
	if _, ok := f.cfg.Loader.State(f.file.Asset); !ok { // nothing is missing where everything was cancelled
		f.fail(fmt.Errorf("engine: level %q: %w", f.target, ErrLoaderClosed))
		return
	}
	if f.cfg.Enter != nil && !f.told("entering", func() error { return f.cfg.Enter(f.level) }) {
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
	f.level, f.parsed = none, false
}

// Phase returns what the flow is doing.
func (f *Flow[L]) Phase() Phase { return f.phase }

// Level returns the level that is played, or is being loaded and was parsed; or the zero L.
func (f *Flow[L]) Level() L { return f.level }

// Target returns the name that Go was given last.
func (f *Flow[L]) Target() string { return f.target }

// Err returns why the phase is Broken, or nil. A picture that cannot be loaded breaks no
// level: Loader.Errors has it, and Progress counts it.
func (f *Flow[L]) Err() error { return f.err }

// Progress returns how far loading has come, the level file included.
func (f *Flow[L]) Progress() Progress { return f.cfg.Loader.Progress(ScopeLevel) }
