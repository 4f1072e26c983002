package tiers

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestWorker_ScratchIsEmptyWhenATaskBeginsAndCountsWhenItEnds(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	before := w.Stats()
	if before.Committed != 0 {
		t.Errorf("an idle worker has %d bytes committed", before.Committed)
	}
	for i := range 3 {
		a, err := w.BeginTask()
		must(t, err)
		if a.Used() != 0 || a.Available() != 256<<10 || w.Scratch() != a {
			t.Fatalf("task %d: %d bytes used, %d available", i, a.Used(), a.Available())
		}
		p := alloc(t, a, 1000)
		*(*byte)(p) = 1
		mark := a.Mark()
		alloc(t, a, 50_000)
		a.Rewind(mark)
		if s := w.Stats(); s.InUse != 0 || s.Committed < 256<<10 {
			t.Errorf("in task %d: %+v", i, s)
		}
		must(t, m.Check())
		must(t, w.EndTask())
		s := w.Stats()
		if s.Allocs != uint64(2*i+2) || s.Frees != s.Allocs || s.InUse != 0 || s.Peak < 51_000 || m.Stats(Inbox).Committed != s.Committed {
			t.Errorf("after task %d: %+v", i, s)
		}
		must(t, m.Check())
	}
	if n := uint64(w.limit.Committed()); n != w.Stats().Committed {
		t.Errorf("%d bytes committed, %+v", n, w.Stats())
	}
}

func TestWorker_TasksOutOfOrderSaySo(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	wrong := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want ErrOrder with %q", err, want)
		}
	}
	outside := func(want string) {
		t.Helper()
		if invariant.Debug {
			memtest.Misuse(t, func() { w.Scratch() }, want)
		} else if _, err := w.Scratch().Alloc(1, 1); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "tiers: Scratch outside a task") {
			t.Errorf("outside a task: %v", err)
		}
	}
	wrong(w.EndTask(), "EndTask outside a task; BeginTask first")
	outside("outside a task; BeginTask first")
	a, err := w.BeginTask()
	must(t, err)
	_, err = w.BeginTask()
	wrong(err, "BeginTask inside a task; EndTask first")
	p := alloc(t, a, 100)
	memtest.Misuse(t, func() { m.Free(p, 100) }, "tiers.Free", "the block lies in a worker's scratch arena; it is freed when its task ends")
	memtest.Misuse(t, func() { m.FreeAny(p) }, "tiers.FreeAny", "scratch arena")
	memtest.Misuse(t, func() { m.Resize(p, 100, 10) }, "tiers.Resize", "scratch arena")
	if tier, ok := m.Inspect().TierOf(p); tier != Inbox || !ok {
		t.Errorf("scratch is of %v", tier)
	}
	must(t, w.EndTask())
	if _, err := a.Alloc(1<<30, 1); err == nil {
		t.Error("a scratch arena has 1 GiB")
	}
	a, err = w.BeginTask()
	must(t, err)
	ran := 0
	a.OnReset(func() { ran++; m.Worker(0).Free(alloc(t, w, 10), 10) })
	wrong(m.Close(), "Close inside a task of worker 0; EndTask first")
	if ran != 0 {
		t.Errorf("a Close that was refused ran the hook of an open task %d times", ran)
	}
	must(t, w.EndTask())
	must(t, m.Close())
	if _, err := w.BeginTask(); err != memory.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	if err := w.EndTask(); err != memory.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	outside("the manager is closed")
}

func TestWorker_AHookThatPanicsLeavesTheTaskOpen(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(1)
	a, err := w.BeginTask()
	must(t, err)
	var ran []int
	a.OnReset(func() { ran = append(ran, 1); w.Free(alloc(t, w, 100), 100) })
	a.OnReset(func() { ran = append(ran, 2); panic("hook") })
	func() {
		defer func() {
			if r := recover(); r != "hook" {
				t.Errorf("%v", r)
			}
		}()
		_ = w.EndTask()
		t.Error("the hook did not panic")
	}()
	must(t, m.Check())
	must(t, w.EndTask())
	if len(ran) != 2 || ran[0] != 2 || ran[1] != 1 {
		t.Errorf("hooks ran in order %v", ran)
	}
	_, err = w.BeginTask()
	must(t, err)
	must(t, w.EndTask())
	must(t, m.Check())
}

func TestWorker_AScratchArenaIsWithinTheBudget(t *testing.T) {
	cfg := small()
	cfg.Budget[Inbox], cfg.Scratch = 2*(128<<10), 200<<10 // a share holds no 256 KiB
	m := newManager(t, cfg)
	w := m.Worker(0)
	_, err := w.BeginTask()
	var e *memory.Exhausted
	if !errors.As(err, &e) || e.Need != 256<<10 || e.Limit != 128<<10 || e.Op != "tiers: scratch of worker 0" ||
		!strings.HasPrefix(err.Error(), "tiers: inbox of worker 0: budget: out of memory: need 262144 bytes, have 131072 of 131072") {
		t.Errorf("%v", err)
	}
	must(t, m.Check())
	if err := w.EndTask(); !errors.Is(err, ErrOrder) {
		t.Errorf("a task that was refused is open: %v", err)
	}
	alloc(t, w, 1000) // the heap is none the worse
	cfg = small()
	cfg.Scratch = 3 << 20
	if _, err := New(cfg); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "tiers: Scratch 3145728: want at most 2097152") {
		t.Errorf("%v", err)
	}
}

func TestWorker_AScratchArenaThatTheSystemRefusesIsAskedForAgain(t *testing.T) {
	src := memtest.NewFaulty()
	cfg := small()
	cfg.Source, cfg.GC.Keep = src, true
	m := newManager(t, cfg)
	src.FailAt, src.ForGood = src.Calls()+1, true
	if _, err := m.Worker(0).BeginTask(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("%v", err)
	}
	must(t, m.Check())
	src.FailAt = 0
	a, err := m.Worker(0).BeginTask()
	must(t, err)
	alloc(t, a, 100)
	must(t, m.Worker(0).EndTask())
	must(t, m.Check())
}

// What a task allocates lives through the game's frames and levels, and only so long as the task.
func TestWorker_ScratchIsTheTasksWhateverTheGameDoes(t *testing.T) {
	m := newManager(t, small())
	var workers sync.WaitGroup
	stop := make(chan struct{})
	for k := range m.Workers() {
		workers.Go(func() {
			w := m.Worker(k)
			vals := memory.MustType[uint64]()
			for i := uint64(1); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				a, err := w.BeginTask()
				if err != nil {
					t.Error(err)
					return
				}
				s, err := arena.MakeSlice(a, vals, 1000)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range s {
					s[j] = i
				}
				for range 4 { // scopes within the task
					mark := a.Mark()
					v, _ := arena.New(w.Scratch(), vals)
					*v = 7
					a.Rewind(mark)
				}
				for j := range s {
					if s[j] != i {
						t.Errorf("value %d of task %d is %d", j, i, s[j])
						return
					}
				}
				if err := w.EndTask(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var snap Snapshot
	must(t, m.BeginLevel())
	for range 300 {
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), 100)
		m.Snapshot(&snap)
		must(t, m.EndFrame())
		must(t, m.Check())
	}
	_, err := m.EndLevel()
	must(t, err)
	close(stop)
	workers.Wait()
	must(t, m.Check())
}

func TestWorker_ScratchIsPoisonedWhenItsTaskEnds(t *testing.T) {
	if !invariant.Debug {
		return // such builds fill nothing
	}
	cfg := small()
	cfg.Source = page.Heap()
	m := newManager(t, cfg)
	a, err := m.Worker(0).BeginTask()
	must(t, err)
	p := (*[16]byte)(alloc(t, a, 16))
	p[3] = 1
	must(t, m.Worker(0).EndTask())
	if p[3] != 0xDD {
		t.Errorf("the dead byte is %#x", p[3])
	}
}

func TestWorker_ScratchAllocatesNothingOfGo(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	if n := testing.AllocsPerRun(100, func() {
		a, _ := w.BeginTask()
		_, _ = a.Alloc(100, 16)
		_ = w.EndTask()
	}); n != 0 && !invariant.Debug {
		t.Errorf("%v Go allocations a task", n)
	}
}
