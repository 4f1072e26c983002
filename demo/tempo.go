package main

import "time"

// A tempo compares ticks with the clock. On a machine that is too slow for sixty ticks a second the game is slower than
// the clock. The player is informed once.
type tempo struct {
	began, last time.Time
	ticks       int
	counted     bool // the last one
	told        bool
}

const (
	tempoSpan  = 6 * time.Second // that is compared
	tempoPause = time.Second     // between two ticks is no slow machine: the window was hidden, or the process suspended
	tempoLeast = 0.9             // of the clock's ticks
)

// tick counts a tick, if it counts, as does the one before: the last frame of a load may be long. It reports, once, which
// share of the clock's ticks were made, if that is not enough.
func (t *tempo) tick(now time.Time, counts bool) (share float64, slow bool) {
	if t.told {
		return 0, false
	}
	if !counts || !t.counted || now.Sub(t.last) > tempoPause {
		t.began, t.ticks = now, 0
	}
	t.last, t.counted = now, counts
	t.ticks++
	took := now.Sub(t.began)
	if took < tempoSpan {
		return 0, false
	}
	share = float64(t.ticks-1) / (took.Seconds() * 60)
	t.began, t.ticks = now, 1
	t.told = share < tempoLeast
	return share, t.told
}
