package remote

import (
	"errors"
	"fmt"
	"slices"
)

// Check verifies the inbox's metadata and returns every inconsistency that it finds, joined into one error. Only the
// owner may call it; Freers may push at the same time. Check ends even if a list has a cycle. It allocates in the Go
// heap, in proportion to the waiting batches.
func (in *Inbox) Check() error {
	in.owner.Touch()
	top := in.head.Load()
	if top == sealed {
		top = nil
	}
	r := report{}
	waiting := in.checkList(&r, in.rest, top)
	in.checkCounts(&r, waiting)
	if in.size < 1 || in.size > maxBatch || in.bytes == 0 || (in.addr == 0) != (in.span == 0) {
		r.say("batches of %d blocks or %d bytes, a target of %d bytes at %#x", in.size, in.bytes, in.span, in.addr)
	}
	if in.target != nil && uintptr(in.base) != in.addr || in.target == nil && (in.base != nil || in.rest != nil) {
		r.say("the base is %p with a target of %T, for Freers it is %#x", in.base, in.target, in.addr)
	}
	in.checkHomes(&r)
	return errors.Join(r...)
}

// A report gathers what is broken.
type report []error

func (r *report) say(format string, args ...any) {
	*r = append(*r, fmt.Errorf("remote: "+format, args...))
}

// checkList verifies invariants 1 to 3 and returns how many blocks wait.
func (in *Inbox) checkList(r *report, rest, top *batch) int {
	waiting := -in.at
	seen := map[*batch]bool{}
	for _, list := range []*batch{rest, top} {
		for b := list; b != nil; b = b.next {
			if seen[b] {
				r.say("a batch is waiting twice")
				break
			}
			seen[b] = true
			waiting += int(b.n)
			in.checkBatch(r, b)
			if epoch := in.epoch.Load(); int32(b.epoch-epoch) > 0 || b == rest && in.at > 0 && b.epoch != epoch {
				r.say("a batch of epoch %d is waiting in epoch %d", b.epoch, epoch)
			}
		}
	}
	end := 0 // of what at may be
	if rest != nil {
		end = int(rest.n) - 1
		if in.inside {
			end++
		}
	}
	if in.at < 0 || in.at > max(end, 0) {
		r.say("slot %d is not in the batch being drained", in.at)
	}
	return waiting
}

// checkCounts verifies invariants 4 and 5.
func (in *Inbox) checkCounts(r *report, waiting int) {
	s := in.Stats()
	if !in.inside && (s.Drained != in.before+uint64(in.at) || s.Batches != in.emptied) {
		r.say("%d blocks in %d batches drained, not %d of %d finished batches + %d", s.Drained, s.Batches, in.before, in.emptied, in.at)
	}
	if gone := s.Drained + s.Stale; waiting < 0 || gone > s.Pushed || uint64(waiting) > s.InFlight {
		r.say("%d blocks are waiting, with %d pushed, %d drained and %d stale", waiting, s.Pushed, s.Drained, s.Stale)
	}
}

func (in *Inbox) checkBatch(r *report, b *batch) {
	if b.home == nil || b.home.in != in {
		r.say("a waiting batch has its home in another inbox")
	}
	if b.n < 1 || int(b.n) > b.slots() || b.slots() != in.size {
		r.say("a waiting batch holds %d blocks in %d slots of %d", b.n, b.slots(), in.size)
		return
	}
	if b.offs == nil {
		if i := slices.Index(b.ptrs[:b.n], nil); i >= 0 {
			r.say("slot %d of a waiting batch is empty", i)
		}
		return
	}
	for i, off := range b.offs[:b.n] {
		if off >= in.span {
			r.say("slot %d of a waiting batch is %d bytes into a target of %d", i, off, in.span)
			return
		}
	}
}

// checkHomes verifies invariant 7.
func (in *Inbox) checkHomes(r *report) {
	in.mu.Lock()
	defer in.mu.Unlock()
	idle := map[*home]bool{}
	for _, h := range in.idle {
		if idle[h] || h == nil || h.user.Value() != nil {
			r.say("an idle home is listed twice, or inhabited")
		}
		idle[h] = true
	}
	for _, h := range in.homes {
		if h.in != in || h.abandoned.Load() > h.pushed.Load() {
			r.say("a home of another inbox, or with %d of %d blocks abandoned", h.abandoned.Load(), h.pushed.Load())
		}
		delete(idle, h)
	}
	if len(idle) > 0 {
		r.say("%d idle homes are not of this inbox", len(idle))
	}
}

// Check verifies the Freer's metadata and returns every inconsistency that it finds, joined into one error. Only the
// Freer's goroutine may call it. Check ends even if a list has a cycle. It allocates in the Go heap, in proportion to
// the spare batches.
func (f *Freer) Check() error {
	f.owner.Touch()
	r := report{}
	if f.cur == nil {
		if f.offs != nil || f.n != 0 || f.home != nil {
			r.say("a closed Freer holds %d blocks in %d slots", f.n, len(f.offs))
		}
		return errors.Join(r...)
	}
	in := f.home.in
	if f.n < 0 || f.n >= in.size || f.cur.home != f.home || f.cur.slots() != in.size || len(f.offs) != max(len(f.cur.offs)-1, 0) {
		r.say("a Freer with %d blocks in %d slots of %d", f.n, f.cur.slots(), in.size)
	}
	if span := f.span.Load(); f.base != in.addr || span != 0 && span != max(in.span, 1) {
		r.say("a Freer for %d bytes at %#x, the target has %d at %#x", span, f.base, in.span, in.addr)
	}
	if f.limit != in.bytes || f.bytes >= f.limit || f.n == 0 && f.bytes != 0 {
		r.say("%d blocks have gathered, with %d bytes of %d", f.n, f.bytes, f.limit)
	}
	if epoch := in.epoch.Load(); int32(f.epoch-epoch) > 0 {
		r.say("a Freer of epoch %d in epoch %d", f.epoch, epoch)
	}
	seen := map[*batch]bool{f.cur: true}
	for b := f.home.spare; b != nil; b = b.next {
		if seen[b] {
			r.say("a batch is spare twice")
			break
		}
		seen[b] = true
		if b.home != f.home || b.slots() != in.size {
			r.say("a spare batch of another home, or with %d slots of %d", b.slots(), in.size)
		}
	}
	if uint64(len(seen)) > f.home.made.Load() {
		r.say("%d batches in hand, of %d made", len(seen), f.home.made.Load())
	}
	return errors.Join(r...)
}
