package overlay

import (
	"strings"
	"testing"
)

func FuzzParsePart(f *testing.F) {
	for _, s := range []string{"strip", "f1", "F1", "f0", "f99", "", "maps ", "\xff", strings.Repeat("f", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := ParsePart(name)
		if err != nil {
			if p != 0 || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "allowed: strip") {
				t.Fatalf("%d, %q", p, err)
			}
			return
		}
		if int(p) >= len(ownParts) || ownParts[p].name != name && !strings.HasPrefix(name, "f") {
			t.Fatalf("%q is part %d", name, p)
		}
	})
}
