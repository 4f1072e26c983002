package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// world is a gallery with two levels: first shows a and b, second shows c and d.
func world(t testing.TB) fstest.MapFS {
	fsys := gallery(t)
	for name, ids := range map[string]string{"first": "ab", "second": "cd"} {
		text := fmt.Sprintf(`{"name": %q, "assets": [{"id": "%[2]c", "file": "art/%[2]c.png", "priority": 1},
			{"id": "%[3]c", "file": "art/%[3]c.png", "priority": 0}]}`, name, ids[0], ids[1])
		fsys["levels/"+name+".json"] = &fstest.MapFile{Data: []byte(text)}
	}
	fsys["levels/bad.json"] = &fstest.MapFile{Data: []byte(`{`)}
	return fsys
}

// A play is a flow that writes down what it is told.
type play struct {
	*Flow[*testLevel]
	rig *rig
	log []string
}

func newPlay(t testing.TB, fsys fs.FS, change ...func(*FlowConfig[*testLevel])) *play {
	t.Helper()
	p := &play{rig: newRig(t, fsys, 1, 0)}
	cfg := FlowConfig[*testLevel]{Loader: p.rig.Loader, Parse: parseTestLevel, Request: requestTestLevel,
		Sink:  func(pic Picture) error { p.log = append(p.log, pic.ID); return nil },
		Leave: func() error { p.log = append(p.log, "leave"); p.rig.noLeaks(t); return nil },
		Enter: func(l *testLevel) error { p.log = append(p.log, "enter "+l.Name); return nil },
	}
	for _, c := range change {
		c(&cfg)
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
	if got := strings.Join(p.log, ", "); p.Phase() != phase || got != log {
		t.Errorf("%v: %q; want %v: %q (error %v)", p.Phase(), got, phase, log, p.Err())
	}
	p.log = nil
}

func TestFlow_FromLevelToLevel(t *testing.T) {
	p := newPlay(t, world(t))
	if p.Update() != Idle || p.Level() != nil || p.Finish() != nil {
		t.Errorf("phase %v before the first Go", p.Phase())
	}
	p.Go("first")
	if p.Phase() != Loading || p.Level() != nil || p.Target() != "first" {
		t.Errorf("phase %v after the first Go", p.Phase())
	}
	if err := p.Finish(); err != nil || p.Level().Name != "first" || p.Progress().Fraction() != 1 {
		t.Error(err)
	}
	// Priority 0 of the file is b; which arrives first of two ready ones is not the flow's business.
	if len(p.log) != 3 || p.log[2] != "enter first" {
		t.Errorf("log %v", p.log)
	}
	p.log = nil
	p.Go("second")
	p.want(t, Leaving, "")
	if p.Level() != nil {
		t.Error("the old level is still there")
	}
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	if p.log[0] != "leave" || p.log[len(p.log)-1] != "enter second" || len(p.log) != 4 || p.Update() != Playing {
		t.Errorf("log %v", p.log)
	}
}

func TestFlow_FramesGoOnThroughout(t *testing.T) {
	g := newGate(world(t), false)
	p := newPlay(t, g)
	p.Go("first")
	<-g.entered
	for range 100 { // the worker hangs in the file system
		if p.Update() != Loading {
			t.Fatal(p.Phase())
		}
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
	if err := p.Finish(); err != nil || p.Level().Name != "first" {
		t.Error(err)
	}
}

func TestFlow_GoWhileLoadingGivesUp(t *testing.T) {
	g := newGate(world(t), false)
	p := newPlay(t, g)
	p.Go("first")
	g.pass <- struct{}{} // the level file
	for p.Level() == nil {
		p.Update()
	}
	p.Go("second")
	close(g.pass)
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	if p.log[0] != "leave" || p.log[len(p.log)-1] != "enter second" || len(p.log) != 4 {
		t.Errorf("log %v", p.log)
	}
}

func TestFlow_BrokenLevelSaysWhyAndAnotherMayFollow(t *testing.T) {
	p := newPlay(t, world(t))
	for name, want := range map[string]string{
		"none":    `asset "level none": reading levels/none.json: file does not exist`,
		"bad":     "levels/bad.json: unexpected end of JSON input",
		"../evil": "not a path inside the file system",
	} {
		p.Go(name)
		if err := p.Finish(); err == nil || !strings.Contains(err.Error(), want) || p.Phase() != Broken || p.Level() != nil {
			t.Errorf("%s: %v, %v; want %q", name, p.Phase(), err, want)
		}
	}
	p.Go("first")
	if err := p.Finish(); err != nil || p.Err() != nil || p.Phase() != Playing {
		t.Errorf("%v, %v", p.Phase(), err)
	}
}

func TestFlow_MissingPictureBreaksNothing(t *testing.T) {
	fsys := world(t)
	delete(fsys, "art/a.png")
	p := newPlay(t, fsys)
	p.Go("first")
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	p.want(t, Playing, "b, enter first")
	if got := p.Progress(); got != (Progress{Done: 3, Failed: 1, Total: 3}) {
		t.Errorf("progress %+v", got)
	}
}

func TestFlow_WhatTheGameHoldsIsNotLoadedAgain(t *testing.T) {
	p := newPlay(t, world(t))
	if _, err := p.rig.RequestPicture(ScopeGame, "a", "art/a.png", 0); err != nil {
		t.Fatal(err)
	}
	p.rig.settle()
	p.Go("first")
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	p.want(t, Playing, "b, enter first")
}

func TestFlow_LoaderWithoutRoomBreaksTheLevel(t *testing.T) {
	r := newRig(t, world(t), 1, 0, func(c *LoaderConfig) { c.Assets = 2 })
	f := flowOver(t, r, FlowConfig[*testLevel]{})
	f.Go("first")
	if err := f.Finish(); !errors.Is(err, ErrLoaderFull) || f.Phase() != Broken {
		t.Errorf("%v, %v", f.Phase(), err)
	}
}

func TestFlow_LoaderClosedWhileLoadingBreaksTheLevel(t *testing.T) {
	p := newPlay(t, world(t))
	p.Go("first")
	for p.Update() == Loading && p.Level() == nil {
		p.rig.Loader.Wait()
	}
	if err := p.rig.Loader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(); !errors.Is(err, ErrLoaderClosed) || !strings.Contains(err.Error(), `"first"`) {
		t.Errorf("%v; want ErrLoaderClosed", err)
	}
	p.want(t, Broken, "")
}

func TestFlow_ErrorsOfTheGame(t *testing.T) {
	broken := errors.New("no room")
	p := newPlay(t, world(t), func(c *FlowConfig[*testLevel]) { c.Enter = func(*testLevel) error { return broken } })
	p.Go("first")
	if err := p.Finish(); !errors.Is(err, broken) || err.Error() != `engine: entering level "first": no room` {
		t.Error(err)
	}
	p = newPlay(t, world(t), func(c *FlowConfig[*testLevel]) { c.Leave = func() error { return broken } })
	p.Go("first")
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	p.Go("second")
	if err := p.Finish(); !errors.Is(err, broken) || err.Error() != `engine: leaving for level "second": no room` {
		t.Error(err)
	}
}

func TestFlow_GoFromInsideEnter(t *testing.T) {
	var p *play
	p = newPlay(t, world(t), func(c *FlowConfig[*testLevel]) {
		c.Enter = func(l *testLevel) error {
			if l.Name == "first" {
				p.Go("second")
			}
			return nil
		}
	})
	p.Go("first")
	if err := p.Finish(); err != nil || p.Level().Name != "second" {
		t.Errorf("%v, %v", p.Level(), err)
	}
}

func TestNewFlow_BadConfig(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	sink := func(Picture) error { return nil }
	for want, cfg := range map[string]FlowConfig[*testLevel]{
		"Loader, Sink and Parse are required":   {Loader: r.Loader, Parse: parseTestLevel},
		"Loader, Sink and Parse are  required":  {Sink: sink, Parse: parseTestLevel},
		"Loader, Sink and  Parse are  required": {Loader: r.Loader, Sink: sink},
		"budget {Bytes:-1 Time:0s}; allow":      {Loader: r.Loader, Sink: sink, Parse: parseTestLevel, Budget: Budget{Bytes: -1}},
	} {
		if _, err := NewFlow(cfg); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "  ", " ")) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFlow_UpdateDoesNotAllocateWhileNothingChanges(t *testing.T) {
	g := newGate(world(t), false)
	p := newPlay(t, g)
	p.Go("first")
	<-g.entered
	if n := testing.AllocsPerRun(100, func() { p.Update() }); n != 0 {
		t.Errorf("%v Go allocations a frame while loading", n)
	}
	close(g.pass)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { p.Update() }); n != 0 {
		t.Errorf("%v Go allocations a frame while playing", n)
	}
}
