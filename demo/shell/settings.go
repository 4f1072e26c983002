package shell

import (
	"encoding/json"
	"fmt"

	"github.com/strata-go/strata/demo/strictjson"
)

// Steps is the highest value of a volume and of Shake.
const Steps = 10

// Bloom selects whether the picture glows: one of BloomAuto, BloomOn and BloomOff.
type Bloom string

// The choices for Bloom. BloomAuto turns it off if the CPU renders.
const (
	BloomAuto Bloom = "auto"
	BloomOn   Bloom = "on"
	BloomOff  Bloom = "off"
)

// Settings are the player's settings. Keys has the names of the controls by action, as in Bindings.Map. If Keys is nil,
// the controls are the defaults.
type Settings struct {
	Master     int                 `json:"master"`  // 0 to Steps
	Effects    int                 `json:"effects"` // 0 to Steps
	Music      int                 `json:"music"`   // 0 to Steps
	Mute       bool                `json:"mute"`
	Fullscreen bool                `json:"fullscreen"`
	Bloom      Bloom               `json:"bloom"`                // whether the picture glows
	Shake      int                 `json:"shake"`                // 0 to Steps
	Calm       bool                `json:"reduced_flashing"`     // fewer flashes and pulses
	Clear      bool                `json:"colour_blind_palette"` // a palette for colour-blind players
	Hints      bool                `json:"hints"`                // lines that teach the game; [Shell.End] sets it to false
	Keys       map[string][]string `json:"keys,omitempty"`
}

// DefaultSettings returns the settings of a new player.
func DefaultSettings() Settings {
	return Settings{Master: 8, Effects: 8, Music: 6, Bloom: BloomAuto, Shake: Steps, Hints: true}
}

// What a file begins with.
const (
	settingsKind    = "strata settings"
	runsKind        = "strata runs"
	fileVersion     = 1
	fileMost        = 64 << 10 // bytes; a table of ten runs takes a few kilobytes
	settingsName    = "settings.json"
	runsName        = "runs.json"
	realmNameLength = 64
)

// A header is the beginning of every file.
type header struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
}

// check verifies the size, kind and version of a file, before anything else of it is read.
func check(data []byte, kind string) error {
	if len(data) > fileMost {
		return fmt.Errorf("more than %d bytes", fileMost)
	}
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return fmt.Errorf("not JSON: %w", strictjson.Short(err))
	}
	switch {
	case h.Kind != kind:
		return fmt.Errorf("its kind is %.40q, not %q", h.Kind, kind)
	case h.Version != fileVersion:
		return fmt.Errorf("version %d; this program reads version %d", h.Version, fileVersion)
	}
	return nil
}

type settingsFile struct {
	header
	Settings
}

// ReadSettings reads the content of a file of [WriteSettings]. Missing fields get their defaults. The error names the
// mistake and the allowed values. The names in Keys are not checked.
func ReadSettings(data []byte) (Settings, error) {
	if err := check(data, settingsKind); err != nil {
		return Settings{}, err
	}
	f := settingsFile{Settings: DefaultSettings()}
	if _, err := strictjson.Decode(data, &f); err != nil {
		return Settings{}, err
	}
	if err := f.Settings.check(); err != nil {
		return Settings{}, err
	}
	return f.Settings, nil
}

func (s *Settings) check() error {
	for _, v := range []struct {
		name  string
		value int
	}{{"master", s.Master}, {"effects", s.Effects}, {"music", s.Music}, {"shake", s.Shake}} {
		if v.value < 0 || v.value > Steps {
			return fmt.Errorf("%s is %d; allowed are 0 to %d", v.name, v.value, Steps)
		}
	}
	if s.Bloom != BloomAuto && s.Bloom != BloomOn && s.Bloom != BloomOff {
		return fmt.Errorf("bloom is %.20q; allowed are auto, on and off", s.Bloom)
	}
	return nil
}

// WriteSettings returns the content of a file with these settings, as JSON. It does not check them.
func WriteSettings(s Settings) ([]byte, error) {
	return json.MarshalIndent(settingsFile{header{settingsKind, fileVersion}, s}, "", "  ")
}
