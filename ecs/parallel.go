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

// pieceRows is how many rows of an archetype make a piece: enough for its part of the pass, some
// 20 ns, to be lost in the loop over them, and few enough for a world of some ten thousand
// entities to have work for several workers. It is a constant because results, which are one per
// piece, must not depend on who computes them.
const batchRows = 1024

// A Task is what a body gets to know of its call. It belongs to the worker, and is valid until the
// body returns: outside of a body its methods other than Worker panic with a [*memory.Misuse],
// where no other body runs on that worker meanwhile.
type Task struct {
	ws      *Workers
	worker  int
	scratch *arena.Linear
	// commands are nil until a body asks for them.
	commands *Commands

	w     *World // nil outside of a body
	batch int
	index int // of the first row, among all of the archetypes that match
	table int // of the pass, and the chunk in it
	chunk int
	n     int // rows of this call
	row   uintptr
	es    address // row 0 of the chunk's columns
	cols  [maxFilter]address
}

// Worker returns the number of the worker, from 0, which is the goroutine that called Parallel,
// to Workers.Len() - 1. It is for what each worker has one of. A result that depends on it
// depends on luck.
func (t *Task) Worker() int { return t.worker }

// Batch returns the number of the batch that the body runs, from 0 to Batches() - 1 of the filter.
func (t *Task) Batch() int {
	t.mustBeInBody("Piece")
	return t.batch
}

// Index returns the number of the call's first entity in the order of All: where its result goes
// in a slice with one for each entity. ChangedSince of the filter does not change it: Index counts the
// entities in between as well, so that it depends on rows alone, as pieces do.
func (t *Task) Index() int {
	t.mustBeInBody("Index")
	return t.index
}

// Scratch returns the worker's arena, which is for the caller of Parallel, too: it is emptied when
// the next pass of the workers begins, not before. The pieces that one worker runs share it, and
// which these are nobody knows before: make it large enough for all of them, or have each piece
// rewind it to a Mark.
func (t *Task) Scratch() *arena.Linear {
	t.mustBeInBody("Scratch")
	return t.scratch
}

func (t *Task) mustBeInBody(op string) {
	if t.w == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "a Task is valid until its body returns"})
	}
}

func (t *Task) idle() bool {
	return t.w == nil && t.batch|t.index|t.table|t.chunk|t.n == 0 && t.row == 0 && t.es == 0 && t.cols == [maxFilter]address{} &&
		(t.commands == nil || len(t.commands.ops)|len(t.commands.words)|len(t.commands.task.starts) == 0 && t.commands.task.spawned == 0)
}

// A runner is a filter with its types: it calls a body of its own for the rows that t names.
type runner interface {
	runBatch(t *Task, body any)
}

// A parallelRun is what the workers do for one call of Parallel: the rows of the archetypes that match,
// cut into pieces of pieceRows each. Pieces are numbered as All goes, and claimed in that order.
//
// Where bodies panic, the panic that counts is that of the first piece: whoever finds a later one
// to do leaves it, and whoever has an earlier one finishes it.
type parallelRun struct {
	f      *filter
	run    runner
	body   any
	tables []tableBatches // that have rows
	share  int64          // a claim takes one of so many shares of what is left

	next atomic.Int64 // first piece that nobody has claimed
	stop atomic.Int64 // pieces from here on are not run

	mu    sync.Mutex
	ended outcome
}

// A tableBatches is the pieces of one archetype.
type tableBatches struct {
	t          *table
	firstBatch int // number of its first piece
	firstRow   int // rows before it
}

// An outcome is how a body ended that did not return.
type outcome struct {
	found bool
	exit  bool // by runtime.Goexit
	batch int
	value any
	stack []byte
}

// Batches returns the number of batches that Parallel cuts the matching entities into now: one for
// each 1024 entities of an archetype, and one for the rest, changed or not.
func (f *filter) Batches() (n int) {
	f.w.guard.notInParallel("Pieces")
	f.update(len(f.w.store.tables))
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
		panic(&memory.Misuse{Package: "ecs", Op: "Parallel", Reason: "a pass needs workers and a body"})
	}
	ws.begin()
	defer ws.end()
	ws.serial++
	for _, t := range ws.tasks {
		t.beginCommands(w)
		if t.scratch.Base() != nil { // its source may have been closed
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
	p.run, p.body = run, body
	w.guard.locked++
	w.guard.inParallel = true
	defer p.rethrow() // last, when all have stopped and nothing is locked
	defer ws.finish(w)
	ws.call(batches)
	p.work(ws.tasks[0])
}

// finish ends a pass, whether bodies have returned or not, and has its commands wait where they
// have.
func (ws *Workers) finish(w *World) {
	ws.dismiss()
	w.guard.locked--
	w.guard.inParallel = false
	if w.guard.closedInRun.Swap(false) { // the books are nobody else's again
		w.allocatorClosed()
	}
	if !ws.run.ended.found && !w.guard.closed() {
		ws.collect(w)
	}
	for _, t := range ws.tasks {
		t.dropCommands()
	}
}

// notInParallel panics in a pass: the call would change what others read.
func (g *guard) notInParallel(op string) {
	if g.inParallel {
		g.refuse(op)
	}
}

// split lists the parts and returns the number of pieces.
func (p *parallelRun) split(f *filter, workers int) (batches int) {
	f.update(len(f.w.store.tables))
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

// reset lets go of the world and of what the caller gave.
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

// claim takes the next pieces: many at first, so that a worker walks on in memory, and one by one
// in the end, so that all are done at about the same time.
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

// work runs pieces until nobody has any left.
func (p *parallelRun) work(t *Task) {
	for from, to := p.claim(); from < to; from, to = p.claim() {
		p.runBatches(t, from, to)
	}
}

// runBatches runs the claimed pieces, those behind a fault excepted.
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

// runBatch calls the body for each run of rows of the piece that lie in one chunk, and that have
// changed where the filter asks for it.
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

// chunkOf returns the position of the chunk that has a row.
func (t *table) chunkOf(row uint32) int {
	i, _ := slices.BinarySearchFunc(t.chunks, row, func(k tableChunk, row uint32) int {
		if k.first+k.cap <= row {
			return -1
		}
		return 1
	})
	return i
}

// fail notes how the body of a piece ended. What is behind it is not run any more.
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

// rethrow ends the caller as the first piece that did not return has ended.
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

// Stack returns the stack of the body whose panic the last pass carried to the caller, as
// [debug.Stack] prints it; nil where there was none. The panic itself shows the caller's.
func (ws *Workers) Stack() []byte { return ws.run.ended.stack }

// Results holds a value for each piece of a pass, in their order, which is what makes a sum or a
// list independent of the number of workers. The zero Results is empty and ready; it is kept from
// pass to pass, so that it allocates where a pass has more pieces than any before.
type Results[R any] struct {
	noCopy noCopy
	values []R
}

// Prepare makes room for the pieces of s, each with a zeroed value. Call it before the pass.
func (r *Results[R]) Prepare(s Selection) {
	n := s.selection().Batches()
	r.values = slices.Grow(r.values[:0], n)[:n]
	clear(r.values)
}

// At returns the value of the piece that t runs. Where the body is called several times for one
// piece it is the same. It panics with a [*memory.Misuse] where Prepare made no room for it.
func (r *Results[R]) At(t *Task) *R {
	i := t.Batch()
	if i >= len(r.values) {
		panic(&memory.Misuse{Package: "ecs", Op: "At", Reason: "there is no result for the piece; call Prepare with the filter before the pass"})
	}
	return &r.values[i]
}

// Values returns the values in the order of pieces, valid until the next Prepare.
func (r *Results[R]) Values() []R { return r.values }
