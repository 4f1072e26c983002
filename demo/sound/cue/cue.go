// Package cue records what happens in a game as events for its sound: what, where and how strong. It plays nothing
// and imports nothing, so that rules without a window need no sound library. It keeps no state that a rule could use.
//
//	game tick --Sound--> Events --Hear--> sound.Mixer --> device
//
// An [Events] is filled during a tick and played after it. It has a fixed size, allocates nothing, and belongs to the
// game goroutine.
package cue

// A Sink receives the events of a game. x and y are in the world's units. strength scales the volume: 1 is the volume
// of the kind (see [Spec]), 0 is silent, and values above 2 count as 2.
type Sink interface {
	Sound(k Kind, x, y, strength float32)
}

// An Event is one call of Sound.
type Event struct {
	X, Y, Strength float32
	Kind           Kind
}

// PerKind is how many events of a kind are kept in a tick: more than can be heard separately. Further ones are only
// counted, so that a thousand hits do not displace one roar.
const PerKind = 12

// Events are the events of a tick, in order. The zero value is empty and ready for use.
type Events struct {
	list   [int(Count) * PerKind]Event
	n      int
	of     [Count]uint8
	merged uint64
	muted  bool
}

// Sound records an event, in a few nanoseconds. It ignores an unknown kind, and all events while muted. If PerKind
// events of the kind were recorded since Reset, Sound only counts the event, see [Events.Merged].
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

// All returns the events since the last Reset. The slice is valid until the next Reset.
func (e *Events) All() []Event { return e.list[:e.n] }

// Reset removes the events, for the next tick. Merged and Mute keep their state.
func (e *Events) Reset() {
	e.n = 0
	e.of = [Count]uint8{}
}

// Mute(true) makes Sound ignore events, and Mute(false) ends that. Mute returns the former setting. Use it for ticks
// that are computed again and whose sounds were already played.
func (e *Events) Mute(on bool) (was bool) {
	was, e.muted = e.muted, on
	return was
}

// Merged returns the number of events in all ticks that Sound only counted, because PerKind events of the same kind
// were already recorded in the tick.
func (e *Events) Merged() uint64 { return e.merged }
