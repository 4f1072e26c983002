package session

import (
	"errors"
	"io/fs"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// small keeps the heap backing of race builds affordable.
var small = tiers.Config{Reserve: [tiers.Count]uintptr{tiers.Static: 4 << 20, tiers.Frame: 4 << 20, tiers.Level: 16 << 20, tiers.Pools: 80 << 20, tiers.Slab: 4 << 20, tiers.Large: 8 << 20, tiers.Inbox: 8 << 20}}

func newSession(t testing.TB, cfg Config) *Session {
	t.Helper()
	if cfg.FS == nil {
		cfg.FS = assets.FS()
	}
	if cfg.Memory.Reserve == [tiers.Count]uintptr{} {
		cfg.Memory.Reserve = small.Reserve
	}
	cfg.Autopilot = true
	if cfg.Log == nil {
		cfg.Log = func(err error) { t.Log(err) }
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// play runs until the game has made n more ticks.
func play(t testing.TB, s *Session, n uint64) {
	t.Helper()
	for stop := s.Game.Ticks + n; s.Game.Ticks < stop; {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if !s.Playing() {
			time.Sleep(50 * time.Microsecond) // the workers are loading
		}
	}
}

func check(t testing.TB, s *Session) {
	t.Helper()
	if err := errors.Join(s.EndFrame(), s.Check()); err != nil {
		t.Error(err)
	}
}

// plainly is the state after so many ticks of seed 7, played once for all tests that compare with it.
func plainly(t *testing.T, ticks uint64) uint64 {
	t.Helper()
	plain.once.Do(func() {
		plain.hash = map[uint64]uint64{}
		s := newSession(t, Config{Game: game.Config{Seed: 7}})
		for _, stop := range []uint64{300, 400, 600, 1200, 1300} {
			play(t, s, played(stop)-s.Game.Ticks)
			plain.hash[played(stop)] = s.Game.Hash()
		}
	})
	h, ok := plain.hash[ticks]
	if !ok {
		t.Fatalf("the state after %d ticks is unknown", ticks)
	}
	return h
}

var plain struct {
	once sync.Once
	hash map[uint64]uint64 // by ticks
}

func TestSession_HashIsAFunctionOfTheSeed(t *testing.T) {
	hash := func(seed, ticks uint64) uint64 {
		s := newSession(t, Config{Game: game.Config{Seed: seed}})
		play(t, s, ticks)
		return s.Game.Hash()
	}
	ticks := played(1300)
	first := plainly(t, ticks)
	if again := hash(7, ticks); again != first {
		t.Errorf("seed 7 gave %x and then %x", first, again)
	}
	if *whole { // HashIsTheSameForAnyNumberOfProcessors compares every tick
		procs := runtime.GOMAXPROCS(1)
		alone := hash(7, ticks)
		runtime.GOMAXPROCS(procs)
		if alone != first {
			t.Errorf("seed 7 gave %x, and %x on one processor", first, alone)
		}
	}
	if other, first := hash(8, played(300)), plainly(t, played(300)); other == first {
		t.Errorf("seeds 7 and 8 both gave %x", first)
	}
}

// bare plays the game by itself, with nothing but memory and a realm, and returns its hash.
func bare(t *testing.T, cfg game.Config, ticks uint64) uint64 {
	t.Helper()
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	m, err := tiers.New(tiers.Config{Reserve: small.Reserve, Workers: 1, Tags: true})
	must(err)
	defer func() { must(m.Close()) }()
	g, err := game.New(m, cfg)
	must(err)
	defer func() { must(g.Close()) }()
	data, err := fs.ReadFile(assets.FS(), "levels/ember.json")
	must(err)
	l, err := manifest.Parse("levels/ember.json", data)
	must(err)
	must(m.BeginLevel())
	text, err := fs.ReadFile(assets.FS(), realm.Files("ember")[0])
	must(err)
	walls, err := fs.ReadFile(assets.FS(), realm.Files("ember")[1])
	must(err)
	b, err := realm.Open(m.Level(), "ember", text, walls, nil)
	must(err)
	r, err := b.Wait()
	must(err)
	must(g.Begin(l, r))
	for range ticks {
		must(m.BeginFrame())
		in := g.Autopilot()
		must(g.Tick(&in))
		must(m.EndFrame())
	}
	return g.Hash()
}

// A session loads, streams and measures, and the game is the one that is played without it.
func TestSession_GameIsTheOneWithoutASession(t *testing.T) {
	testenv.Long(t)
	ticks := played(400)
	if a, b := plainly(t, ticks), bare(t, game.Config{Seed: 7}, ticks); a != b {
		t.Errorf("hash %x in a session, and %x without one", a, b)
	}
}

// The files' order of arrival must not reach the simulation: a slow disk, the same game.
func TestSession_LoadingTimeDoesNotReachTheGame(t *testing.T) {
	testenv.Long(t)
	ticks := played(1200)
	slow := newSession(t, Config{Game: game.Config{Seed: 7}, FS: slowFS{assets.FS()}})
	play(t, slow, ticks)
	if a, b := plainly(t, ticks), slow.Game.Hash(); a != b {
		t.Errorf("hash %x, and %x from a slow disk", a, b)
	}
}

// played returns how many ticks a comparison of states plays: most of them in .ci/nightly, at most 300 if the long tests
// run, and 200 otherwise. In 200 ticks enemies are hit, fields are replaced, and all goroutines meet.
func played(most uint64) uint64 {
	switch {
	case *whole:
		return most
	case testenv.Full():
		return min(most, 300)
	}
	return 200
}

type slowFS struct{ fs.FS }

func (s slowFS) Open(name string) (fs.File, error) {
	time.Sleep(2 * time.Millisecond)
	return s.FS.Open(name)
}

func TestSession_PausedFramesDoNotReachTheGame(t *testing.T) {
	testenv.Long(t)
	ticks := played(400)
	b := newSession(t, Config{Game: game.Config{Seed: 7}})
	play(t, b, ticks/2)
	for i := range 9 {
		var in engine.Input
		in.Pressed.Set(game.Pause, i == 0 || i == 8)
		if err := b.Frame(in); err != nil {
			t.Fatal(err)
		}
	}
	play(t, b, ticks-b.Game.Ticks)
	if x, y := plainly(t, ticks), b.Game.Hash(); x != y {
		t.Errorf("hash %x, and %x after a pause", x, y)
	}
}

func TestSession_SteadyLevelAllocatesNothing(t *testing.T) {
	s := newSession(t, Config{Game: game.Config{Seed: 7, Enemies: 200}})
	play(t, s, 240)
	frame := func() {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(300, frame); n != 0 {
		t.Errorf("a frame costs %v Go allocations", n)
	}
}

func TestSession_PlayIsSparedCollections(t *testing.T) {
	testenv.Long(t)
	if page.Default() == page.Heap() {
		t.Log("on the heap backing the tiers themselves are Go memory; the figure means nothing")
		return
	}
	s := newSession(t, Config{Game: game.Config{Seed: 7}})
	play(t, s, 3600)
	var snap tiers.Snapshot
	s.Mem.Snapshot(&snap)
	if snap.Go.InPlay > 1 {
		t.Errorf("%d collections in 3,600 ticks of play", snap.Go.InPlay)
	}
}

// The collection during the fade comes when the host has allocated what it keeps, or after two seconds.
func TestSession_CollectsWhenTheHostIsReady(t *testing.T) {
	testenv.Long(t)
	ready, asked := false, 0
	s := newSession(t, Config{Game: game.Config{Seed: 7}, Ready: func() bool { asked++; return ready }})
	play(t, s, 40)
	if s.settling == 0 || asked < 20 {
		t.Errorf("40 ticks of a host that is not ready: %d frames, asked %d times", s.settling, asked)
	}
	ready = true
	if play(t, s, 1); s.settling != 0 {
		t.Error("the host is ready, and there is no collection")
	}
	s.settling, ready = 1, false
	if play(t, s, settleMost+1); s.settling != 0 {
		t.Error("the host is never ready, and there is no collection")
	}
}

func TestSession_EveryTierIsUsed(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}})
	play(t, s, 300)
	var snap tiers.Snapshot
	s.Mem.Snapshot(&snap)
	for _, x := range snap.Tiers {
		if x.Peak == 0 || x.Allocs == 0 {
			t.Errorf("%v: peak %d, %d allocations", x.Tier, x.Peak, x.Allocs)
		}
	}
	if snap.Tiers[tiers.Inbox].Frees == 0 {
		t.Error("no block came home through an inbox")
	}
}

// Each tier in turn gets a tenth of what the game uses of it at most. The game must go on,
// with less, and the tier must say that it refused.
func TestSession_SurvivesEveryTierCutToATenth(t *testing.T) {
	testenv.Long(t)
	ticks := uint64(450)
	if *whole {
		ticks = 900
	}
	free := newSession(t, Config{Game: game.Config{Seed: 7}})
	play(t, free, ticks)
	var snap tiers.Snapshot
	free.Mem.Snapshot(&snap)
	for _, x := range snap.Tiers {
		t.Run(x.Tier.String(), func(t *testing.T) {
			cfg := Config{Game: game.Config{Seed: 7}, Memory: small}
			cfg.Memory.Budget[x.Tier] = max(uintptr(x.Peak/10), 1)
			if x.Tier == tiers.Frame { // two buffers of at least a granule each
				cfg.Memory.Budget[x.Tier] = 2 * page.Granule
			}
			if x.Tier == tiers.Inbox { // enough for the manifest, not for its larger pictures
				cfg.Memory.Budget[x.Tier] = 2 * (256 << 10)
			}
			s := newSession(t, cfg)
			play(t, s, ticks)
			var cut tiers.Snapshot
			s.Mem.Snapshot(&cut)
			got := cut.Tiers[x.Tier]
			if got.Failures == 0 {
				t.Errorf("with a budget of %d of %d bytes no failure was counted", got.Budget, x.Peak)
			}
			if got.Committed > got.Budget {
				t.Errorf("committed %d of a budget of %d", got.Committed, got.Budget)
			}
			check(t, s)
		})
	}
}

func TestSession_AllTiersCutAtOnce(t *testing.T) {
	cfg := Config{Game: game.Config{Seed: 7}, Memory: small}
	for i := range cfg.Memory.Budget {
		cfg.Memory.Budget[i] = 64 << 10
	}
	cfg.Memory.Budget[tiers.Inbox] = 512 << 10
	s := newSession(t, cfg)
	play(t, s, 600)
	if s.Game.Lost == (game.Lost{}) {
		t.Error("nothing was lost with 64 KiB a tier")
	}
	check(t, s)
}

// files is a copy of the game's files, to be damaged.
func files(t testing.TB) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	err := fs.WalkDir(assets.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(assets.FS(), p)
		m[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSession_DamagedPicturesAreNamedAndTheGameGoesOn(t *testing.T) {
	testenv.Long(t)
	m := files(t)
	delete(m, "art/lancer.png")
	m["art/warden.png"] = &fstest.MapFile{Data: m["art/warden.png"].Data[:2000]}
	m["art/drifter.png"] = &fstest.MapFile{Data: []byte("this is no picture")}
	shown := map[string]bool{}
	var log strings.Builder
	note := func(err error) { log.WriteString(err.Error() + "\n") }
	s := newSession(t, Config{Game: game.Config{Seed: 7}, FS: m, Log: note, Sink: func(id string, _ stream.Picture) error {
		shown[id] = true
		return nil
	}})
	play(t, s, 300)
	for _, name := range []string{"art/lancer.png", "art/warden.png", "art/drifter.png"} {
		if strings.Count(log.String(), name) != 1 {
			t.Errorf("not one error names %s in:\n%s", name, log.String())
		}
	}
	if n := s.Stream.Stats().Failures; n != 3 {
		t.Errorf("%d failures, want 3", n)
	}
	if shown["lancer"] || shown["warden"] || !shown["player"] {
		t.Errorf("shown: %v", shown)
	}
	check(t, s)
}

func TestSession_DamagedManifestsAreErrors(t *testing.T) {
	good := string(files(t)["levels/ember.json"].Data)
	for name, c := range map[string]struct{ data, want string }{
		"truncated":       {good[:len(good)/2], "levels/ember.json"},
		"negative rate":   {strings.Replace(good, `"rate": `, `"rate": -`, 1), "ambient.rate"},
		"unknown field":   {strings.Replace(good, `"next"`, `"waves": [], "next"`, 1), "waves: unknown field"},
		"missing picture": {strings.Replace(good, `"file": "art/player.png"`, `"file": "../player.png"`, 1), `"../player.png" is not a path inside the file system`},
		"empty":           {"", "levels/ember.json"},
	} {
		m := files(t)
		m["levels/ember.json"] = &fstest.MapFile{Data: []byte(c.data)}
		s := newSession(t, Config{FS: m})
		var err error
		for end := testenv.Deadline(t); err == nil && !s.Playing() && time.Now().Before(end); {
			err = s.Frame(engine.Input{})
			time.Sleep(50 * time.Microsecond)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v; want %q", name, err, c.want)
		}
	}
}

// A realm that cannot be read is one line that names it, and the game plays on, on bare ground.
func TestSession_DamagedRealmsAreNamedAndTheGameGoesOn(t *testing.T) {
	for want, damage := range map[string]func(fstest.MapFS){
		"realms/ember.json: seals[0]": func(m fstest.MapFS) {
			m["realms/ember.json"].Data = regexp.MustCompile(`("seals":\s*\[\s*\[\s*)`).ReplaceAll(m["realms/ember.json"].Data, []byte("$1-"))
		},
		"realms/ember.walls: length: 1000 bytes; allowed":        func(m fstest.MapFS) { m["realms/ember.walls"].Data = m["realms/ember.walls"].Data[:1000] },
		`"realms/ember.json": reading: file does not exist; the`: func(m fstest.MapFS) { delete(m, "realms/ember.json") },
	} {
		m := files(t)
		damage(m)
		var log []string
		s := newSession(t, Config{Game: game.Config{Seed: 7}, FS: m, Log: func(err error) { log = append(log, err.Error()) }})
		play(t, s, 300)
		if len(log) != 1 || !strings.Contains(log[0], want) {
			t.Errorf("%q is not the one line of %q", want, log)
		}
		if s.Game.Lost.Walls != 1 || s.Game.Enemies() == 0 {
			t.Errorf("lost %+v, %d enemies", s.Game.Lost, s.Game.Enemies())
		}
		check(t, s)
	}
}

func TestSession_AKeyEndsTheAttractMode(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Attract: true})
	s.cfg.Autopilot = false
	play(t, s, 120)
	s.Paused = true
	if err := s.Frame(engine.Input{Pressed: game.AnyKey}); err != nil {
		t.Fatal(err)
	}
	if s.Attract || s.Paused || s.Playing() {
		t.Errorf("the game still plays itself: attract %t, paused %t", s.Attract, s.Paused)
	}
	play(t, s, 300)
	if s.Game.Kills != 0 {
		t.Errorf("%d kills without a finger lifted", s.Game.Kills)
	}
	check(t, s)
}

// Realms change, the round's last leads to the first, and nothing leaks on the way.
func TestSession_AutopilotGoesFromRealmToRealm(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 2}})
	play(t, s, 60)
	for i := range 3 { // as the end of a realm would have it
		s.Game.Phase, s.Game.PhaseTime, s.Game.PortalAt = game.Opened, 0, s.Game.Player.P
		for s.RealmsEnded() == i {
			play(t, s, 1)
		}
		play(t, s, played(400)/2)
		check(t, s)
	}
	if s.Game.Round != 1 || s.Game.Manifest.Name != "ember" {
		t.Errorf("round %d of %s after three realms", s.Game.Round, s.Game.Manifest.Name)
	}
	for _, l := range s.Leaks {
		if l.Any() {
			t.Error(l)
		}
	}
}

func TestSession_AGuardedGameIsCleanAndTheSame(t *testing.T) {
	testenv.Long(t)
	var log []error
	guarded := newSession(t, Config{Game: game.Config{Seed: 7, Guard: true}, Log: func(err error) { log = append(log, err) }})
	ticks := played(1200)
	play(t, guarded, ticks)
	if a, b := plainly(t, ticks), guarded.Game.Hash(); a != b {
		t.Errorf("hash %x, and %x under guard", a, b)
	}
	if len(log) > 0 {
		t.Errorf("the guard found %v", log)
	}
}

func TestSession_CloseAtAnyMoment(t *testing.T) {
	testenv.Long(t)
	for _, ticks := range []uint64{0, 1, 50} {
		s := newSession(t, Config{})
		if ticks > 0 {
			play(t, s, ticks)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Errorf("after %d ticks: %v", ticks, err)
		}
	}
}

// An idle tick of many enemies, with collisions on and nobody shooting: all over the realm, and as
// the horde that has come.
func BenchmarkTick(b *testing.B) {
	for _, c := range []struct {
		name    string
		enemies int
		heat    float32
	}{{"realm", 0, 0}, {"enemies=10k", 10_000, 0}, {"enemies=20k", 20_000, 0}, {"enemies=50k", 50_000, 0}, {"enemies=100k", 100_000, 0}, {"enemies=200k", 200_000, 0}, {"horde=20k", 0, game.HeatMost}} {
		b.Run(c.name, func(b *testing.B) {
			s := newSession(b, Config{Game: game.Config{Seed: 7, Enemies: c.enemies, Heat: c.heat}, Memory: tiers.Config{Reserve: [tiers.Count]uintptr{tiers.Frame: 32 << 20, tiers.Pools: 192 << 20}}})
			play(b, s, 60)
			if err := s.EndFrame(); err != nil {
				b.Fatal(err)
			}
			var idle engine.Input
			tick := func() { // the tick alone, with nobody shooting and nobody dying
				s.Game.Player.Safe = 1
				if err := s.Mem.BeginFrame(); err != nil {
					b.Fatal(err)
				}
				if err := s.Game.Tick(&idle); err != nil {
					b.Fatal(err)
				}
				if err := s.Mem.EndFrame(); err != nil {
					b.Fatal(err)
				}
			}
			want := 12
			if c.heat > 0 {
				want = 18_000
			}
			for s.Game.Enemies() < want {
				tick()
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := cpuTime()
			for b.Loop() {
				tick()
			}
			b.ReportMetric(float64(cpuTime()-began)/float64(b.N)/float64(s.Game.Enemies()), "cpu-ns/enemy")
			if s.Game.Lost.Grids > 0 {
				b.Errorf("%d grids were lost", s.Game.Lost.Grids)
			}
			n := s.Game.Enemies()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/enemy")
			seen := 0
			s.Game.EachSeen(func(*game.Seen) { seen++ })
			b.ReportMetric(float64(seen), "seen")
		})
	}
}

func TestSession_SoftMarkOfThePoolsShrinksTheWorld(t *testing.T) {
	testenv.Long(t)
	told := 0
	m := small
	m.SoftMark, m.OnSoft = 0.0001, func(tier tiers.Tier, _, _ uintptr) {
		if tier == tiers.Pools {
			told++
		}
	}
	s := newSession(t, Config{Game: game.Config{Seed: 7}, Memory: m})
	for i := 0; !s.short; i++ {
		if i > 60_000 {
			t.Fatalf("told %d times", told)
		}
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if !s.Playing() {
			time.Sleep(50 * time.Microsecond)
		}
	}
	n := told
	play(t, s, 1)
	if s.short && told == n {
		t.Error("the tick does not look at the mark")
	}
	ticks := played(1200)
	play(t, s, ticks-s.Game.Ticks)
	if h := s.Game.Hash(); h != plainly(t, ticks) {
		t.Errorf("hash %#x: the simulation noticed", h)
	}
	check(t, s)
}
