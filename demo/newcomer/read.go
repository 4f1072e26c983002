package newcomer

import "strings"

// A lore is what the player has read so far.
type lore struct {
	up, left, down, right string // controls; "" is unknown
	fire, dash            string
	aim                   bool // that the mouse aims
	embers                bool // that they are worth collecting
	arrow                 bool // that it leads to a seal
	hexagon               bool // that it is a seal, to be fired at
}

// read learns from the texts of a frame. A line such as "SPACE: DASH. NOTHING HURTS" names a control.
func (l *lore) read(texts []Text) {
	for i := range texts {
		t := texts[i].Text
		for part := range strings.SplitSeq(t, "   ") {
			control, verb, ok := strings.Cut(strings.TrimSpace(part), ": ")
			if !ok {
				continue
			}
			verb, _, _ = strings.Cut(verb, ".")
			l.learn(control, verb)
		}
		has := func(words ...string) bool {
			for _, w := range words {
				if !strings.Contains(t, w) {
					return false
				}
			}
			return true
		}
		l.embers = l.embers || has("COLLECT", "EMBERS")
		l.arrow = l.arrow || has("FOLLOW", "ARROW")
		l.hexagon = l.hexagon || has("HEXAGON", "FIRE")
	}
}

func (l *lore) learn(control, verb string) {
	switch verb {
	case "MOVE":
		if len(control) == 4 {
			l.up, l.left, l.down, l.right = control[:1], control[1:2], control[2:3], control[3:]
		}
	case "AIM":
		l.aim = control == "MOUSE"
	case "FIRE":
		l.fire = control
	case "DASH":
		l.dash = control
	}
}

// find returns a text of the frame.
func (f *Frame) find(text string) *Text {
	for i := range f.Texts {
		if f.Texts[i].Text == text {
			return &f.Texts[i]
		}
	}
	return nil
}

// Middle returns the position of the middle of a text.
func (t *Text) Middle() (x, y float32) { return t.X + t.Width/2, t.Y + t.Height/2 }

// arrow returns the direction of an arrow on the screen that is labelled with a word of goals: four triangles that
// share their first point.
func (f *Frame) arrow() (dir vec, ok bool) {
	for i := 0; i+3 < len(f.Triangles); i++ {
		t := f.Triangles[i : i+4]
		tip, notch := vec(t[0].A), vec(t[0].C)
		if t[2].A != t[0].A || t[2].C != t[0].C || t[1].C != t[0].C || t[3].C != t[0].C {
			continue
		}
		for k := range f.Texts {
			switch f.Texts[k].Text {
			case "SEAL", "WARDEN", "PORTAL":
				if x, y := f.Texts[k].Middle(); (vec{x, y}).to(tip) < 4*f.Texts[k].Height {
					return tip.sub(notch).unit(), true
				}
			}
		}
	}
	return vec{}, false
}
