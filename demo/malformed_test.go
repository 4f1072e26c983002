//go:build linux || darwin || freebsd

package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A malformed file takes the place of one of the game's.
type malformed struct {
	what string
	data func(whole []byte) []byte // nil: a folder, or with gone nothing
	gone bool
	says string // besides the name
}

// put puts it into a folder of assets.
func (m *malformed) put(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	whole, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	if m.data != nil { // as an editor does, so that no incomplete file is read
		beside := filepath.Join(dir, "beside")
		err = errors.Join(os.WriteFile(beside, m.data(bytes.Clone(whole)), 0o644), os.Rename(beside, path))
	} else {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil // a recipe has no file of its own
		}
		if !m.gone {
			err = errors.Join(err, os.Mkdir(path, 0o755))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// patched writes bytes at a place, counted from the end where it is below 0.
func patched(at int, with ...byte) func([]byte) []byte {
	return func(b []byte) []byte {
		if at < 0 {
			at += len(b)
		}
		copy(b[at:], with)
		return b
	}
}

func half(b []byte) []byte { return b[:len(b)/2] }

func bytesOf(b []byte) func([]byte) []byte { return func([]byte) []byte { return b } }

func replaced(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

// headed writes into a PNG's header and updates its checksum.
func headed(at int, with ...byte) func([]byte) []byte {
	return func(b []byte) []byte {
		copy(b[at:], with)
		binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
		return b
	}
}

// bomb says 16 × 16 and holds zeroes that inflate to 64 MiB.
func bomb(b []byte) []byte {
	part := func(name string, data []byte) []byte {
		c := append(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...), data...)
		return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	for range 64 {
		_, _ = w.Write(make([]byte, 1<<20)) // a Buffer takes everything
	}
	_ = w.Close()
	head := append([]byte{}, b[:8]...)
	head = append(head, part("IHDR", []byte{0, 0, 0, 16, 0, 0, 0, 16, 8, 6, 0, 0, 0})...)
	return append(append(head, part("IDAT", z.Bytes())...), part("IEND", nil)...)
}

var badPictures = []malformed{
	{what: "empty", data: bytesOf(nil), says: "the file is empty"},
	{what: "cut short", data: half, says: "unexpected EOF"},
	{what: "of another kind", data: bytesOf([]byte("GIF89a and so on, long enough to have a header")), says: "signature"},
	{what: "of a huge size", data: headed(16, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff), says: "allowed"},
	{what: "of a negative size", data: headed(16, 0xff, 0xff, 0xff, 0xff), says: "allowed"},
	{what: "of no size", data: headed(16, 0, 0, 0, 0), says: "allowed"},
	{what: "of an unknown depth", data: headed(24, 7), says: "7"},
	{what: "with a wrong sum", data: patched(29, 1, 2, 3, 4), says: "checksum"},
	{what: "that never stops to inflate", data: bomb},
	{what: "a folder", says: "no regular file"},
}

var badManifests = []malformed{
	{what: "empty", data: bytesOf(nil)},
	{what: "cut short", data: half},
	{what: "nested without an end", data: bytesOf(bytes.Repeat([]byte("["), 60_000)), says: "depth"},
	{what: "huge", data: bytesOf(bytes.Repeat([]byte(" "), 2<<20)), says: "at most"},
	{what: "of another version", data: replaced(`"version": 1`, `"version": 99`), says: "allowed: 1"},
	{what: "with a field too many", data: replaced(`"version": 1`, `"version": 1, "cheat": true`), says: "cheat"},
	{what: "with a wrong type", data: replaced(`"priority": 0`, `"priority": "soon"`), says: "priority"},
	{what: "with numbers that are none", data: replaced(`"priority": 0`, `"priority": NaN`)},
	{what: "with a path out of the folder", data: replaced("art/player.png", "../../etc/passwd"), says: "assets[0].file"},
	{what: "in no UTF-8", data: replaced(`"title": "The`, "\"title\": \"\xff\xfe\xc0"), says: "UTF-8"},
}

var badRecipes = []malformed{
	{what: "empty", data: bytesOf(nil), says: "the file is empty"},
	{what: "cut short", data: half, says: "the file ends"},
	{what: "of another kind", data: patched(0, 'J', 'S'), says: "allowed"},
	{what: "of another version", data: patched(3, 0xee), says: "allowed"},
	{what: "huge", data: bytesOf(make([]byte, 1<<20)), says: "allowed"},
	{what: "noise", data: bytesOf(bytes.Repeat([]byte{0xa5}, 300))},
	{what: "text", data: bytesOf([]byte(`{"base": -1, "stamps": [NaN]}`))},
	{what: "longer than it says", data: func(b []byte) []byte { return append(b, 1, 2, 3) }, says: "behind"},
	{what: "of all ones", data: bytesOf(bytes.Repeat([]byte{0xff}, 64))},
	{what: "a folder", says: "no regular file"},
}

var badSounds = []malformed{
	{what: "empty", data: bytesOf(nil), says: "the file is empty"},
	{what: "cut short", data: half, says: "too early"},
	{what: "of another kind", data: patched(0, []byte("RIFF")...), says: `an Ogg file begins with "OggS"`},
	{what: "of two channels", data: patched(39, 2), says: "2 channels; allowed is 1"},
	{what: "of no rate", data: patched(40, 0, 0, 0, 0), says: "0 Hz; allowed"},
	{what: "of a huge length", data: ending(0xff, 0xff, 0xff, 0xff), says: "4294967295 samples; allowed"},
	{what: "of no length", data: ending(0, 0, 0, 0), says: "0 samples; allowed"},
	{what: "of huge blocks", data: patched(56, 0xff), says: "2^15 samples; allowed"},
	{what: "broken in the middle", data: func(b []byte) []byte { clear(b[len(b)-300 : len(b)-200]); return b }, says: "checksum"},
	{what: "a folder", says: "no regular file"},
}

// ending writes the number of samples into the last page of Ogg.
func ending(n ...byte) func([]byte) []byte {
	return func(b []byte) []byte { copy(b[bytes.LastIndex(b, []byte("OggS"))+6:], n); return b }
}

// tenPictures and the others are the files that are replaced: each is asked for at once.
var (
	tenPictures = names("art/%s.png", "warden lancer drifter swarm orb spark smoke debris ring flare")
	tenRecipes  = names("realms/ember/%s.rec", "02_20 03_20 04_20 02_21 03_21 01_21 01_22 02_22 00_22 02_19")
	tenSounds   = names("sound/%s.ogg", "burst_large_0 burst_small_1 dash_0 gift_0 hit_0 hurt_0 shot_0 spawn_0 seal_0 pickup_0")
)

func names(format, of string) (out []string) {
	for name := range strings.FieldsSeq(of) {
		out = append(out, fmt.Sprintf(format, name))
	}
	return out
}

// named complains where a file is not named in one line, with what is wrong with it.
func named(t *testing.T, stderr, name string, m *malformed) {
	t.Helper()
	var lines []string
	for l := range strings.Lines(stderr) {
		if strings.Contains(l, name) {
			lines = append(lines, l)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], m.says) {
		t.Errorf("%s, %s: want one line with %q, there is %q", name, m.what, m.says, lines)
	}
}

// A lockedBuffer is written to by one goroutine and read by another.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// untilAllAreNamed plays until the messages name each of the files, and a second longer, in which
// another line about one of them would come. It returns the exit code and the messages.
func untilAllAreNamed(t *testing.T, files []string, args ...string) (code int, stderr string) {
	t.Helper()
	var said lockedBuffer
	o, err := parse(args, &said, assets.FS())
	if err != nil {
		t.Fatal(err)
	}
	played := make(chan error, 1)
	go func() { played <- o.play(io.Discard, &said) }()
	missing := func() bool {
		text := said.String()
		return slices.ContainsFunc(files, func(name string) bool { return !strings.Contains(text, name) })
	}
	for end := testenv.Deadline(t); missing() && time.Now().Before(end) && len(played) == 0; {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Second)
	o.stopped.Store(true)
	if err := testenv.Receive(t, "the run ends", played); err != nil {
		fmt.Fprintln(&said, err)
		code = 1
	}
	return code, said.String()
}

// Twenty malformed pictures and recipes, from the start and while one plays: a line each, and everything else comes.
func TestAssets_MalformedPicturesAndRecipesAreALineEach(t *testing.T) {
	for _, hot := range []bool{false, true}[:3-testenv.Step(2)] { // the first unless the long tests run
		t.Run(fmt.Sprintf("hot %v", hot), func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t, "ember")
			spoil := func() {
				for i := range badPictures {
					badPictures[i].put(t, dir, tenPictures[i])
					badRecipes[i].put(t, dir, tenRecipes[i])
				}
			}
			if !hot {
				spoil()
			}
			stats, spoilt := filepath.Join(t.TempDir(), "out.json"), make(chan struct{})
			go func() {
				defer close(spoilt)
				if hot {
					time.Sleep(2 * time.Second)
					spoil()
				}
			}()
			code, stderr := untilAllAreNamed(t, slices.Concat(tenPictures, tenRecipes), "-headless", "-tour", "-ticks", "1000000", "-resident", "32", "-assets", dir, "-stats", stats)
			<-spoilt
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			for i := range badPictures {
				named(t, stderr, tenPictures[i], &badPictures[i])
				named(t, stderr, tenRecipes[i], &badRecipes[i])
			}
			var r report
			data, err := os.ReadFile(stats)
			// A sector that leaves the view and comes again is read again: that is another failure, and no other line.
			if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil || r.Ticks < 60 || r.Stream.Failures < 20 || r.Stream.Ground.Ready == 0 {
				t.Errorf("%v, %d ticks, %d failures, %d sectors came: %v", err, r.Ticks, r.Stream.Failures, r.Stream.Ground.Ready, r.Stream.Errors)
			}
		})
	}
}

// Ten malformed manifests, one a run, three if the long tests do not run: the line says what is wrong, and the game's
// own realm is played.
func TestAssets_AMalformedLevelIsALineAndTheGamesOwnIsPlayed(t *testing.T) {
	_, whole, _ := demo("-headless", "-ticks", "20", "-level", "tide", "-hash")
	_, want, _ := strings.Cut(whole, "hash ")
	for i := range badManifests {
		m := &badManifests[i]
		if testenv.Brief() && i%4 != 0 {
			continue
		}
		t.Run(m.what, func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t)
			m.put(t, dir, "levels/tide.json")
			code, stdout, stderr := demo("-headless", "-ticks", "20", "-level", "tide", "-assets", dir, "-hash")
			_, hash, ok := strings.Cut(stdout, "hash ")
			if code != 0 || !ok || hash != want {
				t.Errorf("exit %d, hash %q: %s", code, hash, stderr)
			}
			named(t, stderr, "levels/tide.json", m)
			if !strings.Contains(stderr, `realm "tide" cannot be played: the game's own "tide" is, in its place`) {
				t.Error(stderr)
			}
		})
	}
}

// A realm that only the folder has is replaced by the first.
func TestAssets_AMalformedLevelOfNobodysIsReplacedByTheFirst(t *testing.T) {
	dir := unpacked(t)
	if err := os.WriteFile(filepath.Join(dir, "levels", "mine.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := demo("-headless", "-ticks", "60", "-level", "mine", "-assets", dir)
	if code != 0 || !strings.Contains(stderr, `realm "mine" cannot be played: the game's own "ember" is, in its place`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	named(t, stderr, "levels/mine.json", &malformed{says: "a manifest is one JSON object"})
}

// Ten malformed sounds, from the start and while one plays.
func TestAssets_MalformedSoundsAreALineEachAndTheGamePlaysOn(t *testing.T) {
	testenv.Long(t)
	for _, hot := range []bool{true, false} {
		t.Run(fmt.Sprintf("hot %v", hot), func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t)
			spoil := func() {
				for i := range badSounds {
					badSounds[i].put(t, dir, tenSounds[i])
				}
			}
			if !hot {
				spoil()
			}
			var said strings.Builder
			a := &audio{}
			s, err := session.New(session.Config{Game: game.Config{Seed: 7, Sound: &a.events}, Memory: tiers.Config{Workers: 1, Tags: true},
				FS: os.DirFS(dir), Autopilot: true, Left: a.left, Watch: 100 * time.Millisecond, Log: func(err error) { fmt.Fprintln(&said, err) }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := a.start(s, &said); err != nil {
				t.Fatal(err)
			}
			defer a.stop()
			frames := func(n int) {
				for range n {
					if err := s.Frame(engine.Input{}); err != nil {
						t.Fatal(err)
					}
					a.update(s, &render.Nav{})
					time.Sleep(time.Millisecond)
				}
			}
			frames(300)
			if hot {
				spoil()
				testenv.Until(t, "ten files fail", 0, func() bool { frames(10); return s.Stream.Stats().Failures >= 10 })
			}
			frames(300)
			for i := range badSounds {
				named(t, said.String(), tenSounds[i], &badSounds[i])
			}
			if st := a.mixer.Stats(); s.Game.Ticks < 300 || st.Begun == 0 || st.Clips < 10 {
				t.Errorf("%d ticks, %+v", s.Game.Ticks, st)
			}
		})
	}
}
