package stream

import (
	"errors"
	"fmt"
	"reflect"
)

// A Kind describes one kind of assets, such as pictures or sounds. It decodes a file into a T.
// [Request] finds the kind by T, so every kind needs a type of its own.
type Kind[T any] struct {
	// Name names the kind in errors: "picture". Required.
	Name string
	// Decode decodes a file, on a worker's goroutine. It should allocate memory that grows with
	// the file from heap; the value may point there. The asset owns the blocks that Decode does
	// not free, at most 4. If Decode fails or the asset is cancelled, the streamer frees them.
	// Decode must return the error of an Alloc or a Read. It must not use data of the game
	// goroutine. Required.
	Decode func(r *Reader, heap *Heap) (T, error)
	// Deliver, if not nil, is called by Poll on the game goroutine before handles return the
	// value, for example to upload it. It may change v, which Handle.Get then returns. With an
	// error the asset fails. With ErrMore it is called again in the next Poll, so that a long
	// delivery can be split. old is nil, or on a reload the value that v replaces; Release is
	// not called for it.
	Deliver func(name string, v, old *T) error
	// Release, if not nil, is called on the game goroutine when a delivered asset, also a partly
	// delivered one, is released: its last handle was closed, or it is evicted.
	Release func(name string, v *T)
	// Stays keeps the blocks until the asset is released. Without it they are freed after the
	// delivery, as those of pictures, which the GPU has then. Deliver must then remove all
	// pointers to them from the value. Their bytes count against Config.Resident either way.
	Stays bool
}

// A kind is a Kind without its type parameter.
type kind struct {
	name    string
	stays   bool
	decode  func(*Reader, *Heap) (any, error)
	deliver func(name string, v, old any) error // nil: nothing to do
	release func(name string, v any)            // nil: nothing to do

	resident int64 // bytes, of Streamer.resident
	loaded   int64 // of these, of what is delivered
}

// charge adds bytes that an asset of kind k takes, or frees if they are negative.
func (s *Streamer) charge(k *kind, bytes int64) {
	s.resident += bytes
	k.resident += bytes
	s.stats.ResidentPeak = max(s.stats.ResidentPeak, s.resident)
}

// ResidentOf returns the share of Stats.Resident, in bytes, of assets whose values are Ts: those that are decoded or wait
// for Poll, and those that were delivered. Safe for concurrent use.
func ResidentOf[T any](s *Streamer) (coming, delivered int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kinds[reflect.TypeFor[T]()]; k != nil {
		return k.resident - k.loaded, k.loaded
	}
	return 0, 0
}

// Register adds a kind. Call it on the game goroutine, before the first request for a T. Deliver or
// Stays must be set. It returns an error if a required field is missing, or if a kind for T is
// registered already.
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
