package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A stage is a level of a game that only these tests play.
type stage struct {
	Name string
	Show []string
}

func parseStage(file string, data []byte) (*stage, error) {
	l := new(stage)
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// stages is a gallery with two levels: first shows a and b, second shows c and d.
func stages(t testing.TB) fstest.MapFS {
	fsys := gallery(t)
	fsys["levels/first.json"] = &fstest.MapFile{Data: []byte(`{"name": "first", "show": ["a", "b"]}`)}
	fsys["levels/second.json"] = &fstest.MapFile{Data: []byte(`{"name": "second", "show": ["c", "d"]}`)}
	fsys["levels/bad.json"] = &fstest.MapFile{Data: []byte(`{`)}
	return fsys
}

// A play is a flow that writes down what it is told.
type play struct {
	*Flow[*stage]
	rig *rig
	log []string
}

func newPlay(t testing.TB, r *rig, change ...func(*FlowConfig[*stage])) *play {
	t.Helper()
	p := &play{rig: r}
	r.sink = func(name string, _ Picture) error { p.log = append(p.log, name[4:5]); return nil }
	cfg := FlowConfig[*stage]{Streamer: r.Streamer,
		Request: func(sc *Scope, l *stage) error {
			for i, id := range l.Show {
				Request[Picture](sc, art(id), ETA(float32(i)))
			}
			return nil
		},
		Leave: func() error { p.log = append(p.log, "leave"); return nil },
		Enter: func(l *stage) error { p.log = append(p.log, "enter "+l.Name); return nil },
	}
	for _, c := range change {
		c(&cfg)
	}
	if err := Register(r.Streamer, Parsed("level", parseStage)); err != nil {
		t.Fatal(err)
	}
	f, err := NewFlow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Flow = f
	return p
}

func (p *play) want(t testing.TB, phase Phase, log string) {
	t.Helper()
	if got := strings.Join(p.log, " "); p.Phase() != phase || got != log {
		t.Errorf("%v: %q; want %v: %q (error %v)", p.Phase(), got, phase, log, p.Err())
	}
	p.log = nil
}

func (p *play) finish(t testing.TB) {
	t.Helper()
	within(t, soon, "Finish", func() {
		if err := p.Finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestFlow_FromLevelToLevel(t *testing.T) {
	p := newPlay(t, newRig(t, stages(t), 1, 0))
	if p.Update() != Idle || p.Level() != nil || p.Finish() != nil {
		t.Errorf("phase %v before the first Go", p.Phase())
	}
	p.Go("first")
	if p.Phase() != Loading || p.Level() != nil || p.Target() != "first" {
		t.Errorf("phase %v after the first Go", p.Phase())
	}
	p.finish(t)
	if p.Level().Name != "first" || p.Progress().Fraction() != 1 || p.Scope().Len() != 3 {
		t.Errorf("%+v", p.Progress())
	}
	p.want(t, Playing, "a b enter first")
	p.Go("second")
	p.want(t, Leaving, "")
	if p.Level() != nil {
		t.Error("the old level is still there")
	}
	p.finish(t)
	p.want(t, Playing, "leave c d enter second")
	if p.Update() != Playing || strings.Join(p.rig.gone, " ") != "art/b.png art/a.png" && strings.Join(p.rig.gone, " ") != "art/a.png art/b.png" {
		t.Errorf("released %v", p.rig.gone)
	}
}

// A bar of the progress was full until the level file of the next level was requested.
func TestFlow_ProgressCountsTheNextLevelFile(t *testing.T) {
	p := newPlay(t, newRig(t, stages(t), 1, 0))
	p.Go("first")
	p.finish(t)
	p.Go("second")
	if got := p.Progress(); p.Phase() != Leaving || got != (Progress{Total: 1}) {
		t.Errorf("%v: %+v", p.Phase(), got)
	}
	p.finish(t)
	if got := p.Progress(); got != (Progress{Done: 3, Total: 3}) {
		t.Errorf("%v: %+v", p.Phase(), got)
	}
}

func TestFlow_FramesGoOnThroughout(t *testing.T) {
	g := newGate(stages(t), false)
	p := newPlay(t, newRig(t, g, 1, 0))
	p.Go("first")
	<-g.entered
	for range 100 { // the worker is inside the file system
		if p.Update() != Loading {
			t.Fatal(p.Phase())
		}
	}
	if n := testing.AllocsPerRun(100, func() { p.Update() }); n != 0 {
		t.Errorf("%v Go allocations a frame while loading", n)
	}
	p.Go("second")
	for range 100 {
		if p.Update() != Leaving {
			t.Fatal(p.Phase())
		}
	}
	p.Go("first") // and back again, while leaving
	g.pass <- struct{}{}
	for p.Update() == Leaving {
		p.rig.Wait()
	}
	p.want(t, Loading, "leave")
	close(g.pass)
	p.finish(t)
	p.want(t, Playing, "a b enter first")
	if n := testing.AllocsPerRun(100, func() { p.Update() }); n != 0 {
		t.Errorf("%v Go allocations a frame while playing", n)
	}
}

func TestFlow_BrokenLevelSaysWhyAndAnotherMayFollow(t *testing.T) {
	p := newPlay(t, newRig(t, stages(t), 1, 0))
	for name, want := range map[string]string{
		"none":    `level "levels/none.json": reading: file does not exist`,
		"bad":     `level "levels/bad.json": decoding: levels/bad.json: unexpected end of JSON input`,
		"../evil": "not a path inside the file system",
	} {
		p.Go(name)
		if err := p.Finish(); err == nil || !strings.Contains(err.Error(), want) || p.Phase() != Broken || p.Level() != nil {
			t.Errorf("%s: %v, %v; want %q", name, p.Phase(), err, want)
		}
	}
	p.Go("first")
	p.finish(t)
}

func TestFlow_MissingAndWaitingPicturesDoNotBlock(t *testing.T) {
	fsys := stages(t)
	delete(fsys, art("a"))
	p := newPlay(t, newRig(t, fsys, 1, 0))
	p.Go("first")
	p.finish(t)
	p.want(t, Playing, "b enter first")
	if got := p.Progress(); got != (Progress{Done: 3, Failed: 1, Total: 3}) {
		t.Errorf("progress %+v", got)
	}
	p = newPlay(t, newRig(t, stages(t), 1, 0, func(c *Config) { c.Resident = 1500 }))
	p.Go("first")
	p.finish(t)
	p.want(t, Playing, "a enter first")
}

func TestFlow_AClosedStreamerBreaksTheLevel(t *testing.T) {
	p := newPlay(t, newRig(t, stages(t), 1, 0))
	p.Go("first")
	for p.Update() == Loading && p.Level() == nil {
		p.rig.Wait()
	}
	if err := p.rig.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), `"first"`) {
		t.Errorf("%v; want ErrClosed", err)
	}
	p.want(t, Broken, "")
}

func TestFlow_ErrorsAndPanicsOfTheGame(t *testing.T) {
	broken := errors.New("no room")
	for at, want := range map[string]string{
		"path":    `stream: looking for level "first": it panicked`,
		"request": `stream: requesting what is needed of level "first": `,
		"enter":   `stream: entering level "first": `,
		"leave":   `stream: leaving for level "second": `,
		"deliver": "",
	} {
		for _, panicking := range []bool{false, true} {
			if at == "path" && !panicking {
				continue
			}
			t.Run(fmt.Sprint(at, panicking), func(t *testing.T) {
				armed := true
				fail := func(here string) error {
					if !armed || here != at {
						return nil
					}
					armed = false
					if panicking {
						panic(broken)
					}
					return broken
				}
				p := newPlay(t, newRig(t, stages(t), 1, 0), func(c *FlowConfig[*stage]) {
					enter, request := c.Enter, c.Request
					c.Path = func(name string) string { _ = fail("path"); return "levels/" + name + ".json" }
					c.Request = func(sc *Scope, l *stage) error { return errors.Join(fail("request"), request(sc, l)) }
					c.Leave = func() error { return fail("leave") }
					c.Enter = func(l *stage) error { return errors.Join(fail("enter"), enter(l)) }
				})
				p.rig.sink = func(string, Picture) error { return fail("deliver") }
				caughts, failures := 0, 0
				run := func(name string) { // as a game does that recovers
					for first := true; ; first = false {
						ended := false
						v := caught(func() {
							if first {
								p.Go(name)
							}
							if err := p.Finish(); err != nil {
								failures++
								if !strings.HasPrefix(err.Error(), want) || !panicking && !errors.Is(err, broken) {
									t.Errorf("%v; want %q", err, want)
								}
							}
							ended = true
						})
						if v != nil {
							caughts++
						}
						p.rig.check(t)
						if ended {
							return
						}
					}
				}
				within(t, soon, at, func() { run("first"); run("second"); run("first") })
				if p.Phase() != Playing || p.Level().Name != "first" || (caughts == 1) != panicking || (failures > 0) != (want != "") {
					t.Errorf("%v, %d panics, %d failures: %v", p.Phase(), caughts, failures, p.Err())
				}
			})
		}
	}
}

func TestFlow_GoFromInsideEnter(t *testing.T) {
	var p *play
	p = newPlay(t, newRig(t, stages(t), 1, 0), func(c *FlowConfig[*stage]) {
		c.Enter = func(l *stage) error {
			if l.Name == "first" {
				p.Go("second")
			}
			return nil
		}
	})
	p.Go("first")
	p.finish(t)
	if p.Level().Name != "second" {
		t.Errorf("%v", p.Level())
	}
	if _, err := NewFlow(FlowConfig[*stage]{}); err == nil {
		t.Error("a flow without a streamer")
	}
}

// The first version's deadlock, with a level switch.
func TestFlow_LevelSwitchEndsWhileAPictureOfTheGameWaitsForRoom(t *testing.T) {
	r := newRig(t, stages(t), 1, oneRoom)
	p := newPlay(t, r)
	a, b := r.picture("e", -3), r.picture("f", -2)
	r.starving(t)
	p.Go("first") // from Idle: nothing is left
	p.Go("second")
	p.finish(t)
	if p.Level().Name != "second" {
		t.Errorf("%v", p.Level())
	}
	r.run()
	want(t, a, Loaded)
	want(t, b, Loaded)
}

func TestFlow_LeavesALevelThatHangs(t *testing.T) {
	h := newHang()
	evil := &hostile{FS: stages(t), evil: art("a"), open: func() (fs.File, error) { h.wait(); return nil, fs.ErrNotExist }}
	p := newPlay(t, newOpenRig(t, evil, 2, 0, impatient(50*time.Millisecond)))
	p.Go("first")
	within(t, soon, "loading", func() {
		for len(h.entered) == 0 {
			p.Update()
		}
	})
	p.Go("second")
	p.finish(t)
	if err := p.rig.Close(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	p.rig.untouchedBy(t, func() { close(h.pass) })
}

func TestFlow_EnterMayTakeSeveralFrames(t *testing.T) {
	r := newRig(t, stages(t), 1, 0)
	p := newPlay(t, r)
	calls := 0
	enter := p.Flow.cfg.Enter
	p.Flow.cfg.Enter = func(l *stage) error {
		if calls++; calls%4 != 0 {
			return fmt.Errorf("not yet: %w", ErrMore)
		}
		return enter(l)
	}
	p.Go("first")
	p.finish(t)
	p.want(t, Playing, "a b enter first")
	if calls != 4 {
		t.Errorf("%d calls", calls)
	}
	p.Go("second")
	for calls < 5 { // and is left in the midst of it
		p.Update()
		p.rig.Wait()
	}
	if p.Phase() != Loading || p.Err() != nil {
		t.Fatal(p.Phase(), p.Err())
	}
	p.Go("first")
	p.finish(t)
	if p.Phase() != Playing || p.Level() == nil {
		t.Error(p.Phase())
	}
}

// All calls are of the game goroutine: during Finish no call can free the space that the level file waits for.
func TestFlow_FinishEndsWithoutSpaceForTheLevelFile(t *testing.T) {
	fsys := stages(t)
	fsys["full"] = &fstest.MapFile{Data: make([]byte, 1500)}
	r := newRig(t, fsys, 1, 0, func(c *Config) { c.Resident = 1500 })
	full := Request[File](r, "full", ETA(0))
	r.run()
	p := newPlay(t, r)
	p.Go("first")
	done := make(chan error, 1)
	go func() { done <- p.Finish() }()
	select {
	case err := <-done:
		var failed *LoadError
		if !errors.As(err, &failed) || failed.Name != "levels/first.json" || !errors.Is(err, errNoBudget) || p.Phase() != Broken {
			t.Errorf("%v, %v", p.Phase(), err)
		}
	case <-time.After(time.Until(testenv.Deadline(t))):
		t.Fatal("Finish does not end")
	}
	full.Close()
	p.Go("first")
	p.finish(t)
}

// A returning is a file system whose files appear after a while.
type returning struct {
	fs.FS
	at time.Time
}

func (r returning) Open(name string) (fs.File, error) {
	if time.Now().Before(r.at) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return r.FS.Open(name)
}

// A retry counts Polls. Without a pause between them, all retries of a second were made at once.
func TestFlow_FinishPausesBeforeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := newRig(t, returning{stages(t), began.Add(50 * time.Millisecond)}, 1, 0, func(c *Config) { c.Retries = 2 })
		p := newPlay(t, r)
		p.Go("first")
		if err := p.Finish(); err != nil || p.Phase() != Playing {
			t.Errorf("%v after %v: %v", p.Phase(), time.Since(began), err)
		}
	})
}
