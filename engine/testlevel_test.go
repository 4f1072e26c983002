package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// A testLevel is a level of a game that only these tests play.
type testLevel struct {
	Name, Next string
	Assets     []struct {
		ID, File string
		Priority int
	}
}

func parseTestLevel(path string, data []byte) (*testLevel, error) {
	l := new(testLevel)
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

func requestTestLevel(l *Loader, t *testLevel) error {
	for _, a := range t.Assets {
		if _, err := l.RequestPicture(ScopeLevel, a.ID, a.File, -a.Priority); err != nil && !errors.Is(err, ErrRequested) {
			return err
		}
	}
	return nil
}

// flowOver makes a flow over r that plays testLevels.
func flowOver(t testing.TB, r *rig, cfg FlowConfig[*testLevel]) *Flow[*testLevel] {
	t.Helper()
	cfg.Loader, cfg.Parse, cfg.Request = r.Loader, parseTestLevel, requestTestLevel
	if cfg.Sink == nil {
		cfg.Sink = func(Picture) error { return nil }
	}
	f, err := NewFlow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
