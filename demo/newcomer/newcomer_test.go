package newcomer

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// A player that could look into the game would prove nothing.
func TestPackage_ImportsNothingOfTheModule(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, ".") {
				t.Errorf("%s imports %s", file.Name(), i.Path.Value)
			}
		}
	}
}

func TestLore_LearnsFromLinesOnly(t *testing.T) {
	var l lore
	l.read([]Text{{Text: "The Forge Without Walls"}, {Text: "SEALS"}, {Text: "SEAL"}, {Text: "PLAY"}})
	if l != (lore{}) {
		t.Errorf("from signs it learns %+v", l)
	}
	l.read([]Text{
		{Text: "IJKL: MOVE"}, {Text: "MOUSE: AIM    LEFT MOUSE: FIRE"}, {Text: "SPACE: DASH. NOTHING HURTS IN A DASH"},
		{Text: "COLLECT THE EMBERS"}, {Text: "FOLLOW THE ARROW"}, {Text: "A HEXAGON: FIRE AT IT"},
	})
	want := lore{up: "I", left: "J", down: "K", right: "L", fire: "LEFT MOUSE", dash: "SPACE", aim: true, embers: true, arrow: true, hexagon: true}
	if l != want {
		t.Errorf("it learns %+v", l)
	}
}

// chevron is an arrow to the right with its tip at (x, y).
func chevron(x, y float32) []Triangle {
	tip, notch := [2]float32{x, y}, [2]float32{x - 4, y}
	return []Triangle{
		{A: tip, B: [2]float32{x - 10, y - 8}, C: notch}, {A: [2]float32{x - 10, y - 8}, B: [2]float32{x - 12, y - 6}, C: notch},
		{A: tip, B: [2]float32{x - 10, y + 8}, C: notch}, {A: [2]float32{x - 10, y + 8}, B: [2]float32{x - 12, y + 6}, C: notch},
	}
}

func TestFrame_ArrowNeedsItsLabel(t *testing.T) {
	f := Frame{Triangles: chevron(300, 200)}
	if _, ok := f.arrow(); ok {
		t.Error("an arrow without a label leads somewhere")
	}
	f.Texts = []Text{{Text: "SEAL", X: 260, Y: 192, Width: 24, Height: 16}}
	if dir, ok := f.arrow(); !ok || dir != (vec{1, 0}) {
		t.Errorf("the arrow points to %v, %v", dir, ok)
	}
}

// A wall with a gap at its upper end lies between the player and where it wants to go.
func TestGround_LeadsAroundWalls(t *testing.T) {
	f := Frame{W: 400, H: 200, Sprites: []Sprite{{Name: "fill", X: 200, Y: 130, W: 20, H: 180, Colour: Colour{A: 1}}}}
	var g ground
	g.see(&f, 10)
	at, goal := vec{100, 150}, vec{300, 150}
	if !g.wall(vec{200, 150}) || g.wall(at) || g.wall(goal) {
		t.Fatal("the wall is not where it is drawn")
	}
	for n := 0; at.to(goal) > 20; n++ {
		if at = at.add(g.to(at, goal).mul(5)); n > 200 || at[0] > 188 && at[0] < 212 && at[1] > 38 {
			t.Fatalf("after %d steps at %v", n, at)
		}
	}
	if dir := g.toward(vec{170, 60}, vec{1, 0}); dir[0] <= 0 || dir[1] >= 0 {
		t.Errorf("along the wall to %v", dir)
	}
}

// What the hands do is a quarter of a second late.
func TestPlayer_ReactsLate(t *testing.T) {
	var p Player
	f := Frame{W: 640, H: 360, Texts: []Text{{Text: "PLAY", X: 300, Y: 100, Width: 40, Height: 20}}}
	for i := range 2 * late {
		h := p.Look(&f)
		if seen := h.Mouse == [2]float32{320, 110}; seen != (i >= late) {
			t.Errorf("look %d: the mouse is at %v", i, h.Mouse)
		}
	}
}
