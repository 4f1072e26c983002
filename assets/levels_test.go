package assets_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/realm"
)

// levelNames is the order in which a game plays them.
var levelNames = realm.Names[:]

type level struct {
	Version int
	Name    string
	Title   string
	Next    string
	Palette []string

	Ambient struct {
		Rate float64
		Kind string
	}
	Assets []struct {
		ID, File string
		Priority int
	}
}

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
		if l.Ambient.Rate <= 0 || l.Ambient.Kind == "" {
			t.Errorf("%s: ambient %v", name, l.Ambient)
		}
	}
}

func TestLevels_NameOnlyExistingArt(t *testing.T) {
	for _, name := range levelNames {
		l := readLevel(t, name)
		seen := map[string]bool{}
		for _, a := range l.Assets {
			_, drawn := sizes[a.ID]
			if !(drawn && a.File == "art/"+a.ID+".png" || a.ID == "far" && a.File == "realms/"+name+"/far.png") || a.Priority < 0 {
				t.Errorf("%s: asset %+v", name, a)
			}
			if seen[a.ID] {
				t.Errorf("%s: asset %q is listed twice", name, a.ID)
			}
			seen[a.ID] = true
		}
		if missing := unlisted(seen); len(missing) > 0 {
			t.Errorf("%s shows %q without listing them", name, missing)
		}
	}
}

// unlisted returns what every level shows, and this one does not list. The placeholder is not among them: it must be
// there before any level is.
func unlisted(listed map[string]bool) (missing []string) {
	var shown []string
	for id := range sizes {
		if id != "placeholder" {
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
