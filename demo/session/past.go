package session

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// What a Past keeps, in ticks.
const (
	RewindMost  = 4 * engine.TickRate // ticks that one charge takes back at most
	rewindSpeed = 2                   // that a frame takes back
	rewindDense = 6                   // between the states on the way back
	rewindLeast = engine.TickRate / 2 // without them there is nothing to take back

	keepEvery = 30                    // between two states: so many ticks are played again at most
	keepEarly = 27                    // if the worker of the fields is idle
	keepSpan  = 120 * engine.TickRate // for which there are inputs
)

// A charge lets the player rewind once.
const (
	ChargesFirst = 1 // the charges with which a run begins
	ChargesMost  = 3 // the most charges: a seal that breaks gives one more, up to this number
)

// What a Past may cost. Keeping a state may take keepShare of the ticks' time. That is measured for keepWindow states,
// of which the median counts: a busy machine interrupts some. A tick counts as keepTick at least: where ticks are
// shorter, time is not short. A state's bytes must allow RewindMost ticks, with a state more than there are intervals.
const (
	keepShare  = 0.08
	keepWindow = 16
	keepTick   = time.Millisecond / 2
	keepStates = RewindMost/keepEvery + 1
)

// A recorded tick is the input of the rules, and whether the pools tier was relieved before.
type recorded struct {
	in      engine.Input
	relieve bool
}

// A Past contains the states and the inputs of the last ticks of a realm, and the player's charges: the rewinds that
// are left. States of [Session.States] do not contain the Past. A nil Past keeps nothing. A Past belongs to the
// goroutine of its Session.
type Past struct {
	s   *Session
	r   *engine.Rewind[recorded]
	src page.Source
	mem page.Memory

	committed bool // mem

	charges int
	broken  int // seals of this realm that a charge was given for
	used    int // charges of this run

	active bool
	ready  bool   // the player has released the control
	from   uint64 // the tick at which the player began to rewind

	waited time.Duration // by the last rest
	off    string        // why nothing is kept
	cost   cost
	total  PastFigures
}

// cost is the time of a window of states.
type cost struct {
	saves int
	keep  [keepWindow]time.Duration
	ticks time.Duration
}

// PastFigures has statistics of a [Past]. The fields up to ReplayMost are for the time since the session began, the
// others for the present.
type PastFigures struct {
	Saves       int           // states that Frame has saved
	Keep, Ticks time.Duration // the time of saving states, without Wait; the time of ticks, without Replayed
	Wait        time.Duration // the time for which saves waited for the worker of the paths
	Replayed    int           // ticks that Rewind and Seek have played again
	ReplayMost  int           // the most of them in one call
	States      int           // states
	Used, Size  int           // bytes of these states, and of all memory for states
	Span        int           // ticks that the states cover
}

// newPast makes the Past of Config.Rewind bytes, outside of the manager.
func newPast(s *Session, bytes int) (*Past, error) {
	set, err := s.States()
	if err != nil {
		return nil, err
	}
	p := &Past{s: s, src: page.Default(), charges: ChargesFirst}
	if p.mem, err = p.src.Reserve(uintptr(bytes)); err != nil {
		return nil, fmt.Errorf("session: rewind: %w", err)
	}
	if err = p.commit(); err == nil {
		p.r, err = engine.NewRewind(engine.RewindConfig[recorded]{
			Set: set, Memory: unsafe.Slice((*byte)(p.mem.Base), bytes), Step: s.again, Rest: p.rest, Ticks: keepSpan, States: keepSpan / keepEarly,
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session: rewind: %w", err), p.src.Release(p.mem))
	}
	return p, nil
}

// commit commits the memory of the states, if giveBack has not left it committed.
func (p *Past) commit() (err error) {
	if !p.committed {
		err = p.src.Commit(p.mem, 0, p.mem.Size)
		p.committed = err == nil
	}
	return err
}

// giveBack returns the memory of the states to the system. There must be none.
func (p *Past) giveBack() { p.committed = p.src.Decommit(p.mem, 0, p.mem.Size) != nil }

func (p *Past) close() error {
	if p == nil {
		return nil
	}
	return p.src.Release(p.mem)
}

// begin begins with a realm: of a new run, or the next one.
func (p *Past) begin() {
	if p == nil {
		return
	}
	g := p.s.Game
	p.r.Begin(g.Ticks)
	p.off, p.active, p.broken, p.cost = "", false, 0, cost{}
	if p.commit() != nil {
		p.off = rewindOff + "THERE IS NO MEMORY FOR STATES"
	}
	if g.Played == 0 {
		p.charges, p.used = ChargesFirst, 0
	}
}

// resume goes on with the charges of a run from a file.
func (p *Past) resume(charges, used int) {
	if p != nil {
		p.charges, p.used, p.broken = min(max(charges, 0), ChargesMost), max(used, 0), p.s.Game.Broken
	}
}

// keep saves a state if one is due. It switches itself off if states take too much time or space.
func (p *Past) keep() error {
	if p == nil || p.off != "" || p.s.Paused {
		return nil
	}
	every := keepEvery
	if p.s.Game.Resting() {
		every = keepEarly // a later moment could cost more
	}
	began := time.Now()
	p.waited = 0
	saved, err := p.r.Keep(every)
	switch {
	case err != nil:
		return p.failed(err)
	case !saved:
		return nil
	}
	took := time.Since(began) - p.waited
	p.total.Saves++
	p.total.Wait += p.waited
	p.total.Keep += took
	p.cost.keep[p.cost.saves] = took
	p.cost.saves++
	if n, used, size := p.r.States(); used/n > size/keepStates {
		p.tooLarge(used / n)
	}
	if p.cost.saves == keepWindow {
		slices.Sort(p.cost.keep[:])
		if share := keepWindow * p.cost.keep[(keepWindow-1)/2].Seconds() / p.cost.ticks.Seconds(); share > keepShare {
			p.stop(fmt.Sprintf("STATES TAKE %.0f %% OF THE TIME", 100*share))
		}
		p.cost = cost{}
	}
	return nil
}

// forget drops all states and inputs.
func (p *Past) forget() {
	if p != nil {
		p.ends()
		p.r.Begin(p.s.Game.Ticks)
	}
}

// ends ends a rewind because no earlier tick is kept. A charge that has taken back little is returned.
func (p *Past) ends() {
	if p.active && p.from-p.r.Now() < RewindMost/2 {
		p.charges++
	}
	p.active = false
}

// failed switches off if a state is larger than the memory. Other errors end the run.
func (p *Past) failed(err error) error {
	short := (*memory.Exhausted)(nil)
	if !errors.As(err, &short) {
		return err
	}
	p.tooLarge(int(short.Need))
	return nil
}

func (p *Past) tooLarge(bytes int) {
	_, _, size := p.r.States()
	p.stop(fmt.Sprintf("A STATE HAS %s OF %s", memory.FormatBytes(uint64(bytes)), memory.FormatBytes(uint64(size))))
}

const rewindOff = "REWIND IS OFF: "

// stop switches off until the next realm.
func (p *Past) stop(why string) {
	p.off = rewindOff + why
	p.forget()
	p.giveBack()
}

// rest waits for the worker of the fields. What is waited for here is not waited for in a tick.
func (p *Past) rest() error {
	began := time.Now()
	err := p.s.Rest()
	p.waited = time.Since(began)
	return err
}

// record notes the input of the next tick.
func (p *Past) record(in *engine.Input, relieve bool) {
	if p != nil && p.off == "" {
		if p.r.Now() < p.r.End() { // an earlier tick was selected
			p.used++
		}
		p.r.Record(recorded{*in, relieve})
	}
}

// played notes what a tick took, and gives a charge for a seal that broke. A seal gives none a second time.
func (p *Past) played(took time.Duration) {
	if p == nil {
		return
	}
	p.cost.ticks += max(took, keepTick)
	p.total.Ticks += took
	if n := p.s.Game.Broken; n > p.broken {
		p.charges = min(p.charges+n-p.broken, ChargesMost)
		p.broken = n
	}
}

// Charges returns the number of rewinds that the player can still do.
func (p *Past) Charges() int {
	if p == nil {
		return 0
	}
	return p.charges
}

// Used returns the number of rewinds in this run. A rewind counts when it begins, also if its charge is returned. A
// [Session.Seek] to an earlier tick counts when the game goes on from there. A restored run continues the count of its
// file.
func (p *Past) Used() int {
	if p == nil {
		return 0
	}
	return p.used
}

// Off returns "" while states are kept, and for a nil Past. If states take too much time or space, or if the system has
// no memory for them, none are kept until the next realm. Off then returns a line for the player with the reason.
func (p *Past) Off() string {
	if p == nil {
		return ""
	}
	return p.off
}

// Rewinding reports whether the player rewinds, and the share of the charge that is left, from 0 to 1. If the player
// does not rewind, left is 0.
func (p *Past) Rewinding() (left float32, on bool) {
	if p == nil || !p.active {
		return 0, false
	}
	return 1 - float32(p.from-p.r.Now())/RewindMost, true
}

// Possible reports whether the player could rewind now, or as soon as a pause ends. This takes a charge, and states of
// at least half a second of the present realm.
func (p *Past) Possible() bool {
	return p != nil && p.off == "" && p.charges > 0 && p.s.Playing() && p.r.Now()-p.r.Oldest() >= rewindLeast
}

// Range returns the first tick that [Session.Seek] reaches, the present tick, and the last tick that Seek reaches.
func (p *Past) Range() (first, now, last uint64) {
	if p == nil {
		return 0, 0, 0
	}
	return p.r.Oldest(), p.r.Now(), p.r.End()
}

// Figures returns the statistics of the states that were kept, and of their cost.
func (p *Past) Figures() (f PastFigures) {
	if p == nil {
		return f
	}
	f = p.total
	f.States, f.Used, f.Size = p.r.States()
	f.Span = int(p.r.End() - p.r.Oldest())
	return f
}

// Check verifies the states.
func (p *Past) check() error {
	if p == nil {
		return nil
	}
	return p.r.Check()
}
