package memtest

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/page"
)

// Refuses verifies that a constructor refuses each configuration in bad. The key of a configuration is a text that the
// error must contain. The result must be the zero value, and the constructor must not keep a reservation.
func Refuses[C any, A comparable](t testing.TB, construct func(page.Source, C) (A, error), bad map[string]C) {
	t.Helper()
	for want, cfg := range bad {
		src := NewFaulty()
		a, err := construct(src, cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v; want an error with %q", cfg, err, want)
		}
		if a != *new(A) || src.Reserved() != 0 {
			t.Errorf("New(%+v) gave %v with its error and kept %d reservations", cfg, a, src.Reserved())
		}
	}
}
