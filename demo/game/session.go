package game

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"runtime"
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
	if cfg.Game.Store != StoreTiers {
		cfg.Memory.KeepGC = true // the collector runs as it does in any program
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

// A realmFile is a file that the rules are made of. It lies in the Go heap until the realm is built: what the rules read
// must not depend on what else a worker has in its heap.
type realmFile struct{ data []byte }

// realmFileMost is more than any of them has.
const realmFileMost = 1 << 20

var realmFiles = stream.Kind[realmFile]{Name: "realm", Stays: true, Decode: func(r *stream.Reader, _ *stream.Heap) (realmFile, error) {
	if r.Size() > realmFileMost {
		return realmFile{}, fmt.Errorf("%d bytes; allowed are %d", r.Size(), realmFileMost)
	}
	data := make([]byte, r.Size())
	_, err := io.ReadFull(r, data)
	return realmFile{data}, err
}}

// found begins to build the realm of a level in the manager's, if its files were found.
func (s *Session) found(name string) (*realm.Building, error) {
	var data [2][]byte
	for i, t := range s.walls {
		f, ok := t.Get()
		if !ok {
			return nil, t.Err()
		}
		data[i] = f.data
		t.Close()
	}
	return realm.Open(s.Game.store.level(), name, data[0], data[1])
}

// realm returns the realm of a level, which is built. Without files that can be read, or without room, there is bare
// ground, and Log is told why.
func (s *Session) realm(name string) *realm.Realm {
	r, err := (*realm.Realm)(nil), s.unbuilt
	if s.build != nil {
		r, err = s.build.Wait()
		s.build = nil
	}
	if err == nil {
		return r
	}
	if s.cfg.Log != nil {
		s.cfg.Log(fmt.Errorf("%w; the ground is bare", err))
	}
	s.Game.Lost.Walls++
	return realm.Bare(realm.Unknown(name))
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

// tick is the game's, with a look at the clocks.
func (s *Session) tick(in *engine.Input) error {
	var before time.Duration
	if s.cfg.CPU != nil {
		before = s.cfg.CPU()
	}
	began := time.Now()
	if err := s.Game.Tick(in); err != nil {
		return err
	}
	s.times.add(time.Since(began))
	if s.cfg.CPU != nil {
		s.cpu.add(s.cfg.CPU() - before)
	}
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

// times counts ticks by how long they took, in steps of a thirtieth of an octave: percentiles of a
// run of any length to within 3 %, in memory that is given once.
type times struct {
	count [timesSteps]uint32
	n     uint64
	most  time.Duration
}

const (
	timesFine  = 5 // bits behind the leading one
	timesSteps = 64 << timesFine
)

func newTimes() *times { return &times{} }

// slot returns where a duration counts: its leading bits.
func slot(d time.Duration) int {
	ns := uint64(max(d, 1))
	n := bits.Len64(ns) - 1
	if n <= timesFine {
		return int(ns)
	}
	return (n-timesFine)<<timesFine + int(ns>>(n-timesFine))
}

// unslot returns the middle of a slot in nanoseconds.
func unslot(i int) float64 {
	if i < 2<<timesFine {
		return float64(i)
	}
	shift := i>>timesFine - 1
	return (float64(i&(1<<timesFine-1)|1<<timesFine) + 0.5) * float64(uint64(1)<<shift)
}

func (t *times) add(d time.Duration) {
	t.count[slot(d)]++
	t.n++
	t.most = max(t.most, d)
}

// at returns the duration that a share of the ticks did not exceed, in milliseconds.
func (t *times) at(share float64) float64 {
	left := uint64(share * float64(t.n-1))
	for i, c := range t.count {
		if uint64(c) > left {
			return min(unslot(i), float64(t.most)) / 1e6
		}
		left -= uint64(c)
	}
	return float64(t.most) / 1e6
}

// Percentiles are times of a tick in milliseconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// TickTimes returns how long the ticks took, the game's own work without loading and drawing.
func (s *Session) TickTimes() Percentiles { return s.times.percentiles() }

// TickCPU returns what they took of processors on the game's own thread, assists of the collector
// included, and is zero where SessionConfig.CPU is nil. Whatever else the machine does is not in it.
func (s *Session) TickCPU() Percentiles { return s.cpu.percentiles() }

func (t *times) percentiles() Percentiles {
	if t.n == 0 {
		return Percentiles{}
	}
	return Percentiles{P50: t.at(0.5), P99: t.at(0.99), P999: t.at(0.999), Max: float64(t.most) / 1e6}
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
