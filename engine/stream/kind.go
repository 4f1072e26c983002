package stream

import (
	"errors"
	"fmt"
	"reflect"
)

// A Kind is a kind of assets: pictures, sounds, whatever a game has. What it makes of a file
// is a T, by which [Request] finds the kind: two kinds have two types.
type Kind[T any] struct {
	// Name is what people call it, in errors: "picture". Required.
	Name string
	// Decode makes a value of a file, on the goroutine of a worker. Every byte that is
	// proportional to the file comes from heap; what Decode returns points there. Blocks that
	// it has not freed are the asset's, at most 4; where it fails, or the asset is cancelled,
	// they are freed for it. The error of an Alloc or a Read ends it. It touches nothing that
	// is the game's. Required.
	Decode func(r *Reader, heap *Heap) (T, error)
	// Deliver, if not nil, is called by Poll, on the game goroutine, before tickets give the
	// value: upload it, play it. It may change what Get will give. An error refuses the asset:
	// it has failed. ErrMore says that there is more to do, in the next Poll, so that a long
	// hand-over can be cut into slices. old is what was delivered before, where a changed file
	// is reloaded: v takes its place, and Release is not called for it. Else it is nil.
	Deliver func(name string, v, old *T) error
	// Release, if not nil, is called on the game goroutine when an asset that was delivered, if
	// only in part, goes: its last ticket was closed, or it had to make room.
	Release func(name string, v *T)
	// Stays says that the blocks belong to the asset for as long as it is loaded. Otherwise
	// they go home as soon as it is delivered, as with pictures, which the GPU has then: Deliver
	// must leave nothing in the value that points there. They count against Config.Resident
	// all the same.
	Stays bool
}

// A kind is a Kind without its type.
type kind struct {
	name    string
	stays   bool
	decode  func(*Reader, *Heap) (any, error)
	deliver func(name string, v, old any) error // nil: nothing to do
	release func(name string, v any)            // nil: nothing to do

	resident int64 // bytes, of Streamer.resident
	loaded   int64 // of these, of what is delivered
}

// charge books bytes that an asset of kind k takes or gives back.
func (s *Streamer) charge(k *kind, bytes int64) {
	s.resident += bytes
	k.resident += bytes
	s.stats.ResidentPeak = max(s.stats.ResidentPeak, s.resident)
}

// ResidentOf returns what of Stats.Resident are assets whose values are Ts: what workers have reserved or is on its way to
// Poll, and what was delivered. Safe for concurrent use.
func ResidentOf[T any](s *Streamer) (coming, delivered int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kinds[reflect.TypeFor[T]()]; k != nil {
		return k.resident - k.loaded, k.loaded
	}
	return 0, 0
}

// Register adds a kind. It belongs to the game goroutine, and may come at any time before the
// first request for a T. The error says what is missing, or that there is a kind for T.
func Register[T any](s *Streamer, k Kind[T]) error {
	if k.Name == "" || k.Decode == nil {
		return errors.New("stream: register: Name and Decode are required")
	}
	if !k.Stays && k.Deliver == nil {
		return fmt.Errorf("stream: register %s: what is not delivered must stay", k.Name)
	}
	n := &kind{name: k.Name, stays: k.Stays}
	n.decode = func(r *Reader, h *Heap) (any, error) {
		v, err := k.Decode(r, h)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
	if k.Deliver != nil {
		n.deliver = func(name string, v, old any) error {
			before, _ := old.(*T)
			return k.Deliver(name, v.(*T), before)
		}
	}
	if k.Release != nil {
		n.release = func(name string, v any) { k.Release(name, v.(*T)) }
	}
	t := reflect.TypeFor[T]()
	if old := s.kinds[t]; old != nil {
		return fmt.Errorf("stream: register %s: %v is the type of the kind %s already", k.Name, t, old.name)
	}
	s.kinds[t] = n
	return nil
}
