package session

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A looker is a GroundView that remembers what it was shown, and notices what must not be.
type looker struct {
	t      testing.TB
	rows   map[ground.Sector]int // that have come of each sector held
	shown  map[ground.Sector]uint64
	most   int
	refuse func(s ground.Sector, y int) error
	keep   bool // pictures are to be folded
	folds  map[ground.Sector]uint64
}

func newLooker(t testing.TB) *looker {
	return &looker{t: t, rows: map[ground.Sector]int{}, shown: map[ground.Sector]uint64{}, folds: map[ground.Sector]uint64{}}
}

func (l *looker) Rows(s ground.Sector, y int, rows []byte) error {
	if l.refuse != nil {
		if err := l.refuse(s, y); err != nil {
			return err
		}
	}
	n := len(rows) / (4 * ground.SectorSize)
	if y != l.rows[s] || n == 0 || y+n > ground.SectorSize {
		l.t.Errorf("sector %v: rows %d to %d after %d", s, y, y+n, l.rows[s])
	}
	if l.keep {
		if y == 0 {
			l.folds[s] = 14695981039346656037
		}
		for _, b := range rows {
			l.folds[s] = (l.folds[s] ^ uint64(b)) * 1099511628211
		}
	}
	l.rows[s] = y + n
	l.most = max(l.most, len(l.rows))
	return nil
}

func (l *looker) Hide(s ground.Sector) {
	if l.rows[s] == 0 {
		l.t.Errorf("sector %v is hidden, and nothing of it was shown", s)
	}
	delete(l.rows, s)
}

// otherFiles is the game's files, some of them others, some behind a call.
type otherFiles struct {
	fs.FS
	other map[string][]byte // nil: there is none
	open  func(name string)
}

func (f otherFiles) Open(name string) (fs.File, error) {
	if f.open != nil {
		f.open(name)
	}
	if data, ok := f.other[name]; ok {
		if data == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return fstest.MapFS{name: {Data: data}}.Open(name)
	}
	return f.FS.Open(name)
}

// still plays frames in which the plan is told of a place, and the game stands still.
func still(t testing.TB, s *Session, at vec, until func() bool) {
	t.Helper()
	s.Paused = true
	defer func() { s.Paused = false }()
	for end := testenv.Deadline(t); !until(); {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if s.Playing() {
			s.Ground.tick(at, vec{})
		}
		time.Sleep(100 * time.Microsecond)
		if time.Now().After(end) {
			t.Fatalf("not before the deadline; %+v", s.Ground.Stats())
		}
	}
}

// inView are the sectors that a place shows.
func inView(at vec) (list []ground.Sector) {
	for y := int(at[1]-180) / ground.SectorSize; y <= int(at[1]+180)/ground.SectorSize; y++ {
		for x := int(at[0]-320) / ground.SectorSize; x <= int(at[0]+320)/ground.SectorSize; x++ {
			list = append(list, ground.Sector{X: uint8(x), Y: uint8(y)})
		}
	}
	return list
}

func (s *Session) allShown(at vec) bool {
	for _, x := range inView(at) {
		if !s.Ground.Shown(x) {
			return false
		}
	}
	return true
}

// under are places far from each other, in the middle of the realm.
var under = []vec{{3000, 3000}, {8000, 3100}, {7900, 8200}, {3100, 8000}}

func TestGround_WhatIsInViewComesAndThenNothingIsSoft(t *testing.T) {
	testenv.Long(t)
	l := newLooker(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	at := under[0]
	still(t, s, at, func() bool { return s.allShown(at) })
	for _, x := range inView(at) {
		if l.rows[x] != ground.SectorSize {
			t.Errorf("sector %v is said to be there with %d rows", x, l.rows[x])
		}
	}
	before := s.Ground.Stats()
	for range 60 {
		s.Ground.tick(at, vec{})
	}
	after := s.Ground.Stats()
	if after.SoftSeconds != before.SoftSeconds || after.SeenSeconds <= before.SeenSeconds {
		t.Errorf("a second of rest: soft for %g s, then %g", before.SoftSeconds, after.SoftSeconds)
	}
	check(t, s)
}

func TestGround_ResidencyStaysUnderTheBudget(t *testing.T) {
	testenv.Long(t)
	const room = 8
	l := newLooker(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, GroundBytes: room * ground.Bytes})
	play(t, s, 1)
	l.refuse = func(x ground.Sector, y int) error {
		if y == 0 && len(l.rows) >= room {
			return errors.New("more than there is room for")
		}
		return nil
	}
	for _, at := range under[:3] {
		still(t, s, at, func() bool { return s.allShown(at) })
	}
	if st := s.Ground.Stats(); st.Peak > room || l.most > room || st.Dropped == 0 {
		t.Errorf("%d sectors were held, %d shown, %d let go; there is room for %d", st.Peak, l.most, st.Dropped, room)
	}
	if n := s.Stream.Stats().Failures; n != 0 {
		t.Errorf("%d failures", n)
	}
	check(t, s)
}

func TestGround_TwoWaysToAPlaceShowTheSame(t *testing.T) {
	testenv.Long(t)
	fold := func(way ...vec) map[ground.Sector]uint64 {
		l := newLooker(t)
		l.keep = true
		s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, GroundBytes: 8 * ground.Bytes})
		play(t, s, 1)
		var at vec
		for _, at = range way {
			still(t, s, at, func() bool { return s.allShown(at) })
		}
		out := map[ground.Sector]uint64{}
		for _, x := range inView(at) {
			out[x] = l.folds[x]
		}
		return out
	}
	a, b := fold(under[1]), fold(under[2], vec{7800, 3600}, under[1])
	if fmt.Sprint(a) != fmt.Sprint(b) || len(a) == 0 {
		t.Errorf("%x, and %x by another way", a, b)
	}
}

func TestGround_DoesNotReachTheGame(t *testing.T) {
	testenv.Long(t)
	ticks := played(600)
	hash := func(v GroundView) uint64 {
		s := newSession(t, Config{Game: game.Config{Seed: 7}, View: v, GroundBytes: 8 * ground.Bytes})
		play(t, s, ticks)
		return s.Game.Hash()
	}
	without := plainly(t, ticks)
	if with := hash(newLooker(t)); with != without {
		t.Errorf("hash %x, and %x with the ground", without, with)
	}
	if !*whole {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if alone := hash(newLooker(t)); alone != without {
		t.Errorf("hash %x, and %x with the ground on one processor", without, alone)
	}
}

func TestGround_FilesThatDoNotComeHoldNothingUp(t *testing.T) {
	testenv.Long(t)
	pass := make(chan struct{})
	files := otherFiles{FS: assets.FS(), open: func(name string) {
		if strings.HasSuffix(name, ".rec") {
			<-pass
		}
	}}
	cfg := Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes, FS: files}
	cfg.Patience = time.Hour // where everything is watched, and shared, two times 300 ticks may take longer than a worker is waited for
	s := newSession(t, cfg)
	ticks := played(300)
	play(t, s, ticks)
	if a, b := plainly(t, ticks), s.Game.Hash(); a != b {
		t.Errorf("hash %x, and %x without recipes", a, b)
	}
	if st := s.Ground.Stats(); st.Ready != 0 || st.SoftSeconds != st.SeenSeconds || st.Peak > 8 {
		t.Errorf("%+v", st)
	}
	close(pass)
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	check(t, s)
}

func TestGround_EndOfARealmLeavesNothing(t *testing.T) {
	testenv.Long(t)
	l := newLooker(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l})
	realms := 4 - testenv.Step(2) // two unless the long tests run
	for range realms {
		play(t, s, 1)
		still(t, s, under[1], func() bool { return len(l.rows) > 2 })
		s.Ground.tick(under[3], vec{}) // workers are in the middle of it
		time.Sleep(3 * time.Millisecond)
		s.Game.Restart()
		s.Flow.Go([]string{"tide", "spore", "ember"}[len(s.Leaks)%3])
		if len(l.rows) != 0 {
			t.Errorf("sectors %v are there after their realm", l.rows)
		}
	}
	play(t, s, 1)
	for i, leaks := range s.Leaks {
		if leaks.Any() {
			t.Errorf("realm %d: %+v", i, leaks)
		}
	}
	check(t, s)
	if len(s.Leaks) != realms {
		t.Errorf("%d realms have ended", len(s.Leaks))
	}
}

// A realm that nobody has flown to yet may be left: its stamps come when no realm is played.
func TestGround_LeavingWhileTheStampsAreLoading(t *testing.T) {
	testenv.Long(t)
	for _, file := range []string{"stamps.png", "player.png"}[:3-testenv.Step(2)] { // one unless the long tests run
		t.Run(file, func(t *testing.T) {
			entered, pass := make(chan struct{}, 8), make(chan struct{})
			l := newLooker(t)
			s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, FS: otherFiles{FS: assets.FS(), open: func(name string) {
				if strings.HasSuffix(name, file) {
					select {
					case entered <- struct{}{}:
					default:
					}
					<-pass
				}
			}}})
			for len(entered) == 0 {
				if err := s.Frame(engine.Input{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			s.Flow.Go("tide")
			close(pass)
			time.Sleep(20 * time.Millisecond) // it is ready, and no realm is there
			play(t, s, 1)
			still(t, s, under[0], func() bool { return s.allShown(under[0]) })
			check(t, s)
		})
	}
}

// The frame in which a key ends the attract mode is the last of its realm: what it asked for after
// that would come in the next one.
func TestGround_AKeyEndsTheAttractModeAndItsGround(t *testing.T) {
	testenv.Long(t)
	l := newLooker(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, Attract: true})
	s.cfg.Autopilot = false
	play(t, s, 1)
	s.Game.Player.P = s.Game.Realm.Open(under[2], 9) // where other sectors are wanted
	var in engine.Input
	in.Pressed.Set(game.AnyKey, true)
	if err := s.Frame(in); err != nil {
		t.Fatal(err)
	}
	if s.Attract || s.Playing() {
		t.Fatal("the attract mode goes on")
	}
	if n := s.Flow.Scope().Len(); n != 0 {
		t.Errorf("%d requests of a realm that is left", n)
	}
	play(t, s, 1)
	check(t, s)
}

// The stamps go when the streamer closes, and workers may be drawing with them.
func TestGround_CloseInTheMiddleOfComposing(t *testing.T) {
	testenv.Long(t)
	for i := 0; i < 4; i += testenv.Step(2) {
		s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes})
		play(t, s, 1)
		s.Ground.tick(under[i%4], vec{})
		for s.Stream.Stats().InFlight == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Duration(i) * 900 * time.Microsecond)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGround_SlicesEndWhereASectorIsLetGo(t *testing.T) {
	testenv.Long(t)
	l := newLooker(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	s.Ground.handOver.slice = 0 // 128 rows a frame
	cut := 0
	for i := 0; cut < 6 && i < 400; i++ {
		s.Ground.tick(under[i%4], vec{})
		partly := func() bool {
			for _, n := range l.rows {
				if n < ground.SectorSize {
					return true
				}
			}
			return false
		}
		for range 200 {
			if s.Stream.Poll(); partly() {
				cut++
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
		for range 130 { // longer than what was asked for lingers
			s.Ground.plan.Tick(under[(i+1)%4][0], under[(i+1)%4][1], 0, 0)
			for _, x := range s.Ground.plan.Drop() {
				s.Ground.cancel(x)
			}
		}
	}
	if cut < 6 {
		t.Errorf("%d sectors were let go in the middle of a hand-over", cut)
	}
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	check(t, s)
}

func TestGround_SteadyFlightAllocatesNothingOnTheGameGoroutine(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	if n := testing.AllocsPerRun(100, func() { s.Ground.tick(under[0], vec{}); s.Stream.Poll() }); n != 0 {
		t.Errorf("%g objects a tick at rest", n)
	}
	// Of those that are on their way a worker makes a few: a name, a file, a value.
	l := s.Ground.view.(*looker)
	clear(l.folds)
	before, asked := mallocs(), s.Ground.Stats().Ready
	for _, at := range under[1 : 4-testenv.Step(2)] {
		still(t, s, at, func() bool { return s.allShown(at) })
	}
	after, ready := mallocs(), s.Ground.Stats().Ready
	each := float64(after-before) / float64(max(ready-asked, 1))
	t.Logf("%d sectors, %.1f objects each", ready-asked, each)
	if each > 40 {
		t.Errorf("%.1f objects a sector", each)
	}
}

func TestGround_StampsStayUntilNobodyDrawsWithThem(t *testing.T) {
	st := &stamps{}
	st.current.Store(&ground.Stamps{})
	st.acquire()
	gone := make(chan struct{})
	go func() { st.drop(); close(gone) }()
	select {
	case <-gone:
		t.Error("the stamps have gone, and somebody draws with them")
	case <-time.After(20 * time.Millisecond):
	}
	if st.current.Load() != nil {
		t.Error("somebody else may begin to draw")
	}
	st.release()
	<-gone
}

// An artist may save a picture of another size. Until the next one the ground keeps its stamps.
func TestGround_AStampsFileOfAnotherSizeLeavesTheOld(t *testing.T) {
	st := &stamps{}
	side := ground.StampSize
	old := &stampsPicture{make([]byte, 4*side*side), side, side}
	if err := st.deliver("stamps.png", old, nil); err != nil {
		t.Fatal(err)
	}
	was := st.current.Load()
	if err := st.deliver("stamps.png", &stampsPicture{make([]byte, 4*side), side, 1}, old); err == nil || st.current.Load() != was {
		t.Errorf("%v; the stamps are %p, were %p", err, st.current.Load(), was)
	}
	if err := st.deliver("stamps.png", &stampsPicture{make([]byte, 4*side*side), side, side}, old); err != nil || st.current.Load() == was {
		t.Errorf("%v; the stamps are the old ones", err)
	}
}

// A changed file of a sector is handed over in slices. If a later change cancels that, the sector is still shown.
func TestGround_ACancelledReloadHidesNothing(t *testing.T) {
	v := NewStandIn()
	g := &Ground{view: v}
	g.handOver.slice = -1 // 128 rows a frame
	g.plan.Reset(ground.Bytes)
	pixels := make([]byte, ground.Bytes)
	deliver := func(p, old *sectorPicture, most int) (err error) {
		for range most {
			if err = g.deliver("", p, old); err != stream.ErrMore {
				break
			}
		}
		return err
	}
	first, second, third := &sectorPicture{pixels: pixels}, &sectorPicture{pixels: pixels}, &sectorPicture{pixels: pixels}
	if err := deliver(first, nil, 9); err != nil {
		t.Fatal(err)
	}
	if err := deliver(second, first, 2); err != stream.ErrMore {
		t.Fatal(err)
	}
	if g.release("", second); len(v.shown) != 1 || g.handOver.tiles != 1 {
		t.Errorf("after the cancellation %d sectors are shown, and %d counted", len(v.shown), g.handOver.tiles)
	}
	if err := deliver(third, first, 9); err != nil {
		t.Fatal(err)
	}
	if g.release("", first); len(v.shown) != 1 || g.handOver.tiles != 1 {
		t.Errorf("after a further change %d sectors are shown, and %d counted", len(v.shown), g.handOver.tiles)
	}
	if g.release("", third); len(v.shown) != 0 || g.handOver.tiles != 0 {
		t.Errorf("in the end %d sectors are shown, and %d counted", len(v.shown), g.handOver.tiles)
	}
}

// A refusing view takes the rows of a sector up to one, where it fails.
type refusing struct {
	*StandIn
	at int
}

func (v *refusing) Rows(s ground.Sector, y int, rows []byte) error {
	if y == v.at {
		return errors.New("refused")
	}
	return v.StandIn.Rows(s, y, rows)
}

// If the view refuses rows of a reload, it has neither picture of the sector, and no statistic counts one.
func TestGround_AReloadThatIsRefusedIsNotCounted(t *testing.T) {
	for _, at := range []int{0, sliceRows, ground.SectorSize - sliceRows} {
		v := &refusing{NewStandIn(), -1}
		g := &Ground{view: v}
		g.handOver.slice = time.Hour
		g.plan.Reset(ground.Bytes)
		g.plan.Tick(1, 1, 0, 0)
		pixels := make([]byte, ground.Bytes)
		old, next := &sectorPicture{pixels: pixels}, &sectorPicture{pixels: pixels}
		if err := g.deliver("", old, nil); err != nil || !g.Shown(old.sector) {
			t.Fatal(err)
		}
		v.at = at
		if err := g.deliver("", next, old); err == nil {
			t.Fatal("the view has refused nothing")
		}
		if len(v.shown) != 0 || g.handOver.tiles != 0 || g.handOver.half != nil || g.Shown(old.sector) {
			t.Errorf("row %d: the view has %d sectors, %d are counted; shown: %v", at, len(v.shown), g.handOver.tiles, g.Shown(old.sector))
		}
		g.plan.Tick(1, 1, 0, 0)
		if len(g.plan.Want()) != 1 {
			t.Errorf("row %d: %v is wanted", at, g.plan.Want())
		}
		g.release("", old)
		g.release("", next)
		v.at = -1
		if err := g.deliver("", &sectorPicture{pixels: pixels}, nil); err != nil || g.handOver.tiles != 1 || !g.Shown(old.sector) {
			t.Errorf("row %d: %v, %d are counted", at, err, g.handOver.tiles)
		}
	}
}

// Workers compare a file's name with its sector for each sector that comes into reach.
func TestSectorFile_IsRecognizedWithoutAnObject(t *testing.T) {
	s := ground.Sector{X: 4, Y: 23}
	for name, want := range map[string]bool{"realms/ember/04_23.rec": true, "04_23.rec": false, "realms/ember/x04_23.rec": false, "realms/ember/04_22.rec": false, "": false} {
		got := false
		if n := testing.AllocsPerRun(10, func() { got = isSectorFile(name, s) }); got != want || n != 0 {
			t.Errorf("%q: %v and %v objects, want %v", name, got, n, want)
		}
	}
	if sectorFile(s) != "04_23.rec" {
		t.Error(sectorFile(s))
	}
}
