package stream

import (
	"errors"
	"fmt"
)

// State is the state of an asset.
//
//	Queued --> Decoding --> Ready --> Loaded
//	Queued, Decoding --> Waiting     there is no space
//	Decoding, Ready --> Waiting      failed, with retries left
//	Decoding, Ready --> Failed       failed, without retries left
//	Decoding --> Failed              the worker was abandoned
//	Queued, Waiting --> Failed       no worker is left
//	Decoding --> Queued              the worker's heap is full during a Scope.Cancel or Streamer.Settle
//	Waiting --> Queued               there is space, it is time for the next attempt, or Handle.Retry
//	Failed --> Queued                a new request, Handle.Retry, Streamer.Reload, or a changed file
//
// When the last handle of an asset is closed, a Loaded asset is cached or released, see [Handle.Close]. An asset in any
// other state is cancelled.
type State uint8

// The states.
const (
	Vacant   State = iota // the handle is closed or zero
	Queued                // no worker has begun
	Waiting               // for space under Config.Resident, or for the next attempt
	Decoding              // a worker reads and decodes the file
	Ready                 // decoded: waits for Poll, or is being delivered
	Loaded                // delivered: Handle.Get returns the value
	Failed                // see Handle.Err

	delivering // its deliver function runs
	cancelled  // without handles, in the hands of a worker or of its deliver function
	stateCount
)

var stateNames = [stateCount]string{"vacant", "queued", "waiting", "decoding", "ready", "loaded", "failed", "delivering", "cancelled"}

// String returns the name of the state in lower case, such as "loaded".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// The errors that the error of Handle.Err wraps, for errors.Is, and ErrMore, which callbacks return.
var (
	// ErrClosed refuses a request after Streamer.Close. It also breaks a Flow whose level file was cancelled.
	ErrClosed = errors.New("stream: the streamer is closed")

	// ErrFull refuses a request if the number of open handles is Config.Handles. If the number of assets is
	// Config.Assets and none of them is cached, it refuses a reload, and a request for a further asset.
	ErrFull = errors.New("stream: the streamer holds as many as it was configured for")

	// ErrTooLarge is the error of an asset whose file or whose decoded blocks exceed Config.MaxBytes. It is also the
	// error of an asset that exceeds Config.Resident.
	ErrTooLarge = errors.New("stream: larger than allowed")

	// ErrKind refuses a request for a type without a kind: Register was not called for it.
	ErrKind = errors.New("stream: no kind of that type is registered")

	// ErrMore is returned by a deliver function that has not finished. The deliver function is called again in the
	// next Poll whose budget reaches the asset. FlowConfig.Enter may return ErrMore, too.
	ErrMore = errors.New("stream: delivered in part")

	errCancelled = errors.New("stream: cancelled")
	errStarved   = errors.New("stream: the worker's heap is full")      // back to the queue
	errNoBudget  = errors.New("stream: no space under Config.Resident") // waits for it
	errAbandoned = errors.New("stream: the worker was abandoned")
)

// A LoadError reports which asset could not be loaded, and why.
type LoadError struct {
	Kind, Name string // Kind.Name, and the name of the file
	During     string // the step that failed, such as "reading" or "decoding"
	Err        error  // the reason
}

// Error returns kind, file, step and reason.
func (e *LoadError) Error() string {
	return fmt.Sprintf("stream: %s %q: %s: %v", e.Kind, e.Name, e.During, e.Err)
}

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

// A Priority is the time in seconds until an asset is needed. Lower comes first. See [ETA].
type Priority float32

// ETA returns the priority of an asset that will be needed after the given number of seconds, which may be negative.
// Lower comes first, also below 0. NaN means Last.
func ETA(seconds float32) Priority {
	if seconds != seconds {
		return Last
	}
	return Priority(seconds)
}

// Last is the lowest priority. Use it if the time at which the asset is needed is unknown.
const Last Priority = 1e30
