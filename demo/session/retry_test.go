package session

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tlsf"
)

// gone is the game's files, of which some cannot be found for a while.
type gone struct {
	fs.FS
	suffix string
	there  *atomic.Bool
}

func (g gone) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, g.suffix) && !g.there.Load() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return g.FS.Open(name)
}

// rests plays so many ticks in which the plan is told of a place.
func rests(t *testing.T, s *Session, at vec, ticks int) {
	t.Helper()
	s.Paused = true
	for range ticks {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		s.Ground.tick(at, vec{})
		time.Sleep(time.Second / 60)
	}
}

// A lack of space is not said of files that cannot be read later, and each of both is reported once.
func TestGround_ALackOfSpaceIsNotSaidForGood(t *testing.T) {
	g := &Ground{}
	g.failures.told, g.failures.missing = map[string]bool{}, 1
	for i, c := range []struct {
		kind, name  string
		err         error
		isNew, lack bool
	}{
		{sectorKind, "a", memory.ErrOutOfMemory, true, true}, {sectorKind, "b", memory.ErrOutOfMemory, false, true},
		{sectorKind, "b", fs.ErrNotExist, true, false}, {sectorKind, "b", fs.ErrNotExist, false, false},
		{sectorKind, "c", memory.ErrOutOfMemory, false, true}, {stampsKind, "d", memory.ErrOutOfMemory, true, true},
		{stampsKind, "d", memory.ErrTooLarge, false, true}, {sectorKind, "e", memory.ErrTooLarge, false, true},
	} {
		isNew := g.failures.isNew(&stream.LoadError{Kind: c.kind, Name: c.name, Err: c.err})
		if isNew != c.isNew || g.Narrow() != c.lack {
			t.Errorf("failure %d: it is new: %v, space lacks: %v; want %v, %v", i, isNew, g.Narrow(), c.isNew, c.lack)
		}
	}
}

func TestGround_WhatHasFailedIsTriedAgainWhereOneRests(t *testing.T) {
	testenv.Long(t)
	for _, suffix := range []string{".rec", "stamps.png"}[:3-testenv.Step(2)] { // one unless the long tests run
		synctest.Test(t, func(t *testing.T) {
			files := gone{assets.FS(), suffix, new(atomic.Bool)}
			lines := 0
			s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes, FS: files, Log: func(error) { lines++ }})
			play(t, s, 1)
			rests(t, s, under[0], 900)
			said := lines
			if s.allShown(under[0]) || said == 0 {
				t.Fatalf("%s: shown without its files, and %d lines", suffix, said)
			}
			if tries := s.Stream.Stats().Retries; tries == 0 || tries > 60 {
				t.Errorf("%s: tried %d times in 15 seconds", suffix, tries)
			}
			files.there.Store(true)
			rests(t, s, under[0], 1300)
			if !s.allShown(under[0]) {
				t.Errorf("%s: not tried again; %+v", suffix, s.Stream.Stats())
			}
			if lines != said {
				t.Errorf("%s: %d lines, and then %d", suffix, said, lines)
			}
			check(t, s)
		})
	}
}

// After minutes the wait of each is long, and the first that comes ends it for all.
func TestGround_WhenFilesComeAgainNobodyWaitsOutHisTime(t *testing.T) {
	testenv.Long(t)
	synctest.Test(t, func(t *testing.T) {
		files := gone{assets.FS(), ".rec", new(atomic.Bool)}
		s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), FS: files, Log: func(error) {}})
		play(t, s, 1)
		rests(t, s, under[0], 170*60)
		if s.Ground.Missing() == 0 {
			t.Error("no file comes, and none is missing")
		}
		tries := s.Stream.Stats().Failures
		rests(t, s, under[0], 25*60)
		if n := s.Stream.Stats().Failures - tries; n == 0 || n > 6 {
			t.Errorf("while none comes %d were read in 25 seconds", n)
		}
		files.there.Store(true)
		rests(t, s, under[0], probeWait+120)
		if n := s.Ground.Missing(); !s.allShown(under[0]) || n != 0 {
			t.Errorf("after %d seconds %d are missing still", probeWait/60+2, n)
		}
		check(t, s)
	})
}

// changing is the game's files, one of which becomes another.
type changing struct {
	fs.FS
	name string
	data []byte
	now  *atomic.Bool
}

func (c changing) Open(name string) (fs.File, error) {
	if name == c.name && c.now.Load() {
		return fstest.MapFS{name: {Data: c.data, ModTime: time.Unix(1e9, 0)}}.Open(name)
	}
	return c.FS.Open(name)
}

func (c changing) Stat(name string) (fs.FileInfo, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

func TestSession_FilesThatChangeAreShownAnew(t *testing.T) {
	testenv.Long(t)
	recipe := bytes.Clone(asset(t, "realms/ember/05_05.rec"))
	recipe[8] ^= 0x40 // the warmth of a corner
	all := map[string][]byte{"realms/ember/05_05.rec": recipe, "realms/ember/stamps.png": asset(t, "realms/tide/stamps.png"), "art/player.png": asset(t, "art/lancer.png")}
	for name, data := range testenv.Some(all, "realms/ember/05_05.rec") {
		synctest.Test(t, func(t *testing.T) {
			files := changing{assets.FS(), name, data, new(atomic.Bool)}
			sunk := map[string]int{}
			v := NewStandIn()
			s := newSession(t, Config{Game: game.Config{Seed: 7}, View: v, GroundBytes: 8 * ground.Bytes, FS: files, Watch: time.Second,
				Sink: func(id string, _ stream.Picture) error { sunk[id]++; return nil }})
			play(t, s, 1)
			rests(t, s, under[0], 240)
			before := s.Stream.Stats().Reloads
			files.now.Store(true)
			rests(t, s, under[0], 240)
			if n := s.Stream.Stats().Reloads; before != 0 || n != 1 {
				t.Errorf("%s: %d reloads before it changed, %d after", name, before, n)
			}
			if name == "art/player.png" && sunk["player"] != 2 {
				t.Errorf("%s was shown %d times", name, sunk["player"])
			}
			if now, _, _ := s.Ground.Resident(); now != int64(len(v.shown))*ground.Bytes {
				t.Errorf("%s: %d bytes are counted, %d sectors shown", name, now, len(v.shown))
			}
			check(t, s)
		})
	}
}

// A sector whose reload is refused is requested again, and shown.
func TestGround_ASectorThatAReloadHidesIsShownAgain(t *testing.T) {
	testenv.Long(t)
	const name = "realms/ember/05_05.rec"
	recipe := bytes.Clone(asset(t, name))
	recipe[8] ^= 0x40 // the warmth of a corner
	synctest.Test(t, func(t *testing.T) {
		files := changing{assets.FS(), name, recipe, new(atomic.Bool)}
		v := &refusing{NewStandIn(), -1}
		said := 0
		s := newSession(t, Config{Game: game.Config{Seed: 7}, View: v, GroundBytes: 8 * ground.Bytes, FS: files, Watch: time.Second, Log: func(error) { said++ }})
		play(t, s, 1)
		rests(t, s, under[0], 240)
		sector := ground.Sector{X: 5, Y: 5}
		v.at = sliceRows
		files.now.Store(true)
		for range 4 * 60 {
			if rests(t, s, under[0], 1); said > 0 {
				v.at = -1
				break
			}
		}
		if said != 1 || v.shown[sector] || s.Ground.Shown(sector) {
			t.Errorf("after the refusal: %d errors, shown %v and %v", said, v.shown[sector], s.Ground.Shown(sector))
		}
		rests(t, s, under[0], 60)
		if now, _, _ := s.Ground.Resident(); !v.shown[sector] || !s.Ground.Shown(sector) || now != int64(len(v.shown))*ground.Bytes {
			t.Errorf("after a second: shown %v and %v, %d bytes are counted, %d sectors shown", v.shown[sector], s.Ground.Shown(sector), now, len(v.shown))
		}
		check(t, s)
	})
}

// A sector for which the streamer has no place is requested again, and shown when there is one.
func TestGround_ARefusedRequestIsMadeAgain(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	sector := ground.Sector{}
	name := sectorFile(sector)
	files := fstest.MapFS{name: {Data: []byte{1}}, "other": {Data: []byte{1}}}
	st, err := stream.New(stream.Config{FS: files, Workers: 1, Assets: 1, Heap: func(int) memory.Allocator { return h }, Free: h.Free})
	if err != nil {
		t.Fatal(err)
	}
	g := &Ground{view: NewStandIn(), scope: st.NewScope("realm")}
	g.composer.st = st
	g.plan.Reset(ground.Bytes)
	g.stamps.current.Store(&ground.Stamps{})
	g.sectors[sector.Index()].name = name
	err = stream.Register(st, stream.Kind[sectorPicture]{Name: sectorKind,
		Decode:  func(*stream.Reader, *stream.Heap) (sectorPicture, error) { return sectorPicture{sector: sector}, nil },
		Deliver: func(string, *sectorPicture, *sectorPicture) error { g.plan.Ready(sector); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	place := stream.Request[sectorPicture](st, "other", 0)
	for range 60 {
		g.tick(vec{}, vec{})
	}
	if place.Close(); g.Missing() != 1 {
		t.Errorf("%d sectors are missing without a place", g.Missing())
	}
	for range 20 * 60 {
		g.tick(vec{}, vec{})
		st.Wait()
		st.Poll()
	}
	if !g.Shown(sector) || g.Missing() != 0 {
		t.Errorf("after 20 seconds: shown %v, missing %d, %v", g.Shown(sector), g.Missing(), g.sectors[sector.Index()].ticket.Err())
	}
	if err := errors.Join(st.Close(), h.Close()); err != nil {
		t.Error(err)
	}
}
