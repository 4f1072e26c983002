package main

import (
	"io/fs"
	"strings"
	"testing"
)

func FuzzAcceptEncoding(f *testing.F) {
	for _, s := range []string{"", "br", "gzip;q=0.5, br;q=0", "*;q=0", "identity;q=0, *", "br;q=1.0000", ",;=", "x-gzip", "\xff", strings.Repeat("*,", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		best := chosen(allForms, []string{header})
		for name, w := range weights([]string{header}) {
			if w < 0 || w > full || name == "" {
				t.Fatalf("%q: %q has weight %d", header, name, w)
			}
			if best != nil && name == best.encoding && w == 0 {
				t.Fatalf("%q: %s is chosen and refused", header, name)
			}
		}
		if best == nil && !strings.Contains(header, ";") {
			t.Fatalf("%q refuses all", header)
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"/", "", "/../x", "/a//b/", "/\x00", "/..\\x", "/\xff", "/" + strings.Repeat("a", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		name, ok := fileName(url)
		if ok && (!fs.ValidPath(name) || name == "." || strings.HasPrefix(name, "..") && !strings.HasPrefix(name, "...") && (name == ".." || strings.HasPrefix(name, "../")) || strings.Contains(name, "\x00")) {
			t.Fatalf("%q is file %q", url, name)
		}
	})
}
