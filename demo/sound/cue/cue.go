// Package cue is what a game says about sound: this happened, there, so strongly. It plays
// nothing and imports nothing, so that rules which run without a window need no sound
// library, and it keeps no state that a rule could read.
//
//	game tick --Sound--> Events --Hear--> sound.Mixer --> device
//
// An [Events] is filled during a tick and heard behind it. It has a fixed size, allocates
// nothing, and belongs to the game goroutine.
package cue

// A Sink takes what a game's effects have to say. X and y are in the world's units; strength is
// 1 for a sound as it was made, 0 for none, and at most 2.
type Sink interface {
	Sound(k Kind, x, y, strength float32)
}

// An Event is one sound that was asked for.
type Event struct {
	X, Y, Strength float32
	Kind           Kind
}

// PerKind is how many events of a kind a tick can hold: more than can be told apart. What comes
// then is counted and not kept, so a thousand hits leave room for the one roar.
const PerKind = 12

// Events is what happened in a tick, in order. The zero value is empty and ready.
type Events struct {
	list   [int(Count) * PerKind]Event
	n      int
	of     [Count]uint8
	merged uint64
	muted  bool
}

// Sound notes an event. An unknown kind is ignored. Cost: a few nanoseconds.
func (e *Events) Sound(k Kind, x, y, strength float32) {
	if k >= Count || e.muted {
		return
	}
	if e.of[k] == PerKind {
		e.merged++
		return
	}
	e.of[k]++
	e.list[e.n] = Event{X: x, Y: y, Strength: strength, Kind: k}
	e.n++
}

// All returns the events since the last Reset. They are valid until then.
func (e *Events) All() []Event { return e.list[:e.n] }

// Reset forgets the events, for the next tick.
func (e *Events) Reset() {
	e.n = 0
	e.of = [Count]uint8{}
}

// Mute has Sound ignore what it is told, and tells whether it did before: for ticks that are
// computed again, whose sounds have been heard.
func (e *Events) Mute(on bool) (was bool) {
	was, e.muted = e.muted, on
	return was
}

// Merged returns how many events were more than a tick can hold of their kind.
func (e *Events) Merged() uint64 { return e.merged }
