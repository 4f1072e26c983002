package game

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// SessionConfig is everything a run of the game is started with.
type SessionConfig struct {
	Game   Config
	Memory tiers.Config
	FS     fs.FS  // art/ and levels/
	Level  string // the first level; "" means ember
	// Autopilot plays from the start to the end. Attract plays until somebody presses a key.
	Autopilot, Attract bool
	// Sink takes the pictures, by the ids that levels give them; nil where nobody looks: they are
	// loaded all the same.
	Sink func(id string, p stream.Picture) error
	// Log, when not nil, is told of each picture that could not be shown, and why.
	Log func(error)
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
	open     bool   // a frame is open
	short    bool   // the pools tier rose past its soft mark
	settle   int    // frames until the workers are told to take home what was uploaded
	entities int    // most at once
	failed   uint64 // pictures that Log was told of
	played   struct {
		objects, ticks   uint64 // of the levels that have ended
		objects0, ticks0 uint64 // when this one began
		on               bool
	}
	times *times
}

// NewSession makes the memory, the game and the streamer, and asks for the first level. The
// error says which part could not be made; nothing is kept then.
func NewSession(cfg SessionConfig) (_ *Session, err error) {
	if cfg.Level == "" {
		cfg.Level = "ember"
	}
	if cfg.Sink == nil {
		cfg.Sink = func(string, stream.Picture) error { return nil }
	}
	s := &Session{cfg: cfg, Attract: cfg.Attract, times: newTimes()}
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
	if s.Mem, err = tiers.New(cfg.Memory); err != nil {
		return nil, err
	}
	if s.Game, err = New(s.Mem, cfg.Game); err != nil {
		return nil, err
	}
	if s.Stream, err = s.newStream(); err != nil {
		return nil, err
	}
	s.Flow, err = stream.NewFlow(stream.FlowConfig[*level.Level]{Streamer: s.Stream, Request: request, Leave: s.leave, Enter: s.enter})
	if err != nil {
		return nil, err
	}
	s.Flow.Go(cfg.Level)
	return s, nil
}

// newStream starts the workers, and says what kinds of files there are.
func (s *Session) newStream() (*stream.Streamer, error) {
	st, err := stream.New(stream.Config{
		FS: s.cfg.FS, Workers: s.Mem.Workers(),
		Heap:  func(k int) memory.Allocator { return s.Mem.Worker(k) },
		Free:  s.Mem.Free,
		Drain: func(k int) { s.Mem.Worker(k).Settle() },
	})
	if err != nil {
		return nil, err
	}
	pictures := stream.Pictures(func(name string, p stream.Picture) error {
		return s.cfg.Sink(s.Flow.Level().AssetOf(name), p)
	}, nil)
	err = errors.Join(stream.Register(st, pictures), stream.Register(st, stream.Parsed("level", level.Parse)))
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// request asks for the pictures of a level; in its file 0 comes first.
func request(sc *stream.Scope, l *level.Level) error {
	for _, a := range l.Assets {
		stream.Request[stream.Picture](sc, a.File, stream.ETA(float32(a.Priority)))
	}
	return nil
}

func (s *Session) enter(l *level.Level) error {
	if err := s.Mem.BeginLevel(); err != nil {
		return err
	}
	if err := s.Game.Begin(l); err != nil {
		return err
	}
	s.settle = 6 // by then the last blocks are sent home, and the renderer is done with the pixels
	p := &s.played
	p.objects0, p.ticks0, p.on = mallocs(), s.Game.Ticks, true
	return nil
}

// mallocs returns how many objects the process has allocated on the Go heap. It stops the
// world for a moment: not for a frame.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// count adds what the level allocated so far to the sum.
func (s *Session) count() {
	if p := &s.played; p.on {
		p.objects += mallocs() - p.objects0
		p.ticks += s.Game.Ticks - p.ticks0
		p.on = false
	}
}

// ObjectsPerTick returns the Go heap's objects per tick, over the levels played: loading is
// left out, the runtime's own are in. It ends the count.
func (s *Session) ObjectsPerTick() float64 {
	s.count()
	return float64(s.played.objects) / float64(max(s.played.ticks, 1))
}

// leave ends a level that had begun; one that never finished loading has nothing to end.
func (s *Session) leave() error {
	if s.cfg.Left != nil {
		s.cfg.Left()
	}
	if !s.Mem.InLevel() {
		return nil
	}
	s.count()
	s.Game.End()
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
			s.Mem.Collect()
		}
	}
	if s.Flow.Update() == stream.Broken {
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
	s.steer(&in)
	if s.Paused && !in.Pressed.Has(Restart) {
		return nil
	}
	s.Paused = false
	if s.short {
		s.short = false
		s.Game.relieve()
	}
	began := time.Now()
	if err := s.Game.Tick(&in); err != nil {
		return err
	}
	s.times.add(time.Since(began))
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
		s.cfg.Log(err)
	}
	s.failed = failed
}

// EndFrame closes the frame, if one is open: nothing that it allocated may be drawn any more.
func (s *Session) EndFrame() error {
	if !s.open {
		return nil
	}
	s.open = false
	return s.Mem.EndFrame()
}

// steer decides who plays: the autopilot, or a person from the first key on.
func (s *Session) steer(in *engine.Input) {
	if s.Attract && in.Pressed.Has(AnyKey) {
		s.Attract = false
		s.Game.Restart()
		s.Flow.Go(s.cfg.Level)
		return
	}
	if in.Pressed.Has(Pause) {
		s.Paused = !s.Paused
	}
	if s.cfg.Autopilot || s.Attract {
		*in = s.Game.Autopilot()
	}
}

const (
	leaveTime = 1.1 // seconds of dissolve before the next level loads
	overTime  = 3.0 // seconds before an autopilot starts again
)

// follow moves on when the game has come to the end of a level, or of itself.
func (s *Session) follow(in *engine.Input) {
	g := s.Game
	switch {
	case g.Phase == Leaving && g.PhaseTime > leaveTime:
		if g.Level.Next == s.cfg.Level {
			g.Round++
		}
		s.Flow.Go(g.Level.Next)
	case in.Pressed.Has(Restart), g.Phase == Over && g.PhaseTime > overTime && (s.cfg.Autopilot || s.Attract || in.Pressed.Has(AnyKey)):
		g.Restart()
		s.Flow.Go(g.Level.Name)
	}
}

// Levels returns how many levels have been cleared or begun anew: the level changes.
func (s *Session) Levels() int { return len(s.Leaks) }

// EntitiesPeak returns the most entities that were alive at once.
func (s *Session) EntitiesPeak() int { return s.entities }

// Close stops the workers, ends the level and releases the memory. It may be called at any
// time, and twice.
func (s *Session) Close() error {
	if s.Mem == nil {
		return nil
	}
	errs := []error{s.EndFrame()}
	if s.Stream != nil {
		errs = append(errs, s.Stream.Close())
	}
	if s.Game != nil {
		errs = append(errs, s.Game.Close())
	}
	errs = append(errs, s.Mem.Close())
	s.Mem = nil
	return errors.Join(errs...)
}

// times keeps how long ticks took, for percentiles; the books are made once.
type times struct{ ns []int64 }

// timesMost bounds the memory of a long run: an hour and more of ticks, then they are kept
// modulo.
const timesMost = 1 << 18

func newTimes() *times { return &times{ns: make([]int64, 0, timesMost)} }

func (t *times) add(d time.Duration) {
	if len(t.ns) < cap(t.ns) {
		t.ns = append(t.ns, int64(d))
		return
	}
	t.ns[int(d)%len(t.ns)] = int64(d)
}

// Percentiles are times of a tick in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// TickTimes returns how long the ticks took, the game's own work without loading and drawing.
func (s *Session) TickTimes() Percentiles {
	ns := slices.Clone(s.times.ns)
	if len(ns) == 0 {
		return Percentiles{}
	}
	slices.Sort(ns)
	at := func(share float64) float64 { return float64(ns[int(share*float64(len(ns)-1))]) / 1e6 }
	return Percentiles{P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// Check verifies the game, the streamer and every tier, between frames.
func (s *Session) Check() error {
	var errs []error
	if s.Game.Level != nil && s.Mem.InLevel() {
		errs = append(errs, s.Game.Check())
	}
	errs = append(errs, s.Stream.Check(), s.Mem.Check())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}
