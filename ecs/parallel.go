package ecs

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// batchRows is the number of rows of an archetype in a batch. It is large enough to hide the cost per
// batch, some 20 ns. It is small enough to give several workers work in a world of some ten thousand
// entities. It is a constant because results, one per batch, must not depend on who computes them.
const batchRows = 1024

// A Task describes one call of the body of a parallel run. It belongs to a worker and is valid until the
// body returns. After the body has returned, all methods except Worker panic with a [*memory.Misuse],
// unless the worker is running another body.
type Task struct {
	ws       *Workers
	worker   int
	scratch  *arena.Linear
	commands *Commands // nil until first used

	w     *World // nil outside of a body
	batch int
	index int // of the first row, over all matching archetypes
	table int // position in parallelRun.tables
	chunk int
	n     int // rows of this call
	row   uintptr
	es    address // row 0 of the chunk
	cols  [maxFilter]address
}

// Worker returns the number of the worker, from 0 to Workers.Len() - 1. Worker 0 is the goroutine that
// called Parallel. Use the number to index data per worker. Which worker runs which batch is not
// deterministic.
func (t *Task) Worker() int { return t.worker }

// Batch returns the number of the batch that the body runs. The number is from 0 to Batches() - 1 of the
// filter.
func (t *Task) Batch() int {
	t.mustBeInBody("Batch")
	return t.batch
}

// Index returns the position of the call's first entity in the order of All. Use the position to index a slice with
// one result per entity. With ChangedSince, Index also counts unchanged entities, so it may exceed Len of the filter.
func (t *Task) Index() int {
	t.mustBeInBody("Index")
	return t.index
}

// Scratch returns the worker's arena. All batches that a worker runs share the arena, and one worker may run all
// batches of a run. Set WorkersConfig.Scratch large enough for all batches, or let each batch rewind the arena to a
// Mark. If the arena is full, its Alloc returns an error that wraps memory.ErrOutOfMemory.
//
// The arena is reset when the next run of the workers begins. Until then the caller of Parallel may read the data in
// it, unless the Workers are closed or the source of WorkersConfig.Pages ends.
func (t *Task) Scratch() *arena.Linear {
	t.mustBeInBody("Scratch")
	return t.scratch
}

func (t *Task) mustBeInBody(op string) {
	if t.w == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "a Task is valid only until its body returns"})
	}
}

func (t *Task) idle() bool {
	return t.w == nil && t.batch|t.index|t.table|t.chunk|t.n == 0 && t.row == 0 && t.es == 0 && t.cols == [maxFilter]address{} &&
		(t.commands == nil || len(t.commands.ops)|len(t.commands.words)|len(t.commands.task.starts) == 0 && t.commands.task.spawned == 0)
}

// A runner is a filter with its types. It calls its body for the rows of t.
type runner interface {
	runBatch(t *Task, body any)
}

// A parallelRun is the work of one call of Parallel: the rows of the matching archetypes in batches of
// batchRows each. Batches are numbered and claimed in the order of All.
//
// If bodies panic, the panic of the first batch counts: later batches are not started, and earlier ones
// are completed.
type parallelRun struct {
	f      *filter
	run    runner
	body   any
	tables []tableBatches // those with rows
	share  int64          // a claim takes 1/share of the batches left
	serial uint32         // number of the first batch, of all runs

	next atomic.Int64 // first unclaimed batch
	stop atomic.Int64 // batches from here on are not run

	mu    sync.Mutex
	ended outcome
}

// A tableBatches is the batches of one archetype.
type tableBatches struct {
	t          *table
	firstBatch int // number of its first batch
	firstRow   int // rows of the tables before
}

// An outcome says how a body ended that did not return.
type outcome struct {
	found bool
	exit  bool // by runtime.Goexit
	batch int
	value any
	stack []byte
}

// batches is Batches of the filters.
func (f *filter) batches() (n int) {
	f.w.guard.notInParallel("Batches")
	f.update(f.w.store.laid)
	for _, t := range f.matches {
		n += (t.rows() + batchRows - 1) / batchRows
	}
	return n
}

// parallel is Parallel without types.
func (f *filter) parallel(ws *Workers, run runner, body any, none bool) {
	w := f.w
	w.guard.notInParallel("Parallel")
	if ws == nil || none {
		panic(&memory.Misuse{Package: "ecs", Op: "Parallel", Reason: "Parallel needs workers and a body"})
	}
	ws.begin()
	defer ws.end()
	for _, t := range ws.tasks {
		t.beginCommands(w)
		if t.scratch.Base() != nil { // its page source may have been closed
			t.scratch.Reset()
		}
	}
	p := &ws.run
	p.ended = outcome{}
	batches := p.split(f, len(ws.tasks))
	defer p.reset()
	if batches == 0 {
		return
	}
	p.run, p.body, p.serial = run, body, max(ws.serial, w.serial)
	ws.serial = p.serial + uint32(batches)
	w.serial = ws.serial // the next run may be by other Workers
	w.guard.locked++
	w.guard.inParallel = true
	defer p.rethrow() // last: all have stopped and nothing is locked
	defer ws.finish(w)
	ws.call(batches)
	p.work(ws.tasks[0])
}

// finish ends a run, whether bodies have returned or not, and passes its commands to the world.
func (ws *Workers) finish(w *World) {
	ws.dismiss()
	w.guard.locked--
	w.guard.inParallel = false
	if w.guard.closedInRun.Swap(false) { // no other goroutine reads the world now
		w.closeItself()
	}
	if !ws.run.ended.found && !w.guard.closed() {
		ws.collect(w)
	}
	for _, t := range ws.tasks {
		t.dropCommands()
	}
}

// notInParallel panics in a parallel run, in which other goroutines read what the call would change.
func (g *guard) notInParallel(op string) {
	if g.inParallel {
		g.refuse(op)
	}
}

// split lists the tables and returns the number of batches.
func (p *parallelRun) split(f *filter, workers int) (batches int) {
	f.update(f.w.store.laid)
	p.f, p.share = f, int64(4*workers)
	index := 0
	for _, t := range f.matches {
		n := t.rows()
		if n == 0 {
			continue
		}
		p.tables = append(p.tables, tableBatches{t: t, firstBatch: batches, firstRow: index})
		batches += (n + batchRows - 1) / batchRows
		index += n
	}
	p.next.Store(0)
	p.stop.Store(int64(batches))
	return batches
}

// reset drops references to the world and to the caller's data.
func (p *parallelRun) reset() {
	clear(p.tables)
	p.tables = p.tables[:0]
	p.f, p.run, p.body = nil, nil, nil
	p.next.Store(0)
	p.stop.Store(0)
}

func (p *parallelRun) idle() bool {
	return p.f == nil && p.run == nil && p.body == nil && len(p.tables) == 0 && p.next.Load()|p.stop.Load() == 0
}

// claim takes the next batches: many at first, so that a worker reads consecutive memory, and single
// ones at the end, so that all workers end at about the same time.
func (p *parallelRun) claim() (from, to int64) {
	for {
		from = p.next.Load()
		left := p.stop.Load() - from
		if left <= 0 {
			return 0, 0
		}
		to = from + max(1, left/p.share)
		if p.next.CompareAndSwap(from, to) {
			return from, to
		}
	}
}

// work runs batches until none are left.
func (p *parallelRun) work(t *Task) {
	for from, to := p.claim(); from < to; from, to = p.claim() {
		p.runBatches(t, from, to)
	}
}

// runBatches runs the claimed batches, except those after a batch that failed.
func (p *parallelRun) runBatches(t *Task, from, to int64) {
	returned := false
	t.w = p.f.w
	defer func() {
		*t = Task{ws: t.ws, worker: t.worker, scratch: t.scratch, commands: t.commands}
		if !returned {
			p.fail(int(from), recover())
		}
	}()
	t.table, _ = slices.BinarySearchFunc(p.tables, from, func(k tableBatches, batch int64) int {
		if int64(k.firstBatch) <= batch {
			return -1
		}
		return 1
	})
	t.table--
	for ; from < to && from < p.stop.Load() && !p.f.w.guard.closedInRun.Load(); from++ {
		if next := t.table + 1; next < len(p.tables) && int64(p.tables[next].firstBatch) == from {
			t.table, t.chunk = next, 0
		}
		p.runBatch(t, int(from))
	}
	returned = true
}

// runBatch calls the body for each run of rows of the batch in one chunk. If the filter needs ticks,
// runs are of changed rows.
func (p *parallelRun) runBatch(t *Task, batch int) {
	k := &p.tables[t.table]
	w, tab := p.f.w, k.t
	row := (batch - k.firstBatch) * batchRows
	end := min(row+batchRows, tab.rows())
	t.batch = batch
	if t.chunk == 0 && row > 0 {
		t.chunk = tab.chunkOf(uint32(row))
	}
	for row < end && !w.guard.closedInRun.Load() {
		c := &tab.chunks[t.chunk]
		past := int(c.first) + int(c.cap)
		if row >= past {
			t.chunk++
			continue
		}
		first, n := p.f.runIn(tab, c.number, row-int(c.first), min(end, past)-int(c.first))
		if row = int(c.first) + first; n == 0 {
			continue
		}
		t.index, t.n, t.row = k.firstRow+row, n, uintptr(first)
		t.es = address(uintptr(w.store.chunks[c.number].base))
		columns := w.store.row(c.number)
		for i := 0; i < p.f.n; i++ {
			t.cols[i&(maxFilter-1)] = columns[p.f.ids[i&(maxFilter-1)]]
		}
		p.run.runBatch(t, p.body)
		row += t.n
	}
}

// chunkOf returns the position of the chunk that contains a row.
func (t *table) chunkOf(row uint32) int {
	i, _ := slices.BinarySearchFunc(t.chunks, row, func(k tableChunk, row uint32) int {
		if k.first+k.cap <= row {
			return -1
		}
		return 1
	})
	return i
}

// fail records how the body of a batch ended. Later batches are not run.
func (p *parallelRun) fail(batch int, value any) {
	stack := debug.Stack()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.found && p.ended.batch < batch {
		return
	}
	p.ended = outcome{found: true, exit: value == nil, batch: batch, value: value, stack: stack}
	p.stop.Store(int64(batch))
}

// rethrow ends the caller in the way of the first batch that did not return.
func (p *parallelRun) rethrow() {
	if !p.ended.found {
		return
	}
	if p.ended.exit {
		runtime.Goexit()
	}
	value := p.ended.value
	p.ended.value = nil
	panic(value)
}

// Stack returns the stack of the body that ended the last run by a panic or runtime.Goexit, in the format of
// [debug.Stack]. If several bodies ended so, Stack returns the stack of the batch with the lowest number. If all
// bodies returned, and before the first run, Stack returns nil. The panic itself prints another stack, that of the
// caller of Parallel.
func (ws *Workers) Stack() []byte { return ws.run.ended.stack }

// Results has one value per batch of a parallel run, in order of the batch numbers. So a sum or a list of the
// values does not depend on the number of workers. The zero Results is empty and ready for Prepare. A Results
// must not be copied.
type Results[R any] struct {
	noCopy noCopy
	values []R
}

// Prepare sets the results to one zero value for each batch of s. Call Prepare before each run. Prepare reuses
// the memory of earlier calls. It allocates in the Go heap only if s has more batches than in every earlier call, or
// matches new archetypes. In a parallel run Prepare panics with a [*memory.Misuse].
func (r *Results[R]) Prepare(s Selection) {
	n := s.selection().batches()
	r.values = slices.Grow(r.values[:0], n)[:n]
	clear(r.values)
}

// At returns a pointer to the value of the batch that t runs. All calls of the body for one batch get the
// same pointer. At panics with a [*memory.Misuse] if Prepare made no value for the batch, or if t runs no
// body.
func (r *Results[R]) At(t *Task) *R {
	i := t.Batch()
	if i >= len(r.values) {
		panic(&memory.Misuse{Package: "ecs", Op: "At", Reason: "there is no result for the batch; call Prepare with the filter before the run"})
	}
	return &r.values[i]
}

// Values returns the values in batch order. The slice is valid until the next Prepare.
func (r *Results[R]) Values() []R { return r.values }
