package shell_test

import (
	"testing"

	"github.com/strata-go/strata/demo/shell"
)

func TestHints_LastUntilARunEnds(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	d.choose(t, "PLAY")
	d.Step(shell.Nav{Pause: true})
	for _, it := range d.Items() {
		if it.Label == "SHOW HINTS" {
			t.Error("hints are on, and the pause offers them")
		}
	}
	if d.Step(shell.Nav{Back: true}); !d.Settings().Hints {
		t.Error("a new player gets no hints")
	}
	d.End(shell.Result{})
	if d = newDesk(t, store); d.Settings().Hints {
		t.Error("the second run has hints")
	}
}

func TestHints_ReturnFromPauseAndSettings(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	d.choose(t, "PLAY")
	d.End(shell.Result{})
	d.wait()
	d.choose(t, "PLAY AGAIN")
	d.Step(shell.Nav{Pause: true})
	if cmd := d.choose(t, "SHOW HINTS"); cmd != shell.SettingsChanged || !d.Settings().Hints {
		t.Errorf("command %d, %+v", cmd, d.Settings())
	}
	d.want(t, shell.Playing, true)
	if d = newDesk(t, store); !d.Settings().Hints {
		t.Error("what the pause has switched on is not kept")
	}
	d.choose(t, "SETTINGS")
	if cmd := d.choose(t, "HINTS"); cmd != shell.SettingsChanged || d.Settings().Hints {
		t.Errorf("command %d, %+v", cmd, d.Settings())
	}
}

// Over gifts the pause returns to the gifts, which take a press at once.
func TestHints_FromAPauseOverGifts(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "PLAY")
	d.End(shell.Result{})
	d.wait()
	d.choose(t, "PLAY AGAIN")
	d.Offer([]shell.Gift{{Name: "MINES"}, {Name: "BEAM"}})
	d.Step(shell.Nav{Pause: true})
	d.choose(t, "SHOW HINTS")
	d.want(t, shell.Gifts, false)
	if cmd := d.Step(shell.Nav{Choose: 2}); cmd != shell.ChooseGift {
		t.Errorf("command %d", cmd)
	}
}

func TestHints_SettingsOfFormerVersionsHaveThem(t *testing.T) {
	d := newDesk(t, memory{"settings.json": `{"kind":"strata settings","version":1,"master":5}`})
	if s := d.Settings(); !s.Hints || s.Master != 5 || len(d.log) > 0 {
		t.Errorf("%+v, %v", s, d.log)
	}
}
