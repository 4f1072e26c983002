package tiers_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

func TestManager_SavingNamesWhatIsOpen(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	g.frame()
	slot := g.save()
	refused := func(what string, want error, text string) {
		t.Helper()
		if err := g.set.Load(slot); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", what, err, text)
		}
	}
	if err := g.m.BeginFrame(); err != nil {
		t.Fatal(err)
	}
	refused("inside a frame", save.ErrBusy, "a frame is open")
	if err := g.m.EndFrame(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.m.Worker(1).BeginTask(); err != nil {
		t.Fatal(err)
	}
	refused("inside a task", save.ErrBusy, "save: memory/inbox/worker[1]: save: busy: a task is open")
	if err := g.m.Rest(time.Millisecond, 1); !errors.Is(err, save.ErrBusy) || !strings.Contains(err.Error(), "worker 1 is in a task") {
		t.Errorf("Rest in a task: %v", err)
	}
	if err := g.m.Rest(0, 0); err != nil {
		t.Errorf("Rest of another worker: %v", err)
	}
	if err := errors.Join(g.m.Worker(1).EndTask(), g.set.Load(slot)); err != nil {
		t.Error(err)
	}
	p, err := tiers.NewPool[[4]uint64](g.m, pool.Config{Name: "late"})
	if err != nil {
		t.Fatal(err)
	}
	refused("with a pool more", save.ErrLayout, `the last is "late"`)
	if !g.m.RemovePool(p) {
		t.Error("the pool is not removed")
	}
	buffers, err := plan.Fast([]plan.Buffer{{Size: 100, Align: 8, Death: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.m.Declare(buffers); err != nil {
		t.Fatal(err)
	}
	refused("with static buffers", save.ErrLayout, "the number of the static plan was 0 and is 1")
	g.m.OnReset(tiers.Level, func() { refused("in a hook", save.ErrBusy, "EndLevel is running") })
	if _, err := g.m.EndLevel(); err != nil {
		t.Error(err)
	}
	refused("after the level", save.ErrLayout, "the number of open levels was 1 and is 0")
	if err := errors.Join(p.Close(), g.m.BeginLevel()); err != nil {
		t.Error(err)
	}
	refused("in another level", save.ErrLayout, "levels that have begun")
}

// A hook of a Rewind is no moment between two frames, also for a Set without the level.
func TestManager_SavingInHookOfRewindIsBusy(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	if err := errors.Join(set.Add("slab", g.m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab}})), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot := set.NewSlot(1 << 20)
	err, before := set.Save(slot), g.m.Level().Mark()
	g.m.OnReset(tiers.Level, func() {
		for _, err := range []error{set.Save(slot), set.Load(slot)} {
			if !errors.Is(err, save.ErrBusy) {
				t.Errorf("%v, want ErrBusy", err)
			}
		}
	})
	g.m.Level().Rewind(before)
	if err := errors.Join(err, set.Load(slot)); err != nil {
		t.Error(err)
	}
}

func TestManager_ClosedManagerIsNotSaved(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	broken := errors.New("broken")
	g.m.AddPool("broken", &tiers.Funcs{CloseFunc: func() error { return broken }})
	slot := g.save()
	for _, want := range []error{broken, nil} { // the first Close does not complete
		if err := g.m.Close(); !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
		for what, err := range map[string]error{"Save": g.set.Save(slot), "Load": g.set.Load(slot), "Rest": g.m.Rest(0)} {
			if !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", what, err)
			}
		}
		broken = nil
	}
}

// A game that plays the tasks of its workers again after a load has the statistics of one that plays them once.
func TestManager_LoadRestoresTasks(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	frame := func() {
		scratch, err := g.m.Worker(1).BeginTask()
		if err != nil {
			t.Fatal(err)
		}
		memtest.MustAlloc(t, scratch, 1000, 8)
		if err := errors.Join(g.m.Worker(1).EndTask(), g.m.BeginFrame(), g.m.EndFrame()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // the first task commits the arena
		slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
		was := g.m.Stats(tiers.Inbox)
		frame()
		err := errors.Join(g.set.Save(first), g.set.Load(slot), g.m.Check())
		if now := g.m.Stats(tiers.Inbox); err != nil || now != was {
			t.Errorf("%v; after a load the workers have %+v, had %+v", err, now, was)
		}
		frame()
		if err := g.set.Save(again); err != nil {
			t.Fatal(err)
		}
		if d, differ, err := g.set.Diff(first, again); differ || err != nil {
			t.Errorf("played again the state is another one: %v, %v", d, err)
		}
	}
}

// A load that fails may have committed a scratch arena that the load before it has decommitted.
func TestManager_CheckAfterFailedLoadOfTasks(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	later := &failingState{}
	if err := errors.Join(set.Add("memory", g.m), set.Add("later", later), set.Seal()); err != nil {
		t.Fatal(err)
	}
	before, after := set.NewSlot(8<<20), set.NewSlot(8<<20)
	if err := set.Save(before); err != nil {
		t.Fatal(err)
	}
	_, err := g.m.Worker(1).BeginTask() // the first task commits the arena
	if err = errors.Join(err, g.m.Worker(1).EndTask(), set.Save(after), set.Load(before)); err != nil {
		t.Fatal(err)
	}
	later.fails = true
	if err := set.Load(after); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v, want ErrLayout", err)
	}
	if err := g.m.Check(); err != nil {
		t.Error(err)
	}
}

// A Freer of the manager sends a worker's block to the game goroutine, which sends it on to the worker.
func TestManager_RestFreesBlocksSentOnToWorkers(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	w, f, other := m.Worker(0), m.NewFreer(), m.Worker(1)
	m.Free(memtest.MustAlloc(t, other, 1000, 16), 1000)
	if err := m.Rest(0, 0); err != nil || other.Stats().Live != 1 {
		t.Errorf("Rest of another worker: %v, and %d blocks are live", err, other.Stats().Live)
	}
	f.Free(memtest.MustAlloc(t, w, 1000, 16), 1000)
	if err := errors.Join(f.Flush(), m.Rest(0)); err != nil || w.Stats().Live != 0 {
		t.Errorf("%v, and %d blocks are live", err, w.Stats().Live)
	}
	err = m.BeginFrame()
	m.Free(memtest.MustAlloc(t, w, 1000, 16), 1000) // it waits for others
	if err = errors.Join(err, m.Rest(0)); err != nil || w.Stats().Live != 0 {
		t.Errorf("in a frame: %v, and %d blocks are live", err, w.Stats().Live)
	}
	if err := errors.Join(m.EndFrame(), f.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// Save and Load free the blocks in flight, also those that wait for a batch and those that are sent on to a worker.
func TestManager_SaveAndLoadFreeBlocksInFlight(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	w, f, h := g.m.Worker(1), g.m.NewFreer(), g.m.Worker(1).NewFreer()
	slot := g.set.NewSlot(1 << 20)
	send := func() {
		var p [4]unsafe.Pointer
		for i := range p {
			p[i] = memtest.MustAlloc(t, w, 1000, 16)
		}
		err := g.m.BeginFrame()
		g.m.Free(p[0], 1000)
		err = errors.Join(err, g.m.EndFrame())
		g.m.Free(p[1], 1000)
		f.Free(p[2], 1000)
		h.Free(p[3], 1000)
		if err = errors.Join(err, f.Flush(), h.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	for i, call := range []func(*save.Slot) error{g.set.Save, g.set.Load} {
		send()
		if err := call(slot); err != nil || w.Stats().Live != 0 || g.m.Check() != nil {
			t.Errorf("call %d: %v, %d blocks are live, %v", i, err, w.Stats().Live, g.m.Check())
		}
	}
	send()
	if _, differ, err := g.set.Diff(slot, slot); err != nil || differ {
		t.Errorf("Diff, which has nothing to do with blocks in flight: %t, %v", differ, err)
	}
	if n := w.Stats().Live; n != 4 {
		t.Errorf("after Diff %d blocks are live, want 4", n)
	}
	if err := g.m.Rest(0); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Close(), h.Close()); err != nil {
		t.Error(err)
	}
}

func TestManager_RestWaitsForTask(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	begun, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := g.m.Worker(0).BeginTask()
		begun <- err
		time.Sleep(time.Millisecond)
		ended <- g.m.Worker(0).EndTask()
	}()
	if err := errors.Join(<-begun, g.m.Rest(time.Minute), <-ended); err != nil {
		t.Error(err)
	}
}

// A worker that is named twice is saved once.
func TestManager_StateSavesEachWorkerOnce(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	size := func(workers ...int) int {
		var set save.Set
		err := errors.Join(set.Add("memory", g.m.State(tiers.Saved{Workers: workers})), set.Seal())
		n, err2 := set.Size()
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if once, twice := size(0, 1), size(1, 0, 1); once != twice {
		t.Errorf("%d bytes, and %d if a worker is named twice", once, twice)
	}
}
