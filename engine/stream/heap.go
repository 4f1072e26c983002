package stream

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// blockAlign keeps blocks on cache lines of their own, and vector stores aligned.
const blockAlign = 64

// A Heap is a worker's heap for one call of a decode function. The Heap records its blocks. If decoding fails, panics
// or is cancelled, the streamer frees these blocks. A Heap is a [memory.Allocator]. It is valid on the goroutine of the
// decode function until the decode function returns.
//
// If the heap is full, Alloc waits while other blocks of the heap will be freed or can be evicted. These are blocks of
// cached assets, of cancelled assets, and of assets without Kind.Stays that wait for delivery. The decode function must
// return every error of Alloc. An error may also mean that the asset was cancelled, or that the asset will be decoded
// again when there is space.
type Heap struct{ w *worker }

// Alloc returns a block of size bytes, aligned to align and to at least 64 bytes. The block is zeroed only if the
// worker's allocator zeroes its blocks. If align is no power of two, the error is memory.ErrAlign. If the asset has
// four blocks already, the error wraps memory.ErrTooLarge. If the blocks of the asset exceed Config.MaxBytes or
// Config.Resident, the error wraps ErrTooLarge. Other errors are errors of the worker's allocator, or are described
// at [Heap].
func (h *Heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w := h.w
	if w.stop != nil {
		return nil, w.stop
	}
	if align == 0 || align&(align-1) != 0 {
		return nil, memory.ErrAlign
	}
	if w.held.n == maxBlocks {
		return nil, fmt.Errorf("%w: an asset has at most %d blocks", memory.ErrTooLarge, maxBlocks)
	}
	if most := uintptr(w.s.cfg.MaxBytes); size > most || uintptr(w.held.bytes())+size > most {
		return nil, fmt.Errorf("%w: %d bytes and %d more, allowed are Config.MaxBytes = %d", ErrTooLarge, w.held.bytes(), size, most)
	}
	if err := w.reserve(int64(size)); err != nil {
		return nil, err
	}
	p, err := w.alloc(size, max(align, blockAlign))
	if err != nil {
		return nil, err
	}
	w.held.blocks[w.held.n] = block{p, size}
	w.held.n++
	w.account(int64(size))
	return p, nil
}

// Worker returns the number of the worker, from 0, for data that a kind keeps per worker.
func (h *Heap) Worker() int { return h.w.index }

// Bytes returns a block of Alloc as a slice of n bytes, aligned to 64 bytes. The error wraps the error of Alloc. For a
// negative n it wraps memory.ErrTooLarge.
func (h *Heap) Bytes(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes", memory.ErrTooLarge, n)
	}
	p, err := h.Alloc(uintptr(n), blockAlign)
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge) {
		err = fmt.Errorf("no space for %d bytes in the worker's heap: %w", n, err)
	}
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// Free frees a block of Alloc before the decode function returns. The size is the size that was passed to Alloc. If p
// is no block of this asset, or the size differs, Free panics with a [*memory.Misuse] and the block stays. Free of nil
// does nothing.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	held := &h.w.held
	for i, b := range held.blocks[:held.n] {
		if b.p == p {
			if b.size != size {
				panic(&memory.Misuse{Package: "stream", Op: "Heap.Free", Addr: uintptr(p), Size: size,
					Reason: fmt.Sprintf("the block was allocated with %d bytes", b.size)})
			}
			held.n--
			held.blocks[i] = held.blocks[held.n]
			held.blocks[held.n] = block{}
			if h.w.gone {
				return
			}
			h.w.heap.Free(p, size)
			h.w.account(-int64(size))
			return
		}
	}
	if p != nil {
		panic(&memory.Misuse{Package: "stream", Op: "Heap.Free", Reason: "the block does not belong to this asset"})
	}
}

// reserve reserves size more bytes under Config.Resident.
func (w *worker) reserve(size int64) error {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := w.wanted(); err != nil {
		return err
	}
	want := w.held.bytes() + size
	if want <= w.reserved {
		return nil
	}
	most := s.cfg.Resident
	if most > 0 && want > most {
		return w.stopped(fmt.Errorf("%w: %d bytes, allowed are Config.Resident = %d", ErrTooLarge, want, most))
	}
	if extra := want - w.reserved; most > 0 && s.resident+extra > most {
		s.entries[w.entry].need = want
		return w.stopped(errNoBudget)
	}
	s.charge(s.entries[w.entry].kind, want-w.reserved)
	w.reserved = want
	return nil
}

// stopped ends the work on the asset, regardless of how its decode function handles the error.
func (w *worker) stopped(why error) error {
	if w.stop == nil {
		w.stop = why
	}
	return w.stop
}

// alloc allocates from the worker's heap, and waits if another block of it will be freed.
func (w *worker) alloc(size, align uintptr) (unsafe.Pointer, error) {
	s := w.s
	for {
		s.mu.Lock()
		released := s.released[w.index]
		s.mu.Unlock()
		p, err := w.heap.Alloc(size, align)
		if err == nil || !errors.Is(err, memory.ErrOutOfMemory) {
			return p, err
		}
		if again, stop := w.starve(released); stop != nil {
			return nil, w.stopped(stop)
		} else if !again {
			return nil, err
		}
	}
}

// starve waits until a further block of the heap was freed; again is false if none will be. It stops
// for every cancellation, because the game goroutine may be waiting for this worker to acknowledge it.
func (w *worker) starve(released uint64) (again bool, stop error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starved++
	defer func() { s.starved--; w.pressing = false }()
	s.news.Broadcast() // the caller of Wait may own the blocks
	for {
		switch {
		case s.entries[w.entry].state == cancelled:
			return false, errCancelled
		case s.acked[w.index] != s.epoch:
			return false, errStarved
		case s.released[w.index] != released:
			return true, nil
		}
		if coming, cached := s.outside(int32(w.index)); !coming {
			if !cached {
				return false, nil
			}
			if !w.pressing { // Poll evicts
				w.pressing = true
				s.announce()
			}
		}
		s.wake.Wait()
	}
}

// outside reports whether a block of that worker's heap will be freed without a request of the game,
// and whether one is cached, which Poll can evict.
func (s *Streamer) outside(worker int32) (coming, cached bool) {
	if s.handed[worker] > 0 {
		return true, false
	}
	for i := range s.leaving {
		if l := &s.leaving[i]; l.held.worker == worker && l.held.n > 0 {
			return true, false
		}
	}
	for i := range s.entries {
		e := &s.entries[i]
		if e.held.n == 0 || e.held.worker != worker {
			continue
		}
		switch {
		case !e.kind.stays, e.state == cancelled: // Ready, or Deliver is running
			return true, false
		case e.state == Loaded && e.requests == 0:
			cached = true
		}
	}
	return false, cached
}

func (h *Heap) free(b []byte) { h.Free(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) }
