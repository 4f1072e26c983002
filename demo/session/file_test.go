package session

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
)

// written returns a file of the run.
func written(t testing.TB, s *Session) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b, s.About()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// restored returns a new session, with a seed of its own, that has read the file.
func restored(t testing.TB, file []byte) *Session {
	t.Helper()
	s := newSession(t, Config{Game: game.Config{Seed: 99, Particles: 100_000}, Realm: "tide"})
	play(t, s, 100) // it has a history
	if err := s.Restore(file, nil); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = s.Restored(); err != nil {
			t.Fatal(err)
		}
		if !done {
			if err := s.EndFrame(); err != nil {
				t.Fatal(err)
			}
			s.Flow.Update()
		}
	}
	return s
}

// A run that was read goes on with the hashes of the run that was written, into the next realm.
func TestSession_RestoredRunGoesOn(t *testing.T) {
	testenv.Long(t)
	runs := map[float32]uint64{0: 300, 4: 200}
	ticks := uint64(60)
	if *whole {
		runs, ticks = map[float32]uint64{0: 300, 10: 240}, 600
	}
	for heat, warm := range runs {
		a := synced(t, heat, warm)
		file := written(t, a)
		b := restored(t, file)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		t.Logf("heat %v: %d entities, a file of %d bytes", heat, a.Game.Entities(), len(file))
		if again := written(t, b); len(again) != len(file) {
			t.Errorf("heat %v: the run that was read is written as a file of %d bytes, not %d", heat, len(again), len(file))
		}
		for end := a.Game.Ticks + ticks; a.Game.Ticks < end; {
			if a.Game.Ticks != b.Game.Ticks || a.Game.Hash() != b.Game.Hash() {
				t.Fatalf("heat %v: tick %d has hash %x, want tick %d with %x", heat, b.Game.Ticks, b.Game.Hash(), a.Game.Ticks, a.Game.Hash())
			}
			if err := errors.Join(a.stepOnce(), b.stepOnce()); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSession_RefusedFileLeavesTheRun(t *testing.T) {
	s := synced(t, 0, 60)
	file := written(t, s)
	hash := s.Game.Hash()
	refused := func(data []byte, want string) {
		t.Helper()
		if err := s.Restore(data, nil); !errors.Is(err, save.ErrFile) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused(nil, "no saved run")
	refused(file[:len(file)-1], "it ends after")
	for _, at := range []int{3, 9, 13, 20, 5000, len(file) - 1} {
		bad := bytes.Clone(file)
		bad[at] ^= 4
		refused(bad, "")
	}
	if err := s.Frame(engine.Input{}); err != nil || !s.Playing() {
		t.Fatalf("%v, playing %v", err, s.Playing())
	}
	if s.Game.Ticks != 61 || s.Game.Hash() == hash {
		t.Errorf("tick %d", s.Game.Ticks)
	}
}

func TestReadAbout_ReturnsWhatWasWritten(t *testing.T) {
	s := synced(t, 3, 60)
	about := s.About()
	about.Day, about.Picture = "2026-11-24", make([]byte, PictureW*PictureH)
	var b bytes.Buffer
	if err := s.Write(&b, about); err != nil {
		t.Fatal(err)
	}
	back, state, err := ReadAbout(b.Bytes())
	if err != nil || back.Realm != "ember" || back.Heat != 3 || back.Seed != 3 || back.Ticks != s.Game.Played || back.Day != about.Day ||
		len(back.Picture) != len(about.Picture) || len(state) == 0 {
		t.Errorf("%+v, %v", back, err)
	}
	about.Picture = make([]byte, 1<<20)
	if err := s.Write(&b, about); err == nil {
		t.Error("a picture of a MiB is written")
	}
}

func TestReadAbout_SaysWhatIsAllowed(t *testing.T) {
	file := func(text string) []byte {
		file := binary.LittleEndian.AppendUint32([]byte(runMagic), uint32(len(text)))
		return append(binary.LittleEndian.AppendUint32(file, crc32.Checksum([]byte(text), castagnoli)), text...)
	}
	about := func(old, now string) []byte {
		return file(strings.Replace(`{"realm":"ember","heat":0,"ticks":0,"score":0,"seed":0,"first":"tide","charges":0}`, old, now, 1))
	}
	short, spoiled := about("", ""), about("", "")
	if _, _, err := ReadAbout(short); err != nil {
		t.Fatal(err)
	}
	spoiled[12] ^= 1
	for want, data := range map[string][]byte{
		`it begins with "some fil"; allowed is "strata\x00G"`:          []byte("some files are none of a run"),
		`it begins with ""; allowed is`:                                nil,
		`it ends after 15 bytes; its head takes 16`:                    short[:15],
		`byte 8: 82 bytes about the run; allowed are up to 81`:         short[:len(short)-1],
		`byte 12: the checksum of what it is about is`:                 spoiled,
		`realm "nowhere"; allowed are ember, `:                         about("ember", "nowhere"),
		`first realm "nowhere"; allowed are ember, `:                   about("tide", "nowhere"),
		`heat 11; allowed are 0 to 10`:                                 about(`"heat":0`, `"heat":11`),
		`score -1; allowed are 0 and more`:                             about(`"score":0`, `"score":-1`),
		`a picture of 3 bytes; allowed are 1296`:                       about(`"seed":0`, `"seed":0,"picture":"AAAA"`),
		`day "2026-11-24 "; allowed are days such as 2026-11-24`:       about(`"seed":0`, `"seed":0,"day":"2026-11-24 "`),
		`unknown field "none"`:                                         about(`"seed":0`, `"none":0`),
		`realm "` + strings.Repeat("x", 40) + `"; allowed are ember, `: about("ember", strings.Repeat("x", 999)),
	} {
		if _, _, err := ReadAbout(data); !errors.Is(err, save.ErrFile) || !strings.Contains(err.Error(), ": "+want) || len(err.Error()) > 200 {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// oldRun is a file of an older build, written on amd64: each later build reads it, on every architecture. The folder is
// a module of its own, so that the zip file of this one does not have it.
func oldRun(t *testing.T) []byte {
	t.Helper()
	f, err := os.Open("testdata/run.strata.gz")
	if errors.Is(err, fs.ErrNotExist) {
		testenv.Missing(t, "testdata, which is in the repository only")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSession_FileOfAnOlderBuildGoesOn(t *testing.T) {
	testenv.Long(t)
	s := restored(t, oldRun(t))
	g := s.Game
	if g.Ticks != 400 || g.Seed() != 3 || g.Heat != 4 || g.Entities() != 231 || g.Particles().Len() == 0 {
		t.Errorf("tick %d, seed %d, heat %v, %d entities, %d particles", g.Ticks, g.Seed(), g.Heat, g.Entities(), g.Particles().Len())
	}
	play(t, s, 60)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// In the file a field of the state has another name and another type than the game has now, and one is missing: both
// are named.
func TestSession_FileOfAnotherVersionIsConverted(t *testing.T) {
	testenv.Long(t)
	file := oldRun(t)
	about, state, err := ReadAbout(file)
	if err != nil {
		t.Fatal(err)
	}
	head := state[32:][:binary.LittleEndian.Uint32(state[28:])]
	change := func(old, now string) {
		t.Helper()
		if len(old) != len(now) || bytes.Count(head, []byte(old)) != 1 {
			t.Fatalf("%q is %d times in the head", old, bytes.Count(head, []byte(old)))
		}
		copy(head[bytes.Index(head, []byte(old)):], now)
	}
	change("\x0a\x00Multiplier", "\x0a\x00Multiplied")
	change("\x08\x00Gathered", "\x08\x00Garnered")
	h := fnv.New64a()
	h.Write(head)
	binary.LittleEndian.PutUint64(state[16:], h.Sum64())
	end := len(state) - 8
	binary.LittleEndian.PutUint32(state[end:], crc32.Checksum(state[:end], castagnoli))
	s := synced(t, 0, 30)
	s.cfg.Realm = "tide"
	var notes []string
	err = s.Restore(file, func(change string) { notes = append(notes, change) })
	all := strings.Join(notes, "; ")
	for _, want := range []string{"Run.Multiplied was removed", "Run.Multiplier was added", "Tally.Garnered was removed", "Tally.Gathered was added"} {
		if err != nil || !strings.Contains(all, want) {
			t.Errorf("%q is not among %s; %v", want, all, err)
		}
	}
	play(t, s, 1)
	// A multiplier of 0 breaks an invariant: the run is refused, and another one begins in the realm.
	if done, err := s.Restored(); done || err == nil || !strings.Contains(err.Error(), "multiplier") || about.Realm != "ember" {
		t.Errorf("restored %v, %v", done, err)
	}
	if s.First() != "tide" { // as before Restore
		t.Errorf("after a refused run the first realm is %s", s.First())
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestSession_RestoredRunHasItsCharges(t *testing.T) {
	testenv.Long(t)
	cfg := Config{Game: game.Config{Seed: 3}, Rewind: 8 << 20}
	a, b := newSession(t, cfg), newSession(t, cfg)
	play(t, a, 30)
	play(t, b, 10)
	a.Past.charges, a.Past.used, b.Past.charges = 0, 2, ChargesMost
	a.Game.Broken, a.Game.Seals[0].Broken, a.Game.Goal = 1, true, 1
	if err := b.Restore(written(t, a), nil); err != nil {
		t.Fatal(err)
	}
	play(t, b, 3)
	if b.Game.Broken != 1 || b.Past.Charges() != 0 || b.Past.Used() != 2 {
		t.Errorf("%d seals are broken, %d charges, %d used", b.Game.Broken, b.Past.Charges(), b.Past.Used())
	}
}

func TestRestore_OfAnotherRealmIsNotRead(t *testing.T) {
	s := &Session{Game: &game.Game{Manifest: &manifest.File{Name: "ember"}}, about: About{Realm: "tide"}, restore: []byte("state")}
	if _, ok := s.resume(); ok || s.restore != nil || s.restored == nil || !strings.Contains(s.restored.Error(), "tide") {
		t.Errorf("read: %t, %v", ok, s.restored)
	}
}

// A host may start another run while a saved one loads.
func TestStart_DropsARunThatIsStillLoading(t *testing.T) {
	s := newSession(t, Config{})
	s.about, s.restore = About{Realm: "ember"}, []byte("state")
	s.Start("ember")
	if done, err := s.Restored(); done || err == nil || s.restore != nil {
		t.Errorf("%v, %v; want an error and no state to be read", done, err)
	}
}

func TestTraffic_WithoutBuffersSavesNothing(t *testing.T) {
	for want, x := range map[float64]Traffic{0: {}, 0.25: {Passes: 3, SideBySide: 4}} {
		if got := x.Saves(); got != want {
			t.Errorf("%d of %d bytes save %v, want %v", x.Passes, x.SideBySide, got, want)
		}
	}
}
