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
// Finish. It knows level files and pictures and no rule of the game. It uses the level scope
// of its loader: nobody else calls CancelLevel or BeginCancel.
//
// A panic of a callback goes on to the caller of Go, Update or Finish. Whoever recovers finds
// a flow that goes on: a Sink that panicked has failed its picture; Path, Leave or Enter have
// broken the level, Err says so, and Go leads out of it.
type Flow struct {
	cfg    FlowConfig
	phase  Phase
	target string
	file   FileAsset
	level  *Level // of Loading and Playing; nil until the file is there
	err    error
}

// FlowConfig configures NewFlow.
type FlowConfig struct {
	// Loader reads the files. Required.
	Loader *Loader
	// Sink takes the pictures, see Loader.Upload. Required.
	Sink func(Picture) error
	// Budget bounds the uploads of one Update. The zero Budget means 1 MiB and 2 ms.
	Budget Budget
	// Path returns the path of a level's file. nil means levels/NAME.json.
	Path func(name string) string
	// Leave, if not nil, is called when no worker holds anything of the old level: here the
	// level's memory is reset, and its textures are dropped. It is also called after a load
	// that never ended.
	Leave func() error
	// Enter, if not nil, is called when everything was loaded, before the first tick.
	Enter func(*Level) error
}

// NewFlow makes a flow in phase Idle.
func NewFlow(cfg FlowConfig) (*Flow, error) {
	if cfg.Loader == nil || cfg.Sink == nil {
		return nil, errors.New("engine: new Flow: Loader and Sink are required")
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
	return &Flow{cfg: cfg}, nil
}

// Go asks for the level of that name, from any phase; what was being loaded is given up. The
// old level is over at once: Level returns nil until the new one is parsed.
func (f *Flow) Go(name string) {
	f.target, f.level, f.err = name, nil, nil
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
func (f *Flow) Update() Phase {
	f.cfg.Loader.Upload(f.cfg.Budget, f.cfg.Sink)
	switch {
	case f.phase == Leaving && f.cfg.Loader.CancelDone():
		f.left()
	case f.phase == Loading && f.level == nil:
		f.parse()
	case f.phase == Loading && f.complete():
		f.enter()
	}
	return f.phase
}

// Finish waits until the phase is Playing, Broken or Idle, and returns Err. It is for headless
// runs, which have no frames to keep up.
func (f *Flow) Finish() error {
	for f.phase == Leaving || f.phase == Loading {
		if f.Update(); f.phase == Leaving || f.phase == Loading {
			f.cfg.Loader.Wait()
		}
	}
	return f.err
}

func (f *Flow) left() {
	if f.cfg.Leave != nil && !f.told("leaving for", f.cfg.Leave) {
		return
	}
	f.load()
}

// errPanicked stands for what a callback says that does not return.
var errPanicked = errors.New("it panicked")

// told calls a callback. Where that fails the level is broken, also on the way of a panic.
func (f *Flow) told(doing string, callback func() error) (ok bool) {
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
func (f *Flow) load() {
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
func (f *Flow) parse() {
	if s, _ := f.cfg.Loader.State(f.file.Asset); s == Queued || s == Reading {
		return
	}
	err := f.cfg.Loader.Take(f.file, func(file File) (err error) {
		if f.level, err = ParseLevel(file.Path, file.Data); err == nil {
			f.request()
		}
		return err
	})
	if err != nil {
		f.fail(err)
	}
}

// request asks for the pictures of the level.
func (f *Flow) request() {
	for _, a := range f.level.Assets {
		// In a level file 0 comes first, in the loader the highest. What the game holds for good
		// is not loaded again.
		_, err := f.cfg.Loader.RequestPicture(ScopeLevel, a.ID, a.File, -a.Priority)
		if err != nil && !errors.Is(err, ErrRequested) {
			f.fail(fmt.Errorf("engine: level %q: %w", f.target, err))
			return
		}
	}
}

func (f *Flow) complete() bool {
	p := f.cfg.Loader.Progress(ScopeLevel)
	return p.Done == p.Total
}

func (f *Flow) enter() {
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

func (f *Flow) fail(err error) { f.phase, f.level, f.err = Broken, nil, err }

// Phase returns what the flow is doing.
func (f *Flow) Phase() Phase { return f.phase }

// Level returns the level that is played, or is being loaded and was parsed; or nil.
func (f *Flow) Level() *Level { return f.level }

// Target returns the name that Go was given last.
func (f *Flow) Target() string { return f.target }

// Err returns why the phase is Broken, or nil. A picture that cannot be loaded breaks no
// level: Loader.Errors has it, and Progress counts it.
func (f *Flow) Err() error { return f.err }

// Progress returns how far loading has come, the level file included.
func (f *Flow) Progress() Progress { return f.cfg.Loader.Progress(ScopeLevel) }
