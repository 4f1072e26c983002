package session

import (
	"strings"
	"testing"
)

func FuzzParseStore(f *testing.F) {
	for _, s := range []string{"tiers", "goheap", "pooled", "", "Tiers", "\x1b", strings.Repeat("x", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		store, err := ParseStore(name)
		if err == nil && store.String() != name || err != nil && (store != 0 || tooLong(err) || !strings.Contains(err.Error(), "tiers, goheap")) {
			t.Fatalf("%q is %v, %v", name, store, err)
		}
	})
}

// tooLong reports whether an error is more than one line of a terminal or two.
func tooLong(err error) bool {
	return len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b")
}
