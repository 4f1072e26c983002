package compose_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
)

func TestConfig_InvalidIsErrConfig(t *testing.T) {
	a := newPlain(4)
	var typed *compose.Locked
	for name, f := range map[string]func() error{
		"Locked of nil":         func() error { _, err := compose.NewLocked(nil); return err },
		"Locked of a typed nil": func() error { _, err := compose.NewLocked(typed); return err },
		"Counted of nil":        func() error { _, err := compose.NewCounted(nil, compose.CountedConfig{}); return err },
		"BySize of one":         func() error { _, err := compose.NewBySize(100, a, a); return err },
		"BySize of nil":         func() error { _, err := compose.NewBySize(100, a, nil); return err },
		"Fallback of nil":       func() error { _, err := compose.NewFallback(nil, a); return err },
		"Fallback of no Owner":  func() error { _, err := compose.NewFallback(a, newPlain(4)); return err },
	} {
		if err := f(); !errors.Is(err, memory.ErrConfig) || errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: %v; want ErrConfig", name, err)
		}
	}
}
