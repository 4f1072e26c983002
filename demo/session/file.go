package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/strictjson"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
)

// A file of a run: what it is about, and its state.
//
//	magic   8 bytes   "strata\x00G"
//	about   8 bytes   length and CRC-32C of the JSON that follows
//	        …         About
//	state   …         a file of save.Set
const (
	runMagic  = "strata\x00G"
	runHead   = 16
	aboutMost = 16 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An About describes a run in its file. In the file, the state of the run follows it.
type About struct {
	Realm   string  `json:"realm"`
	Heat    float32 `json:"heat"`
	Ticks   uint64  `json:"ticks"` // ticks in which the player lived
	Score   int64   `json:"score"`
	Seed    uint64  `json:"seed"`
	First   string  `json:"first"`             // the realm with which the run began
	Day     string  `json:"day,omitempty"`     // the day of a daily run, else ""
	Build   string  `json:"build,omitempty"`   // the build of the program
	Written int64   `json:"written,omitempty"` // Unix seconds
	Charges int     `json:"charges"`           // rewinds that are left
	Rewound int     `json:"rewound,omitempty"` // rewinds so far
	Picture []byte  `json:"picture,omitempty"` // PictureW by PictureH pixels, a byte each
}

// The size of About.Picture.
const (
	PictureW = 48
	PictureH = 27
)

// Migration returns the layout.Migration for files of older versions. If changed is not nil, it is called with a text
// for each difference of types.
func Migration(changed func(string)) *layout.Migration { return &layout.Migration{Changed: changed} }

// fileSet returns the Set of the game's state in files.
func (s *Session) fileSet() (*save.Set, error) {
	set := new(save.Set)
	if err := errors.Join(s.Game.AddFileTo(set), set.Seal()); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return set, nil
}

// About returns the description of the present run, for [Session.Write]. Day, Build, Written and Picture are empty: the
// caller may set them in the result. Before the first realm has begun, About panics.
func (s *Session) About() About {
	g := s.Game
	a := About{Realm: g.Manifest.Name, Heat: g.Heat, Ticks: g.Played, Score: g.Score, Seed: g.Seed(), First: s.cfg.Realm, Charges: ChargesFirst}
	if s.Past != nil {
		a.Charges, a.Rewound = s.Past.Charges(), s.Past.Used()
	}
	return a
}

// Start begins a run in the realm of this name: it leaves the present realm and loads this one. Call game.Game.Restart
// first, which resets score and gifts. If the run of a [Session.Restore] is still loading, it is dropped. Start does
// not change the fields Attract and Paused.
func (s *Session) Start(realm string) {
	if s.restore != nil {
		s.restore, s.restored = nil, errors.New("session: another run was started")
	}
	s.cfg.Realm = realm
	s.Flow.Go(realm)
}

// First returns the realm with which the run began, as set by Config.Realm, [Session.Start], or a file that was
// restored.
func (s *Session) First() string { return s.cfg.Realm }

// Write writes the run in the form of a file to out. It ends the memory frame as [Session.EndFrame] does, and waits for
// the worker of the paths. If no realm is played, or if about takes more than 16 KiB of JSON, Write fails. Write does
// not check the fields of about. Errors of out and of save.Set.Write are returned. After an error out may contain a
// part of the file.
func (s *Session) Write(out io.Writer, about About) error {
	if !s.Playing() {
		return errors.New("session: no realm is played")
	}
	if err := s.EndFrame(); err != nil {
		return err
	}
	s.Game.Rest()
	set, err := s.fileSet()
	if err != nil {
		return err
	}
	text, err := json.Marshal(about)
	if err == nil && len(text) > aboutMost {
		err = fmt.Errorf("session: %d bytes about the run; allowed are %d", len(text), aboutMost)
	}
	if err != nil {
		return err
	}
	head := append(make([]byte, 0, runHead+len(text)), runMagic...)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(text)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(text, castagnoli))
	if _, err := out.Write(append(head, text...)); err != nil {
		return err
	}
	return set.Write(out)
}

// ReadAbout returns the description of a run from its file, and the bytes of the state, which are not verified. The
// bytes are a part of file. If the description is not valid, the error wraps save.ErrFile, and the other results must
// not be used.
func ReadAbout(file []byte) (a About, state []byte, err error) {
	if !bytes.HasPrefix(file, []byte(runMagic)) {
		return a, nil, fmt.Errorf("session: %w: it is no saved run: it begins with %.*q; allowed is %q", save.ErrFile, len(runMagic), file, runMagic)
	}
	if len(file) < runHead {
		return a, nil, fmt.Errorf("session: %w: it ends after %d bytes; its head takes %d", save.ErrFile, len(file), runHead)
	}
	n := uint64(binary.LittleEndian.Uint32(file[8:]))
	if n > aboutMost || n > uint64(len(file)-runHead) {
		return a, nil, fmt.Errorf("session: %w: byte 8: %d bytes about the run; allowed are up to %d", save.ErrFile, n, min(aboutMost, len(file)-runHead))
	}
	text := file[runHead:][:n]
	if is, want := crc32.Checksum(text, castagnoli), binary.LittleEndian.Uint32(file[12:]); is != want {
		return a, nil, fmt.Errorf("session: %w: byte 12: the checksum of what it is about is %08x; it must be %08x", save.ErrFile, is, want)
	}
	if _, err := strictjson.Decode(text, &a); err != nil {
		return a, nil, fmt.Errorf("session: %w: %w", save.ErrFile, err)
	}
	_, noDay := time.Parse(time.DateOnly, a.Day)
	switch {
	case a.Day != "" && noDay != nil:
		err = fmt.Errorf("session: %w: day %.40q; allowed are days such as 2026-11-24", save.ErrFile, a.Day)
	case !slices.Contains(realm.Names[:], a.Realm):
		err = fmt.Errorf("session: %w: realm %.40q; allowed are %s", save.ErrFile, a.Realm, strings.Join(realm.Names[:], ", "))
	case !slices.Contains(realm.Names[:], a.First):
		err = fmt.Errorf("session: %w: first realm %.40q; allowed are %s", save.ErrFile, a.First, strings.Join(realm.Names[:], ", "))
	case !(a.Heat >= 0 && a.Heat <= game.HeatMost):
		err = fmt.Errorf("session: %w: heat %v; allowed are 0 to %d", save.ErrFile, a.Heat, game.HeatMost)
	case a.Score < 0:
		err = fmt.Errorf("session: %w: score %d; allowed are 0 and more", save.ErrFile, a.Score)
	case len(a.Picture) != 0 && len(a.Picture) != PictureW*PictureH:
		err = fmt.Errorf("session: %w: a picture of %d bytes; allowed are %d", save.ErrFile, len(a.Picture), PictureW*PictureH)
	}
	return a, file[runHead+n:], err
}

// Restore continues the run of a file of [Session.Write]. It verifies the file, leaves the realm, and loads the realm
// of the file. The run goes on when that realm has begun: see [Session.Restored]. The caller must not change file until
// then. If the file is invalid or if no realm is played, Restore fails, and the present run goes on. Restore ends the
// memory frame, and waits for the worker of the paths. If changed is not nil, Restore calls it with a text for each
// difference of types. Restore does not change the fields Attract and Paused.
func (s *Session) Restore(file []byte, changed func(string)) error {
	about, state, err := ReadAbout(file)
	if err != nil {
		return err
	}
	if !s.Playing() {
		return errors.New("session: no realm is played")
	}
	if err := s.EndFrame(); err != nil {
		return err
	}
	s.Game.Rest()
	set, err := s.fileSet()
	if err == nil {
		err = set.Verify(bytes.NewReader(state), Migration(changed))
	}
	if err != nil {
		return err
	}
	s.about, s.restore, s.restored = about, state, nil
	s.Flow.Go(about.Realm)
	return nil
}

// Restored reports whether a realm is played and no run of [Session.Restore] is still loading. If the state could not
// be read, if another realm has begun, or if Start was called meanwhile, the game plays another run. Restored then
// returns false and an error, until the next Restore. While a realm loads, it otherwise returns false and nil.
func (s *Session) Restored() (bool, error) {
	return s.restore == nil && s.restored == nil && s.Flow.Phase() == stream.Playing, s.restored
}

// resume reads the state of Restore into the game, whose realm has begun. It reports whether there was one.
func (s *Session) resume() (about About, resumed bool) {
	state := s.restore
	if s.restore = nil; state == nil {
		return about, false
	}
	if playing := s.Game.Manifest.Name; playing != s.about.Realm {
		s.restored = fmt.Errorf("session: realm %s has begun, and the run is in realm %s", playing, s.about.Realm)
		return about, false
	}
	set, err := s.fileSet()
	if err == nil {
		err = set.Read(bytes.NewReader(state), Migration(nil))
	}
	if s.restored = err; err == nil {
		s.cfg.Realm = s.about.First
	}
	return s.about, err == nil
}
