package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// Sync configures [Synctest], [Lockstep] and [Unhashed]. Set, Step and Hash must not be nil. Unhashed uses only Set,
// Hash and Rest, so its Step may be nil. Only Synctest uses Distance, Check and Audit. An error of Step, Rest or Check
// ends the test.
type Sync struct {
	// Set saves and loads the state of the game. It must be sealed.
	Set *save.Set
	// Step makes the input of one tick and plays the tick. The input must depend only on the state, for example on the
	// tick number in the state.
	Step func() error
	// Hash returns a number that is equal for equal states. It should cover every field of the game, including fields
	// that may be missing in Set. If Hash does not cover a field, the hashes cannot show that a load has not restored
	// the field.
	Hash func() uint64
	// Rest is called after each Step, before each save, and before Synctest loads. It waits for workers, for example by
	// tiers.Manager.Rest. It may be nil.
	Rest func() error
	// Ticks is the number of ticks to test. Below 1 means none. Lockstep uses the Ticks of its first argument.
	Ticks int
	// Distance is the number of ticks between save and load. Below 1 means 1.
	Distance int
	// Check may be nil. Synctest calls it after each successful load. An error of Check becomes Desync.Err.
	Check func() error
	// Audit may be nil. Synctest calls Audit after each save of a state that it loads later. After the load Synctest calls
	// the function that Audit has returned. This function returns the differences from the save; nil or an empty slice
	// means none. See [Fields].
	Audit func() func() []save.Difference
}

// A Synced counts what [Synctest] has done.
type Synced struct {
	Ticks   int // ticks that were played twice
	Loads   int // loads that succeeded
	Skipped int // ticks that were played once, because Load returned save.ErrLayout, as after the end of a level
	Bytes   int // length of the largest state
}

// A Desync reports a difference of two states. In [Synctest] they are the states of one tick, before and after a
// load. In [Lockstep] they are the states of the two games.
type Desync struct {
	Tick       int               // number of ticks from the start of the test to the two states
	Difference save.Difference   // the first difference; empty if Differ is false
	More       []save.Difference // the further differences of Sync.Audit
	Differ     bool              // Difference is set; false if only the hashes differ, or if Err is set
	Audit      bool              // Sync.Audit has found Difference; if false, Difference is in the Set
	Err        error             // the error of Sync.Check, or nil
	lockstep   bool              // two games differ
}

// Error returns a text with the tick, the difference, and the paths of at most 8 differences of More. If Err is set,
// the text contains Err instead of the differences.
func (d *Desync) Error() string {
	when := fmt.Sprintf("synctest: tick %d", d.Tick)
	if d.lockstep {
		when = fmt.Sprintf("lockstep: tick %d", d.Tick)
	}
	switch {
	case d.Err != nil:
		return fmt.Sprintf("engine: %s: after the load: %v", when, d.Err)
	case d.Audit:
		return fmt.Sprintf("engine: %s: after the load: %s: the Set lacks it, or does not restore it%s", when, d.Difference, also(d.More))
	case d.Differ:
		return fmt.Sprintf("engine: %s: %s", when, d.Difference)
	}
	return fmt.Sprintf("engine: %s: the hash differs, but no part of the Set: it lacks data that the hash covers", when)
}

// also names the first few differences by their paths.
func also(more []save.Difference) string {
	const most = 8
	var s strings.Builder
	for i, d := range more[:min(len(more), most)] {
		s.WriteString([]string{"; also ", ", "}[min(i, 1)] + d.Path)
	}
	if n := len(more) - most; n > 0 {
		fmt.Fprintf(&s, ", and %d more", n)
	}
	return s.String()
}

// Unwrap returns Err.
func (d *Desync) Unwrap() error { return d.Err }

// Synctest tests that a game can be saved and loaded. It saves, plays Distance ticks, loads, and plays the same ticks
// again. It repeats this from the state that it has reached. The hashes must be equal after the load and after every
// tick.
//
// The error wraps a *[Desync] if hashes differ, if Check returns an error, or if Audit finds a difference. If hashes
// differ after a tick, the Desync names the first difference of the Set by part, table, entity and field. If the Set
// has no difference, or if hashes differ directly after a load, the Desync has only the tick.
//
// Other errors wrap those of Step, Rest and the Set. But if a load fails with save.ErrLayout, the test goes on, and the
// ticks since the save count as Skipped. Compare Synced.Skipped with the number that you expect.
//
// Synctest saves before each Distance ticks, and after each tick that it plays for the first time. It keeps Distance +
// 2 states in Go memory. The game must not be drawn during the test. After success the game is Ticks ticks later. After
// an error the state of the game is not specified.
func Synctest(cfg Sync) (Synced, error) {
	s := syncer{Sync: cfg}
	s.Distance = max(s.Distance, 1)
	s.first = make([]*save.Slot, s.Distance)
	s.hashes = make([]uint64, s.Distance)
	for s.done.Ticks+s.done.Skipped < s.Ticks {
		if err := s.window(min(s.Distance, s.Ticks-s.done.Ticks-s.done.Skipped)); err != nil {
			return s.done, err
		}
	}
	return s.done, nil
}

// A syncer is a Synctest under way.
type syncer struct {
	Sync
	done   Synced
	start  *save.Slot   // of the window
	first  []*save.Slot // the states after each tick of the window
	hashes []uint64
	second *save.Slot
}

// window tests the next n ticks.
func (s *syncer) window(n int) error {
	if err := s.save(&s.start, false); err != nil {
		return err
	}
	before := s.Hash()
	var audit func() []save.Difference
	if s.Audit != nil {
		audit = s.Audit()
	}
	for i := range n {
		if err := s.step("synctest", s.at(i+1)); err != nil {
			return err
		}
		s.hashes[i] = s.Hash()
		if err := s.save(&s.first[i], true); err != nil {
			return err
		}
	}
	if err := s.rest(); err != nil {
		return err
	}
	if err := s.Set.Load(s.start); errors.Is(err, save.ErrLayout) {
		s.done.Skipped += n
		return nil
	} else if err != nil {
		return err
	}
	s.done.Loads++
	if err := s.loaded(before, audit); err != nil {
		return err
	}
	for i := range n {
		if err := s.step("synctest", s.at(i+1)); err != nil {
			return err
		}
		if s.Hash() != s.hashes[i] {
			return s.desync(i)
		}
	}
	s.done.Ticks += n
	return nil
}

// loaded tests the state after a load. before is the hash at the save.
func (s *syncer) loaded(before uint64, audit func() []save.Difference) error {
	if s.Check != nil {
		if err := s.Check(); err != nil {
			return &Desync{Tick: s.at(0), Err: err}
		}
	}
	if audit != nil {
		if d := audit(); len(d) > 0 {
			return &Desync{Tick: s.at(0), Difference: d[0], More: d[1:], Differ: true, Audit: true}
		}
	}
	if s.Hash() != before {
		return &Desync{Tick: s.at(0)}
	}
	return nil
}

// at returns the number of the tick i ticks after the beginning of the window.
func (s *syncer) at(i int) int { return s.done.Ticks + s.done.Skipped + i }

// step plays the tick with this number. The name of the test is for the error.
func (s *syncer) step(test string, tick int) error {
	if err := s.Step(); err != nil {
		return fmt.Errorf("engine: %s: tick %d: %w", test, tick, err)
	}
	return s.rest()
}

func (s *syncer) rest() error {
	if s.Rest == nil {
		return nil
	}
	return s.Rest()
}

// save saves into a slot that is made longer if necessary.
func (s *syncer) save(slot **save.Slot, canonical bool) error {
	if err := s.rest(); err != nil {
		return err
	}
	if *slot == nil {
		*slot = s.slot(0, canonical)
	}
	err := s.Set.Save(*slot)
	if short := (*memory.Exhausted)(nil); errors.As(err, &short) && short.Op == "save: slot" {
		*slot = s.slot(int(short.Need)+int(short.Need)/4, canonical)
		err = s.Set.Save(*slot)
	}
	s.done.Bytes = max(s.done.Bytes, len((*slot).Bytes()))
	return err
}

func (s *syncer) slot(bytes int, canonical bool) *save.Slot {
	if canonical {
		return s.Set.NewCanonical(bytes)
	}
	return s.Set.NewSlot(bytes)
}

// desync names the difference after tick i of the window.
func (s *syncer) desync(i int) error {
	d := &Desync{Tick: s.at(i + 1)}
	if err := s.save(&s.second, true); err != nil {
		return errors.Join(d, err)
	}
	var err error
	if d.Difference, d.Differ, err = s.Set.Diff(s.first[i], s.second); err != nil {
		return errors.Join(d, err)
	}
	return d
}
