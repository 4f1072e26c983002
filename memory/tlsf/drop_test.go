package tlsf

import (
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

// A counting source counts the calls of another one and may fail or panic.
type counting struct {
	page.Source
	commits, decommits int
	fail               func(op string) error
}

func (c *counting) Commit(m page.Memory, off, size uintptr) error {
	c.commits++
	if c.fail != nil {
		if err := c.fail("commit"); err != nil {
			return err
		}
	}
	return c.Source.Commit(m, off, size)
}

func (c *counting) Decommit(m page.Memory, off, size uintptr) error {
	c.decommits++
	if c.fail != nil {
		if err := c.fail("decommit"); err != nil {
			return err
		}
	}
	return c.Source.Decommit(m, off, size)
}

type piece struct {
	p unsafe.Pointer
	n uintptr
}

// fill writes a block whole.
func (b piece) fill(v byte) {
	s := unsafe.Slice((*byte)(b.p), b.n)
	for i := range s {
		s[i] = v
	}
}

func (b piece) intact(v byte) bool {
	for _, x := range unsafe.Slice((*byte)(b.p), b.n) {
		if x != v {
			return false
		}
	}
	return true
}

func dropHeap(t *testing.T, cfg Config) (*Heap, *page.Limit, *counting) {
	t.Helper()
	src := &counting{Source: page.Default()}
	l := page.NewLimit(src, 0)
	h, err := New(l, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		src.fail = nil
		if err := h.Close(); err != nil || l.Committed() != 0 {
			t.Errorf("close: %v, %d bytes committed", err, l.Committed())
		}
	})
	return h, l, src
}

func sound(t *testing.T, h *Heap, l *page.Limit) {
	t.Helper()
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); s.Committed != uint64(l.Committed()) || s.Free+s.InUse > s.Committed {
		t.Fatalf("%+v, the source has %d bytes committed", s, l.Committed())
	}
}

func alloc(t *testing.T, h *Heap, n uintptr) piece {
	t.Helper()
	p, err := h.Alloc(n, 8)
	if err != nil {
		t.Fatal(err)
	}
	return piece{p, n}
}

// Steps return the free memory between live blocks, and allocation and growth in place commit it again.
// A step below Config.Granule returned 0 between live blocks, so the hole stayed.
func TestHeap_TrimStepBelowTheGranuleReturnsHoles(t *testing.T) {
	h, l, _ := dropHeap(t, Config{Reserve: 16 << 20, Step: 64 << 10, Granule: 64 << 10})
	var all []piece
	for range 24 {
		all = append(all, alloc(t, h, 64<<10))
	}
	for i := 4; i < 20; i++ {
		h.Free(all[i].p, all[i].n)
	}
	for returned := uintptr(0); returned < 16*64<<10; {
		n, err := h.TrimStep(16 << 10)
		if err != nil || n == 0 || n > 64<<10 {
			t.Fatalf("after %d bytes: %d, %v", returned, n, err)
		}
		returned += n
		sound(t, h, l)
	}
}

// One Trim returns all memory behind the last live block, whatever steps have returned before. It stopped at free memory
// in front of a hole.
func TestHeap_TrimReturnsAllBetweenHolesAtOnce(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		h, l, _ := dropHeap(t, Config{Reserve: 16 << 20, Step: 64 << 10, Granule: 256 << r.IntN(9)})
		var all []piece
		for range 20 {
			all = append(all, alloc(t, h, uintptr(1+r.IntN(300<<10))))
		}
		for i := 2; i < len(all); i += 1 + r.IntN(2) {
			h.Free(all[i].p, all[i].n)
			all[i].p = nil
			if r.IntN(2) == 0 {
				if _, err := h.TrimStep(uintptr(4096 + r.IntN(64<<10))); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, b := range all[2:] {
			if b.p != nil {
				h.Free(b.p, b.n)
			}
		}
		if err := h.Trim(); err != nil {
			t.Fatal(err)
		}
		sound(t, h, l)
		once := l.Committed()
		if err := h.Trim(); err != nil || l.Committed() != once {
			t.Errorf("seed %d: a second Trim returns %d of %d bytes: %v", seed, once-l.Committed(), once, err)
		}
	}
}

// A budget that leaves less than a step refused what one page serves. A source was asked twice for what it refused.
func TestHeap_FillsAsMuchAsTheBudgetLeaves(t *testing.T) {
	for _, c := range []struct {
		size, step, hole uintptr
		calls            int // of the source, if it refuses
	}{{256, 1 << 20, 2 << 20, 2}, {40 << 10, 1 << 20, 2 << 20, 2}, {256 << 10, 64 << 10, 2 << 20, 1}, {60 << 10, 1 << 20, 64 << 10, 1}} {
		h, l, src := dropHeap(t, Config{Reserve: 4 << 20, Step: c.step})
		var all []piece
		for h.Stats().Committed < 4<<20 || h.Stats().Free > 0 {
			all = append(all, alloc(t, h, 64<<10))
		}
		for _, b := range all[8 : 8+c.hole>>16] {
			h.Free(b.p, b.n)
		}
		for n := uintptr(1); n > 0; {
			n, _ = h.TrimStep(1 << 20)
		}
		if h.dropped() < c.hole/2 || h.Stats().Free > 0 {
			t.Fatalf("%d bytes were returned, %d are free", h.dropped(), h.Stats().Free)
		}
		src.commits, src.fail = 0, func(string) error { return memory.ErrOutOfMemory }
		if _, err := h.Alloc(c.size, 16); err == nil || src.commits != c.calls {
			t.Errorf("%d bytes: %v after %d calls, want %d", c.size, err, src.commits, c.calls)
		}
		src.fail = nil
		sound(t, h, l)
		l.SetBudget(1)
		if _, err := h.Alloc(c.size, 16); err == nil || !strings.HasPrefix(err.Error(), "page: budget: ") {
			t.Errorf("%d bytes: %v; no addresses are left, but the budget refuses dropped ones", c.size, err)
		}
		l.SetBudget(l.Committed() + max(c.size, 64<<10))
		if _, err := h.Alloc(c.size, 16); err != nil {
			t.Errorf("%d bytes: %v", c.size, err)
		}
		sound(t, h, l)
		l.SetBudget(0)
	}
}

// The Limit counts commits, the heap requests. A refused request may have tried several commits.
func TestHeap_CountsRequestsAndItsLimitCommits(t *testing.T) {
	h, l, _ := dropHeap(t, Config{Reserve: 1 << 20})
	l.SetBudget(64 << 10)
	alloc(t, h, 64<<10)
	h.OnShort(func() {})
	if _, err := h.Alloc(1000, 8); err == nil || h.Stats().Failures != 1 || l.Failures() != 2 {
		t.Errorf("%v; %d requests and %d commits were refused", err, h.Stats().Failures, l.Failures())
	}
}

// Check panicked on a dropped block whose neighbour is none.
func TestCheck_FindsADroppedBlockWithoutANeighbour(t *testing.T) {
	h, _, _ := dropHeap(t, Config{Reserve: 16 << 20, Step: 32 << 10})
	a, b := alloc(t, h, 256<<10), alloc(t, h, 64<<10)
	h.Free(a.p, a.n)
	if n, err := h.TrimStep(16 << 10); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	for n := uintptr(1); n > 0 && h.drops == 0; {
		n, _ = h.TrimStep(16 << 10)
	}
	i := h.blocks[dropBin].nextFree
	was := h.blocks[i].prev
	h.blocks[i].prev = math.MaxUint32
	err := h.Check()
	h.blocks[i].prev = was
	if h.drops == 0 || err == nil || !strings.Contains(err.Error(), "leads to descriptor") {
		t.Errorf("%d drops: %v", h.drops, err)
	}
	h.Free(b.p, b.n)
}

func TestHeap_TrimStepReturnsHoles(t *testing.T) {
	h, l, _ := dropHeap(t, Config{Reserve: 16 << 20, Step: 32 << 10})
	var all []piece
	for range 32 {
		all = append(all, alloc(t, h, 128<<10))
	}
	for i := range all {
		all[i].fill(byte(i))
		if i%4 != 3 {
			h.Free(all[i].p, all[i].n)
		}
	}
	before, steps := l.Committed(), 0
	for {
		n, err := h.TrimStep(64 << 10)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, h, l)
		if n == 0 {
			break
		}
		if steps++; n > 64<<10 {
			t.Fatalf("a step returned %d bytes", n)
		}
	}
	if want := h.Stats().InUse + h.Stats().InUse/8; uint64(l.Committed()) > want || steps < 40 {
		t.Errorf("%d steps, %d bytes committed of %d, want at most %d", steps, l.Committed(), before, want)
	}
	for i := 3; i < len(all); i += 4 {
		if !all[i].intact(byte(i)) {
			t.Errorf("block %d has changed", i)
		}
	}
	if !h.Resize(all[3].p, 128<<10, 200<<10) { // into a hole
		t.Error("a block does not grow into returned memory")
	}
	all[3].n = 200 << 10
	sound(t, h, l)
	all[3].fill(3)
	end := h.pools[0].mem.Committed()
	for range 10 { // in the holes
		b := alloc(t, h, 300<<10-1)
		b.fill(1)
		sound(t, h, l)
		if at := uintptr(b.p) - uintptr(h.Base()); at > end {
			break
		}
	}
	if !all[3].intact(3) || !all[7].intact(7) {
		t.Error("a live block has changed")
	}
	h.Reset()
	sound(t, h, l)
	if b := alloc(t, h, 3<<20); h.Stats().Committed < uint64(b.n) {
		t.Errorf("%+v after a block of %d bytes", h.Stats(), b.n)
	}
	sound(t, h, l)
}

// A random program with steps in between, beside a model of the contents.
func TestHeap_TrimStepModel(t *testing.T) {
	testenv.Long(t)
	for _, cfg := range []Config{
		{Reserve: 8 << 20, Step: 32 << 10},
		{Reserve: 8 << 20, Granule: 64 << 10, Step: 64 << 10},
		{Reserve: 8 << 20, Granule: 16, Step: 16 << 10, QuickBytes: 64 << 10},
	} {
		h, l, src := dropHeap(t, cfg)
		r := rand.New(rand.NewPCG(1, uint64(cfg.Granule)))
		if err := h.AddPool(l, 4<<20); err != nil {
			t.Fatal(err)
		}
		var live []piece
		var tags []byte
		refused := 0
		src.fail = func(string) error {
			if r.IntN(8) == 0 {
				refused++
				return &memory.Exhausted{Op: "test"}
			}
			return nil
		}
		ops := 4000
		if testenv.Brief() {
			ops = 1500
		}
		for op := range ops {
			switch k := r.IntN(20); {
			case k < 8:
				n := uintptr(1 + r.IntN(200<<10))
				al := uintptr(1) << r.IntN(13)
				p, err := h.Alloc(n, al)
				if err != nil && !errors.Is(err, memory.ErrOutOfMemory) || uintptr(p)%al != 0 {
					t.Fatal(err)
				}
				if err == nil {
					live, tags = append(live, piece{p, n}), append(tags, byte(op))
					live[len(live)-1].fill(byte(op))
				}
			case k < 15 && len(live) > 0:
				i := r.IntN(len(live))
				if !live[i].intact(tags[i]) {
					t.Fatalf("operation %d: block %d was written", op, i)
				}
				h.Free(live[i].p, live[i].n)
				live[i], tags[i] = live[len(live)-1], tags[len(tags)-1]
				live, tags = live[:len(live)-1], tags[:len(tags)-1]
			case k < 17 && len(live) > 0:
				i := r.IntN(len(live))
				n := uintptr(1 + r.IntN(300<<10))
				if h.Resize(live[i].p, live[i].n, n) {
					if keep := (piece{live[i].p, min(n, live[i].n)}); !keep.intact(tags[i]) {
						t.Fatalf("operation %d: Resize has changed block %d", op, i)
					}
					live[i].n = n
					live[i].fill(tags[i])
				}
			case k == 17 && r.IntN(20) == 0:
				_ = h.Trim()
			case k == 18 && r.IntN(100) == 0:
				h.Reset()
				live, tags = nil, nil
			default:
				before := l.Committed()
				n, err := h.TrimStep(uintptr(1+r.IntN(16)) << 14)
				if err != nil && n != 0 || before-l.Committed() != n {
					t.Fatalf("a step returned %d bytes and %v, committed %d and then %d", n, err, before, l.Committed())
				}
			}
			if err := h.Check(); err != nil {
				t.Fatalf("operation %d: %v", op, err)
			}
			if s := h.Stats(); s.Committed != uint64(l.Committed()) {
				t.Fatalf("operation %d: %+v, the source has %d", op, s, l.Committed())
			}
		}
		for i, b := range live {
			if !b.intact(tags[i]) {
				t.Errorf("block %d was written", i)
			}
			h.Free(b.p, b.n)
		}
		if refused < 10 {
			t.Errorf("the source has refused %d calls", refused)
		}
	}
}

// A source that panics in a step leaves the memory free, and committed.
func TestHeap_TrimStepPanicChangesNothing(t *testing.T) {
	h, l, src := dropHeap(t, Config{Reserve: 4 << 20, Step: 32 << 10})
	a, b, c := alloc(t, h, 500<<10), alloc(t, h, 100), alloc(t, h, 64<<10)
	h.Free(c.p, c.n)
	h.Free(a.p, a.n)
	if _, err := h.TrimStep(1 << 20); err != nil { // the end
		t.Fatal(err)
	}
	was := h.Stats()
	src.fail = func(string) error { panic("source") }
	func() {
		defer func() {
			if recover() != "source" {
				t.Error("the panic of the source does not pass")
			}
		}()
		_, _ = h.TrimStep(1 << 20)
	}()
	src.fail = nil
	sound(t, h, l)
	if h.Stats() != was {
		t.Errorf("%+v, before %+v", h.Stats(), was)
	}
	if n, err := h.TrimStep(1 << 20); err != nil || n < 400<<10 {
		t.Errorf("after the panic a step returned %d bytes, %v", n, err)
	}
	sound(t, h, l)
	h.Free(b.p, b.n)
	if err := h.Trim(); err != nil || l.Committed() != 0 {
		t.Errorf("Trim: %v, %d bytes committed for none in use", err, l.Committed())
	}
}

// What a step has returned is available again: as much can be allocated as before.
func TestHeap_TrimStepLosesNoCapacity(t *testing.T) {
	h, l, _ := dropHeap(t, Config{Reserve: 1 << 20, Step: 32 << 10})
	var all []piece
	for {
		p, err := h.Alloc(8<<10, 8)
		if err != nil {
			break
		}
		all = append(all, piece{p, 8 << 10})
	}
	for round := range 3 {
		for i := range all {
			if i%16 != 0 {
				h.Free(all[i].p, all[i].n)
			}
		}
		for n := uintptr(1); n > 0; {
			n, _ = h.TrimStep(48 << 10)
		}
		sound(t, h, l)
		if s := h.Stats(); s.Committed > s.InUse*6 {
			t.Fatalf("round %d: %+v", round, s)
		}
		for i := range all {
			if i%16 != 0 {
				all[i] = alloc(t, h, 8<<10)
			}
		}
		sound(t, h, l)
	}
}

func TestHeap_TakePeakIsSinceTheLast(t *testing.T) {
	h, _, _ := dropHeap(t, Config{Reserve: 1 << 20})
	a := alloc(t, h, 100<<10)
	h.Free(a.p, a.n)
	b := alloc(t, h, 1<<10)
	for i, want := range []uintptr{100 << 10, 1 << 10} {
		if got := h.TakePeak(); got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
	}
	if s := h.Stats(); s.Peak != 100<<10 {
		t.Errorf("Peak %d", s.Peak)
	}
	h.Free(b.p, b.n)
}
