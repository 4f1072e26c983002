package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/strata-go/strata/memory/meter"
)

// lines returns what a screen shows.
func lines(screen tcell.SimulationScreen) []string {
	cells, w, h := screen.GetContents()
	all := make([]string, h)
	for y := range all {
		var b strings.Builder
		for _, c := range cells[y*w : (y+1)*w] {
			b.WriteString(string(c.Runes))
		}
		all[y] = strings.TrimRight(b.String(), " ")
	}
	return all
}

func TestRun_ShowsTheRowsAndNamesWhatGrows(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(100, 30)
	// A leak is named within 45 s. The meter reads its clock once a frame. This clock advances by a third of a second
	// each time, however long a frame takes. The test ends after 80 s of it.
	frames := 0
	cfg := meter.Config{Now: func() time.Time {
		if frames++; frames == 240 {
			screen.InjectKey(tcell.KeyRune, 'q', tcell.ModNone)
		}
		return time.Unix(0, int64(frames)*int64(time.Second)/3)
	}}
	if err := run(screen, cfg); err != nil {
		t.Fatal(err)
	}
	text := lines(screen)
	if !strings.Contains(strings.Join(text, "\n"), "\ngrowing: slab +") || !strings.Contains(strings.Join(text, "\n"), "by tag sounds") {
		t.Error("the verdict does not name the tier and the tag that grow")
	}
	figures := map[string][]string{}
	for _, l := range text[3:] {
		if f := strings.Fields(l); len(f) > 1 && figures[f[0]] == nil {
			figures[f[0]] = f
		}
	}
	for _, name := range []string{"static", "frame", "slab", "go", "untracked", "paths", "sounds", "untagged"} {
		if figures[name] == nil {
			t.Errorf("no row %q", name)
		}
	}
	if f := figures["sounds"]; len(f) < 5 || !strings.HasSuffix(f[len(f)-1], "iB") {
		t.Errorf("sounds leak: %q", f)
	}
	if f := figures["paths"]; len(f) < 5 || f[len(f)-1] != "-" || f[len(f)-2] == "0" {
		t.Errorf("paths come and go, and do not grow: %q", f)
	}
	// 2 MiB of a buffer of almost 4: half of the bar.
	if f := figures["frame"]; len(f) < 6 || strings.Count(f[len(f)-1], "█") != barWidth/2 {
		t.Errorf("frame memory is half used: %q", f)
	}
	if t.Failed() {
		t.Log("\n" + strings.Join(text, "\n"))
	}
}

func TestEnds_QEscapeAndControlCDo(t *testing.T) {
	for _, key := range []struct {
		e    tcell.Event
		want bool
	}{
		{tcell.NewEventKey(tcell.KeyRune, 'q', 0), true},
		{tcell.NewEventKey(tcell.KeyEscape, 0, 0), true},
		{tcell.NewEventKey(tcell.KeyCtrlC, 3, tcell.ModCtrl), true},
		{tcell.NewEventKey(tcell.KeyRune, 'x', 0), false},
		{tcell.NewEventResize(80, 25), false},
	} {
		if ends(key.e) != key.want {
			t.Errorf("%T %+v: want %v", key.e, key.e, key.want)
		}
	}
}
