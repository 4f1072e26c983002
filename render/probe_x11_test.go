//go:build (linux && !android) || freebsd

package render

import (
	"errors"
	"strings"
	"testing"
)

func TestProbe_SaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ display, wayland, want string }{
		{"", "", "neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{"", "wayland-0", "XWayland is needed"},
		{"nonsense", "", "has no ':'"},
		{":x", "", `"x" is not a display number`},
		{":-1", "", `"-1" is not a display number`},
		{":59000", "", "no X server answers"},
	} {
		t.Setenv("DISPLAY", c.display)
		t.Setenv("WAYLAND_DISPLAY", c.wayland)
		if err := Probe(); !errors.Is(err, ErrNoDisplay) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("DISPLAY %q: %v, want %q", c.display, err, c.want)
		}
		if err := Run(&scene{}, Options{}); !errors.Is(err, ErrNoDisplay) {
			t.Errorf("DISPLAY %q: Run: %v", c.display, err)
		}
	}
}

func TestParseDisplay(t *testing.T) {
	for s, want := range map[string]struct {
		host string
		n    int
	}{":0": {"", 0}, "unix:3.1": {"", 3}, "host.example:10.0": {"host.example", 10}, "/private/tmp/x:0": {"", 0}, "[::1]:2": {"[::1]", 2}} {
		if host, n, err := parseDisplay(s); err != nil || host != want.host || n != want.n {
			t.Errorf("%q: %q %d %v", s, host, n, err)
		}
	}
}
