package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// RewindConfig configures [NewRewind]. T is the input of one tick, such as [Input].
type RewindConfig[T any] struct {
	// Set saves and loads the state of the game. It must be sealed.
	Set *save.Set
	// Memory is where the states are kept. It must outlive the Rewind, and must not belong to a part of the Set. It needs
	// no alignment and need not be zero. If one state is larger than Memory, Keep returns a *memory.Exhausted. Memory from
	// make usually becomes resident as states fill it. memory.MakeSlice clears its memory, which is resident at once.
	Memory []byte
	// Ticks is the number of ticks whose inputs are kept; 0 means 7,200: two minutes. States is the largest number of
	// states; 0 means 1,024. Negative numbers are an error. NewRewind allocates the list of inputs and the list of states.
	Ticks, States int
	// Step plays one tick again. It must not play sounds, because the player has heard them already. It must not change
	// the input or keep the pointer. Of the methods of the Rewind it may call only Now. An error ends the Seek: see
	// Rewind.Seek.
	Step func(in *T) error
	// Rest is called before each save and load. It waits for workers, for example by tiers.Manager.Rest. Keep, Seek and
	// Back return its error. Rest may be nil.
	Rest func() error
}

// A Rewind returns to any of the last ticks of a game. It keeps the inputs of these ticks, and the states that Keep
// saves. To return to a tick it loads the newest state that is not after this tick, and plays the inputs since that
// state again. The game must depend only on its state and the inputs; [Synctest] tests this. A Rewind belongs to the
// game goroutine.
//
// If the game itself calls Load or Read of the Set, for example in a quick load, the Rewind forgets all states and
// inputs. The number of the present tick stays. Call Begin to change it.
//
//	ticks    ... 120 121 122 ... 150 151 152 153 ...
//	states        S                S                    Keep
//	inputs        i   i   i   ...  i   i   i   i        Record
//	Seek(152)                      load, step, step
//
// [Rewind.Record] does not allocate. [Rewind.Keep] allocates only if [save.Set.Save] does, for example the first time.
// [Rewind.Seek] allocates only if [save.Set.Load] or the game does.
type Rewind[T any] struct {
	// Invariants, verified by Check:
	//
	//	(1) now <= end, and every state lies at most len(inputs) ticks before end
	//	(2) the states pass their own Check

	cfg    RewindConfig[T]
	states *save.History
	inputs []T    // of tick n at n % len
	now    uint64 // the present tick
	end    uint64 // the last tick that was recorded
	torn   bool   // Step or Load has failed or panicked: the state is that of no tick
	loads  uint64 // of the Set, when the Rewind last looked
}

// What is kept by default.
const (
	rewindTicks  = 120 * TickRate
	rewindStates = 1024
)

// NewRewind returns an empty Rewind at tick 0. If Set or Step is nil, or Ticks or States is negative, the error wraps
// memory.ErrConfig.
func NewRewind[T any](cfg RewindConfig[T]) (*Rewind[T], error) {
	cfg.Ticks, cfg.States = cmp.Or(cfg.Ticks, rewindTicks), cmp.Or(cfg.States, rewindStates)
	if cfg.Set == nil || cfg.Step == nil || cfg.Ticks < 1 {
		return nil, fmt.Errorf("engine: rewind of %d ticks: it needs a Set, a Step and at least 1 tick: %w", cfg.Ticks, memory.ErrConfig)
	}
	states, err := save.NewHistory(cfg.Set, cfg.Memory, cfg.States)
	if err != nil {
		return nil, err
	}
	return &Rewind[T]{cfg: cfg, states: states, inputs: make([]T, cfg.Ticks), loads: cfg.Set.Loads()}, nil
}

// Begin forgets all states and inputs, and makes tick the number of the present tick. For example, tick is 0 for a new
// game.
func (r *Rewind[T]) Begin(tick uint64) {
	r.states.Clear()
	r.now, r.end, r.torn, r.loads = tick, tick, false, r.cfg.Set.Loads()
}

// notice begins again if something else has loaded a state, such as a quick load: what is kept is not its past.
func (r *Rewind[T]) notice() {
	if r.loads != r.cfg.Set.Loads() {
		r.Begin(r.now)
	}
}

// Record stores the input of the next tick and makes this tick the present one. The caller must play this tick next.
// States and inputs after the old present tick are forgotten. States more than RewindConfig.Ticks ticks old are
// dropped.
func (r *Rewind[T]) Record(in T) {
	r.notice()
	r.Cut()
	r.now++
	r.end = r.now
	r.inputs[r.now%uint64(len(r.inputs))] = in
	for oldest, ok := r.states.Oldest(); ok && r.end-oldest > uint64(len(r.inputs)); oldest, ok = r.states.Oldest() {
		r.states.DropOldest()
	}
}

// Keep saves the present state if no state is kept, or if the newest state is at least `every` ticks older than the
// present tick. An `every` below 1 means 1. Call Keep after each tick. saved reports whether Keep has saved the state.
// After a Seek back, Keep saves nothing while a later state is kept: see Cut. If there is no space, Keep replaces the
// oldest states.
//
// The errors are those of Rest and of [save.History.Save]. If the game is in no valid state, Keep returns an error that
// wraps save.ErrEmpty: see Seek. This ends with a call of Begin, a successful Seek or Back, or a load of the Set by the
// game.
func (r *Rewind[T]) Keep(every int) (saved bool, err error) {
	r.notice()
	if r.torn {
		return false, fmt.Errorf("engine: rewind: a step has failed, and there is no state of tick %d; call Seek: %w", r.now, save.ErrEmpty)
	}
	if newest, ok := r.states.Newest(); ok && int64(r.now-newest) < int64(max(every, 1)) { // negative after a Seek back
		return false, nil
	}
	if err := r.rest(); err != nil {
		return false, err
	}
	err = r.states.Save(r.now)
	return err == nil, err
}

// Seek makes tick the present tick, and returns how many ticks it has played. tick must be from Oldest to End; if it is
// not, the error wraps save.ErrEmpty. Seek loads the newest state that is not after tick, and plays the ticks since
// this state. If the present tick is between this state and tick, or if there is no such state, Seek loads nothing and
// plays on. Later states and inputs stay until [Rewind.Cut] or [Rewind.Record].
//
// If a load fails with save.ErrLayout, Seek loads an older state. This happens, for example, if a level has ended, or
// if an earlier Seek has dropped a hook of the state: see tiers.Manager.State. If no state can be loaded, Seek plays on
// from the present tick. If the present tick is after tick, Seek fails instead.
//
// If RewindConfig.Rest or a load fails, the present tick and the game are unchanged. But the game is in no valid state
// after an error or a panic of Step, and after a load that panics. The same is true if a load fails because a
// save.State breaks its contract. After a failed Step, Now returns the tick before the failed tick. From an invalid
// state the next Seek must load a state that is not after its tick. If there is none, the error of this Seek wraps
// save.ErrEmpty.
func (r *Rewind[T]) Seek(tick uint64) (played int, err error) { return r.seek(tick, math.MaxInt) }

// Back is [Rewind.Seek] to the present tick or an earlier one. It then forgets all states and inputs after tick. If
// tick is after the present tick, the error wraps save.ErrEmpty. Other errors are those of Seek and of Keep.
//
// Back saves a state after every `dense` ticks that it plays, except at its last tick. So the next Back to a slightly
// earlier tick has fewer ticks to play. A `dense` below 1 means 1. Back saves only while RewindConfig.Memory and States
// have space, and replaces no state.
//
// If an error occurs before the first Step, nothing is forgotten. After a later error all states and inputs after tick
// are lost.
func (r *Rewind[T]) Back(tick uint64, dense int) (played int, err error) {
	r.notice()
	if tick > r.now {
		return 0, fmt.Errorf("engine: rewind: tick %d is after tick %d: %w", tick, r.now, save.ErrEmpty)
	}
	if played, err = r.seek(tick, max(dense, 1)); err == nil {
		r.Cut()
	}
	return played, err
}

func (r *Rewind[T]) seek(tick uint64, dense int) (played int, err error) {
	r.notice()
	if oldest := r.Oldest(); tick < oldest || tick > r.end {
		return 0, fmt.Errorf("engine: rewind: tick %d; there are %d to %d: %w", tick, oldest, r.end, save.ErrEmpty)
	}
	from, ok := r.states.Before(tick)
	if r.torn && !ok {
		return 0, fmt.Errorf("engine: rewind: a step has failed, and there is no state before tick %d: %w", tick, save.ErrEmpty)
	}
	if !r.torn && (!ok || from <= r.now && r.now <= tick) {
		from = r.now // from where the game stands
	} else if err := r.rest(); err != nil {
		return 0, err
	} else if from, err = r.load(tick); err != nil {
		return 0, err
	}
	if dense < math.MaxInt { // of Back, whose tick is not after now
		r.states.DropAfter(from) // they make space, and no state is saved before a later one
		r.end = tick
	}
	r.now, r.torn = from, false
	for r.now < tick {
		if played > 0 && played%dense == 0 {
			if err := r.spare(); err != nil {
				return played, err
			}
		}
		r.torn = true // until the step has ended
		if err := r.cfg.Step(&r.inputs[(r.now+1)%uint64(len(r.inputs))]); err != nil {
			return played, err
		}
		r.torn = false
		r.now++
		played++
	}
	return played, nil
}

// load loads the newest state that is not after a tick and still fits, and returns its tick. A state with a hook no
// longer fits if an earlier state was loaded: that has dropped the hook, and the ticks that are played again register
// another one. If no state fits, load returns the present tick, unless that is after the tick. It is not preferred to
// older states: a load that fails may have committed memory.
func (r *Rewind[T]) load(tick uint64) (from uint64, err error) {
	for at, ok := r.states.Before(tick); ok; at, ok = r.states.Before(from - 1) {
		from = at
		failed := r.loadOne(from)
		if failed == nil {
			return from, nil
		}
		if err == nil {
			err = failed
		}
		if !errors.Is(failed, save.ErrLayout) {
			return 0, failed
		}
		if from == 0 {
			break
		}
	}
	if !r.torn && r.now <= tick {
		return r.now, nil
	}
	return 0, err
}

// loadOne loads the state of a tick. If a State panics, or fails after others were loaded, the state is that of no tick.
func (r *Rewind[T]) loadOne(tick uint64) error {
	was := r.torn
	r.torn = true
	defer func() { r.loads = r.cfg.Set.Loads() }() // also if a State panics
	_, err := r.states.Load(tick)
	if err == nil || r.loads == r.cfg.Set.Loads() {
		r.torn = was
	}
	return err
}

// spare saves the present state if there is free memory.
func (r *Rewind[T]) spare() error {
	if err := r.rest(); err != nil || !r.states.Spare() {
		return err
	}
	return r.states.Save(r.now)
}

func (r *Rewind[T]) rest() error {
	if r.cfg.Rest == nil {
		return nil
	}
	return r.cfg.Rest()
}

// Cut forgets the states and inputs after the present tick.
func (r *Rewind[T]) Cut() {
	r.notice()
	if r.end != r.now {
		r.states.DropAfter(r.now)
		r.end = r.now
	}
}

// Now returns the present tick. [Rewind.Record] makes a new tick the present one, and the caller must then play it.
// [Rewind.Seek] makes a tick the present one after Step has played it: during Step, Now returns the tick before. After
// a failed Step the state is not that of Now: see Seek.
func (r *Rewind[T]) Now() uint64 { return r.now }

// Oldest returns the first tick that Seek can reach. If no state is kept, this is the present tick.
func (r *Rewind[T]) Oldest() uint64 {
	r.notice()
	if oldest, ok := r.states.Oldest(); ok {
		return min(oldest, r.now)
	}
	return r.now
}

// End returns the last tick that Seek can reach: the newest recorded tick that was not forgotten.
func (r *Rewind[T]) End() uint64 {
	r.notice()
	return r.end
}

// States returns the number of states, their size in bytes together, and the length of RewindConfig.Memory.
func (r *Rewind[T]) States() (n, used, size int) {
	r.notice()
	used, size = r.states.Bytes()
	return r.states.Len(), used, size
}

// Check verifies the metadata of the Rewind and returns all inconsistencies, joined into one error, or nil.
func (r *Rewind[T]) Check() error {
	r.notice()
	var errs []error
	oldest, ok := r.states.Oldest()
	if r.now > r.end || ok && r.end > oldest && r.end-oldest > uint64(len(r.inputs)) {
		errs = append(errs, fmt.Errorf("engine: rewind: invariant 1: tick %d of %d to %d, with %d inputs", r.now, oldest, r.end, len(r.inputs)))
	}
	if newest, ok := r.states.Newest(); ok && newest > r.end {
		errs = append(errs, fmt.Errorf("engine: rewind: invariant 1: a state of tick %d, the last one is %d", newest, r.end))
	}
	return errors.Join(append(errs, r.states.Check())...)
}
