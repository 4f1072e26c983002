package tiers

import (
	"strings"
	"testing"
)

func FuzzParseTier(f *testing.F) {
	for t := range Tier(Count) {
		f.Add(t.String())
	}
	for _, s := range []string{"", "Static", "tier(7)", "\x1b", strings.Repeat("x", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		tier, err := ParseTier(name)
		if err == nil && tier.String() != name {
			t.Fatalf("%q is %v", name, tier)
		}
		if err != nil && (tier != 0 || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "allowed: static")) {
			t.Fatalf("%v, %q", tier, err)
		}
	})
}
