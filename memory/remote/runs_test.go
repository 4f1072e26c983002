package remote

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/slab"
)

// A teller is a target that tells how it was called, and does what a test says.
type teller struct {
	*slots
	runs, each int
	answer     func(n int) int // what FreeRun returns, having freed nothing
}

func (t *teller) FreeAny(p unsafe.Pointer) {
	t.each++
	t.slots.FreeAny(p)
}

func (t *teller) FreeRun(base unsafe.Pointer, offs []uintptr) int {
	t.runs++
	if t.answer != nil {
		return t.answer(len(offs))
	}
	return t.freeRun(base, offs)
}

// inOneBatch gives n blocks of s to a Freer, and pushes them.
func inOneBatch(t *testing.T, in *Inbox, s *slots, n int) (blocks []unsafe.Pointer) {
	t.Helper()
	f := in.NewFreer()
	for range n {
		blocks = append(blocks, memtest.MustAlloc(t, s, 16, 16))
		f.FreeAny(blocks[len(blocks)-1])
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return blocks
}

func TestRunFreer_ABatchIsOneCall(t *testing.T) {
	target := &teller{slots: newSlots(t, 64, 16)}
	in := newInbox(t, target, 8)
	inOneBatch(t, in, target.slots, 24)
	if n := in.Drain(); n != 24 || target.freed != 24 {
		t.Errorf("%d drained, %d freed", n, target.freed)
	}
	if want := map[bool]int{false: 3, true: 0}[invariant.Debug]; target.runs != want || target.each != 24*(1-min(want, 1)) {
		t.Errorf("%d runs and %d single frees", target.runs, target.each)
	}
	inOneBatch(t, in, target.slots, 8)
	target.runs = 0
	for _, limit := range []int{3, 1, 0, 9} {
		in.DrainSome(limit)
		if err := in.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if target.freed != 32 || !invariant.Debug && target.runs != 3 {
		t.Errorf("%d freed in %d runs", target.freed, target.runs)
	}
}

// What the target says of a run decides nothing that FreeAny would not.
func TestRunFreer_AnAnswerOutOfRangeIsNone(t *testing.T) {
	if invariant.Debug {
		return // blocks go one by one
	}
	for name, c := range map[string]struct {
		answer      func(n int) int
		each, freed int
	}{
		"none":     {func(int) int { return 0 }, 8, 8},
		"negative": {func(int) int { return -5 }, 8, 8},
		"too many behind one": {func(n int) int {
			if n == 8 {
				return 0
			}
			return n + 3
		}, 1, 1},
		"too many": {func(n int) int { return n + 3 }, 0, 0}, // it says so: all are freed
		"all":      {func(n int) int { return n }, 0, 0},
	} {
		target := &teller{slots: newSlots(t, 64, 16), answer: c.answer}
		in := newInbox(t, target, 8)
		inOneBatch(t, in, target.slots, 8)
		if n := in.Drain(); n != 8 || target.each != c.each || target.freed != c.freed || in.Stats().Drained != 8 {
			t.Errorf("%s: %d drained, %d single frees, %d freed", name, n, target.each, target.freed)
		}
		if err := in.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A panic out of FreeRun passes through; the run counts as freed, and the next batch arrives.
func TestRunFreer_APanicLosesNoOtherBatch(t *testing.T) {
	if invariant.Debug {
		return
	}
	target := &teller{slots: newSlots(t, 64, 16)}
	in := newInbox(t, target, 4)
	inOneBatch(t, in, target.slots, 4)
	target.answer = func(int) int { panic("target") }
	func() {
		defer func() {
			if r := recover(); r != "target" {
				t.Errorf("recovered %v", r)
			}
		}()
		in.Drain()
	}()
	target.answer = nil
	inOneBatch(t, in, target.slots, 4)
	if s := in.Stats(); s.Drained != 4 || in.Drain() != 4 || target.freed != 4 {
		t.Errorf("%+v, %d freed", s, target.freed)
	}
	if err := in.Check(); err != nil {
		t.Error(err)
	}
}

// A block in the middle of a run that the heap refuses is named, and the others come home.
func TestRunFreer_ASlabRefusesExactlyTheBadBlock(t *testing.T) {
	if !invariant.Exact {
		return // memfast builds do not tell a double free
	}
	for name, kind := range map[string]func(*slab.Heap, unsafe.Pointer) Target{
		"pointers": func(h *slab.Heap, _ unsafe.Pointer) Target { return h },
		"offsets":  func(h *slab.Heap, base unsafe.Pointer) Target { return runOfBlocks{eachBlock{h, base, 4 << 20}} },
	} {
		h, err := slab.New(nil, slab.Config{Reserve: 4 << 20})
		memtest.Opened(t, h, err)
		var blocks []unsafe.Pointer
		for i := range 30 {
			blocks = append(blocks, memtest.MustAlloc(t, h, uintptr(i%3)*500+16, 16))
		}
		in, err := New(kind(h, blocks[0]), Config{})
		if err != nil {
			t.Fatal(err)
		}
		twice := blocks[11]
		h.FreeAny(twice)
		f := in.NewFreer()
		for _, p := range blocks {
			f.FreeAny(p)
		}
		_ = f.Close()
		m := memtest.Misuse(t, func() { in.Drain() }, "remote.Drain(", "the target refused the block of a Freer: slab.FreeAny(")
		if m.Addr != uintptr(twice) {
			t.Errorf("%s: %#x is named, the bad one is %p", name, m.Addr, twice)
		}
		if n := in.Drain(); n != 18 || h.Stats().Live != 0 || in.Stats().Drained != 30 {
			t.Errorf("%s: %d drained afterwards, %d live", name, n, h.Stats().Live)
		}
		memtest.MustCheck(t, h)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Blocks of both sides die on the other one: a worker's on the game's goroutine, by size, and
// the game's on the worker's.
func TestNewFreer_InBothDirections(t *testing.T) {
	const rounds, large = 200, 20 << 10
	newSide := func() (*slab.Heap, *Inbox) {
		h, err := slab.New(nil, slab.Config{Reserve: 16 << 20, MaxSize: 64 << 10})
		memtest.Opened(t, h, err)
		in, err := New(h, Config{Bytes: 4 * large})
		if err != nil {
			t.Fatal(err)
		}
		return h, in
	}
	game, toGame := newSide()
	worker, toWorker := newSide()
	pictures, jobs := make(chan unsafe.Pointer, 8), make(chan unsafe.Pointer, 8)
	done := make(chan error)
	go func() {
		f := toGame.NewFreer()
		for job := range jobs {
			f.Free(job, 64)
			toWorker.Drain()
			p, err := worker.Alloc(large, 64)
			if err != nil {
				done <- err
				return
			}
			*(*uint64)(p) = 7
			pictures <- p
		}
		done <- f.Close()
	}()
	f := toWorker.NewFreer()
	waiting := 0
	for range rounds {
		toGame.Drain()
		jobs <- memtest.MustAlloc(t, game, 64, 16)
		f.Free(<-pictures, large)
		waiting = max(waiting, f.Pending())
	}
	close(jobs)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	toGame.Drain()
	toWorker.Drain()
	if waiting != 3 || game.Stats().Live != 0 || worker.Stats().Live != 0 {
		t.Errorf("at most %d pictures waited for a bound of 4; %d and %d blocks live", waiting, game.Stats().Live, worker.Stats().Live)
	}
}
