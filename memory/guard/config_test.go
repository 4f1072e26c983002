package guard

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
)

func TestConfig_InvalidIsErrConfig(t *testing.T) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{})
	memtest.Opened(t, l, err)
	for _, cfg := range []Config{{CanaryBytes: maxCanary + 1}, {History: -1}, {Frames: -1}, {Frames: maxFrames + 1}} {
		if a, err := New(l, cfg); a != nil || !errors.Is(err, memory.ErrConfig) {
			t.Errorf("New(%+v): %v; want ErrConfig", cfg, err)
		}
	}
	if a, err := New(nil, Config{}); a != nil || !errors.Is(err, memory.ErrConfig) {
		t.Errorf("New(nil): %v; want ErrConfig", err)
	}
	for _, cfg := range []StompConfig{{Blocks: -1}, {Blocks: 1<<20 + 1}, {Frames: -1}, {Frames: maxFrames + 1}, {Reserve: 1}} {
		if s, err := NewStomp(nil, cfg); s != nil || !errors.Is(err, memory.ErrConfig) {
			t.Errorf("NewStomp(%+v): %v; want ErrConfig", cfg, err)
		}
	}
}

// The pages of a freed block that the source keeps stay accessible until Trim.
func TestStomp_FreeLeavesPagesThatTheSourceKeeps(t *testing.T) {
	src := memtest.NewFaulty()
	s, err := NewStomp(src, StompConfig{Reserve: 1 << 20})
	memtest.Opened(t, s, err)
	p := memtest.MustAlloc(t, s, 100, 1)
	src.FailReturns = true
	s.Free(p, 100)
	if s.Kept() == 0 || faults(p) {
		t.Errorf("%d bytes are kept, an access faults: %t", s.Kept(), faults(p))
	}
	src.FailReturns = false
	if err := s.Trim(); err != nil || s.Kept() != 0 || !nothingFaults && !faults(p) {
		t.Errorf("after Trim: %v, %d bytes are kept", err, s.Kept())
	}
}
