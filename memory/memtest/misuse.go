package memtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// Misuse runs f and returns the *memory.Misuse with which f must panic. Any other outcome fails the test. If the text
// of the *memory.Misuse does not contain every string of want, the test fails.
func Misuse(tb testing.TB, f func(), want ...string) (m *memory.Misuse) {
	tb.Helper()
	defer func() {
		tb.Helper()
		r := recover()
		err, _ := r.(error)
		if !errors.As(err, &m) {
			tb.Fatalf("recovered %v; want a panic with a *memory.Misuse", r)
		}
		for _, w := range want {
			if !strings.Contains(m.Error(), w) {
				tb.Errorf("misuse says %q, which does not contain %q", m.Error(), w)
			}
		}
	}()
	f()
	return nil
}
