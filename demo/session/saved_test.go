package session

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
)

// synced returns a session on autopilot that has played warm ticks at a heat.
func synced(t testing.TB, heat float32, warm uint64) *Session {
	return syncedFrom(t, nil, heat, warm)
}

// syncedFrom is synced with the files of fsys.
func syncedFrom(t testing.TB, fsys fs.FS, heat float32, warm uint64) *Session {
	t.Helper()
	s := newSession(t, Config{Game: game.Config{Seed: 3, Heat: heat, Particles: 100_000}, Autopilot: true, FS: fsys})
	play(t, s, warm)
	return s
}

// slowManifests is the manifests alone, each after a second.
type slowManifests struct{ fs.FS }

func (m slowManifests) Open(name string) (fs.File, error) {
	if !strings.HasPrefix(name, "levels/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	time.Sleep(time.Second)
	return m.FS.Open(name)
}

// While a realm loads, a step leaves the processor to the workers.
func TestSession_StepSleepsWhileARealmLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frames := 0
		s := newSession(t, Config{FS: slowManifests{assets.FS()}, Log: func(error) {}, Stop: func() error {
			if frames++; frames > 5000 {
				return errors.New("the frames of a second were played at once")
			}
			return nil
		}})
		if err := s.stepOnce(); err != nil || s.Game.Ticks != 1 {
			t.Errorf("%d ticks: %v", s.Game.Ticks, err)
		}
	})
}

// A syncRun is a run of Synctest. With procs it runs on that many threads, and with slow the ground arrives late.
type syncRun struct {
	heat            float32
	ticks, distance int
	procs           int
	slow            bool
}

// syncRuns returns the runs of TestSession_Synctest.
func syncRuns() (runs []syncRun, warm uint64) {
	switch {
	case *whole:
		for _, distance := range []int{1, 2, 8} {
			runs = append(runs, syncRun{heat: 5, ticks: 3600, distance: distance}, syncRun{heat: 10, ticks: 600, distance: distance})
		}
		for _, procs := range []int{1, 16} {
			runs = append(runs, syncRun{heat: 5, ticks: 600, distance: 2, procs: procs, slow: true})
		}
		for distance := 1; distance <= 8; distance++ {
			for _, heat := range []float32{0, 5, 10} {
				runs = append(runs, syncRun{heat: heat, ticks: 200, distance: distance})
			}
		}
		return runs, 900
	case !testenv.Full():
		return []syncRun{{heat: 0, ticks: 40, distance: 1}, {heat: 5, ticks: 24, distance: 8}}, 120
	}
	return []syncRun{{heat: 0, ticks: 60, distance: 1}, {heat: 5, ticks: 60, distance: 8, procs: 16, slow: true}}, 300
}

func TestSession_Synctest(t *testing.T) {
	testenv.Long(t)
	runs, warm := syncRuns()
	for _, c := range runs {
		var fsys fs.FS
		if c.slow {
			fsys = stream.Slow(assets.FS(), 80*time.Millisecond, 4e6)
		}
		procs := runtime.GOMAXPROCS(c.procs)
		s := syncedFrom(t, fsys, c.heat, warm)
		s.Paused = true // ends: no tick passes in a pause
		done, err := s.Synctest(c.ticks, c.distance)
		runtime.GOMAXPROCS(procs)
		if err != nil || done.Ticks+done.Skipped != c.ticks || done.Loads == 0 || done.Skipped > c.ticks/4 {
			t.Errorf("%+v: %+v, %v", c, done, err)
		}
		t.Logf("%+v: %+v, %d entities", c, done, s.Game.Entities())
	}
}

// From each of many random moments the game goes on twice, with equal hashes.
func TestSession_MomentsGoOnWithEqualHashes(t *testing.T) {
	testenv.Long(t)
	moments, ticks := 2, 30
	if *whole {
		moments, ticks = 100, 600
	}
	s := synced(t, 5, 90)
	set, err := s.States()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	hashes, slot, ended := make([]uint64, ticks), set.NewSlot(0), 0
	for m := range moments {
		for range rng.IntN(60) {
			if err := s.stepOnce(); err != nil {
				t.Fatal(err)
			}
		}
		slot = saveInto(t, s, set, slot)
		for again := range 2 {
			for i := range hashes {
				if err := s.stepOnce(); err != nil {
					t.Fatal(err)
				}
				if again == 0 {
					hashes[i] = s.Game.Hash()
				} else if s.Game.Hash() != hashes[i] {
					t.Fatalf("moment %d: after %d ticks the hash is %x, was %x", m, i+1, s.Game.Hash(), hashes[i])
				}
			}
			if again == 1 {
				break
			}
			err := errors.Join(s.Rest(), set.Load(slot))
			if errors.Is(err, save.ErrLayout) { // the realm has ended
				ended++
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if t.Logf("%d moments, %d of realms that ended", moments, ended); ended > moments/4 {
		t.Errorf("%d of %d realms ended", ended, moments)
	}
}

// saveInto saves into the slot, or into a longer one.
func saveInto(t *testing.T, s *Session, set *save.Set, slot *save.Slot) *save.Slot {
	t.Helper()
	rest := s.Rest()
	n, err := set.Size()
	if slot == nil || n > slot.Cap() {
		slot = set.NewSlot(n + n/4)
	}
	if err = errors.Join(rest, err, set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	return slot
}

// Slots are saved and loaded in random order. After each load the game goes on with the hashes that it had when it first
// went on from there.
func TestSession_SlotsInRandomOrder(t *testing.T) {
	testenv.Long(t)
	steps, again := 30, 20
	if *whole {
		steps, again = 10_000, 1000
	}
	s := synced(t, 5, 90)
	set, err := s.States()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	type moment struct {
		slot   *save.Slot
		hashes []uint64 // at the save, and after each tick since
	}
	var moments [6]moment
	loads, ended := 0, 0
	// load returns whether the state of m is loaded; it is not if its realm has ended.
	load := func(m *moment) bool {
		err := errors.Join(s.Rest(), set.Load(m.slot))
		if errors.Is(err, save.ErrLayout) {
			m.slot.Clear()
			ended++
			return false
		}
		if loads++; err != nil || s.Game.Hash() != m.hashes[0] {
			t.Fatalf("load %d: the hash is %x, was %x: %v", loads, s.Game.Hash(), m.hashes[0], err)
		}
		return true
	}
	for step := range steps {
		m := &moments[rng.IntN(len(moments))]
		switch {
		case m.slot == nil || !m.slot.Full() || rng.IntN(4) == 0:
			m.slot = saveInto(t, s, set, m.slot)
			m.hashes = append(m.hashes[:0], s.Game.Hash())
		case !load(m):
			continue
		}
		for i := 1; i <= 1+rng.IntN(6); i++ {
			if err := s.stepOnce(); err != nil {
				t.Fatal(err)
			}
			switch hash := s.Game.Hash(); {
			case i == len(m.hashes):
				m.hashes = append(m.hashes, hash)
			case m.hashes[i] != hash:
				t.Fatalf("step %d: %d ticks after a load the hash is %x, was %x", step, i, hash, m.hashes[i])
			}
		}
	}
	for range again {
		if m := &moments[0]; m.slot != nil && m.slot.Full() && !load(m) {
			break
		}
	}
	if err := errors.Join(s.Rest(), s.Check()); err != nil || loads < again || ended > steps/4 {
		t.Errorf("%d loads, %d of realms that had ended: %v", loads, ended, err)
	}
}

// BenchmarkSession_States compares states of the game with copies of as many bytes.
func BenchmarkSession_States(b *testing.B) {
	for _, heat := range []float32{0, 5, 10} {
		b.Run(fmt.Sprintf("heat=%v", heat), func(b *testing.B) {
			s := synced(b, heat, 1200)
			set, err := s.States()
			if err = errors.Join(err, s.Rest()); err != nil {
				b.Fatal(err)
			}
			memtest.BenchSaved(b, set)
		})
	}
}

// scratch are the fields of a Game that are no state: what each tick makes again, tables that the world looks up again,
// and statistics.
var scratch = []string{
	"engine.Tick", "ecs.", "tiers.", "game.grid", "game.horde.columns", "game.horde.walk", "game.horde.doomed", "game.sight", "realm.Flow",
}

// Every other field that can be reached from the game has its value again after a load. A variable that is kept outside
// of the Set is found.
func TestSession_AuditFindsWhatTheSetLacks(t *testing.T) {
	testenv.Long(t)
	s := synced(t, 5, 60)
	set, err := s.States()
	if err != nil {
		t.Fatal(err)
	}
	outside := new(struct{ Ticks uint64 })
	test := func(roots ...any) error {
		_, err := engine.Synctest(engine.Sync{
			Set: set, Ticks: 8, Distance: 4, Hash: s.Game.Hash, Rest: s.Rest, Check: s.Check,
			Step:  func() error { outside.Ticks++; return s.stepOnce() },
			Audit: engine.Fields(scratch, roots...),
		})
		return err
	}
	if err := test(s.Game); err != nil {
		t.Error(err)
	}
	if err := test(s.Game, outside); err == nil || !strings.Contains(err.Error(), ".Ticks: ") {
		t.Errorf("a variable outside of the Set: %v", err)
	}
}
