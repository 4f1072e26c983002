package shell

import (
	"encoding/json"
	"fmt"

	"github.com/strata-go/strata/demo/strictjson"
)

// Steps is the top of a volume and of Shake.
const Steps = 10

// Bloom says when the picture glows.
type Bloom string

// The choices for Bloom.
const (
	BloomAuto Bloom = "auto"
	BloomOn   Bloom = "on"
	BloomOff  Bloom = "off"
)

// Settings are what the player chose. Keys are the controls of each action by name, as the window
// names them; nil is the default.
type Settings struct {
	Master     int                 `json:"master"` // 0 to Steps
	Effects    int                 `json:"effects"`
	Music      int                 `json:"music"`
	Mute       bool                `json:"mute"`
	Fullscreen bool                `json:"fullscreen"`
	Bloom      Bloom               `json:"bloom"`
	Shake      int                 `json:"shake"`
	Calm       bool                `json:"reduced_flashing"`
	Clear      bool                `json:"colour_blind_palette"`
	Keys       map[string][]string `json:"keys,omitempty"`
}

// DefaultSettings are those of a new player.
func DefaultSettings() Settings {
	return Settings{Master: 8, Effects: 8, Music: 6, Bloom: BloomAuto, Shake: Steps}
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

// A header is what every file has.
type header struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
}

// check verifies that a file is of a kind, before anything else of it is believed.
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

// ReadSettings reads what WriteSettings wrote. The error says what is wrong and what is allowed.
// Names of keys are not looked at.
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

// WriteSettings returns the settings as a file.
func WriteSettings(s Settings) ([]byte, error) {
	return json.MarshalIndent(settingsFile{header{settingsKind, fileVersion}, s}, "", "  ")
}
