package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unsafe"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/histogram"
	"github.com/strata-go/strata/memory/tiers"
)

type vec = mgl32.Vec2

// Config configures New.
type Config struct {
	Game  game.Config // New sets its Heap and Reuse, from Store
	Store Store       // selects the allocators of the game's blocks
	// Memory configures the manager. New changes its copy: if Workers is below 1, Workers becomes 2, and then 1 is
	// always added. Scratch becomes at least 384 KiB. Tags, SlabMax, GC.Release and GC.Suspend are set, and GC.Keep
	// unless Store is StoreTiers. If the tiers lie on the Go heap and GC.Keep is false, a GC.Headroom of 0 becomes 8
	// MiB, and New lowers GOGC to 4 until Close. OnSoft is still called.
	Memory tiers.Config
	FS     fs.FS // art/, levels/ and realms/
	// Fallback contains manifests in levels/, for manifests of FS that cannot be read. If Fallback lacks the manifest
	// of the realm, the manifest of ember is used. If Fallback is nil or cannot be read either, the run ends.
	Fallback fs.FS
	Realm    string // the first realm; "" means ember
	// If Autopilot is true, the game plays itself all the time. If Attract is true, the game plays itself until the
	// player presses game.AnyKey: see [Session.Frame].
	Autopilot, Attract bool
	// Sink receives the pictures of manifests, under their ids there. The pixels are valid during the call. If Sink
	// returns stream.ErrMore, Sink is called again with the picture in a later frame. Any other error makes the picture
	// fail. If Sink is nil, the pictures are loaded and dropped.
	Sink func(id string, p stream.Picture) error
	// Log, if not nil, is called on the game goroutine with an error for each file that cannot be used, and for leaks
	// of a realm.
	Log func(error)
	// View shows the ground that is streamed during flight. If View is nil, no ground is streamed.
	View GroundView
	// GroundBytes is the budget of the ground's pictures in bytes. 0 means 48 MiB. If View is not nil, and GroundBytes
	// is negative or too small for one sector (see [GroundRoom]), New fails.
	GroundBytes int
	// CPU, if not nil, returns the processor time of the calling thread, for TickCPU. The game's goroutine must be
	// locked to its thread.
	CPU func() time.Duration
	// Patience is the time that one call of FS may take, at most 24 h. If a call takes longer, its worker is abandoned.
	// 0 means 10 s. If Patience is negative or too large, New fails.
	Patience time.Duration
	// Rewind is the size of the memory for states of the last ticks, in bytes, outside of the manager. 0 and negative
	// values mean none. With Rewind, Store must be StoreTiers and Game.Guard must be false: otherwise the error wraps
	// memory.ErrConfig.
	Rewind int
	// Watch is the time between two checks of the files for changes, at most 24 h. 0 means no checks. If Watch is
	// negative or too large, New fails. Changed pictures are shown at once. If a file changes that the rules read, the
	// change has an effect from the next realm on.
	Watch time.Duration
	// Left, if not nil, is called when a realm's pictures are no longer needed, also if the realm has not begun. Close
	// does not call it.
	Left func()
	// Steer, if not nil, is called with the input of each tick before the tick runs. in is valid during the call. Steer
	// may change the input: a recording reads it, and a replay sets it. A game.Pause that Steer adds has no effect.
	// During the call, Game.Ticks is the number of ticks played before. If Steer returns an error, the run ends. Rewind
	// and Seek play ticks again without calling Steer.
	Steer func(in *engine.Input) error
	// Stop, if not nil, is called at the beginning of each Frame, also while a realm loads. An error ends the run.
	Stop func() error
	// Ready, if not nil, reports whether the caller has allocated everything that it keeps during a realm. During the
	// fade into a realm the memory of loading is freed, once Ready returns true, or after 120 frames. The collector
	// then runs, unless Store is StoreGoHeap.
	Ready func() bool
}

// A Session runs a game frame by frame: it owns the memory, the streamer and the flow from realm to realm. Each frame
// is one memory frame of the manager, and at most one tick of the game. The simulation does not depend on the time at
// which a file is loaded. A Session belongs to one goroutine. After Close, call only Close and the methods that return
// peaks and times.
type Session struct {
	Mem     *tiers.Manager
	Game    *game.Game
	Stream  *stream.Streamer
	Flow    *stream.Flow[*manifest.File]
	Ground  *Ground
	Attract bool                    // the game plays itself until the player presses a key
	Paused  bool                    // Frame plays no ticks
	Leaks   []tiers.Leaks           // of each realm that has ended, except by Close
	Past    *Past                   // nil without Config.Rewind
	hosted  map[unsafe.Pointer]bool // live blocks of Hosted

	cfg      Config
	open     bool   // a frame is open
	short    bool   // the pools tier rose above its soft mark
	settling int    // frames since a realm began, until the workers free the blocks of uploaded pictures; 0 then
	failed   uint64 // failures of files that were reported to Log
	fallback string // the realm whose manifest is read from Config.Fallback
	unpace   func() // restores what pace has changed; nil if nothing was
	loading  loading
	input    engine.Input // of this frame; a variable of Frame would be an object for Config.Steer
	about    About        // the run of Restore
	restore  []byte       // its state, until its realm has begun
	restored error        // why it could not be read
	tags     tags
	steered  engine.Input // that Config.Steer sees
	peak     struct {
		entities int
		frame    uint64 // bytes of one frame
	}
	objects objects
	sites   siteCount
	times   histogram.Durations // of ticks
	cpu     histogram.Durations
}

// New makes the memory, the game and the streamer, and requests the first realm. The error describes the part that
// could not be made. After an error nothing stays allocated.
func New(cfg Config) (_ *Session, err error) {
	cfg.Realm = cmp.Or(cfg.Realm, firstRealm)
	if cfg.Sink == nil {
		cfg.Sink = func(string, stream.Picture) error { return nil }
	}
	if cfg.Log == nil {
		cfg.Log = func(error) {}
	}
	cfg.Game.Heap, cfg.Game.Reuse = cfg.Store.heap()
	s := &Session{cfg: cfg, Attract: cfg.Attract}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.Mem, err = tiers.New(s.memory()); err != nil {
		return nil, err
	}
	if err = s.tags.make(s.Mem); err != nil {
		return nil, err
	}
	if s.Game, err = game.New(s.Mem, cfg.Game); err != nil {
		return nil, err
	}
	if s.Stream, err = s.newStream(); err != nil {
		return nil, err
	}
	if cfg.Rewind > 0 {
		if s.Past, err = newPast(s, cfg.Rewind); err != nil {
			return nil, err
		}
	}
	s.Flow, err = stream.NewFlow(stream.FlowConfig[*manifest.File]{Streamer: s.Stream, Path: s.path, Request: s.request, Leave: s.leave, Enter: s.enter})
	if err != nil {
		return nil, err
	}
	s.Flow.Go(cfg.Realm)
	return s, nil
}

// memory returns the manager's configuration, and paces the collector if the tiers are of the Go heap.
func (s *Session) memory() tiers.Config {
	m := s.cfg.Memory
	soft := m.OnSoft
	m.OnSoft = func(t tiers.Tier, committed, budget uintptr) {
		s.short = s.short || t == tiers.Pools // the world may be in the middle of a change
		if soft != nil {
			soft(t, committed, budget)
		}
	}
	if m.Workers <= 0 {
		m.Workers = 2
	}
	m.Workers++ // the game's own, for fields
	m.Tags, m.SlabMax = true, game.SlabMax
	m.GC.Release = true // what loading has left of the Go heap goes back to the system
	m.GC.Suspend = true // a realm lasts longer than the two minutes after which the runtime collects unasked
	if s.cfg.Store != StoreTiers {
		m.GC.Keep = true // the collector runs as it does in any program
	} else if OnGoHeap() && !m.GC.Keep {
		m.GC.Headroom = headroom(m.GC.Headroom)
		s.unpace = pace()
	}
	m.Scratch = max(m.Scratch, composeScratch)
	return m
}

// Playing reports whether a realm is played, also during a pause. If not, a realm is loading, or [Session.Frame] has
// failed.
func (s *Session) Playing() bool { return s.Flow.Phase() == stream.Playing }

// Frame closes the previous frame, does one frame's share of the loading, and opens the next frame. While a realm is
// played and not paused, Frame advances the game by one tick. When the player has left the realm, Frame begins to load
// the next one: see [Session.Next]. Frame itself acts on three buttons:
//
//   - game.Pause begins or ends the pause.
//   - game.Restart ends the pause and begins a new run in the same realm.
//   - game.AnyKey begins a new run in the same realm, from three seconds after a lost game on. In a pause it has no
//     effect.
//
// While Config.Autopilot or Attract is true, only game.Pause has an effect, and a lost game begins again by itself.
// There is one exception: while Attract is true, game.AnyKey ends Attract. Frame then plays no tick, ends the pause and
// begins a new run in the first realm. While a realm loads, buttons have no effect: repeat the press until Playing
// returns true.
//
// Allocations from the frame arena are valid until [Session.EndFrame], or until another method ends the frame: at the
// latest the next Frame. After an error the run cannot go on: the caller must close the Session.
func (s *Session) Frame(in engine.Input) error {
	if s.cfg.Stop != nil {
		if err := s.cfg.Stop(); err != nil {
			return err
		}
	}
	if err := s.between(); err != nil {
		return err
	}
	if s.Playing() {
		if err := s.Past.keep(); err != nil {
			return err
		}
	}
	if err := s.openFrame(); err != nil {
		return err
	}
	if !s.Playing() {
		return nil
	}
	s.input = in
	if s.steer(&s.input); !s.Playing() {
		return nil // requests of this tick would belong to the next realm
	}
	if s.Paused && !s.input.Pressed.Has(game.Restart) {
		return nil
	}
	s.Paused = false
	short := s.short
	if short {
		s.short = false
		s.Game.Relieve()
	}
	if err := s.tick(&s.input, short); err != nil {
		return err
	}
	s.Ground.tick(s.Game.Player.P, s.Game.Player.V)
	s.peak.entities = max(s.peak.entities, s.Game.Entities())
	s.follow(&s.input)
	return nil
}

// between closes the previous frame and does one frame's share of the loading.
func (s *Session) between() error {
	if err := s.EndFrame(); err != nil {
		return err
	}
	s.settle()
	s.sites.again(s.Game.Ticks)
	if s.Flow.Update() == stream.Broken && !s.replace() {
		return s.Flow.Err()
	}
	s.report()
	return nil
}

// openFrame opens a frame, unless one is open.
func (s *Session) openFrame() error {
	if s.open {
		return nil
	}
	err := s.Mem.BeginFrame()
	s.open = err == nil
	return err
}

const (
	settleAfter = 6   // frames: by then the last blocks were sent home, and the renderer has copied the pixels
	settleMost  = 120 // frames, with a host that is not ready
)

// settle frees what loading has left behind, during the fade into a realm.
func (s *Session) settle() {
	if s.settling == 0 {
		return
	}
	s.settling++
	if s.settling <= settleAfter || s.settling <= settleMost && s.cfg.Ready != nil && !s.cfg.Ready() {
		return
	}
	s.settling = 0
	s.Stream.Settle()
	s.collect()
	s.sites.begin(s.Game.Ticks)
}

// EndFrame closes the memory frame, if one is open. Allocations of the frame must not be used afterwards.
func (s *Session) EndFrame() error {
	if !s.open {
		return nil
	}
	s.open = false
	s.peak.frame = max(s.peak.frame, uint64(s.Mem.Frame().Used()))
	return s.Mem.EndFrame()
}

// RealmsEnded returns the number of realms that have ended before Close, completed or not.
func (s *Session) RealmsEnded() int { return len(s.Leaks) }

// EntitiesPeak returns the most entities that were alive after a tick of [Session.Frame].
func (s *Session) EntitiesPeak() int { return s.peak.entities }

// Store returns the store of Config.Store.
func (s *Session) Store() Store { return s.cfg.Store }

// Close stops the workers, ends the realm and releases the memory, also the blocks of [Session.Hosted]. An error does
// not stop Close. A second Close does nothing.
func (s *Session) Close() error {
	if s.unpace != nil {
		defer s.unpace() // after the manager, which restores what it found
		s.unpace = nil
	}
	if s.Mem == nil {
		return nil
	}
	errs := []error{s.EndFrame()}
	if s.Stream != nil {
		errs = append(errs, s.Stream.Close())
	}
	s.loading.discard()
	if s.Game != nil {
		errs = append(errs, s.Game.Close())
	}
	errs = append(errs, s.Mem.Close(), s.Past.close())
	s.Mem = nil
	return errors.Join(errs...)
}

// Check verifies the streamer, every tier, the Past, and the game if a realm has begun. It returns an error with all
// damages, or nil. Call it between frames and before Close.
func (s *Session) Check() error {
	var errs []error
	if s.Game.Manifest != nil && s.Mem.Inspect().InLevel() && s.loading.build == nil {
		errs = append(errs, s.Game.Check())
	}
	errs = append(errs, s.Stream.Check(), s.Mem.Check(), s.Past.check())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}
