package tiers

import (
	"errors"
	"testing"
)

// An OnSoft that always panics stops a call that begins or ends a frame once. So the frame ends, and the manager closes.
func TestManager_FramesGoOnThoughOnSoftAlwaysPanics(t *testing.T) {
	told := map[Tier]int{}
	cfg := small()
	cfg.SoftMark = 0.1
	cfg.OnSoft = func(t Tier, _, _ uintptr) { told[t]++; panic(errInjected) }
	m, err := New(cfg)
	must(t, errors.Join(err, m.BeginFrame()))
	alloc(t, m.Frame(), m.Frame().Available()/2)
	alloc(t, m.Worker(0), 1<<20)
	if err := protect(m.EndFrame); err != errInjected || told[Frame] != 1 {
		t.Errorf("the first EndFrame: %v, and OnSoft was called %d times", err, told[Frame])
	}
	must(t, m.EndFrame())
	if err := protect(m.BeginFrame); err != errInjected || told[Inbox] != 1 {
		t.Errorf("the first BeginFrame: %v, and OnSoft was called %d times", err, told[Inbox])
	}
	must(t, errors.Join(m.BeginFrame(), m.EndFrame(), m.Check(), m.Close()))
	if told[Frame] != 1 || told[Inbox] != 1 {
		t.Errorf("OnSoft was called %v times", told)
	}
}
