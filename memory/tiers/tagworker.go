package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A WorkerTag is a worker's heap under a tag. It belongs to the worker's goroutine, as the [Worker] does. Alloc, Free
// and Resize are those of the [Worker]. A block counts for its tag until the worker's heap has freed the block,
// regardless of which goroutine called Free. The methods of a nil or zero WorkerTag panic with a *memory.Misuse.
type WorkerTag struct {
	w     *Worker
	tag   *Tag // for its name
	id    uint8
	owner invariant.Owner
}

// Tag returns the worker's heap under a tag of its manager. All calls with one tag return the same WorkerTag. Call Tag
// on the worker's goroutine, or on the game goroutine before the worker's goroutine starts. Tag panics with a
// *memory.Misuse if t is nil, zero or a tag of another manager, or if the manager is closed.
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
	v := &WorkerTag{w: w, tag: t, id: t.id}
	if w.tags != nil {
		reach(&w.tags.counts, t.id)
	}
	w.views = append(w.views, v)
	return v
}

// of returns the worker, or panics if there is none.
func (v *WorkerTag) of(op string) *Worker {
	if v == nil || v.w == nil {
		panic(&memory.Misuse{Package: "tiers", Op: "WorkerTag." + op, Reason: "the tag of a worker is nil or zero; Worker.Tag returns one"})
	}
	return v.w
}

// Alloc is [Worker.Alloc] for a block that counts under the tag.
func (v *WorkerTag) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w := v.of("Alloc")
	v.owner.Touch()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tags == nil {
		p, err := w.alloc(0, size, align)
		if err != nil {
			err = v.tag.named(err)
		}
		return p, err
	}
	p, err := w.alloc(v.id, size, align)
	if err != nil {
		if refused(err) {
			w.tags.counts[v.id].failures++
		}
		return nil, v.tag.named(err)
	}
	w.tags.add(v.id, p, size)
	return p, nil
}

// Free is [Worker.Free]. It frees any block of the worker, also one of another tag. The free counts for the tag under
// which the block was allocated.
func (v *WorkerTag) Free(p unsafe.Pointer, size uintptr) { v.of("Free").Free(p, size) }

// Resize is [Worker.Resize]. It resizes any block of the worker, also one of another tag.
func (v *WorkerTag) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return v.of("Resize").Resize(p, oldSize, newSize)
}

// Stats returns the statistics of the tag's blocks in this worker's heap. If the worker is inside a call, they may be
// older, see [Worker.Stats]. Without [Config.Tags] they are zero. Safe for concurrent use.
func (v *WorkerTag) Stats() memory.Stats {
	b := v.of("Stats").countsOf(v.id)
	return b.stats()
}

// countsOf returns a tag's counts as they are between two of the worker's operations. If an operation is running,
// they are those that the last countsOf returned. Safe for concurrent use.
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

// freed records that a block has been freed, and removes its entry. The worker's lock is held.
func (w *Worker) freed(p unsafe.Pointer) {
	w.recorder.freedBy(Inbox, w.thread, p)
	w.sampler.freed(p)
	if w.tags == nil {
		return
	}
	if tag, size := w.tags.at(p); tag != 0 {
		w.tags.remove(p, tag, size)
	}
}

// inboxFreer frees the blocks that others have sent to a worker. The worker's lock is held.
type inboxFreer struct{ w *Worker }

// FreeAny frees a block of the worker's heap and removes its entry.
func (h inboxFreer) FreeAny(p unsafe.Pointer) {
	h.w.heap.FreeAny(p)
	h.w.freed(p)
}
