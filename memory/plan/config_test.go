package plan

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestConfig_InvalidIsErrConfig(t *testing.T) {
	for name, f := range map[string]func() error{
		"a nil plan":           func() error { _, err := New(nil, nil); return err },
		"negative steps":       func() error { _, _, err := Exact(nil, Limits{Steps: -1}); return err },
		"negative time":        func() error { _, _, err := Exact(nil, Limits{Time: -1}); return err },
		"a bad alignment":      func() error { _, err := Fast([]Buffer{{Size: 1, Death: 1, Align: 3}}); return err },
		"a death before birth": func() error { _, err := Fast([]Buffer{{Size: 1, Birth: 2, Death: 1}}); return err },
		"an ID twice":          func() error { _, err := Fast([]Buffer{{Death: 1}, {Death: 1}}); return err },
		"sizes beyond all":     func() error { _, err := Fast([]Buffer{{Size: ^uintptr(0), Death: 1}}); return err },
	} {
		if err := f(); !errors.Is(err, memory.ErrConfig) || errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: %v; want ErrConfig", name, err)
		}
	}
}
