package cue_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/demo/sound/cue"
)

func TestEvents_KeepTheOrderAndNoMoreThanCanBeToldApart(t *testing.T) {
	var e cue.Events
	var s cue.Sink = &e
	for i := range 100 {
		s.Sound(cue.Hit, float32(i), 0, 1)
	}
	s.Sound(cue.Roar, 7, 8, 0.5)
	s.Sound(cue.Count, 0, 0, 1)
	s.Sound(255, 0, 0, 1)
	all := e.All()
	if len(all) != cue.PerKind+1 || all[3].X != 3 || all[cue.PerKind] != (cue.Event{X: 7, Y: 8, Strength: 0.5, Kind: cue.Roar}) {
		t.Errorf("%d events: %v", len(all), all)
	}
	if e.Merged() != 100-cue.PerKind {
		t.Errorf("%d were merged; want %d", e.Merged(), 100-cue.PerKind)
	}
	e.Reset()
	for k := range cue.Count { // the fullest tick there is
		for range cue.PerKind + 1 {
			e.Sound(k, 0, 0, 1)
		}
	}
	if n := len(e.All()); n != int(cue.Count)*cue.PerKind {
		t.Errorf("%d events in a full tick", n)
	}
}

func TestEvents_MutedHearNothing(t *testing.T) {
	var e cue.Events
	if e.Mute(true) {
		t.Error("muted from the beginning")
	}
	e.Sound(cue.Hit, 0, 0, 1)
	if !e.Mute(false) || len(e.All()) != 0 {
		t.Errorf("%d events", len(e.All()))
	}
	e.Sound(cue.Hit, 0, 0, 1)
	if len(e.All()) != 1 {
		t.Error("still muted")
	}
}

func TestEvents_AllocateNothing(t *testing.T) {
	var e cue.Events
	if n := testing.AllocsPerRun(100, func() {
		e.Reset()
		for i := range 1000 {
			e.Sound(cue.Kind(i%20), 1, 2, 1)
		}
	}); n != 0 {
		t.Errorf("%v objects a tick", n)
	}
}

// Kinds, layers and files are the same list.
func TestFiles_ExistForEveryKindAndLayerAndNoOther(t *testing.T) {
	want := map[string]bool{}
	for k := range cue.Count {
		for v := range k.Variants() {
			want[sound.EffectFile(k, v)] = true
		}
	}
	for r := range sound.Realms {
		for l := range sound.Layers {
			want[sound.MusicFile(r, l)] = true
		}
	}
	have, err := fs.Glob(assets.FS(), "sound/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range have {
		if !want[name] {
			t.Errorf("%s is nobody's", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
	if s := cue.Kind(200).String() + sound.Realm(9).String(); strings.Contains(s, "%") || s != "unknownunknown" {
		t.Error(s)
	}
}
