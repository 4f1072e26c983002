package ecs

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/page"
)

// WorkersConfig sizes Workers. The zero WorkersConfig means the defaults.
type WorkersConfig struct {
	// Count is how many goroutines run a pass, the one that calls Parallel included: from 1 to
	// 256. Default runtime.GOMAXPROCS(0). No result depends on it.
	Count int

	// Scratch is the size of each worker's arena in bytes, committed at once. Default 64 KiB.
	Scratch uintptr

	// Pages is where the arenas lie; nil means page.Default. Name the source of a budget, as
	// that of a tier, for them to count there.
	Pages page.Source
}

const (
	maxWorkers     = 256
	defaultScratch = 64 << 10
)

// Workers are goroutines that are kept to run passes, see Parallel of [Filter1] and its kin:
// made once, asleep between passes, gone with Close. A pass makes no goroutine, and in steady
// state no Go allocation.
//
// They serve the filters of any worlds, one pass at a time, and belong to one goroutine at a
// time: a pass within a pass panics with a [*memory.Misuse], as does every pass after Close.
// Workers that are dropped without Close stay, goroutines and arenas.
//
// Invariants, verified in this order by Check:
//
//	(1) there are from 1 to maxWorkers tasks, each with its number and an arena whose Check says
//	    nil; as many goroutines as tasks less one, or none once closed
//	(2) between passes nobody has joined or is called, and nothing of the last one is kept
type Workers struct {
	noCopy noCopy
	tasks  []*Task // tasks[0] is that of the goroutine that calls Parallel

	mu     sync.Mutex
	wake   sync.Cond // helpers wait for open or closed
	idle   sync.Cond // the caller waits for joined or helpers to be 0
	open   bool      // helpers may join the pass
	busy   bool      // a pass is under way
	closed bool
	called int // helpers that were woken for the pass and have not come
	joined int // helpers in the pass
	alive  int // goroutines

	serial uint32 // of the newest pass
	run    parallelRun
}

// NewWorkers makes the arenas and starts the goroutines. The error wraps [memory.ErrConfig] if cfg is
// invalid, or the error of cfg.Pages; nothing is kept then.
func NewWorkers(cfg WorkersConfig) (*Workers, error) {
	if cfg.Count == 0 {
		cfg.Count = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if cfg.Scratch == 0 {
		cfg.Scratch = defaultScratch
	}
	if cfg.Count < 1 || cfg.Count > maxWorkers {
		return nil, fmt.Errorf("ecs: WorkersConfig.Count %d: want 1 to %d: %w", cfg.Count, maxWorkers, memory.ErrConfig)
	}
	ws := new(Workers)
	ws.wake.L, ws.idle.L = &ws.mu, &ws.mu
	made := false
	defer func() { // also where the source panics
		if !made {
			_ = ws.closeArenas()
		}
	}()
	for i := range cfg.Count {
		l, err := arena.NewLinear(cfg.Pages, arena.LinearConfig{Bytes: cfg.Scratch})
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

// Len returns how many goroutines run a pass, the caller included.
func (ws *Workers) Len() int { return len(ws.tasks) }

// Close ends the goroutines and gives the arenas back; nothing of theirs is valid any more. It
// waits for goroutines to end, none of which is in a pass. The error is that of
// WorkersConfig.Pages, which could not take an arena back; Close can be tried again. Closing
// again does nothing. It panics with a [*memory.Misuse] while a pass is under way.
func (ws *Workers) Close() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.busy {
		panic(&memory.Misuse{Package: "ecs", Op: "Close", Reason: "a pass is under way"})
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

// help is the life of one goroutine. A body that calls runtime.Goexit ends it: another one takes
// its place.
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

// join waits for a pass; false when the workers are closed. Who comes when a pass is over waits
// for the next one: nobody has waited for him.
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

// take runs pieces until there are no more.
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

// begin claims the workers for a pass.
func (ws *Workers) begin() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	reason := ""
	switch {
	case ws.closed:
		reason = "the workers are closed"
	case ws.busy:
		reason = "the workers are in a pass; a body must not begin another"
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

// call lets helpers in, of whom no more are woken than there are pieces for.
func (ws *Workers) call(batches int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.open = true
	ws.called = min(len(ws.tasks), batches) - 1
	for range ws.called {
		ws.wake.Signal()
	}
}

// dismiss lets nobody in any more and waits for those who are.
func (ws *Workers) dismiss() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.open, ws.called = false, 0
	for ws.joined > 0 {
		ws.idle.Wait()
	}
}

// Check verifies the books and reports every broken invariant, or nil. It is for between passes,
// and says so within one.
func (ws *Workers) Check() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	var c checker
	if !c.that(!ws.busy, "workers: a pass is under way") {
		return c.err()
	}
	alive := len(ws.tasks) - 1
	if ws.closed {
		alive = 0
	}
	c.that(len(ws.tasks) >= 1 && len(ws.tasks) <= maxWorkers && ws.alive == alive, "workers: %d goroutines for %d tasks", ws.alive, len(ws.tasks)) // (1)
	for i, t := range ws.tasks {
		err := t.scratch.Check()
		c.that(t.ws == ws && t.worker == i && err == nil, "workers: task %d has number %d, its arena says: %w", i, t.worker, err)
		c.that(t.idle(), "workers: task %d keeps something of a pass", i)
	}
	c.that(!ws.open && ws.called == 0 && ws.joined == 0 && ws.run.idle(), "workers: between passes %d are called, %d have joined, open: %v", ws.called, ws.joined, ws.open) // (2)
	return c.err()
}
