package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/strata-go/strata/demo/replay"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// A tape is what -record and -replay have of a run: the recording that grows, or the one that plays. nil is neither.
type tape struct {
	rec  replay.Recording
	path string // of -record; "" if the recording plays

	s       *session.Session
	on      bool   // ticks are recorded or played
	tick    uint64 // of the frame that runs; the game is there before
	begun   bool   // the first state was requested
	seek    uint64 // ticks from the first one on that are skipped
	same    int    // ticks whose hash is that of the recording
	differs uint64 // the first tick whose hash differs, and 1; 0: none yet
	out     io.Writer
}

// newTape returns the tape of the flags, and has a session of cfg call it. The error says why the recording cannot play.
func (o *options) newTape(cfg *session.Config, out io.Writer) (*tape, error) {
	if o.record == "" && o.replayed == nil {
		return nil, nil
	}
	t := &tape{path: o.record, seek: o.seek, out: out}
	if o.replayed != nil {
		r, err := replay.Read(o.replayed)
		if err != nil {
			return nil, fmt.Errorf("-replay %s: %w", o.replay, err)
		}
		if t.rec = *r; t.seek > uint64(r.Tape.Len()) {
			return nil, fmt.Errorf("-seek %d: %s has %d ticks", t.seek, o.replay, r.Tape.Len())
		}
		cfg.Autopilot, cfg.Attract = r.Autopilot, false
		if r.Build != version() {
			fmt.Fprintf(out, "demo: %s was recorded by %s; this is %s: ticks may differ\n", o.replay, r.Build, version())
		}
	} else {
		t.rec.Build, t.rec.Autopilot, t.on = version(), cfg.Autopilot, cfg.Autopilot
	}
	cfg.Steer = t.steer
	return t, nil
}

// playing reports whether a recording plays.
func (t *tape) playing() bool { return t != nil && t.path == "" }

// steer records the input of a tick, or sets it.
func (t *tape) steer(in *engine.Input) error {
	if t.playing() {
		if err := t.arrive(); err != nil { // the first tick can be in the frame in which the state is read
			return err
		}
	}
	switch {
	case !t.on:
	case t.path != "":
		if len(t.rec.States) > 0 {
			t.rec.Tape.Add(t.s.Game.Ticks, *in)
		}
	default:
		if was, ok := t.rec.Tape.At(t.s.Game.Ticks); ok {
			*in = was
		}
	}
	return nil
}

// before is called before each frame. It saves a state for a recording if one is due, and it begins to play one.
func (t *tape) before(s *session.Session) error {
	if t == nil {
		return nil
	}
	t.s, t.tick = s, s.Game.Ticks
	if !s.Playing() {
		return nil
	}
	if t.playing() {
		return t.begin(s)
	}
	if !t.on || !t.rec.Wants(t.tick) {
		return nil
	}
	var b bytes.Buffer
	if err := s.Write(&b, s.About()); err != nil {
		return fmt.Errorf("-record: %w", err)
	}
	t.rec.AddState(t.tick, b.Bytes())
	return nil
}

// begin goes to the state from which the recording plays.
func (t *tape) begin(s *session.Session) error {
	if !t.begun {
		t.begun = true
		from := t.from()
		return s.Restore(from.File, func(change string) { fmt.Fprintln(t.out, "demo: the recording is of another version:", change) })
	}
	return t.arrive()
}

// from returns the state from which the recording plays.
func (t *tape) from() replay.State { return t.rec.Before(t.rec.Tape.First() + t.seek) }

// arrive begins to play the inputs when the state was read.
func (t *tape) arrive() error {
	if t.on || !t.begun {
		return nil
	}
	done, err := t.s.Restored()
	if !done || err != nil {
		return err
	}
	t.tick = t.s.Game.Ticks
	if from := t.from(); t.tick != from.Tick {
		return fmt.Errorf("-replay: the recording is not valid: its state of tick %d is one of tick %d", from.Tick, t.tick)
	}
	t.on = true
	return nil
}

// after is called after each frame, and compares or records the hash of the tick that has run.
func (t *tape) after(s *session.Session) {
	if t == nil || !t.on || s.Game.Ticks != t.tick+1 {
		return
	}
	if t.path != "" {
		t.rec.AddHash(t.tick, s.Game.Hash())
		return
	}
	switch want := t.rec.Hash(t.tick); {
	case want == 0: // unknown
	case want == s.Game.Hash():
		t.same++
	case t.differs == 0:
		t.differs = t.tick + 1
		fmt.Fprintf(t.out, "demo: tick %d, %d of the recording, is the first that differs: its hash is %016x, and was %016x\n",
			t.differs, t.tick-t.rec.Tape.First(), s.Game.Hash(), want)
	}
}

// result prints what was played of a recording. The error names the first tick that differs.
func (t *tape) result(s *session.Session, out io.Writer) error {
	if !t.playing() || !t.on {
		return nil
	}
	if t.differs != 0 {
		return fmt.Errorf("-replay: tick %d is the first that differs", t.differs)
	}
	first := t.rec.Tape.First() + t.seek
	what := "all hashes are equal"
	if t.same == 0 {
		what = "there is no hash to compare"
	}
	fmt.Fprintf(out, "replayed ticks %d to %d of %d, from the state of tick %d: %s\n",
		first, s.Game.Ticks, t.rec.Tape.End(), t.from().Tick, what)
	return nil
}

// again begins the recording of another run if on is true. Otherwise, and if a recording plays, it ends.
func (t *tape) again(on bool) {
	if t == nil {
		return
	}
	if on && !t.playing() {
		t.rec = replay.Recording{Build: t.rec.Build}
	}
	t.on = on && !t.playing()
}

// seeking reports whether ticks before the one that was asked for are played.
func (t *tape) seeking(s *session.Session) bool {
	return t.playing() && t.on && s.Game.Ticks < t.rec.Tape.First()+t.seek
}

// over reports whether all of the recording was played.
func (t *tape) over(s *session.Session) bool {
	return t.playing() && t.on && s.Game.Ticks >= t.rec.Tape.End()
}

// save writes the recording, if there is one.
func (t *tape) save() error {
	if t == nil || t.path == "" {
		return nil
	}
	if t.rec.Tape.Len() == 0 {
		fmt.Fprintf(t.out, "demo: nothing was played, and %s is not written\n", t.path)
		return nil
	}
	data := t.rec.AppendTo(nil)
	return save(t.path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// replayMost is the largest recording: some hours at little heat.
const replayMost = 1 << 30

// readReplay reads the file of -replay, in a page from its server.
func (o *options) readReplay() (err error) {
	if o.replay == "" {
		return nil
	}
	if o.replayed, err = readWhole(o.replay, replayMost); err != nil {
		return fmt.Errorf("-replay %s: %w", o.replay, err)
	}
	return nil
}

// fastForward plays towards the tick of -seek, as fast as it goes for a tenth of a second.
func (a *app) fastForward(in *render.Input) error {
	for end := time.Now().Add(hurry); a.tape.seeking(a.s) && time.Now().Before(end); {
		if err := a.frame(in); err != nil || !a.s.Playing() {
			return err
		}
		if a.audio != nil {
			a.audio.events.Reset() // too fast to be heard
		}
	}
	return nil
}

// replayHeadless plays a recording as fast as it goes.
func (o *options) replayHeadless(stdout io.Writer) error {
	cfg := o.session()
	t, err := o.newTape(&cfg, o.stderr)
	if err != nil {
		return err
	}
	s, err := session.New(cfg)
	if err != nil {
		return err
	}
	for err == nil && !t.over(s) && !o.stopped.Load() {
		if err = t.before(s); err == nil {
			err = s.Frame(engine.Input{})
		}
		if t.after(s); !s.Playing() {
			time.Sleep(100 * time.Microsecond) // the workers are loading
		}
	}
	if err == nil {
		err = t.result(s, stdout)
	}
	if err == nil && o.hash {
		fmt.Fprintf(stdout, "hash %016x\n", s.Game.Hash())
	}
	return errors.Join(err, s.Close())
}

// badRecord says why -record, -replay and -seek cannot go with the other flags, or nothing.
func (o *options) badRecord(given map[string]bool) string {
	switch {
	case o.record == "" && o.replay == "":
		if given["seek"] {
			return "-seek is for -replay: use both"
		}
		return ""
	case o.record != "" && o.replay != "":
		return "-record and -replay: use one of them"
	case browser && o.record != "":
		return "-record is not in the page, which has no files; -replay takes a file of its server"
	case o.record != "" && given["seek"]:
		return "-seek is for -replay, and not for -record"
	case o.mem.Store != session.StoreTiers || o.guard:
		return "-record and -replay save the tiers: use them with -mem tiers and without -guard"
	case given["tour"] || o.compare || given["synctest"] || o.wav != "" || o.screenshot != "" || o.capture != "":
		return "-record and -replay do not go with -tour, -compare, -synctest, -wav and pictures"
	case o.replay != "" && (o.stats != "" || o.profile != "" || o.trace.path != "" || o.books || o.paced || given["ticks"]):
		return "-replay does not go with -stats, -profile, -trace, -books, -paced and -ticks"
	}
	return ""
}
