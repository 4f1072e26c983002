package ground

import (
	"regexp"
	"strings"
	"testing"
)

func FuzzParsePalette(f *testing.F) {
	for _, s := range []string{"#f2641a", "#FFFFFF", "f2641a0", "#12345", "# 1 2 3", "#+1+2+3", "#0x1122", "#\xff\xff\xff\xff\xff\xff", strings.Repeat("#", 5000)} {
		f.Add(s)
	}
	colour := regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePalette("f", [5]string{"#000000", "#ffffff", text, "#102030", "#000000"})
		if (err == nil) != colour.MatchString(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil && (len(err.Error()) > 300 || !strings.Contains(err.Error(), "palette[2]")) {
			t.Fatalf("%q: %d bytes of error", text, len(err.Error()))
		}
		if err == nil && (p[1] != Color{255, 255, 255} || p[3] != Color{16, 32, 48}) {
			t.Fatalf("%q: %v", text, p)
		}
	})
}
