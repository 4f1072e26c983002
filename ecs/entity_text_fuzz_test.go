package ecs

import (
	"strings"
	"testing"
)

func FuzzEntityText(f *testing.F) {
	for _, s := range []string{"0:0", "1:1", "12:7", "12:6", "0:1", "4294967295:4294967295", "4294967296:1", "+1:1", ":", "1:1:1", "", strings.Repeat("9", 5000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := Entity{index: 3, gen: 5}
		e := before
		if err := e.UnmarshalText(text); err != nil {
			if e != before || len(err.Error()) > 500 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, %q", e, err)
			}
			return
		}
		out, err := e.MarshalText()
		if err != nil {
			t.Fatalf("%q is %v: %v", text, e, err)
		}
		var back Entity
		if err := back.UnmarshalText(out); err != nil || back != e {
			t.Fatalf("%v came back as %v, %v", e, back, err)
		}
	})
}
