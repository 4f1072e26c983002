//go:build (linux && !android) || freebsd

package render

import (
	"strings"
	"testing"
)

// FuzzParseDisplay gives $DISPLAY any value. What is refused is explained in a short line; what is accepted is a host
// and a number that has a port.
func FuzzParseDisplay(f *testing.F) {
	for _, s := range []string{":0", ":0.0", "unix:1", "/tmp/x:1", "host:59535.1", "[::1]:2", "::1:2", "", ":", ":-1", ":+1", ":99999", ":1x", "host", ":\x1b", ":" + strings.Repeat("9", 500)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, number, err := parseDisplay(s)
		if err != nil {
			if len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q: %q", s, err)
			}
			return
		}
		if number < 0 || 6000+number > 65535 || strings.HasPrefix(host, "/") || !strings.HasPrefix(s, host) {
			t.Fatalf("%q is display %d of %q", s, number, host)
		}
	})
}
