package ecs

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/page"
)

// WorkersConfig sizes Workers. A field that is zero selects its default; NewWorkers refuses values out of range.
type WorkersConfig struct {
	// Count is the number of goroutines of a parallel run, including the caller of Parallel: 1 to 256. Default
	// runtime.GOMAXPROCS(0), at most 256. Count does not affect the results of a run.
	Count int

	// Scratch is the size in bytes of each worker's arena. NewWorkers commits all of it. Default 64 KiB.
	Scratch uintptr

	// Pages is the page source of the arenas. If it is nil, page.Default is used. Pass the source of a budget, such
	// as a tier's, to charge the arenas to it.
	Pages page.Source
}

const (
	maxWorkers     = 256
	defaultScratch = 64 << 10
)

// Workers are goroutines for parallel runs of filters, see Parallel of [Filter1]. Create Workers once: the goroutines
// sleep between runs and end with Close. In steady state a parallel run allocates nothing in the Go heap. It starts
// no goroutine, except to replace one whose body called [runtime.Goexit].
//
// Workers serve the filters of all worlds, one run at a time, and belong to one goroutine at a time.
// Starting a run within a run or after Close panics with a [*memory.Misuse]. Without Close, goroutines and
// arenas are leaked.
type Workers struct {
	// Invariants, verified in this order by Check:
	//
	//	(1) there are 1 to maxWorkers tasks, each with its number and an arena whose Check returns nil;
	//	    goroutines are one less, or none after Close
	//	(2) between runs no helper has joined or is called, and nothing of the last run is kept
	noCopy noCopy
	tasks  []*Task // tasks[0] belongs to the goroutine that calls Parallel

	mu     sync.Mutex
	wake   sync.Cond // helpers wait for open or closed
	idle   sync.Cond // the caller waits until joined or alive is 0
	open   bool      // helpers may join the run
	busy   bool      // a run is in progress
	closed bool
	called int // helpers that were woken for the run and have not joined
	joined int // helpers in the run
	alive  int // goroutines

	serial uint32 // number of the next batch, above those of all runs and of their worlds
	run    parallelRun
}

// NewWorkers creates the arenas and starts the goroutines. If cfg is invalid, the error wraps
// [memory.ErrConfig]. If cfg.Pages fails, the error wraps that of cfg.Pages. On error nothing is kept,
// unless cfg.Pages fails to release it.
func NewWorkers(cfg WorkersConfig) (_ *Workers, err error) {
	if cfg.Count == 0 {
		cfg.Count = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	cfg.Scratch = cmp.Or(cfg.Scratch, defaultScratch)
	if cfg.Count < 1 || cfg.Count > maxWorkers {
		return nil, fmt.Errorf("ecs: WorkersConfig.Count is %d; it must be from 1 to %d: %w", cfg.Count, maxWorkers, memory.ErrConfig)
	}
	ws := new(Workers)
	ws.wake.L, ws.idle.L = &ws.mu, &ws.mu
	full := fmt.Errorf("ecs: no space in the worker's scratch of %d bytes; raise WorkersConfig.Scratch: %w", cfg.Scratch, memory.ErrOutOfMemory)
	made := false
	defer func() { // also if the source panics
		if !made {
			err = errors.Join(err, ws.closeArenas())
		}
	}()
	for i := range cfg.Count {
		l, err := arena.NewLinear(cfg.Pages, arena.LinearConfig{Bytes: cfg.Scratch, Full: full})
		if err != nil {
			return nil, fmt.Errorf("ecs: the arena of worker %d: %w", i, err)
		}
		ws.tasks = append(ws.tasks, &Task{ws: ws, worker: i, scratch: l})
	}
	made = true
	ws.alive = cfg.Count - 1
	for _, t := range ws.tasks[1:] {
		go ws.help(t)
	}
	return ws, nil
}

// Len returns the number of goroutines of a run, including the caller. It is WorkersConfig.Count, or the default of
// Count.
func (ws *Workers) Len() int { return len(ws.tasks) }

// Close ends the goroutines, waits for them, and releases the arenas with all data in them. If WorkersConfig.Pages
// cannot release arenas, the error of Close wraps each of its errors, and closing again retries. After success
// closing again does nothing. Close panics with a [*memory.Misuse] during a run.
func (ws *Workers) Close() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.busy {
		panic(&memory.Misuse{Package: "ecs", Op: "Close", Reason: "a parallel run is in progress"})
	}
	ws.closed = true
	ws.wake.Broadcast()
	for ws.alive > 0 {
		ws.idle.Wait()
	}
	return ws.closeArenas()
}

func (ws *Workers) closeArenas() (err error) {
	for _, t := range ws.tasks {
		err = errors.Join(err, t.scratch.Close())
	}
	return err
}

// help is the body of one goroutine. A body that calls runtime.Goexit ends the goroutine; a new one
// replaces it.
func (ws *Workers) help(t *Task) {
	ended := false
	defer func() {
		if !ended {
			go ws.help(t)
		}
	}()
	for ws.join() {
		ws.take(t)
	}
	ended = true
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.alive--
	ws.idle.Signal()
}

// join waits for a run. It returns false if the workers are closed. A helper that is late for a run
// waits for the next one, and no run waits for it.
func (ws *Workers) join() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for !ws.closed && (!ws.open || ws.called == 0) {
		ws.wake.Wait()
	}
	if ws.closed {
		return false
	}
	ws.called--
	ws.joined++
	return true
}

// take runs batches until none are left.
func (ws *Workers) take(t *Task) {
	defer ws.leave()
	ws.run.work(t)
}

func (ws *Workers) leave() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.joined--; ws.joined == 0 {
		ws.idle.Signal()
	}
}

// begin reserves the workers for a run.
func (ws *Workers) begin() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	reason := ""
	switch {
	case ws.closed:
		reason = "the workers are closed"
	case ws.busy:
		reason = "the workers are in a parallel run; a body must not start another"
	default:
		ws.busy = true
		return
	}
	panic(&memory.Misuse{Package: "ecs", Op: "Parallel", Reason: reason})
}

func (ws *Workers) end() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.busy = false
}

// call wakes helpers, at most one fewer than batches.
func (ws *Workers) call(batches int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.open = true
	ws.called = min(len(ws.tasks), batches) - 1
	for range ws.called {
		ws.wake.Signal()
	}
}

// dismiss lets no more helpers join, and waits for those that have.
func (ws *Workers) dismiss() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.open, ws.called = false, 0
	for ws.joined > 0 {
		ws.idle.Wait()
	}
}

// Check verifies the workers and returns an error that lists up to 32 broken invariants and the number of further
// ones, or nil. During a run it returns an error.
func (ws *Workers) Check() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	var c checker
	if !c.that(!ws.busy, "workers: a parallel run is in progress") {
		return c.err()
	}
	alive := len(ws.tasks) - 1
	if ws.closed {
		alive = 0
	}
	c.that(len(ws.tasks) >= 1 && len(ws.tasks) <= maxWorkers && ws.alive == alive, "workers: %d goroutines for %d tasks", ws.alive, len(ws.tasks)) // (1)
	for i, t := range ws.tasks {
		err := t.scratch.Check()
		c.that(t.ws == ws && t.worker == i && err == nil, "workers: task %d has number %d, its arena: %w", i, t.worker, err)
		c.that(t.idle(), "workers: task %d keeps data of a run", i)
	}
	c.that(!ws.open && ws.called == 0 && ws.joined == 0 && ws.run.idle(), "workers: between runs %d are called, %d have joined, open: %v", ws.called, ws.joined, ws.open) // (2)
	return c.err()
}
