package findings

import (
	"errors"
	"strings"
	"testing"
)

func TestList_CountsBeyondMost(t *testing.T) {
	l := List{Of: "heap"}
	l.Join(nil, nil)
	if err := l.Err(); err != nil || !l.None() {
		t.Errorf("%v, none is %t; want nil and true", err, l.None())
	}
	inner := errors.New("inner")
	for i := range Most {
		if l.Add("block %d: %w", i, inner); l.None() {
			t.Fatal("an error was added, and there is none")
		}
	}
	if text := l.Err().Error(); strings.Count(text, "\n") != Most-1 || !strings.HasPrefix(text, "heap: block 0: inner\n") || strings.Contains(text, "more") {
		t.Errorf("%q", text)
	}
	l.Join(inner, nil)
	l.Add("another")
	err := l.Err()
	if text := err.Error(); strings.Count(text, "\n") != Most || !strings.HasSuffix(text, "\nheap: 2 errors more") || !errors.Is(err, inner) {
		t.Errorf("%q", text)
	}
}
