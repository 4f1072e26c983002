package tiers

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/slab"
)

// During play EndFrame returns memory of heaps that have held far more than they use, in steps. The heaps are those
// whose blocks are freed one by one: slab, large and the workers'. The other tiers are freed as a whole, and grow back
// in the next frame or level.
//
// Four rules keep a steady load from system calls, also one that rises and falls:
//
//	(1) a heap returns memory only if it has more than twice the most that it used in the whole window, which is
//	    Config.ReturnAfter frames long, and then keeps a quarter more than that
//	(2) the most that it used is that of each moment, not of the ends of frames
//	(3) if a heap commits a quarter more within four windows after a step, its window is doubled, up to four times, until the next
//	    level
//	(4) if nothing was left to return, the next attempt is a window later
const (
	windowSlices  = 8
	mostDoubles   = 4
	regretWindows = 4
	mostAfter     = 1 << 24 // frames: three days

	// returnStep bounds what a frame pays: a step of 128 KiB takes 20 to 30 µs on Linux, half a millisecond for 4 MiB.
	// So 8 MiB are returned in a second.
	returnStep = 128 << 10

	// sweepBlocks are the free blocks of slab that a frame looks at for empty spans: about 20 µs.
	sweepBlocks = 8192

	// returnSlack is not worth a system call.
	returnSlack = 256 << 10
)

// A stepper is a heap that returns memory in steps.
type stepper interface {
	Stats() memory.Stats
	TakePeak() uintptr
	TrimStep(most uintptr) (uintptr, error)
}

// slabSteps are the steps of a slab. Its use is that at the ends of frames: it sweeps only blocks that no frame has used
// meanwhile.
type slabSteps struct{ *slab.Heap }

// TakePeak returns the bytes in use.
func (s slabSteps) TakePeak() uintptr { return uintptr(s.Stats().InUse) }

// A returner decides when a heap returns memory.
type returner struct {
	tops    [windowSlices + 1]uintptr // the most bytes in use by slice of the window; the current one is not complete
	at      int                       // the current slice
	left    int                       // frames that it still has; 0 before the first
	full    int                       // complete slices, up to windowSlices
	doubles uint8                     // of the window
	active  bool                      // a step is due in every frame
	swept   bool                      // of a slab: its empty spans were recycled
	round   uintptr                   // bytes returned since

	held     uintptr // committed bytes after the last step
	regret   int     // frames in which far more than these are a sign that the step was wrong
	returned uint64  // bytes since New
}

// due reports whether the heap should make a step. It is called once a frame, with the most bytes that the heap used
// since the last call and its committed bytes. after is Config.ReturnAfter.
func (r *returner) due(after int, used, committed uintptr) bool {
	if r.regret > 0 {
		if r.regret--; committed > r.held+r.held/4+returnSlack/2 {
			r.doubles = min(r.doubles+1, mostDoubles)
			r.restart()
			r.regret = 0
		}
	}
	if r.left == 0 {
		r.left = r.slice(after)
	}
	r.tops[r.at] = max(r.tops[r.at], used)
	high := uintptr(0)
	for _, top := range r.tops {
		high = max(high, top)
	}
	if r.left--; r.left == 0 {
		r.at = (r.at + 1) % len(r.tops)
		r.tops[r.at] = 0
		r.full = min(r.full+1, windowSlices)
	}
	if r.active {
		r.active = committed > high+high/4+returnSlack/2
		r.swept = r.swept && r.active
	} else {
		r.active = r.full == windowSlices && committed > 2*high+returnSlack
	}
	return r.active
}

// slice returns the frames of a slice of the window.
func (r *returner) slice(after int) int {
	return max((min(after, mostAfter)+windowSlices-1)/windowSlices<<r.doubles, 1)
}

// restart begins a new window. What was used before counts in it as well.
func (r *returner) restart() { r.full, r.left, r.active, r.swept, r.round = 0, 0, false, false, 0 }

// step makes a step of the heap and notes its result. If nothing is left, or the source fails or panics, the next
// attempt is a window later.
func (r *returner) step(h stepper, after int, committed uintptr) error {
	if s, ok := h.(slabSteps); ok && !r.swept {
		if s.Sweep(sweepBlocks) {
			return nil
		}
		r.swept = true // spans are neighbours now, and a step returns more of them
	}
	was := *r
	r.restart()
	n, err := h.TrimStep(returnStep)
	if n == 0 && err == nil && was.swept && was.round > committed/16 {
		*r = was
		r.swept, r.round = false, 0 // what was warm may be cold now
		return nil
	}
	if n == 0 || err != nil {
		return err
	}
	*r = was
	r.returned, r.round = r.returned+uint64(n), r.round+n
	r.held, r.regret = committed-n, regretWindows*windowSlices*r.slice(after)
	return nil
}

// returnIdle returns memory of heaps that have held far more than they use. At most one heap makes a step in a frame. A
// step that fails has changed nothing, so the game goes on.
func (m *Manager) returnIdle() {
	after := m.cfg.ReturnAfter
	if after < 0 || m.unreturnable {
		return
	}
	var err error
	at := Large // the tier of err
	stepped := m.large.idle.frame(m.large.heap, after, true, &err)
	if err == nil {
		at = Slab
	}
	stepped = m.slab.idle.frame(slabSteps{m.slab.heap}, after, !stepped && m.phase < closing, &err) || stepped
	if err == nil {
		at = Inbox
	}
	for _, w := range m.inbox.workers {
		stepped = w.returnIdle(after, !stepped && m.phase < closing, &err) || stepped
	}
	if err != nil {
		m.unreturned.steps++
		m.unreturned.last = fmt.Errorf("tiers: %s: %w", at, err)
	}
}

// unreturned has the steps that failed.
type unreturned struct {
	steps uint64
	last  error
}

// frame is called once a frame. It reports whether the heap has made a step, which may says it may.
func (r *returner) frame(h stepper, after int, may bool, err *error) (stepped bool) {
	committed := uintptr(h.Stats().Committed)
	if !r.due(after, h.TakePeak(), committed) || !may {
		return false
	}
	*err = r.step(h, after, committed)
	return true
}

// returnIdle is that of the manager for the worker's heap. If an operation of the worker is running, it does nothing.
func (w *Worker) returnIdle(after int, may bool, err *error) (stepped bool) {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	return w.idle.frame(w.heap, after, may, err)
}

// ReturnErr returns the number of times that EndFrame could not return memory since New, and the last error. The error
// names the tier and wraps that of Config.Source. Such a failure changes nothing. EndFrame tries again after
// [Config.ReturnAfter] frames or more.
func (i Inspector) ReturnErr() (failures uint64, last error) {
	return i.m.unreturned.steps, i.m.unreturned.last
}

// Returned returns the number of bytes that EndFrame has decommitted in tier t since New, see [Config.ReturnAfter].
// Bytes that were decommitted twice count twice. A load restores the number that was saved. For tiers that return no
// memory during play, the result is 0.
func (i Inspector) Returned(t Tier) (bytes uint64) {
	switch t {
	case Slab:
		return i.m.slab.idle.returned
	case Large:
		return i.m.large.idle.returned
	case Inbox:
		for _, w := range i.m.inbox.workers {
			bytes += w.idle.returned
		}
	}
	return bytes
}
