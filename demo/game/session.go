package game

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/tiers"
)

// SessionConfig is everything a run of the game is started with.
type SessionConfig struct {
	Game   Config
	Memory tiers.Config
	FS     fs.FS  // art/, levels/ and realms/
	Spare  fs.FS  // levels/ in place of those of FS that cannot be read; nil: without a level the run ends
	Level  string // the first level; "" means ember
	// Autopilot plays from the start to the end. Attract plays until somebody presses a key.
	Autopilot, Attract bool
	// Sink takes the pictures, by the ids that levels give them; nil where nobody looks: they are
	// loaded all the same.
	Sink func(id string, p stream.Picture) error
	// Log, when not nil, is told of each picture that could not be shown, and why.
	Log func(error)
	// Ground shows the ground, which is streamed while one flies; nil where nobody looks, and then it
	// is not. GroundBytes is what its pictures may take; 0 means GroundBytes.
	Ground      GroundView
	GroundBytes int
	// CPU, when not nil, says what the thread that plays has taken of processors; its goroutine is locked
	// to it. TickCPU tells what ticks took of it.
	CPU func() time.Duration
	// Patience is how long FS may take for a call before its worker is given up; 0 is the streamer's.
	Patience time.Duration
	// Watch is how often the files are looked at: what has changed is shown anew, but for what the rules read, which comes
	// with the next level. 0 is never.
	Watch time.Duration
	// Left, when not nil, is called when a level's pictures are no longer needed.
	Left func()
}

// A Session runs a Game frame by frame: it owns the memory, the streamer and the way from
// level to level. One frame of it is one frame of the manager, and at most one tick of the
// game; while a level loads frames go on and the game stands still, so that what is loaded
// when never reaches the simulation.
type Session struct {
	Mem     *tiers.Manager
	Game    *Game
	Stream  *stream.Streamer
	Flow    *stream.Flow[*level.Level]
	Attract bool
	Paused  bool
	Leaks   []tiers.Leaks // of each level that has ended

	cfg      SessionConfig
	scenery  *scenery
	walls    [2]stream.Ticket[realmFile] // of the realm that is coming: description, walls
	build    *realm.Building             // of the level that was begun, until the game begins
	unbuilt  error                       // why there is none
	open     bool                        // a frame is open
	short    bool                        // the pools tier rose past its soft mark
	settle   int                         // frames until the workers are told to take home what was uploaded
	entities int                         // most at once
	frame    uint64                      // the most bytes that one took
	failed   uint64                      // pictures that Log was told of
	spare    string                      // the level that comes from Spare
	unpace   func()                      // puts back what pace has changed; nil where it has not
	played   struct {
		objects, ticks   uint64 // of the levels that have ended
		objects0, ticks0 uint64 // when this one began
		on               bool
	}
	times *times
	cpu   *times
}

// NewSession makes the memory, the game and the streamer, and asks for the first level. The
// error says which part could not be made; nothing is kept then.
func NewSession(cfg SessionConfig) (_ *Session, err error) {
	if cfg.Level == "" {
		cfg.Level = firstLevel
	}
	if cfg.Sink == nil {
		cfg.Sink = func(string, stream.Picture) error { return nil }
	}
	s := &Session{cfg: cfg, Attract: cfg.Attract, times: newTimes(), cpu: newTimes()}
	cfg.Memory.OnSoft = func(t tiers.Tier, committed, budget uintptr) {
		s.short = s.short || t == tiers.Pools // the world may be in the middle of a change
		if s.cfg.Memory.OnSoft != nil {
			s.cfg.Memory.OnSoft(t, committed, budget)
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if cfg.Memory.Workers <= 0 {
		cfg.Memory.Workers = 2
	}
	cfg.Memory.Workers++ // the game's own, for fields
	cfg.Memory.Tags = true
	cfg.Memory.HoldGC = true // a realm lasts longer than the two minutes after which the runtime collects unasked
	if cfg.Game.Store != StoreTiers {
		cfg.Memory.KeepGC = true // the collector runs as it does in any program
	} else if OnGoHeap() {
		cfg.Memory.GoHeadroom = headroom(cfg.Memory.GoHeadroom)
		s.unpace = pace()
	}
	cfg.Memory.Scratch = max(cfg.Memory.Scratch, groundScratch)
	if s.Mem, err = tiers.New(cfg.Memory); err != nil {
		return nil, err
	}
	if s.Game, err = New(s.Mem, cfg.Game); err != nil {
		return nil, err
	}
	if s.Stream, err = s.newStream(); err != nil {
		return nil, err
	}
	s.Flow, err = stream.NewFlow(stream.FlowConfig[*level.Level]{Streamer: s.Stream, Path: s.path, Request: s.request, Leave: s.leave, Enter: s.enter})
	if err != nil {
		return nil, err
	}
	s.Flow.Go(cfg.Level)
	return s, nil
}

// UploadBytes is how many bytes of pictures a frame hands to the GPU at most, but for a larger one alone: a
// sector of the ground with its props.
const UploadBytes = ground.Bytes + 1<<10

// newStream starts the workers, and says what kinds of files there are.
func (s *Session) newStream() (*stream.Streamer, error) {
	st, err := stream.New(stream.Config{
		FS: s.files(), Patience: s.cfg.Patience, Workers: s.Mem.Workers() - 1, // the last is the game's
		Heap:   s.Game.store.worker,
		Free:   s.Game.store.free,
		Drain:  s.Game.store.settle,
		Watch:  s.cfg.Watch,
		Upload: stream.Budget{Bytes: UploadBytes, Time: 2 * time.Millisecond},
	})
	if err != nil {
		return nil, err
	}
	pictures := stream.Pictures(func(name string, p stream.Picture) error {
		return s.cfg.Sink(s.Flow.Level().AssetOf(name), p)
	}, nil)
	err = errors.Join(stream.Register(st, pictures), stream.Register(st, stream.Parsed(levelKind, level.Parse)), stream.Register(st, realmFiles))
	if err == nil {
		s.scenery, err = newScenery(st, s.Mem, s.cfg.Ground, s.cfg.GroundBytes)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// request asks for the pictures of a level; in its file 0 comes first.
func (s *Session) request(sc *stream.Scope, l *level.Level) error {
	for i, name := range realm.Files(l.Name) {
		s.walls[i] = stream.Request[realmFile](sc, name, stream.ETA(-0.5))
	}
	s.scenery.request(s.Stream, sc, l)
	for _, a := range l.Assets {
		stream.Request[stream.Picture](sc, a.File, stream.ETA(float32(a.Priority)))
	}
	return nil
}

// enter begins a level: the realm is built meanwhile, and frames go on.
func (s *Session) enter(l *level.Level) error {
	if !s.Mem.InLevel() {
		if err := s.Mem.BeginLevel(); err != nil {
			return err
		}
		if s.build, s.unbuilt = s.found(l.Name); s.unbuilt == nil {
			return stream.ErrMore
		}
	} else if s.build != nil && !s.build.Done() {
		return stream.ErrMore
	}
	if err := s.Game.Begin(l, s.realm(l.Name)); err != nil {
		return err
	}
	s.settle = 6 // by then the last blocks are sent home, and the renderer is done with the pixels
	p := &s.played
	p.objects0, p.ticks0, p.on = mallocs(), s.Game.Ticks, true
	return nil
}

// leave ends a level that had begun; one that never finished loading has nothing to end.
func (s *Session) leave() error {
	if s.cfg.Left != nil {
		s.cfg.Left()
	}
	s.scenery.leave()
	if !s.Mem.InLevel() {
		return nil
	}
	if s.build != nil { // nobody will play there
		_, _ = s.build.Wait()
		s.build = nil
	}
	s.count()
	if err := s.Game.End(); err != nil {
		return err
	}
	for _, l := range s.Game.Leaks() {
		if s.cfg.Log != nil {
			s.cfg.Log(fmt.Errorf("level %s leaks: %s", s.Game.Level.Name, l))
		}
	}
	leaks, err := s.Mem.EndLevel()
	s.Leaks = append(s.Leaks, leaks)
	return err
}

// Playing reports whether the game ticks; otherwise a level is on its way.
func (s *Session) Playing() bool { return s.Flow.Phase() == stream.Playing }

// Frame closes the frame before, does one frame's share of the loading, opens the next frame
// and, while a level is played, advances the game by one tick. What it allocated from the
// frame arena is there until the next call. The error ends the run.
func (s *Session) Frame(in engine.Input) error {
	if err := s.EndFrame(); err != nil {
		return err
	}
	if s.settle > 0 {
		if s.settle--; s.settle == 0 { // behind the fade into the level
			s.Stream.Settle()
			s.Game.store.collect()
		}
	}
	if s.Flow.Update() == stream.Broken && !s.replace() {
		return s.Flow.Err()
	}
	s.report()
	if err := s.Mem.BeginFrame(); err != nil {
		return err
	}
	s.open = true
	if !s.Playing() {
		return nil
	}
	if s.steer(&in); !s.Playing() {
		return nil // what were asked for now would come in the next level
	}
	if s.Paused && !in.Pressed.Has(Restart) {
		return nil
	}
	s.Paused = false
	if s.short {
		s.short = false
		s.Game.relieve()
	}
	if err := s.tick(&in); err != nil {
		return err
	}
	s.scenery.tick(s.Game.Player.P, s.Game.Player.V)
	s.entities = max(s.entities, s.Game.Entities())
	s.follow(&in)
	return nil
}

// report tells Log of the pictures that have failed since the last call.
func (s *Session) report() {
	failed := s.Stream.Stats().Failures
	if failed == s.failed || s.cfg.Log == nil {
		return
	}
	kept := s.Stream.Errors() // the newest, so many as the streamer keeps
	for _, err := range kept[len(kept)-min(len(kept), int(failed-s.failed)):] {
		if failed, ok := err.(*stream.LoadError); ok && failed.Kind == realmFiles.Name {
			continue // see realm
		}
		if s.scenery.news(err) {
			s.cfg.Log(err)
		}
	}
	s.failed = failed
}

// EndFrame closes the frame, if one is open: nothing that it allocated may be drawn any more.
func (s *Session) EndFrame() error {
	if !s.open {
		return nil
	}
	s.open = false
	s.frame = max(s.frame, uint64(s.Mem.Frame().Used()))
	return s.Mem.EndFrame()
}

// Levels returns how many levels have been cleared or begun anew: the level changes.
func (s *Session) Levels() int { return len(s.Leaks) }

// EntitiesPeak returns the most entities that were alive at once.
func (s *Session) EntitiesPeak() int { return s.entities }

// Close stops the workers, ends the level and releases the memory. It may be called at any
// time, and twice.
func (s *Session) Close() error {
	if s.unpace != nil {
		defer s.unpace() // behind the manager, which puts back what it found
		s.unpace = nil
	}
	if s.Mem == nil {
		return nil
	}
	errs := []error{s.EndFrame()}
	if s.Stream != nil {
		errs = append(errs, s.Stream.Close())
	}
	if s.build != nil {
		_, _ = s.build.Wait()
		s.build = nil
	}
	if s.Game != nil {
		errs = append(errs, s.Game.Close())
	}
	errs = append(errs, s.Mem.Close())
	s.Mem = nil
	return errors.Join(errs...)
}

// Check verifies the game, the streamer and every tier, between frames.
func (s *Session) Check() error {
	var errs []error
	if s.Game.Level != nil && s.Mem.InLevel() && s.build == nil {
		errs = append(errs, s.Game.Check())
	}
	errs = append(errs, s.Stream.Check(), s.Mem.Check())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}
