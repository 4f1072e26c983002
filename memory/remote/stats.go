package remote

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// Stats is a snapshot of an inbox's traffic since New, in which
// Pushed == Drained + InFlight.
type Stats struct {
	Pushed    uint64 // blocks that Freers pushed
	Drained   uint64 // blocks handed to the target, refused ones included
	InFlight  uint64 // blocks pushed and not yet drained
	Batches   uint64 // batches emptied: Drained / Batches is how full they came
	Abandoned uint64 // blocks pushed after Close, which nobody frees
	Freers    int    // open Freers
	Books     uint64 // bytes of the Go heap in batches
}

// Stats may be called from any goroutine while others push and drain. Drained is read first,
// so that InFlight is never too low; it is too high by what was drained during the call. It
// does not allocate.
func (in *Inbox) Stats() Stats {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := Stats{Drained: in.drained.Load(), Batches: in.batches.Load(), Freers: len(in.homes) - len(in.idle)}
	for _, h := range in.homes {
		// What was counted as drained or abandoned had been counted as pushed before.
		s.Abandoned += h.abandoned.Load()
		s.Pushed += h.pushed.Load()
		s.Books += h.made.Load() * uint64(unsafe.Sizeof(batch{})+ptrBytes*uintptr(in.size))
	}
	s.Pushed -= s.Abandoned
	s.InFlight = s.Pushed - s.Drained
	return s
}

// Check verifies the equations above Inbox. It belongs to the owner, and may run while
// Freers push: what has been pushed stands still until the owner takes it. It allocates.
func (in *Inbox) Check() error {
	in.owner.Touch()
	top := in.head.Load()
	if top == sealed {
		top = nil
	}
	var errs []error
	waiting := -in.at
	seen := map[*batch]bool{}
	for _, list := range []*batch{in.rest, top} {
		for b := list; b != nil; b = b.next {
			if seen[b] {
				errs = append(errs, errors.New("remote: a batch is waiting twice"))
				break
			}
			seen[b] = true
			waiting += b.n
			errs = append(errs, in.checkBatch(b))
		}
	}
	if in.at < 0 || in.at > 0 && (in.rest == nil || in.at > in.rest.n) {
		errs = append(errs, fmt.Errorf("remote: slot %d is not in the batch being drained", in.at))
	}
	s := in.Stats()
	if s.Drained != in.before+uint64(in.at) {
		errs = append(errs, fmt.Errorf("remote: %d blocks drained, not %d of finished batches + %d", s.Drained, in.before, in.at))
	}
	if waiting < 0 || s.Drained > s.Pushed || uint64(waiting) > s.InFlight {
		errs = append(errs, fmt.Errorf("remote: %d blocks are waiting, with %d pushed and %d drained", waiting, s.Pushed, s.Drained))
	}
	return errors.Join(errs...)
}

func (in *Inbox) checkBatch(b *batch) error {
	if b.home.in != in {
		return errors.New("remote: a waiting batch has its home in another inbox")
	}
	if b.n < 1 || b.n > b.slots() || b.slots() != in.size {
		return fmt.Errorf("remote: a waiting batch holds %d blocks in %d slots of %d", b.n, b.slots(), in.size)
	}
	if b.offs == nil {
		if i := slices.Index(b.ptrs[:b.n], nil); i >= 0 {
			return fmt.Errorf("remote: slot %d of a waiting batch is empty", i)
		}
		return nil
	}
	for i, off := range b.offs[:b.n] {
		if off >= in.span {
			return fmt.Errorf("remote: slot %d of a waiting batch is %d bytes into a target of %d", i, off, in.span)
		}
	}
	return nil
}
