package slab

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// A refusing source fails or panics as a test wants.
type refusing struct {
	page.Source
	calls int
	fail  func() error
}

func (s *refusing) ask() error {
	s.calls++
	if s.fail != nil {
		return s.fail()
	}
	return nil
}

func (s *refusing) Commit(m page.Memory, off, size uintptr) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Source.Commit(m, off, size)
}

func (s *refusing) Decommit(m page.Memory, off, size uintptr) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Source.Decommit(m, off, size)
}

type owned struct {
	p unsafe.Pointer
	n uintptr
}

func (b owned) fill(v byte) {
	s := unsafe.Slice((*byte)(b.p), b.n)
	for i := range s {
		s[i] = v
	}
}

func (b owned) intact(v byte) bool {
	for _, x := range unsafe.Slice((*byte)(b.p), b.n) {
		if x != v {
			return false
		}
	}
	return true
}

// A trimmed is a heap on a limit, which compares both after each call of sound.
type trimmed struct {
	*Heap
	t     *testing.T
	limit *page.Limit
	src   *refusing
}

func newTrimmed(t *testing.T, reserve uintptr) *trimmed {
	t.Helper()
	src := &refusing{Source: page.Default()}
	limit := page.NewLimit(src, 0)
	h, err := New(limit, Config{Reserve: reserve})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		src.fail = nil
		if err := h.Close(); err != nil || limit.Committed() != 0 {
			t.Errorf("close: %v, %d bytes committed", err, limit.Committed())
		}
	})
	return &trimmed{h, t, limit, src}
}

func (h *trimmed) sound() {
	h.t.Helper()
	if err := h.Check(); err != nil {
		h.t.Fatal(err)
	}
	if s := h.Stats(); s.Committed != uint64(h.limit.Committed()) {
		h.t.Fatalf("%+v, the source has %d bytes committed", s, h.limit.Committed())
	}
}

func (h *trimmed) get(n uintptr) owned {
	h.t.Helper()
	p, err := h.Alloc(n, 8)
	if err != nil {
		h.t.Fatal(err)
	}
	return owned{p, n}
}

// settle returns everything that steps can return.
func (h *trimmed) settle(most uintptr) (bytes uintptr) {
	h.t.Helper()
	for {
		n, err := h.TrimStep(most)
		if err != nil || n > most {
			h.t.Fatal(n, err)
		}
		if bytes += n; n == 0 && !h.Sweep(100) {
			return bytes
		}
	}
}

// Steps return the spans between live blocks, and Alloc uses their addresses again.
func TestHeap_TrimStepReturnsSpansBetweenLiveOnes(t *testing.T) {
	h := newTrimmed(t, 16<<20)
	var all []owned
	for i := range 40_000 {
		all = append(all, h.get(uintptr(16+i/5_000*64))) // eight phases of one size each
	}
	for i, b := range all {
		b.fill(byte(i))
		if i%10_000 < 9_900 {
			h.Free(b.p, b.n)
		}
	}
	before := h.limit.Committed()
	h.settle(64 << 10)
	h.sound()
	// A class keeps warm blocks, an eighth in each round.
	if got := h.limit.Committed(); got > before/3 {
		t.Errorf("%d bytes are committed of %d, for %d", got, before, h.Stats().InUse)
	}
	h.settle(64 << 10)
	h.settle(64 << 10)
	if got := h.limit.Committed(); got > before/6 {
		t.Errorf("after three rounds %d bytes are committed of %d, for %d", got, before, h.Stats().InUse)
	}
	for i := range all {
		if i%10_000 >= 9_900 && !all[i].intact(byte(i)) {
			t.Fatalf("block %d has changed", i)
		}
	}
	end := h.mem.Committed()
	for i := range all {
		if i%10_000 < 9_900 {
			all[i] = h.get(all[i].n)
			all[i].fill(byte(i))
		}
	}
	h.sound()
	if got := h.mem.Committed(); got > max(end, before)+before/8 {
		t.Errorf("the same blocks need %d bytes up to their end, first %d", got, before)
	}
	for i := range all {
		if !all[i].intact(byte(i)) {
			t.Fatalf("block %d has changed", i)
		}
	}
	h.settle(32 << 10)
	h.Reset()
	h.sound()
	h.get(4096)
	h.sound()
}

// A random program with steps and sweeps in between, and a source that refuses, beside a model of the contents.
func TestHeap_TrimStepAndSweepModel(t *testing.T) {
	testenv.Long(t)
	for seed := range uint64(3) {
		h := newTrimmed(t, 4<<20)
		r := rand.New(rand.NewPCG(seed, 5))
		var live []owned
		var tags []byte
		refused := 0
		h.src.fail = func() error {
			if r.IntN(10) == 0 {
				refused++
				return &memory.Exhausted{Op: "test"}
			}
			return nil
		}
		size, grow := uintptr(64), true
		for op := range 30_000 {
			if op%1500 == 0 {
				size, grow = uintptr(16+r.IntN(1000)), r.IntN(2) == 0
			}
			switch k := r.IntN(16); {
			case k < 7 || k < 9 && grow:
				n := size + uintptr(r.IntN(64))
				p, err := h.Alloc(n, 8)
				if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
					t.Fatal(err)
				}
				if err == nil {
					live, tags = append(live, owned{p, n}), append(tags, byte(op))
					live[len(live)-1].fill(byte(op))
				}
			case k < 13 && len(live) > 0:
				i := r.IntN(len(live))
				if !live[i].intact(tags[i]) {
					t.Fatalf("operation %d: block %d was written", op, i)
				}
				h.Free(live[i].p, live[i].n)
				live[i], tags[i] = live[len(live)-1], tags[len(tags)-1]
				live, tags = live[:len(live)-1], tags[:len(tags)-1]
			case k == 13:
				h.Sweep(1 + r.IntN(400))
			case k == 14 && r.IntN(500) == 0:
				h.Reset()
				live, tags = nil, nil
			case k == 14 && r.IntN(200) == 0:
				_ = h.Trim()
			default:
				before := h.limit.Committed()
				n, err := h.TrimStep(uintptr(1+r.IntN(8)) << 14)
				if err != nil && n != 0 || before-h.limit.Committed() != n {
					t.Fatalf("a step returned %d bytes and %v, committed %d and then %d", n, err, before, h.limit.Committed())
				}
			}
			if op%16 == 0 {
				h.sound()
			}
		}
		for i, b := range live {
			if !b.intact(tags[i]) {
				t.Errorf("block %d was written", i)
			}
			h.Free(b.p, b.n)
		}
		h.sound()
		if refused < 10 {
			t.Errorf("the source has refused %d calls", refused)
		}
	}
}

// A source that fails or panics in a step leaves the memory vacant, and committed.
func TestHeap_TrimStepFailureChangesNothing(t *testing.T) {
	broken := errors.New("broken")
	h := newTrimmed(t, 4<<20)
	var all []owned
	for range 4000 {
		all = append(all, h.get(256))
	}
	for _, b := range all[:3900] {
		h.Free(b.p, b.n)
	}
	for h.Sweep(1000) {
	}
	for range 2 {
		was := h.Stats()
		h.src.fail = func() error { return broken }
		if n, err := h.TrimStep(64 << 10); n != 0 || !errors.Is(err, broken) || h.Stats() != was {
			t.Errorf("TrimStep = %d, %v", n, err)
		}
		h.sound()
		h.src.fail = func() error { panic(broken) }
		func() {
			defer func() {
				if recover() != broken {
					t.Error("the panic of the source does not pass")
				}
			}()
			_, _ = h.TrimStep(64 << 10)
		}()
		h.sound()
		h.src.fail = nil
		if h.Stats() != was {
			t.Errorf("%+v, before %+v", h.Stats(), was)
		}
		if n, err := h.TrimStep(64 << 10); n == 0 || err != nil { // the next is in the middle
			t.Errorf("TrimStep = %d, %v", n, err)
		}
		h.sound()
	}
}

// A Close that fails leaves an empty heap that can be used.
func TestHeap_CloseThatFailsAfterSteps(t *testing.T) {
	broken := errors.New("broken")
	h := newTrimmed(t, 4<<20)
	var all []owned
	for range 4000 {
		all = append(all, h.get(256))
	}
	for _, b := range all[:3900] {
		h.Free(b.p, b.n)
	}
	h.settle(48 << 10)
	calls := 0
	h.src.fail = func() error {
		if calls++; calls == 2 {
			return broken
		}
		return nil
	}
	if err := h.Close(); err != nil && !errors.Is(err, broken) {
		t.Fatal(err)
	} else if err == nil {
		return // the memory was in one piece
	}
	h.sound()
	h.src.fail = nil
	for range 4000 {
		h.get(256).fill(1)
	}
	h.sound()
}

// A budget that is used up again after steps gives as many blocks as before.
func TestHeap_TrimStepLosesNoCapacity(t *testing.T) {
	h := newTrimmed(t, 1<<20)
	var all []owned
	for {
		p, err := h.Alloc(200, 8)
		if err != nil {
			break
		}
		all = append(all, owned{p, 200})
	}
	for round := range 3 {
		for i := range all {
			if i/100%8 != 0 {
				h.Free(all[i].p, all[i].n)
			}
		}
		if h.settle(32<<10) < 200<<10 {
			t.Errorf("round %d: %+v", round, h.Stats())
		}
		h.sound()
		for i := range all {
			if i/100%8 != 0 {
				all[i] = h.get(200)
			}
		}
		h.sound()
	}
}

// Sweeps leave blocks alone that are in use between two calls.
// Of a number of blocks the lowest 32 bits counted: with 2^32 each round visited none, and never ended.
func TestHeap_SweepOfAnyNumberOfBlocksEnds(t *testing.T) {
	for _, blocks := range []int{math.MinInt, 0, math.MaxInt &^ math.MaxUint32, math.MaxInt} {
		h := newTrimmed(t, 4<<20)
		for range 100 {
			var all []owned
			for range 400 {
				all = append(all, h.get(128))
			}
			for _, b := range all {
				h.Free(b.p, b.n)
			}
		}
		calls := 0
		for h.Sweep(blocks) {
			if calls++; calls > 10_000 {
				t.Fatalf("Sweep(%d) does not end", blocks)
			}
		}
		h.sound()
	}
}

func TestHeap_SweepLeavesWarmBlocks(t *testing.T) {
	h := newTrimmed(t, 4<<20)
	var all []owned
	for range 8000 {
		all = append(all, h.get(128))
	}
	for _, b := range all {
		h.Free(b.p, b.n)
	}
	for range 50 { // each call sees a burst of most blocks
		for i := range 7500 {
			all[i] = h.get(128)
		}
		for i := range 7500 {
			h.Free(all[i].p, all[i].n)
		}
		h.Sweep(5000)
		h.sound()
	}
	if got := h.vacant; got > 500*128>>unitShift {
		t.Errorf("%d units have become vacant", got)
	}
}

func TestHeap_TrimStepOfACentralDoesNothing(t *testing.T) {
	h := newTrimmed(t, 4<<20)
	b := h.get(100)
	h.Free(b.p, b.n)
	if _, err := NewCentral(h.Heap); err != nil {
		t.Fatal(err)
	}
	if n, err := h.TrimStep(1 << 20); n != 0 || err != nil || h.Sweep(100) {
		t.Errorf("TrimStep = %d, %v", n, err)
	}
}

// A burst that reaches the blocks a sweep has counted ends it: a span in which a block is live by then stays.
func TestHeap_SweepEndsWhenItsBlocksAreUsed(t *testing.T) {
	for _, burst := range []int{100, 3000, 7900} {
		for calls := range 6 { // the burst comes after that many slices
			h := newTrimmed(t, 4<<20)
			var all []owned
			for range 8000 {
				all = append(all, h.get(128))
			}
			for _, b := range all {
				h.Free(b.p, b.n)
			}
			h.Sweep(1)
			for range calls {
				h.Sweep(2500)
			}
			var kept []owned
			for i := range burst {
				if all[i] = h.get(128); i%10 == 0 {
					all[i].fill(byte(i))
					kept = append(kept, all[i])
				}
			}
			for i := range burst {
				if i%10 != 0 {
					h.Free(all[i].p, all[i].n)
				}
			}
			for h.Sweep(2500) {
				h.sound()
			}
			h.settle(64 << 10)
			h.sound()
			for i, b := range kept {
				if !b.intact(byte(i * 10)) {
					t.Fatalf("burst of %d after %d slices: block %d has changed", burst, calls, i)
				}
			}
		}
	}
}

// The span from which a class takes its next blocks stays, also if all its blocks so far are free and cold.
func TestHeap_SweepLeavesTheNewestSpan(t *testing.T) {
	h := newTrimmed(t, 4<<20)
	h.get(48)
	ci := h.tab[48/granule-1]
	c := &h.classes[ci]
	var all []owned
	for len(all) < 20_000 || c.bump == c.end || c.n > 0 || c.end-c.bump < 64 {
		all = append(all, h.get(48))
	}
	for i := len(all) - 1; i >= 0; i-- { // those of the newest span are at the bottom
		h.Free(all[i].p, all[i].n)
	}
	bump := c.bump
	for range 3 {
		h.settle(64 << 10)
		h.sound()
	}
	if c.bump != bump || h.place[bump/unitGranules] >= absent {
		t.Errorf("the next block was at granule %d, and is at %d", bump, c.bump)
	}
	for range all {
		h.get(48)
	}
	h.sound()
}

// A budget that leaves less than fillStep refused what a page serves. No refused range is asked for again.
func TestHeap_FillsAsMuchAsTheBudgetLeaves(t *testing.T) {
	for _, left := range []uintptr{0, 16 << 10, 32 << 10, 64 << 10, 121 << 10} {
		h := newTrimmed(t, 4<<20)
		all := h.exhaust(1 << 10)
		for _, b := range all[512 : len(all)-64] {
			h.Free(b.p, b.n)
		}
		h.settle(1 << 20)
		hole := uintptr(bytes.IndexByte(h.place, absent))
		h.src.calls, h.src.fail = 0, func() error { return memory.ErrOutOfMemory }
		if ok, _ := h.fill(hole, hole+fillStep>>unitShift, hole+fillStep>>unitShift); ok || h.src.calls != 1 {
			t.Errorf("the source has refused %d calls", h.src.calls)
		}
		h.src.fail = nil
		h.limit.SetBudget(h.limit.Committed() + left)
		served := len(h.exhaust(1<<10)) << 10
		if rest := h.limit.Budget() - h.limit.Committed(); rest >= 16<<10 {
			t.Errorf("%d of %d bytes of the budget are left, %d were served", rest, left, served)
		}
		if _, err := h.Alloc(1<<10, 8); err == nil || !strings.HasPrefix(err.Error(), "page: budget: ") {
			t.Errorf("%v; no addresses are left, but the budget refuses absent units", err)
		}
		h.sound()
	}
}

// exhaust allocates blocks of n bytes until an Alloc fails.
func (h *trimmed) exhaust(n uintptr) (all []owned) {
	for {
		p, err := h.Alloc(n, 8)
		if err != nil {
			return all
		}
		all = append(all, owned{p, n})
	}
}

// A step that lowered the limit below a hole returned all the memory between this hole and the next one.
func TestHeap_TrimStepBetweenHolesReturnsMost(t *testing.T) {
	const most = 64 << 10
	h := newTrimmed(t, 4<<20)
	all := h.exhaust(1 << 10)
	for _, free := range [][2]int{{256, 512}, {1024, 1280}, {512, 1024}, {1280, len(all)}} { // two holes, between them, and behind
		for _, b := range all[free[0]:free[1]] {
			h.Free(b.p, b.n)
		}
		h.reclaim()
		for n := uintptr(1); n > 0; {
			var err error
			was := h.limit.Committed()
			h.src.calls = 0
			n, err = h.TrimStep(most)
			if got := was - h.limit.Committed(); err != nil || got != n || n > most || h.src.calls > 1 {
				t.Fatalf("%d bytes were returned by %d calls, TrimStep = %d, %v", got, h.src.calls, n, err)
			}
			h.sound()
			if free[0] == 512 && n > 0 {
				break // memory between the holes is left
			}
		}
	}
	if got := h.limit.Committed(); got > 320<<10 {
		t.Errorf("%d bytes are committed", got)
	}
}
