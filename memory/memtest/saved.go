package memtest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
)

// A saved is an allocator that is a save.State, with a model of its live blocks, and the slots of earlier states with
// the blocks of that time.
type saved struct {
	t      testing.TB
	s      Subject
	a      memory.Allocator
	set    save.Set
	blocks []savedBlock // live, oldest first
	slots  [3]moment
	rng    *rand.Rand
	serial byte
	traced bool
	trace  []string // what operations returned, if traced

	refused int // the fitting pass in which a part behind the subject refuses a load; 0: none
}

// A savedBlock is filled with a byte of its own.
type savedBlock struct {
	p    unsafe.Pointer
	size uintptr
	fill byte
}

// A moment is a slot with the model of its state.
type moment struct {
	slot   *save.Slot
	blocks []savedBlock
	stats  memory.Stats
}

// Saved saves, changes and loads states of the subject's allocator in random order. The allocator must be a
// [save.State]. After each load the blocks of the state must lie at their addresses with their contents, Check must
// return nil, and the statistics must be those that were saved. A program that is repeated from one state must allocate
// the same addresses. A load without memory must succeed, or fail with memory.ErrOutOfMemory. If it fails, or if another
// State refuses a load, the canonical bytes of the allocator must be unchanged. Saving and loading a state a second time
// must not allocate Go memory; if testenv.Short returns true, this is not verified.
func Saved(t *testing.T, s Subject) {
	savedStates(t, s.withDefaults())
	detours(t, s.withDefaults())
}

func savedStates(t testing.TB, s Subject) {
	a := s.make(t, nil)
	state, ok := a.(save.State)
	if !ok {
		t.Fatalf("%T is no save.State", a)
	}
	x := &saved{t: t, s: s, a: a, rng: rand.New(rand.NewPCG(1, 2))}
	if err := errors.Join(x.set.Add("subject", state), x.set.Seal()); err != nil {
		t.Fatal(err)
	}
	rounds := 120
	if testenv.Brief() {
		rounds = 40
	}
	for range rounds {
		x.program(x.rng.IntN(60))
		x.round()
	}
	x.loadTwice()
	for len(x.blocks) > 0 {
		x.free(len(x.blocks) - 1)
	}
	check(t, a)
}

// round saves into a slot, or loads one.
func (x *saved) round() {
	m := &x.slots[x.rng.IntN(len(x.slots))]
	if m.slot == nil || x.rng.IntN(3) == 0 {
		x.save(m)
		return
	}
	x.load(m)
	if x.rng.IntN(4) == 0 {
		x.repeat(m)
	}
}

func (x *saved) save(m *moment) {
	n, err := x.set.Size()
	if err != nil {
		x.t.Fatalf("Size: %v", err)
	}
	if m.slot == nil {
		m.slot = x.set.NewSlot(n)
	} else if n > m.slot.Cap() {
		full := m.slot.Full()
		var short *memory.Exhausted
		if err := x.set.Save(m.slot); !errors.As(err, &short) || short.Need != uintptr(n) || m.slot.Full() != full {
			x.t.Fatalf("Save of %d bytes into %d: %v", n, m.slot.Cap(), err)
		}
		m.slot = x.set.NewSlot(n + n/2)
	}
	if err := x.set.Save(m.slot); err != nil {
		x.t.Fatalf("Save: %v", err)
	}
	if got := len(m.slot.Bytes()); got != n {
		x.t.Fatalf("Save wrote %d bytes, Size returned %d", got, n)
	}
	m.blocks = append(m.blocks[:0], x.blocks...)
	m.stats = x.stats()
	x.verify()
}

func (x *saved) stats() memory.Stats {
	if _, ok := x.a.(memory.StatsReporter); !ok {
		return memory.Stats{}
	}
	return stats(x.t, x.a)
}

func (x *saved) load(m *moment) {
	if err := x.set.Load(m.slot); err != nil {
		x.t.Fatalf("Load: %v", err)
	}
	x.blocks = append(x.blocks[:0], m.blocks...)
	x.verify()
	if now := x.stats(); now != m.stats {
		x.t.Fatalf("Load: the statistics are %+v, were %+v", now, m.stats)
	}
}

// verify compares the blocks with the model.
func (x *saved) verify() {
	check(x.t, x.a)
	for _, b := range x.blocks {
		for i, got := range unsafe.Slice((*byte)(b.p), b.size) {
			if got != b.fill {
				x.t.Fatalf("byte %d of the block of %d bytes at %p is %#x, want %#x", i, b.size, b.p, got, b.fill)
			}
		}
	}
}

// repeat plays one program twice from the state of m: it allocates the same addresses.
func (x *saved) repeat(m *moment) {
	seed := x.rng.Uint64()
	var first []savedBlock
	for k := range 2 {
		rng := x.rng
		x.rng = rand.New(rand.NewPCG(seed, 0))
		x.serial = 0
		x.program(50)
		x.rng = rng
		if k == 0 {
			first = slices.Clone(x.blocks)
		} else if !slices.Equal(first, x.blocks) {
			x.t.Fatalf("after a load %d blocks are live, other ones than the %d of the first time", len(x.blocks), len(first))
		}
		x.load(m)
	}
}

// loadTwice loads one state again without a change between, and without Go allocations.
func (x *saved) loadTwice() {
	m := &x.slots[0]
	if m.slot == nil {
		x.save(m)
	}
	x.load(m)
	var err error
	allocs := testenv.LeastObjects(6, func() {
		err = errors.Join(err, x.set.Save(m.slot))
		err = errors.Join(err, x.set.Load(m.slot))
	})
	if err != nil || allocs > 0 && !testenv.Short() {
		x.t.Fatalf("Save and Load again: %v, %v allocations", err, allocs)
	}
	x.load(m)
}

// program allocates, frees, resizes and trims at random.
func (x *saved) program(steps int) {
	for range steps {
		switch n := x.rng.IntN(100); {
		case n < 50 || len(x.blocks) == 0:
			x.alloc()
		case n < 85:
			x.free(x.rng.IntN(len(x.blocks)))
		case n < 95:
			x.resize(x.rng.IntN(len(x.blocks)))
		default:
			x.rest(n)
		}
	}
}

func (x *saved) alloc() {
	size, al := x.s.size(x.rng.Uint32()), x.s.align(x.rng.Uint32())
	p, err := x.a.Alloc(size, al)
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge) {
		x.note("alloc", size, err)
		return
	}
	if err != nil {
		x.t.Fatalf("Alloc(%d, %d): %v", size, al, err)
	}
	x.note("alloc", size, x.place(p))
	x.serial++
	b := savedBlock{p, size, x.serial}
	b.paint(0)
	x.blocks = append(x.blocks, b)
}

// paint fills the block from byte i on.
func (b *savedBlock) paint(i uintptr) {
	s := unsafe.Slice((*byte)(b.p), b.size)
	for ; i < b.size; i++ {
		s[i] = b.fill
	}
}

// free frees block i, or the newest one if the allocator demands that.
func (x *saved) free(i int) {
	if x.s.LIFO {
		i = len(x.blocks) - 1
	}
	x.a.Free(x.blocks[i].p, x.blocks[i].size)
	x.blocks = slices.Delete(x.blocks, i, i+1)
}

func (x *saved) resize(i int) {
	r, ok := x.a.(memory.Resizer)
	if !ok {
		return
	}
	if x.s.LIFO {
		i = len(x.blocks) - 1
	}
	b := &x.blocks[i]
	size := x.s.size(x.rng.Uint32())
	old := b.size
	ok = r.Resize(b.p, old, size)
	if x.note("resize", old, size, ok); ok {
		b.size = size
		b.paint(min(old, size))
	}
}

// rest makes the calls that change metadata without a block.
func (x *saved) rest(n int) {
	switch n % 4 {
	case 0:
		if r, ok := x.a.(memory.Trimmer); ok {
			if err := r.Trim(); err != nil {
				x.t.Fatalf("Trim: %v", err)
			}
		}
	case 1:
		if r, ok := x.a.(interface {
			TrimStep(uintptr) (uintptr, error)
		}); ok {
			n, err := r.TrimStep(64 << 10)
			if x.note("trim step", n); err != nil {
				x.t.Fatalf("TrimStep: %v", err)
			}
		}
	case 2:
		if r, ok := x.a.(interface{ BeginEpoch() }); ok {
			r.BeginEpoch()
		}
	case 3:
		if r, ok := x.a.(interface{ Sweep(int) bool }); ok {
			x.note("sweep", r.Sweep(100))
		}
	}
	x.note("stats", x.stats())
}
