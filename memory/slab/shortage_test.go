package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// full fills a with blocks of random sizes, frees a fifth of them at random, and returns the others.
func full(a memory.Allocator) (*rand.Rand, []owned) {
	r := rand.New(rand.NewPCG(1, 130))
	var live []owned
	for {
		n := 16 + uintptr(r.UintN(2000))
		p, err := a.Alloc(n, 8)
		if err != nil {
			break
		}
		live = append(live, owned{p, n})
	}
	for range len(live) / 5 {
		live = freeOne(a, r, live)
	}
	return r, live
}

func freeOne(h memory.Allocator, r *rand.Rand, live []owned) []owned {
	i, last := r.IntN(len(live)), len(live)-1
	h.Free(live[i].p, live[i].n)
	live[i] = live[last]
	return live[:last]
}

// A refusal looks at the spans of the blocks that were freed since the last one and at their neighbours, however large
// the heap is.
func TestShortage_RefusalLooksAtWhatWasFreed(t *testing.T) {
	if !invariant.Exact {
		t.Skip("this build has no live bits")
	}
	for name, front := range map[string]func(*Heap) memory.Allocator{
		"heap":    func(h *Heap) memory.Allocator { return h },
		"epoch":   func(h *Heap) memory.Allocator { return h },
		"central": func(h *Heap) memory.Allocator { return mustCentral(h) },
	} {
		for _, budget := range []uintptr{8 << 20, 32 << 20} {
			h, err := New(page.NewLimit(nil, budget), Config{Reserve: 2 * budget})
			memtest.Opened(t, h, err)
			a := front(h)
			r, live := full(a)
			if name == "epoch" {
				h.BeginEpoch()
			}
			most, all, refused := map[int]uint64{}, map[int]uint64{}, map[int]uint64{}
			met := true // an Alloc that recycles spans makes the next refusal look at all
			for round := range 300 {
				k := []int{0, 1, 16}[round%3]
				for range k {
					live = freeOne(a, r, live)
				}
				before := h.short.examined
				p, err := a.Alloc(4000, 8)
				if err == nil {
					live = append(live, owned{p, 4000})
				} else if looked := h.short.examined - before; !met {
					most[k], all[k], refused[k] = max(most[k], looked), all[k]+looked, refused[k]+1
				}
				met = err == nil
			}
			memtest.MustCheck(t, h)
			for _, k := range []int{0, 1, 16} {
				t.Logf("%s of %d MiB: a refusal after %d frees looked at %.1f spans, at most at %d",
					name, budget>>20, k, float64(all[k])/float64(refused[k]), most[k])
				if refused[k] < 50 || most[k] > uint64(3+3*k) {
					t.Errorf("%s of %d MiB: of %d refusals after %d frees one looked at %d spans", name, budget>>20, refused[k], k, most[k])
				}
			}
		}
	}
}

// couldMeet reports whether the heap of a budget can meet a request of class ci once every empty span is recycled. It
// uses the stacks only.
func couldMeet(h *Heap, limit *page.Limit, ci uint8) bool {
	free := map[uintptr]uint32{}
	for i := range h.ladder.sizes {
		for _, off := range h.classes[i].free() {
			free[uintptr(h.spanOf(off))]++
		}
	}
	size := h.shapes[ci].bytes()
	least, step := leastUnits(size), spanStep(size)
	from, end := uintptr(0), h.limit/unitGranules
	for i := uintptr(0); i < end; {
		n, empty := uintptr(1), h.place[i] == vacant
		if h.place[i] < absent {
			n = h.unitsOf(i)
			empty = free[i] == h.carvedIn(i, n)
		}
		if i += n; !empty {
			from = i
		}
		if align.Up(from, step)+least <= i {
			return true
		}
	}
	bytes := align.Up((align.Up(from, step)+least)<<unitShift, page.Granule)
	return bytes <= h.mem.Reserved() && bytes <= h.mem.Committed()+limit.Budget()-limit.Committed()
}

// A shortageModel makes random calls in a heap that is almost always full.
type shortageModel struct {
	h       *Heap
	front   memory.Allocator // the heap, its Central or a Cache
	limit   *page.Limit
	r       *rand.PCG
	live    []owned
	refused int
	full    bool // since the last Reset
}

// step makes one call and returns the address that it has got as an offset, or -1.
func (m *shortageModel) step(t *testing.T) int {
	r := rand.New(m.r)
	h, alone := m.h, m.h.central == nil
	for !m.full {
		m.alloc(t, r)
	}
	switch n := r.IntN(1000); {
	case n < 700:
		return m.alloc(t, r)
	case n < 880:
		m.freeSome(r)
	case n < 890:
		_ = h.Trim()
	case n < 920 && alone:
		for range r.IntN(8) {
			_, _ = h.TrimStep(16 << 10)
		}
	case n < 970 && alone:
		for range r.IntN(60) {
			h.Sweep(500)
		}
	case n < 985 && alone:
		h.BeginEpoch()
	case n < 990 && alone:
		h.EndEpoch()
	case n < 994 && alone:
		h.Reset()
		m.live, m.full = m.live[:0], false
	}
	return -1
}

// freeSome frees random blocks, or those of some KiB, so that spans become empty.
func (m *shortageModel) freeSome(r *rand.Rand) {
	if len(m.live) == 0 {
		return
	}
	if r.IntN(4) > 0 {
		for range min(1+r.IntN(3), len(m.live)) {
			m.live = freeOne(m.front, r, m.live)
		}
		return
	}
	at, reach := uintptr(m.live[r.IntN(len(m.live))].p), uintptr(r.IntN(12<<10))
	kept := m.live[:0]
	for _, b := range m.live {
		if uintptr(b.p)-at < reach {
			m.front.Free(b.p, b.n)
			continue
		}
		kept = append(kept, b)
	}
	m.live = kept
}

func (m *shortageModel) alloc(t *testing.T, r *rand.Rand) int {
	t.Helper()
	h, al := m.h, uintptr(8)
	n := 1 + uintptr(r.IntN(int(h.maxSize())))
	if r.IntN(3) > 0 {
		n = 1 + n/16
	}
	if r.IntN(8) == 0 {
		al = 4096
	}
	p, err := m.front.Alloc(n, al)
	if err == nil {
		m.live = append(m.live, owned{p, n})
		return int(uintptr(p) - uintptr(h.base))
	}
	m.refused, m.full = m.refused+1, true
	ci, _ := h.ladder.class(n, al)
	if couldMeet(h, m.limit, ci) {
		t.Errorf("Alloc(%d, %d): %v, with enough memory in empty spans", n, al, err)
	}
	if m.refused%4 == 0 {
		memtest.MustCheck(t, h)
	}
	return -1
}

// A request is refused only if no recycling could meet it, whatever was called before. After a load the heap goes on as
// it did.
func TestShortage_RefusesOnlyWhatCannotBeMet(t *testing.T) {
	for _, budget := range []uintptr{128 << 10, 1 << 20, 6 << 20} {
		for _, cfg := range []Config{
			{}, {MaxSize: 65536}, {MaxSize: 1000}, {MaxSize: 65536, Classes: PowerOfTwo}, {Classes: Fibonacci}, {MaxSize: 2048, Classes: Step16},
		} {
			for front := range 3 {
				limit := page.NewLimit(nil, budget)
				cfg.Reserve = 2 * budget
				h, err := New(limit, cfg)
				memtest.Opened(t, h, err)
				m := &shortageModel{h: h, front: h, limit: limit, r: rand.NewPCG(uint64(budget), uint64(front)+uint64(cfg.MaxSize))}
				set := new(save.Set)
				switch front {
				case 0:
					err = errors.Join(set.Add("heap", h), set.Seal())
				case 1:
					m.front = mustCentral(h)
				case 2:
					c := NewCache(mustCentral(h))
					t.Cleanup(func() { _ = c.Close() })
					m.front = c
				}
				if err != nil {
					t.Fatal(err)
				}
				var slot *save.Slot
				for round := range 20 {
					again := front == 0 && round%4 == 3
					if again {
						if slot == nil {
							slot = set.NewSlot(int(4*budget) + 4<<20)
						}
						if err := set.Save(slot); err != nil {
							t.Fatal(err)
						}
					}
					was := *m
					was.live, was.r = append([]owned(nil), m.live...), ptr(*m.r)
					first := m.steps(t, 50)
					if again {
						now := limit.Budget()
						limit.SetBudget(2 * now) // a load may commit before it returns memory
						if err := set.Load(slot); err != nil {
							t.Fatal(err)
						}
						limit.SetBudget(now)
						*m = was
						if second := m.steps(t, 50); first != second {
							t.Fatalf("budget %d, %+v: after a load other addresses or counts:\n%s\n%s", budget, cfg, first, second)
						}
					}
					limit.SetBudget(budget + page.Granule*uintptr(round*round%7))
				}
				memtest.MustCheck(t, h)
				if m.refused < 5 {
					t.Errorf("budget %d, %+v, front %d: %d refusals", budget, cfg, front, m.refused)
				}
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// steps makes n calls and returns the addresses, and how many spans were looked at.
func (m *shortageModel) steps(t *testing.T, n int) string {
	t.Helper()
	before, s := m.h.short.examined, ""
	for range n {
		s += fmt.Sprint(m.step(t), " ")
	}
	return fmt.Sprint(s, m.h.short.examined-before)
}

// An empty span at the end counts: behind it less memory is to be committed.
func TestShortage_ABudgetThatGrowsMeetsARefusal(t *testing.T) {
	const live = 5 << 20 // above squeezeLimit
	l := page.NewLimit(nil, live+16<<10)
	h, err := New(l, Config{Reserve: 2 * live, MaxSize: 64 << 10, Classes: PowerOfTwo})
	memtest.Opened(t, h, err)
	for range live / (64 << 10) {
		memtest.MustAlloc(t, h, 64<<10, 16)
	}
	h.Free(memtest.MustAlloc(t, h, 16<<10, 16), 16<<10)
	for _, more := range []uintptr{16 << 10, 48 << 10, 48 << 10} {
		l.SetBudget(live + more)
		if _, err := h.Alloc(64<<10, 16); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("Alloc with %d bytes left: %v", more, err)
		}
	}
	l.SetBudget(live + 64<<10)
	memtest.MustAlloc(t, h, 64<<10, 16)
	memtest.MustCheck(t, h)
}

// middle returns a heap with a full budget in which no block of the given KiB in the middle is live, after a refusal.
func middle(t *testing.T, kib int) (*Heap, *page.Limit) {
	t.Helper()
	l := page.NewLimit(nil, 6<<20) // above squeezeLimit
	h, err := New(l, Config{Reserve: 8 << 20, MaxSize: 64 << 10})
	memtest.Opened(t, h, err)
	var all []unsafe.Pointer
	for {
		p, err := h.Alloc(64, 16)
		if err != nil {
			break
		}
		all = append(all, p)
	}
	if _, err := h.Alloc(40_000, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	for _, p := range all[len(all)/2 : len(all)/2+kib<<10/64] {
		h.Free(p, 64)
	}
	for i := 0; i < len(all)/2; i += 20 { // the blocks that were freed last empty no span
		h.Free(all[i], 64)
	}
	return h, l
}

func TestShortage_CountsWhatSweepRecycles(t *testing.T) {
	h, _ := middle(t, 256)
	for h.Sweep(1000) {
	}
	if h.vacant < 64 {
		t.Fatalf("Sweep recycled %d units", h.vacant)
	}
	memtest.MustAlloc(t, h, 40_000, 16)
	memtest.MustCheck(t, h)
}

// Memory that TrimStep has returned is no run, until it is committed again.
func TestShortage_CountsWhatIsCommittedAgain(t *testing.T) {
	h, l := middle(t, 256)
	err := h.Trim()
	for n := uintptr(1); n > 0 && err == nil; {
		n, err = h.TrimStep(1 << 20)
	}
	l.SetBudget(l.Committed())
	if _, full := h.Alloc(40_000, 16); err != nil || !errors.Is(full, memory.ErrOutOfMemory) || h.absent == 0 {
		t.Fatalf("%v, %v, with %d units returned", err, full, h.absent)
	}
	l.SetBudget(6 << 20)
	memtest.MustAlloc(t, h, 1000, 16)
	l.SetBudget(l.Committed())
	if h.vacant < 40 {
		t.Fatalf("%d units were committed again", h.vacant)
	}
	memtest.MustAlloc(t, h, 40_000, 16)
	memtest.MustCheck(t, h)
}

// Blocks that the function of OnShort frees, as an inbox of remote frees does, count in the same call.
func TestShortage_CountsWhatOnShortFrees(t *testing.T) {
	h, l := middle(t, 0)
	l.SetBudget(l.Committed() + 128<<10)
	var late []unsafe.Pointer
	for {
		p, err := h.Alloc(2048, 16)
		if err != nil {
			break
		}
		late = append(late, p)
	}
	if _, err := h.Alloc(40_000, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	h.OnShort(func(all bool) {
		if !all {
			return
		}
		var offs []uintptr
		for _, p := range late[len(late)/2:] {
			offs = append(offs, uintptr(p)-uintptr(h.base))
		}
		if n := h.FreeRun(h.base, offs); n != len(offs) {
			t.Errorf("%d of %d blocks were freed", n, len(offs))
		}
	})
	memtest.MustAlloc(t, h, 40_000, 16)
	memtest.MustCheck(t, h)
}
