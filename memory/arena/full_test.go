package arena

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A block of no bytes stands behind the last byte of an arena that is full, which owns no such
// address.
func TestAlloc_ABlockOfNoBytesInAFullArenaCanBeResizedAndFreed(t *testing.T) {
	l, err := NewLinear(nil, LinearConfig{Bytes: page.BaseAlign})
	memtest.Opened(t, l, err)
	g, err := NewGrowing(nil, GrowingConfig{Reserve: page.BaseAlign, Step: page.Granule})
	memtest.Opened(t, g, err)
	f, err := NewFrames(nil, FramesConfig{Bytes: page.BaseAlign})
	memtest.Opened(t, f, err)
	for _, a := range []interface {
		memory.Allocator
		memory.Resizer
		memory.StatsReporter
	}{l, g, f} {
		memtest.MustAlloc(t, a, page.BaseAlign, 16)
		p := memtest.MustAlloc(t, a, 0, 16)
		if a.Resize(p, 0, 1) {
			t.Errorf("%T: it has grown behind the end", a)
		}
		a.Free(p, 0)
		if n := a.Stats().Live; n != 1 {
			t.Errorf("%T: %d blocks are live", a, n)
		}
		memtest.Misuse(t, func() { a.Free(p, 1) }, "arena.Free", "")
	}
	p := memtest.MustAlloc(t, f, 0, 16)
	f.Advance()
	f.Free(p, 0) // of a frame that is readable
	f.Advance()
	memtest.Misuse(t, func() { f.Free(p, 0) }, "arena.Free", "")
}

// Where nothing is committed even the test of a pointer for nil faults.
func TestNewIn_AValueOfNoSizeTouchesNothing(t *testing.T) {
	g, err := NewGrowing(nil, GrowingConfig{})
	memtest.Opened(t, g, err)
	f, err := NewFrames(nil, FramesConfig{Idle: true})
	memtest.Opened(t, f, err)
	empty := memory.MustType[struct{}]()
	if v, err := NewIn(g, empty); err != nil || v == nil {
		t.Errorf("%p, %v", v, err)
	}
	if v, err := New(f.Current(), empty); err != nil || v == nil {
		t.Errorf("%p, %v", v, err)
	}
	if s := g.Stats(); s.Committed != 0 || s.Live != 1 {
		t.Errorf("%+v", s)
	}
}
