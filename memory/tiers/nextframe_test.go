package tiers

import (
	"errors"
	"testing"
)

func TestManager_NextFrameEndsTheOpenFrame(t *testing.T) {
	m := newManager(t, small())
	for want := range uint64(5) {
		must(t, m.NextFrame())
		if m.frame.begun != want+1 || m.phase&inFrame == 0 {
			t.Fatalf("%d frames have begun, phase %d", m.frame.begun, m.phase)
		}
		alloc(t, m.Frame(), 100)
	}
	if _, err := m.EndLevel(); !errors.Is(err, ErrOrder) {
		t.Errorf("EndLevel inside a frame: %v", err)
	}
	must(t, m.EndFrame())
	must(t, m.NextFrame()) // after EndFrame
	must(t, m.EndFrame())
	must(t, m.Close())
	if err := m.NextFrame(); !errors.Is(err, ErrOrder) {
		t.Errorf("after Close: %v", err)
	}
}

// A frame that cannot end stays open, and none begins.
func TestManager_NextFrameKeepsAFrameThatCannotEnd(t *testing.T) {
	m := newManager(t, small())
	failing := true
	m.AddPool("fails", &Funcs{StatsFunc: func() stats {
		if failing && m.phase&inFrame != 0 {
			panic(errInjected)
		}
		return stats{}
	}})
	must(t, m.NextFrame())
	if err := protect(m.NextFrame); !errors.Is(err, errInjected) || m.frame.begun != 1 || m.phase&inFrame == 0 {
		t.Errorf("%v, %d frames, phase %d", err, m.frame.begun, m.phase)
	}
	failing = false
	must(t, m.NextFrame())
	if m.frame.begun != 2 {
		t.Errorf("%d frames have begun", m.frame.begun)
	}
	must(t, m.EndFrame())
}
