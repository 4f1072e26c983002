package stream

import (
	"errors"
	"fmt"
)

// State is how far an asset has come.
//
//	Queued --> Decoding -> Ready --> Loaded
//	             |  \        \
//	             v   v        v
//	        Waiting  Failed (Failed --> Queued: asked for again, retried, or its file changed)
//	        (Waiting --> Queued: there is room, or it is time for the next attempt)
//
// What has no ticket any more is cancelled, or cached, and no business of anybody's.
type State uint8

// The states.
const (
	Vacant   State = iota // of a ticket that was closed, or is zero
	Queued                // no worker has begun
	Waiting               // for room under Config.Resident, or for the next attempt
	Decoding              // a worker reads and decodes
	Ready                 // decoded: waits for Poll, or was delivered in part
	Loaded                // delivered: Get gives it
	Failed                // see Err

	delivering // its deliver function runs
	cancelled  // without tickets, in the hands of a worker or of its deliver function
	stateCount
)

var stateNames = [stateCount]string{"vacant", "queued", "waiting", "decoding", "ready", "loaded", "failed", "delivering", "cancelled"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// The errors of a Streamer, to be tested with errors.Is.
var (
	ErrClosed   = errors.New("stream: the streamer is closed")
	ErrFull     = errors.New("stream: the streamer holds as many as it was configured for")
	ErrTooLarge = errors.New("stream: larger than allowed")
	ErrKind     = errors.New("stream: no kind of that type is registered")

	// ErrMore is what a deliver function returns that has not finished: it is called again in
	// the next Poll.
	ErrMore = errors.New("stream: delivered in part")

	errCancelled = errors.New("stream: cancelled")
	errStarved   = errors.New("stream: no room until somebody takes delivery") // back to the queue
	errNoBudget  = errors.New("stream: no room under Config.Resident")         // waits for it
	errAbandoned = errors.New("stream: the worker was given up")
)

// A LoadError says which asset could not be loaded and why; it wraps the reason.
type LoadError struct {
	Kind, Name string
	During     string // reading, decoding, delivering or reloading
	Err        error
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("stream: %s %q: %s: %v", e.Kind, e.Name, e.During, e.Err)
}

// Unwrap returns the reason.
func (e *LoadError) Unwrap() error { return e.Err }

// A Priority says when an asset will be needed: lower comes first. See [ETA].
type Priority float32

// ETA is the priority of what will be seen or heard in so many seconds. 0 and less is needed
// now, in the order of the numbers; what is no number comes last.
func ETA(seconds float32) Priority {
	if seconds != seconds {
		return Last
	}
	return Priority(seconds)
}

// Last is the priority of what nobody is known to need.
const Last Priority = 1e30
