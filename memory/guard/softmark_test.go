package guard

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func softStomp(t *testing.T, src page.Source, blocks int) *Stomp {
	t.Helper()
	s, err := NewStomp(src, StompConfig{Reserve: 16 << 20, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStomp_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	memtest.SoftMark(t, func(src page.Source) memory.Allocator { return softStomp(t, src, 100) })
}

// The place may be a new one, or one that was used before.
func TestStomp_ThatTheSoftMarkClosesIsClosed(t *testing.T) {
	for used := range 3 {
		memtest.SoftMarkCloses(t, func(src page.Source) memory.Allocator {
			s := softStomp(t, src, 2)
			for range used {
				p := memtest.MustAlloc(t, s, 100, 8)
				s.Free(p, 100)
			}
			return s
		})
	}
}

func TestStomp_WhatTheSoftMarkFreesIsNotLost(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	s := softStomp(t, limit, 3)
	first, second, third := memtest.MustAlloc(t, s, 100, 8), memtest.MustAlloc(t, s, 100, 8), memtest.MustAlloc(t, s, 100, 8)
	s.Free(first, 100)
	s.Free(second, 100)
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { s.Free(third, 100) })
	p := memtest.MustAlloc(t, s, 100, 8)
	memtest.MustCheck(t, s)
	s.Free(p, 100)
	if err := s.Close(); err != nil || limit.Committed() != 0 {
		t.Errorf("%v, %d bytes are committed", err, limit.Committed())
	}
}
