package ecs

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func TestNewWorkers_RefusesBadConfig(t *testing.T) {
	for _, n := range []int{-1, 257} {
		if _, err := NewWorkers(WorkersConfig{Count: n}); !errors.Is(err, memory.ErrConfig) || err.Error() != fmt.Sprintf("ecs: WorkersConfig.Count is %d; it must be from 1 to 256: %v", n, memory.ErrConfig) {
			t.Error(err)
		}
	}
	ws, err := NewWorkers(WorkersConfig{})
	if err != nil || ws.Len() != min(runtime.GOMAXPROCS(0), maxWorkers) || ws.tasks[0].scratch.Available() != 64<<10 {
		t.Fatal(ws, err)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
}

func TestNewWorkers_ThatFailsKeepsNothing(t *testing.T) {
	for at := 1; ; at++ {
		src := memtest.NewFaulty()
		src.FailAt = at
		ws, err := NewWorkers(WorkersConfig{Count: 3, Pages: src})
		if err == nil {
			if at < 4 {
				t.Errorf("only %d calls", at)
			}
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		if !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "ecs: the arena of worker") || src.Reserved() != 0 {
			t.Errorf("call %d: %v, %d reservations are left", at, err, src.Reserved())
		}
		src = memtest.NewFaulty()
		src.PanicAt = at
		if r := caught(func() { NewWorkers(WorkersConfig{Count: 3, Pages: src}) }); r != memtest.ErrInjected || src.Reserved() != 0 {
			t.Errorf("call %d: %v, %d reservations are left", at, r, src.Reserved())
		}
	}
}

func TestNewWorkers_NamesWhatItCannotRelease(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailAt, src.FailReturns = 3, true
	_, err := NewWorkers(WorkersConfig{Count: 3, Pages: src})
	if src.Reserved() != 1 || !strings.Contains(err.Error(), "arena: close: ") || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("%d reservations are left: %v", src.Reserved(), err)
	}
}

func TestWorkers_CloseCanBeTriedAgain(t *testing.T) {
	src := memtest.NewFaulty()
	ws, err := NewWorkers(WorkersConfig{Count: 3, Pages: src})
	if err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if ws.Close() == nil || ws.Check() != nil || ws.alive != 0 {
		t.Errorf("%d goroutines, %v", ws.alive, ws.Check())
	}
	src.FailReturns = false
	for range 2 {
		if err := ws.Close(); err != nil || src.Reserved() != 0 || ws.Check() != nil {
			t.Errorf("%v, %d reservations are left, %v", err, src.Reserved(), ws.Check())
		}
	}
}

// TestWorkers_OutliveTheirSource runs a pass when the arenas are gone.
func TestWorkers_OutliveTheirSource(t *testing.T) {
	_, f := manyBatches(t, Config{})
	src := memtest.NewMortal(t, page.Heap(), 1<<20)
	ws, err := NewWorkers(WorkersConfig{Count: 2, Scratch: page.Granule, Pages: src})
	if err != nil {
		t.Fatal(err)
	}
	src.End(t)
	var refused Results[bool]
	refused.Prepare(f)
	f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
		_, err := task.Scratch().Alloc(1, 1)
		*refused.At(task) = err == memory.ErrClosed
	})
	for _, ok := range refused.Values() {
		if !ok {
			t.Error("an arena whose source is gone")
		}
	}
	if err := errors.Join(ws.Check(), ws.Close()); err != nil {
		t.Error(err)
	}
}

func TestWorkers_AHookOfAnArenaThatPanicsLeavesNothingLocked(t *testing.T) {
	w, f := manyBatches(t, Config{})
	ws := newTestWorkers(t, 1)
	body := func(*Task, []Entity, []position) {}
	f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
		if task.Batch() == 0 {
			task.Scratch().OnReset(func() { panic("hook") })
		}
	})
	if r := caught(func() { f.Parallel(ws, body) }); r != "hook" || w.Locked() || ws.Check() != nil {
		t.Errorf("%v, %v", r, ws.Check())
	}
	f.Parallel(ws, body)
}

// TestWorkersCheck_NamesEachInvariant breaks every invariant that is written above the type.
func TestWorkersCheck_NamesEachInvariant(t *testing.T) {
	_, f := manyBatches(t, Config{})
	ws := newTestWorkers(t, 3)
	f.Parallel(ws, func(*Task, []Entity, []position) {})
	for _, c := range []fault{
		{"1 alive", "workers: 1 goroutines for 3 tasks", set(&ws.alive, 1)},
		{"1 tasks", "workers: 2 goroutines for 0 tasks", set(&ws.tasks, nil)},
		{"1 number", "workers: task 2 has number 1", set(&ws.tasks[2].worker, 1)},
		{"2 joined", "between runs 0 are called, 1 have joined", set(&ws.joined, 1)},
		{"2 open", "open: true", set(&ws.open, true)},
		{"2 called", "between runs 2 are called", set(&ws.called, 2)},
		{"2 part", "between runs", set(&ws.run.tables, make([]tableBatches, 1))},
		{"2 task", "task 1 keeps data of a run", set(&ws.tasks[1].n, 5)},
	} {
		c.test(t, ws.Check)
	}
	if n := memtest.EveryNthBit(t, testenv.Step(4), ws.Check, ws); n.Named < tried(n, 500) {
		t.Errorf("%+v", n)
	}
}
