package stream

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// A Kind describes one kind of assets, such as pictures or sounds. A Kind decodes a file into a T. [Request] finds
// the kind by T, so every kind needs its own type.
type Kind[T any] struct {
	// Name names the kind in errors, for example "picture". Required.
	Name string
	// Decode decodes a file, on a worker's goroutine. Memory whose size depends on the file should be allocated from
	// heap; the value may point to such memory. An asset has at most 4 blocks at a time: for a fifth one Alloc returns
	// an error that wraps memory.ErrTooLarge. The asset owns the blocks that Decode does not free. If Decode fails or
	// the asset is cancelled, the streamer frees these blocks. If an Alloc or a Read fails, Decode must return the
	// error of the Alloc or Read. Decode must not use data of the game goroutine. Required.
	Decode func(r *Reader, heap *Heap) (T, error)
	// Deliver, if not nil, is called by Poll on the game goroutine before handles return the value, for example to
	// upload it. Deliver may change v; Handle.Get returns the changed value. If Deliver returns ErrMore, it is called
	// again in the next Poll whose budget reaches the asset. So a long delivery can be split. If Deliver returns
	// another error, the asset fails.
	//
	// On a first load old is nil. On a reload old is the value that v replaces, and Release is not called for old. If
	// Deliver fails on a reload, the old value stays loaded.
	Deliver func(name string, v, old *T) error
	// Release, if not nil, is called on the game goroutine when a delivered asset ends. When its last handle is closed,
	// an asset ends or is cached: see Handle.Close. A cached asset ends when it is evicted, or when its file is
	// reloaded. Streamer.Close ends all assets. Release is also called if an asset fails or is cancelled after Deliver
	// has returned ErrMore for it. After Release v must not be used: another asset of this kind gets its memory.
	Release func(name string, v *T)
	// Stays keeps the blocks until the asset is released or a reload is delivered. If Stays is false, the blocks are
	// freed after the delivery. Leave Stays false if Deliver copies their data, for example to the GPU. Deliver must
	// then remove all pointers to the blocks from the value. With or without Stays, the bytes of the blocks count
	// against Config.Resident until the asset ends: the copy takes space, too.
	Stays bool
}

// A kind is a Kind without its type parameter.
type kind struct {
	name    string
	stays   bool
	decode  func(*Reader, *Heap) (any, error)
	deliver func(name string, v, old any) error // nil: nothing to do
	release func(name string, v any)            // nil: nothing to do
	recycle func(v any)                         // takes a value that decode has returned and that is not used any more; nil without release

	resident int64 // bytes, of Streamer.resident
	loaded   int64 // of these, of what is delivered
}

// spares are the values of assets that have ended, for assets to come: what streams on and on allocates none.
type spares[T any] struct {
	mu   sync.Mutex // of workers and the game goroutine; taken last
	free []*T
}

func (s *spares[T]) take() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return new(T)
	}
	p := s.free[n-1]
	s.free = s.free[:n-1]
	return p
}

func (s *spares[T]) put(p *T) {
	*p = *new(T) // it may point to objects
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, p)
}

// unseen recycles a value that was not passed to Deliver; nil is no value.
func (k *kind) unseen(v any) {
	if v != nil && k.recycle != nil {
		k.recycle(v)
	}
}

// charge adds bytes that an asset of kind k takes, or frees if they are negative.
func (s *Streamer) charge(k *kind, bytes int64) {
	s.resident += bytes
	k.resident += bytes
	s.stats.ResidentPeak = max(s.stats.ResidentPeak, s.resident)
}

// ResidentOf returns how many bytes of Stats.Resident belong to assets of T's kind. The result `coming` is for assets
// that are being decoded or wait for Poll. The result `delivered` is for loaded assets, including cached ones. If no
// kind for T is registered, both are 0. Safe for concurrent use.
func ResidentOf[T any](s *Streamer) (coming, delivered int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kinds[reflect.TypeFor[T]()]; k != nil {
		return k.resident - k.loaded, k.loaded
	}
	return 0, 0
}

// Register adds a kind. Call Register on the game goroutine, before the first request of this kind. Register returns an
// error if Name or Decode is missing, if neither Deliver nor Stays is set, or if T already has a kind.
func Register[T any](s *Streamer, k Kind[T]) error {
	if k.Name == "" || k.Decode == nil {
		return errors.New("stream: register: Name and Decode are required")
	}
	if !k.Stays && k.Deliver == nil {
		return fmt.Errorf("stream: register %s: Deliver or Stays is required", k.Name)
	}
	n := &kind{name: k.Name, stays: k.Stays}
	spare := new(spares[T])
	n.decode = func(r *Reader, h *Heap) (any, error) {
		v, err := k.Decode(r, h)
		if err != nil {
			return nil, err
		}
		p := spare.take()
		*p = v
		return p, nil
	}
	if k.Deliver != nil {
		n.deliver = func(name string, v, old any) error {
			before, _ := old.(*T)
			return k.Deliver(name, v.(*T), before)
		}
	}
	if k.Release != nil {
		n.release = func(name string, v any) { k.Release(name, v.(*T)) }
		n.recycle = func(v any) { spare.put(v.(*T)) }
	}
	t := reflect.TypeFor[T]()
	if old := s.kinds[t]; old != nil {
		return fmt.Errorf("stream: register %s: %v is the type of the kind %s already", k.Name, t, old.name)
	}
	s.mu.Lock() // for ResidentOf
	defer s.mu.Unlock()
	s.kinds[t] = n
	return nil
}
