package pool

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

type enemy struct {
	X, Y  float32
	ID    uint64
	Items [3]uint32
}

// An odd object has an odd size and the alignment 1.
type odd [1001]byte

// A big object has two slots in a batch and five in two granules.
type big [page.Granule * 3 / 8]byte

// A brainy object has a pointer, so no pool accepts it.
type brainy struct{ Brain *int }

func newPool(t testing.TB, src page.Source, capacity int) *Pool[enemy] {
	t.Helper()
	p, err := New[enemy](src, Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p.Close)
	return p
}

func mustNew(t testing.TB, p *Pool[enemy]) (memory.Handle[enemy], *enemy) {
	t.Helper()
	h, v, err := p.New()
	if err != nil {
		t.Fatal(err)
	}
	return h, v
}

func TestPool_ObjectsAreZeroedAndFoundByHandle(t *testing.T) {
	p := newPool(t, nil, 100)
	for round := range 3 {
		h, v := mustNew(t, p)
		if *v != (enemy{}) {
			t.Fatalf("round %d: fresh object %+v", round, *v)
		}
		*v = enemy{1, 2, 3, [3]uint32{4, 5, 6}}
		if w, ok := p.Get(h); !ok || w != v {
			t.Errorf("Get = %p, %t; want %p", w, ok, v)
		}
		if !p.Free(h) {
			t.Error("Free of a live handle is false")
		}
		if w, ok := p.Get(h); ok || w != nil {
			t.Errorf("Get of a freed object = %p, %t", w, ok)
		}
		if p.Free(h) {
			t.Error("Free of a stale handle is true")
		}
	}
	mustCheck(t, p)
}

func TestPool_NoForgedHandleNamesAVacantSlot(t *testing.T) {
	p := newPool(t, nil, 100)
	if _, ok := p.Get(memory.Handle[enemy]{}); ok {
		t.Error("the zero handle is valid in an unused pool")
	}
	h, _ := mustNew(t, p)
	p.Free(h)
	for _, at := range [][2]uint32{{0, 2}, {0, 3}, {1, 0}, {99, 1}, {100, 1}, {1<<32 - 1, 1}} {
		h := memory.MakeHandle[enemy](at[0], at[1]^p.key)
		if _, ok := p.Get(h); ok {
			t.Errorf("Get(%v) found something", h)
		}
		if p.Free(h) {
			t.Errorf("Free(%v) freed something", h)
		}
	}
	mustCheck(t, p)
}

func TestPool_AWornOutSlotIsRetiredAndNeverAliased(t *testing.T) {
	p := newPool(t, nil, 2)
	first, _ := mustNew(t, p)
	p.Free(first)
	wear(p, 0, worn-2) // as after two billion lives
	h, _ := mustNew(t, p)
	if gen := h.Generation() ^ p.key; gen != worn-1 {
		t.Fatalf("generation %d, want the last, %d", gen, uint32(worn-1))
	}
	if !p.Free(h) || p.retired != 1 {
		t.Fatalf("%d slots retired, want 1", p.retired)
	}
	mustCheck(t, p)
	other, _ := mustNew(t, p)
	if other.Index() != 1 {
		t.Errorf("the retired slot was handed out: %v", other)
	}
	if _, _, err := p.New(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("New with one slot retired and one live: %v", err)
	}
	for _, stale := range []memory.Handle[enemy]{first, h} {
		if _, ok := p.Get(stale); ok {
			t.Errorf("%v is valid again", stale)
		}
	}
	p.Free(other)
	if err := p.Trim(); err != nil { // retirement outlives a Trim
		t.Fatal(err)
	}
	if h, _ := mustNew(t, p); h.Index() != 1 {
		t.Errorf("after Trim the retired slot was handed out: %v", h)
	}
	if s := p.Stats(); s.Live != 1 || p.Len() != 1 {
		t.Errorf("stats %+v, len %d", s, p.Len())
	}
	mustCheck(t, p)
}

// wear gives slot i the generation gen, as if it had lived that often.
func wear(p *Pool[enemy], i int, gen uint32) {
	p.allocs += (uint64(gen)+1)/2 - (uint64(p.gens[i])+1)/2
	p.gens[i] = gen
}

func TestPool_ResetRetiresWornSlots(t *testing.T) {
	p := newPool(t, nil, 200)
	for range 100 {
		mustNew(t, p)
	}
	wear(p, 70, worn-1)
	p.Reset()
	mustCheck(t, p)
	if p.retired != 1 || p.Len() != 0 {
		t.Errorf("retired %d, len %d", p.retired, p.Len())
	}
	for range 199 {
		if h, _ := mustNew(t, p); h.Index() == 70 {
			t.Error("the retired slot was handed out")
		}
	}
	if _, _, err := p.New(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("New in a full pool: %v", err)
	}
}

// Every slot of a batch may be retired: New goes on to the next.
func TestPool_SkipsABatchOfRetiredSlots(t *testing.T) {
	p := newPool(t, nil, 1000)
	for range 64 {
		mustNew(t, p)
	}
	for i := range 64 {
		wear(p, i, worn-1)
	}
	p.Reset()
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	if h, _ := mustNew(t, p); h.Index() != 64 {
		t.Errorf("got %v, want slot 64", h)
	}
	mustCheck(t, p)
}

func TestPool_ResetTurnsEveryHandleStale(t *testing.T) {
	p := newPool(t, nil, 1000)
	var handles []memory.Handle[enemy]
	for range 500 {
		h, _ := mustNew(t, p)
		handles = append(handles, h)
	}
	p.Reset()
	p.Reset()
	for range 500 {
		mustNew(t, p)
	}
	for _, h := range handles {
		if _, ok := p.Get(h); ok {
			t.Fatalf("%v survived Reset", h)
		}
	}
	if s := p.Stats(); s.Live != 500 || s.Allocs != 1000 || s.Frees != 500 {
		t.Errorf("stats %+v", s)
	}
	mustCheck(t, p)
}

func TestPool_IteratesInOrderOfAddress(t *testing.T) {
	p := newPool(t, nil, 1000)
	var handles []memory.Handle[enemy]
	for i := range 300 {
		h, v := mustNew(t, p)
		v.ID = uint64(i)
		handles = append(handles, h)
	}
	var want []uint64
	for i, h := range handles {
		if i%3 == 0 || i > 190 && i < 280 {
			p.Free(h)
		} else {
			want = append(want, uint64(i))
		}
	}
	var got []uint64
	for h, v := range p.All() {
		if w, ok := p.Get(h); !ok || w != v {
			t.Fatalf("%v does not name the object that came with it", h)
		}
		got = append(got, v.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("All yields %d of %d live objects", len(got), len(want))
	}
	if n := testenv.LeastObjects(11, func() {
		for _, v := range p.All() {
			v.X++
		}
		for run := range p.Runs() {
			run[0].Y++
		}
	}); n != 0 {
		t.Errorf("iteration costs %v Go allocations", n)
	}
	for range p.All() {
		break
	}
}

func TestPool_ObjectsFreedOnTheWayAreNotVisited(t *testing.T) {
	p := newPool(t, nil, 1000)
	var handles []memory.Handle[enemy]
	for range 200 {
		h, _ := mustNew(t, p)
		handles = append(handles, h)
	}
	visited := 0
	for h := range p.All() {
		if h.Index()%2 != 0 {
			t.Fatalf("visited %v, which was freed", h)
		}
		visited++
		p.Free(h)
		p.Free(handles[h.Index()+1])
	}
	if visited != 100 || p.Len() != 0 {
		t.Errorf("visited %d, %d left", visited, p.Len())
	}
	mustNew(t, p)
	mustNew(t, p)
	for range p.All() {
		visited++
		p.Reset()
	}
	if visited != 101 {
		t.Error("the walk goes on after Reset")
	}
}

func TestPool_TrimKeepsHandlesMeaning(t *testing.T) {
	budget := page.NewLimit(nil, 0)
	p := newPool(t, budget, 100_000)
	var handles []memory.Handle[enemy]
	for range 50_000 {
		h, _ := mustNew(t, p)
		handles = append(handles, h)
	}
	for i, h := range handles {
		if i != 10 {
			p.Free(h)
		}
	}
	peak := p.Stats().Peak
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	if c := budget.Committed(); c != page.Granule {
		t.Errorf("%d bytes stay committed for 11 slots", c)
	}
	mustCheck(t, p)
	for range 49_999 {
		mustNew(t, p)
	}
	for i, h := range handles {
		if _, ok := p.Get(h); ok != (i == 10) {
			t.Fatalf("%v: found %t", h, ok)
		}
	}
	if s := p.Stats(); s.Peak < peak {
		t.Errorf("peak %d, was %d", s.Peak, peak)
	}
	mustCheck(t, p)
}

func TestPool_ExactlyFullThenGrowThenClosed(t *testing.T) {
	p := newPool(t, nil, 70)
	if err := p.Grow(70); err != nil {
		t.Fatal(err)
	}
	if err := p.Grow(71); !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "Grow to 71 slots, there are 70; raise Config.Capacity") {
		t.Errorf("Grow beyond the capacity: %v", err)
	}
	for range 70 {
		mustNew(t, p)
	}
	h, v, err := p.New()
	if !h.IsZero() || v != nil || !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "no vacant slot of 70; free objects or raise Config.Capacity") {
		t.Errorf("one more: %v, %v, %v", h, v, err)
	}
	if p.Len() != 70 || p.Cap() != 70 || p.Stats().Failures != 2 {
		t.Errorf("len %d, cap %d, stats %+v", p.Len(), p.Cap(), p.Stats())
	}
	h = memory.MakeHandle[enemy](0, 1^p.key)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Get(h); ok || p.Free(h) || p.Len() != 0 || p.Cap() != 0 {
		t.Error("a closed pool holds something")
	}
	if _, _, err := p.New(); err != memory.ErrClosed {
		t.Errorf("New after Close: %v", err)
	}
	if err := p.Grow(1); err != memory.ErrClosed {
		t.Errorf("Grow after Close: %v", err)
	}
	if err := p.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim after Close: %v", err)
	}
	for range p.All() {
		t.Error("a closed pool yields something")
	}
	memtest.Misuse(t, p.Reset, "pool.Reset", "closed")
	mustCheck(t, p)
	if s := p.Stats(); s.Live != 0 || s.Committed != 0 || s.Allocs != 70 || s.Frees != 70 {
		t.Errorf("stats after Close %+v", s)
	}
}

func TestPool_ConfigurationAndTypes(t *testing.T) {
	var bad *memory.PointerError
	if _, err := New[brainy](nil, Config{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "Brain") {
		t.Errorf("New of a type with a pointer: %v", err)
	}
	for _, n := range []int{-1, math.MaxInt/2 + 1, math.MaxInt, maxSlots + 1} {
		if _, err := New[struct{}](nil, Config{Capacity: n}); !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("capacity %d of nothing: %v", n, err)
		}
		if _, err := NewSplit[struct{}, struct{}](nil, Config{Capacity: n}); !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("capacity %d of nothing twice: %v", n, err)
		}
		if _, err := New[enemy](nil, Config{Capacity: n}); !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("capacity %d: %v", n, err)
		}
	}
	p := newPool(t, nil, 0)
	if p.Cap() != 64<<20/int(unsafe.Sizeof(enemy{})) || p.Name() != "pool.enemy" {
		t.Errorf("defaults: cap %d, name %q", p.Cap(), p.Name())
	}
	named, err := New[odd](nil, Config{Capacity: 10, Name: "tiles"})
	if err != nil || named.Name() != "tiles" {
		t.Fatalf("named pool: %v", err)
	}
	closeAtEnd(t, named.Close)
}

func TestPool_EmptyTypesHaveHandlesToo(t *testing.T) {
	p, err := New[struct{}](nil, Config{Capacity: 5})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p.Close)
	a, _, _ := p.New()
	b, _, _ := p.New()
	if a == b || !p.Free(a) || p.Free(a) {
		t.Error("two empty objects are one")
	}
	if v, ok := p.Get(b); !ok || v == nil {
		t.Error("an empty object is not found")
	}
	mustCheck(t, p)
}

func TestPool_RefusedMemoryChangesNothing(t *testing.T) {
	for call := 1; call < 6; call++ {
		src := memtest.NewFaulty()
		src.FailAt = call
		p, err := New[odd](src, Config{Capacity: 1000})
		if err != nil {
			if !errors.Is(err, memory.ErrOutOfMemory) || src.Reserved() != 0 {
				t.Errorf("call %d: %v, %d reservations left", call, err, src.Reserved())
			}
			continue
		}
		n := 0
		for ; n < p.Cap(); n++ {
			before := p.Stats()
			if _, _, err := p.New(); err != nil {
				before.Failures++
				if p.Stats() != before || !errors.Is(err, memory.ErrOutOfMemory) {
					t.Errorf("call %d: %v; statistics %+v, were %+v", call, err, p.Stats(), before)
				}
				mustCheck(t, p)
				n--
			}
		}
		if p.Len() != p.Cap() {
			t.Errorf("call %d: %d objects of %d", call, p.Len(), p.Cap())
		}
		if err := p.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("call %d: Close = %v, %d reservations left", call, err, src.Reserved())
		}
	}
}

func TestPool_StaysUsableWhenMemoryCannotBeReturned(t *testing.T) {
	src := memtest.NewFaulty()
	p := newPool(t, &releaseFails{Faulty: src}, 1000)
	for range 500 {
		mustNew(t, p)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "pool: close pool.enemy") {
		t.Errorf("Close = %v", err)
	}
	_, v := mustNew(t, p)
	v.X = 1
	mustCheck(t, p)
	src.FailReturns = true
	p.Reset()
	if err := p.Trim(); err == nil || !strings.Contains(err.Error(), "pool: trim pool.enemy") {
		t.Errorf("Trim = %v", err)
	}
	src.FailReturns = false
}

// releaseFails refuses the first Release, after the memory was decommitted.
type releaseFails struct {
	*memtest.Faulty
	done bool
}

func (r *releaseFails) Release(m page.Memory) error {
	if !r.done {
		r.done = true
		return errors.New("refused once")
	}
	return r.Faulty.Release(m)
}

func TestPool_CheckNamesWhatIsCorrupt(t *testing.T) {
	for name, c := range map[string]struct {
		corrupt func(*Pool[enemy])
		want    string
	}{
		"vacant":     {func(p *Pool[enemy]) { p.n = 100 }, "are not in order"},
		"opened":     {func(p *Pool[enemy]) { p.opened = 500 }, "are not in order"},
		"committed":  {func(p *Pool[enemy]) { p.gens[3], p.live[0] = p.gens[3]+1, p.live[0]&^8 }, "are not 56 vacant, 7 live"},
		"bit":        {func(p *Pool[enemy]) { p.live[0] ^= 1 << 5 }, "the live bit of slot 5 differs"},
		"generation": {func(p *Pool[enemy]) { p.gens[5]++ }, "the live bit of slot 5 differs"},
		"beyond":     {func(p *Pool[enemy]) { p.opened = 6 }, "are not in order"},
		"twice":      {func(p *Pool[enemy]) { p.free[p.n-1] = p.free[p.n-2] }, "vacant twice"},
		"stranger":   {func(p *Pool[enemy]) { p.free[p.n-1] = 64 }, "is slot 64 of 64 opened"},
		"alive":      {func(p *Pool[enemy]) { p.free[p.n-1] = 0 }, "is slot 0, which has generation 1"},
		"retired":    {func(p *Pool[enemy]) { wear(p, 20, worn) }, "1 retired (0 counted)"},
		"allocs":     {func(p *Pool[enemy]) { p.allocs = 7 }, "the generations count 10 allocations instead of 7"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, nil, 1000)
			var handles []memory.Handle[enemy]
			for range 10 {
				h, _ := mustNew(t, p)
				handles = append(handles, h)
			}
			p.Free(handles[2])
			p.Free(handles[4])
			mustCheck(t, p)
			saved := p.slots
			saved.gens, saved.free, saved.live = slices.Clone(p.gens), slices.Clone(p.free), slices.Clone(p.live)
			c.corrupt(p)
			mustName(t, p, c.want)
			p.slots = saved
			mustCheck(t, p)
		})
	}
	p := newPool(t, nil, 1000)
	mustNew(t, p)
	if err := p.mem.Trim(0); err != nil {
		t.Fatal(err)
	}
	mustName(t, p, "exceed the 0 bytes committed")
	if err := p.ensure(p.opened); err != nil {
		t.Fatal(err)
	}
}

// FuzzPool interprets bytes as a program beside a map of what must live.
func FuzzPool(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(memtest.RandomProgram(seed+1, 200))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		p := newPool(t, nil, 300)
		live := map[memory.Handle[enemy]]uint64{}
		var all []memory.Handle[enemy] // in order of creation, dead ones included
		for n, op := range program[:min(len(program), 3000)] {
			switch op % 16 {
			case 14:
				p.Reset()
				clear(live)
			case 15:
				if err := p.Trim(); err != nil {
					t.Fatal(err)
				}
			case 9, 10, 11, 12, 13:
				if len(all) == 0 {
					continue
				}
				h := all[(int(op)*n)%len(all)]
				if _, want := live[h]; p.Free(h) != want {
					t.Fatalf("Free(%v) of an object that lives: %t", h, want)
				}
				delete(live, h)
			default:
				h, v, err := p.New()
				if err != nil {
					if len(live) != 300 {
						t.Fatalf("New with %d of 300 live: %v", len(live), err)
					}
					continue
				}
				if *v != (enemy{}) {
					t.Fatalf("fresh object %+v", *v)
				}
				if _, dup := live[h]; dup {
					t.Fatalf("%v was handed out twice", h)
				}
				v.ID = uint64(n) + 1
				live[h] = v.ID
				all = append(all, h)
			}
			compare(t, p, live)
		}
		for _, h := range all {
			id, want := live[h]
			if v, ok := p.Get(h); ok != want || ok && v.ID != id {
				t.Fatalf("Get(%v) = %v, %t", h, v, ok)
			}
		}
	})
}

func compare(t *testing.T, p *Pool[enemy], live map[memory.Handle[enemy]]uint64) {
	t.Helper()
	mustCheck(t, p)
	n := 0
	for h, v := range p.All() {
		if id, ok := live[h]; !ok || id != v.ID {
			t.Fatalf("%v yields %d, want %d", h, v.ID, id)
		}
		n++
	}
	if s := p.Stats(); n != len(live) || p.Len() != n || s.Live != uint64(n) || s.InUse > s.Peak || s.Live != s.Allocs-s.Frees {
		t.Fatalf("%d visited, len %d, %d live: %+v", n, p.Len(), len(live), s)
	}
}

// Objects above 128 KiB were zeroed by a copy of zeros that each New allocated on the Go heap.
func TestPools_LargeObjectsTakeNoGoHeap(t *testing.T) {
	type large [200 << 10]byte
	p, err1 := New[large](nil, Config{Capacity: 2})
	s, err2 := NewSplit[large, large](nil, Config{Capacity: 2})
	if err := errors.Join(err1, err2, p.Grow(2), s.Grow(2)); err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p.Close)
	closeAtEnd(t, s.Close)
	if n := testing.AllocsPerRun(10, func() {
		h, v, _ := p.New()
		k, hot, cold, _ := s.New()
		if *v != (large{}) || *hot != (large{}) || *cold != (large{}) {
			t.Error("an object is not zeroed")
		}
		v[len(v)-1], hot[0], cold[len(cold)-1] = 1, 1, 1
		p.Free(h)
		s.Free(k)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
