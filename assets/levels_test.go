package assets_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
)

// levelNames is the order in which a game plays them.
var levelNames = []string{"ember", "tide", "spore"}

type level struct {
	Version int
	Name    string
	Title   string
	Next    string
	Palette []string
	Arena   struct{ Width, Height float64 }

	Background []string
	Ambient    struct {
		Rate float64
		Kind string
	}
	Waves []struct {
		Title  string
		Delay  float64
		Spawns []spawn
	}
	Boss   spawn
	Assets []struct {
		ID, File string
		Priority int
	}
}

type spawn struct {
	Enemy    string
	Count    int
	After    float64
	Interval float64
	Pattern  string
}

// last is when the last of the spawn appears, in seconds after the spawn's wave began.
func (s spawn) last() float64 { return s.After + s.Interval*float64(s.Count-1) }

func readLevel(t *testing.T, name string) level {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), "levels/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	var l level
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return l
}

func TestLevels_FollowTheSchema(t *testing.T) {
	colour := regexp.MustCompile(`^#[0-9a-f]{6}$`)
	for i, name := range levelNames {
		l := readLevel(t, name)
		if l.Version != 1 || l.Name != name || l.Title == "" {
			t.Errorf("%s: version %d, name %q, title %q", name, l.Version, l.Name, l.Title)
		}
		if want := levelNames[(i+1)%len(levelNames)]; l.Next != want {
			t.Errorf("%s: next %q, want %q", name, l.Next, want)
		}
		if len(l.Palette) != 5 {
			t.Errorf("%s: %d colours, want 5", name, len(l.Palette))
		}
		for _, c := range l.Palette {
			if !colour.MatchString(c) {
				t.Errorf("%s: colour %q", name, c)
			}
		}
		if l.Arena.Width < 640 || l.Arena.Height < 360 {
			t.Errorf("%s: arena %v is smaller than the screen", name, l.Arena)
		}
		if len(l.Background) != 2 || l.Ambient.Rate <= 0 || l.Ambient.Kind == "" {
			t.Errorf("%s: background %q, ambient %v", name, l.Background, l.Ambient)
		}
	}
}

func TestLevels_SpawnOnlyKnownEnemiesInKnownPatterns(t *testing.T) {
	enemies := []string{"drifter", "lancer", "swarm", "warden"}
	patterns := []string{"edge", "ring", "line", "corners", "center"}
	for _, name := range levelNames {
		l := readLevel(t, name)
		all := []spawn{l.Boss}
		for _, w := range l.Waves {
			all = append(all, w.Spawns...)
		}
		for _, s := range all {
			if !slices.Contains(enemies, s.Enemy) || !slices.Contains(patterns, s.Pattern) ||
				s.Count < 1 || s.After < 0 || s.Interval < 0 {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if l.Boss.Enemy != "warden" || l.Boss.Count != 1 || l.Boss.Pattern != "center" {
			t.Errorf("%s: boss %+v", name, l.Boss)
		}
	}
}

// A level of three waves and a warden must be playable in about 15 seconds by someone who never misses, so arrivals
// alone may take at most 9 of them.
func TestLevels_ArriveQuicklyAndGrowBusier(t *testing.T) {
	before := 0
	for _, name := range levelNames {
		l := readLevel(t, name)
		if len(l.Waves) != 3 {
			t.Errorf("%s: %d waves, want 3", name, len(l.Waves))
		}
		seconds, enemies := l.Boss.last(), 0
		for _, w := range l.Waves {
			longest := 0.0
			for _, s := range w.Spawns {
				longest = max(longest, s.last())
				enemies += s.Count
			}
			if w.Title == "" || w.Delay < 0.5 || w.Delay > 1 || longest > 2.5 {
				t.Errorf("%s: wave %q waits %.1f s and arrives over %.1f s", name, w.Title, w.Delay, longest)
			}
			seconds += w.Delay + longest
		}
		if seconds > 9 {
			t.Errorf("%s: arrivals take %.1f s", name, seconds)
		}
		if enemies <= before {
			t.Errorf("%s: %d enemies, the level before has %d", name, enemies, before)
		}
		before = enemies
	}
}

func TestLevels_NameOnlyExistingArt(t *testing.T) {
	for _, name := range levelNames {
		l := readLevel(t, name)
		seen := map[string]bool{}
		for _, a := range l.Assets {
			if _, ok := sizes[a.ID]; a.ID == "far" {
				if _, err := fs.Stat(assets.FS(), a.File); err != nil || a.File != "realms/"+name+"/far.png" {
					t.Errorf("%s: asset %+v: %v", name, a, err)
				}
			} else if !ok || a.File != "art/"+a.ID+".png" || a.Priority < 0 {
				t.Errorf("%s: asset %+v", name, a)
			}
			if seen[a.ID] {
				t.Errorf("%s: asset %q is listed twice", name, a.ID)
			}
			seen[a.ID] = true
		}
		if missing := unlisted(l, seen); len(missing) > 0 {
			t.Errorf("%s shows %q without listing them", name, missing)
		}
	}
}

// unlisted returns what the level shows but does not list: its backgrounds, its enemies with their cores, and the
// pictures that every level shares. The placeholder is not among them: it must be there before any level is.
func unlisted(l level, listed map[string]bool) (missing []string) {
	var shown []string
	for _, b := range l.Background {
		shown = append(shown, strings.TrimSuffix(b, ".png"))
	}
	shown = append(shown, l.Boss.Enemy, l.Boss.Enemy+"_core")
	for _, w := range l.Waves {
		for _, s := range w.Spawns {
			shown = append(shown, s.Enemy, s.Enemy+"_core")
		}
	}
	for id := range sizes {
		if !strings.HasPrefix(id, "bg_") && id != "placeholder" {
			shown = append(shown, id)
		}
	}
	for _, id := range shown {
		if !listed[id] && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	return missing
}
