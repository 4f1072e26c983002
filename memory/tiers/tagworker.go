package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A WorkerTag is a worker's heap under a tag. It is for the worker's goroutine, as the [Worker] is,
// and Alloc, Free and Resize are the worker's own; of a nil or zero one they panic with a
// *memory.Misuse. A block counts for its tag until the worker has
// taken it in, however it comes home.
type WorkerTag struct {
	w     *Worker
	id    uint8
	owner invariant.Owner
}

// Tag returns the worker's heap under a tag of its manager; the same for the same tag. Worker's
// goroutine, or the game's before it runs. A tag that is nil, zero, or another manager's panics
// with a *memory.Misuse, and so does every one after Close.
func (w *Worker) Tag(t *Tag) *WorkerTag {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		panic(&memory.Misuse{Package: "tiers", Op: "Worker.Tag", Reason: "the manager is closed"})
	}
	if m := t.of("Worker.Tag"); m != w.m {
		panic(&memory.Misuse{Package: "tiers", Op: "Worker.Tag", Reason: "the tag is another manager's"})
	}
	for _, v := range w.views {
		if v.id == t.id {
			return v
		}
	}
	v := &WorkerTag{w: w, id: t.id}
	if w.tags != nil {
		reach(&w.tags.counts, t.id)
	}
	w.views = append(w.views, v)
	return v
}

// of returns the worker, or panics where there is none.
func (v *WorkerTag) of(op string) *Worker {
	if v == nil || v.w == nil {
		panic(&memory.Misuse{Package: "tiers", Op: "WorkerTag." + op, Reason: "the tag of a worker is nil or zero; Worker.Tag returns one"})
	}
	return v.w
}

// Alloc is Worker.Alloc, counted under the tag.
func (v *WorkerTag) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w := v.of("Alloc")
	v.owner.Touch()
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.alloc(size, align)
	if w.tags == nil {
		return p, err
	}
	if err != nil {
		if refused(err) {
			w.tags.counts[v.id].failures++
		}
		return nil, err
	}
	w.tags.add(v.id, p, size)
	return p, nil
}

// Free is Worker.Free: it frees any block of the worker's, for the tag that it is of.
func (v *WorkerTag) Free(p unsafe.Pointer, size uintptr) { v.of("Free").Free(p, size) }

// Resize is Worker.Resize.
func (v *WorkerTag) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return v.of("Resize").Resize(p, oldSize, newSize)
}

// Stats returns the tag's figures in this worker's heap, as Worker.Stats does those of all of it.
func (v *WorkerTag) Stats() memory.Stats {
	b := v.of("Stats").countsOf(v.id)
	return b.stats()
}

// countsOf returns a tag's books as they were between two of the worker's operations: now, or
// where it is in the midst of one, when they were asked for last. Safe for concurrent use.
func (w *Worker) countsOf(id uint8) tagCounts {
	if w.tags == nil {
		return tagCounts{}
	}
	w.last.Lock()
	defer w.last.Unlock()
	if w.mu.TryLock() {
		if int(id) < len(w.tags.counts) {
			w.last.tags[id] = w.tags.counts[id]
		}
		w.mu.Unlock()
	}
	return w.last.tags[id]
}

// freed takes a block that has been freed off its tag; the worker's lock is held.
func (w *Worker) freed(p unsafe.Pointer) {
	if w.tags == nil {
		return
	}
	if tag, size := w.tags.at(p); tag != 0 {
		w.tags.remove(p, tag, size)
	}
}

// inboxFreer frees what comes home to a worker; the worker's lock is held.
type inboxFreer struct{ w *Worker }

// FreeAny frees a block of the worker's heap, and takes it off its tag.
func (h inboxFreer) FreeAny(p unsafe.Pointer) {
	h.w.heap.FreeAny(p)
	h.w.freed(p)
}
