package arena

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

func TestFrames_LiveIsWhatSomeReadableFrameHasInUse(t *testing.T) {
	f, err := NewFrames(nil, FramesConfig{Bytes: 64 << 10})
	memtest.Opened(t, f, err)
	p := memtest.MustAlloc(t, f, 100, 1)
	g, err := NewGrowing(nil, GrowingConfig{Reserve: 1 << 20})
	memtest.Opened(t, g, err)
	q := memtest.MustAlloc(t, g, 100, 1)
	live := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: live %t, want %t", what, got, want)
		}
	}
	for range 2 {
		live("the first byte", f.Live(p), true)
		live("the last byte", f.Live(unsafe.Add(p, 99)), true)
		live("the end, where a block of size 0 may stand", f.Live(unsafe.Add(p, 100)), true)
		live("beyond the end", f.Live(unsafe.Add(p, 101)), false)
		live("another arena's", f.Live(q), false)
		f.Advance()
	}
	live("a frame that is gone", f.Live(p), false)
	live("the level's", g.Live(q), true)
	g.Reset()
	live("after Reset", g.Live(q), false)
	live("nil", g.Live(nil), false)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	live("after Close", g.Live(q), false)
}
