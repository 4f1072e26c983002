package render

import (
	"reflect"
	"strings"
	"testing"
)

func FuzzParseControl(f *testing.F) {
	for _, s := range []string{"A", "Digit1", "MouseLeft", "PadUp", "", "a", "Control(7)", "\xff", strings.Repeat("A", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c, err := ParseControl(name)
		if err != nil {
			if c != 0 || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "allowed are keys") {
				t.Fatalf("%d, %q", c, err)
			}
			return
		}
		if c == 0 || c.String() != name {
			t.Fatalf("%q is control %d, %q", name, c, c)
		}
	})
}

func FuzzSetMap(f *testing.F) {
	f.Add("move_left", "A", "B", uint8(2))
	f.Add("fire", "MouseLeft", "MouseLeft", uint8(2))
	f.Add("rewind", "F1", "", uint8(1))
	f.Add(actionNames[0], "F3", strings.Repeat("x", 5000), uint8(9))
	f.Fuzz(func(t *testing.T, action, one, two string, n uint8) {
		b := DefaultBindings()
		before := b
		names := []string{one, two, one, two}[:n%5]
		if err := b.SetMap(map[string][]string{action: names}); err != nil {
			if b != before || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		again := DefaultBindings()
		if err := again.SetMap(b.Map()); err != nil || !reflect.DeepEqual(again, b) {
			t.Fatalf("%v came back as %v, %v", b, again, err)
		}
	})
}
