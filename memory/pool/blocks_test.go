package pool

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func newBlocks(t testing.TB, src page.Source, cfg BlocksConfig) *Blocks {
	t.Helper()
	b, err := NewBlocks(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b.Close)
	return b
}

func closeAtEnd(t testing.TB, f func() error) {
	t.Cleanup(func() {
		if err := f(); err != nil {
			t.Error(err)
		}
	})
}

func mustGet(t testing.TB, b *Blocks) unsafe.Pointer {
	t.Helper()
	p, err := b.Get()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var mustCheck = memtest.MustCheck

// mustName has Check report an error with each of want.
func mustName(t testing.TB, c memory.Checker, want ...string) {
	t.Helper()
	err := c.Check()
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("Check = %v; want %q", err, w)
		}
	}
}

func TestBlocks_ConfigurationDefaultsAndLimits(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{})
	if b.Size() != 64 || b.Cap() != 1<<20 || b.Len() != 0 {
		t.Errorf("defaults: size %d, cap %d, len %d", b.Size(), b.Cap(), b.Len())
	}
	for _, c := range []struct{ size, align, want uintptr }{
		{1, 0, 16}, {16, 16, 16}, {17, 1, 32}, {40, 8, 48}, {100, 64, 128}, {5000, 4096, 8192}, {65536, 0, 65536},
	} {
		b := newBlocks(t, nil, BlocksConfig{Size: c.size, Align: c.align, Capacity: 3})
		if b.Size() != c.want {
			t.Errorf("size %d, align %d: slots of %d bytes, want %d", c.size, c.align, b.Size(), c.want)
		}
		for range 3 {
			if p := mustGet(t, b); uintptr(p)%max(c.align, 16) != 0 {
				t.Errorf("slot %p is not aligned to %d", p, c.align)
			}
		}
	}
	for _, c := range []struct {
		cfg  BlocksConfig
		want error
	}{
		{BlocksConfig{Align: 3}, memory.ErrAlign},
		{BlocksConfig{Align: 8192}, memory.ErrAlign},
		{BlocksConfig{Capacity: -1}, memory.ErrTooLarge},
		{BlocksConfig{Size: math.MaxUint}, memory.ErrTooLarge},
		{BlocksConfig{Size: 1 << 20, Capacity: 1<<16 + 1}, memory.ErrTooLarge},
		{BlocksConfig{Size: math.MaxInt/2 + 1, Capacity: math.MaxInt / 2}, memory.ErrTooLarge},
	} {
		if _, err := NewBlocks(nil, c.cfg); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "pool: new Blocks") {
			t.Errorf("%+v: %v; want %v", c.cfg, err, c.want)
		}
	}
}

func TestBlocks_ExactlyFull(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Size: 32, Capacity: 1000})
	seen := map[unsafe.Pointer]bool{}
	for range 1000 {
		seen[mustGet(t, b)] = true
	}
	if len(seen) != 1000 || b.Len() != 1000 {
		t.Fatalf("%d different slots, len %d; want 1000", len(seen), b.Len())
	}
	if p, err := b.Get(); p != nil || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("one more: %v, %v; want ErrOutOfMemory", p, err)
	}
	if n := testenv.LeastObjects(11, func() { b.Get() }); n != 0 {
		t.Errorf("a refusal costs %v Go allocations", n)
	}
	for p := range seen {
		b.Put(p)
	}
	if s := b.Stats(); s.Live != 0 || s.InUse != 0 || s.Peak != 32000 || s.Allocs != 1000 || s.Frees != 1000 || s.Failures == 0 {
		t.Errorf("stats %+v", s)
	}
	mustCheck(t, b)
}

func TestBlocks_LastInFirstOutAndLowestFirst(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 1000})
	var slots [300]unsafe.Pointer
	for i := range slots {
		slots[i] = mustGet(t, b)
		if slots[i] != unsafe.Add(b.base, i*64) {
			t.Fatalf("fresh slot %d is %p", i, slots[i])
		}
	}
	b.Put(slots[7])
	b.Put(slots[3])
	if p := b.TryGet(); p != slots[3] {
		t.Errorf("got %p, want the slot freed last", p)
	}
	if p := b.TryGet(); p != slots[7] {
		t.Errorf("got %p, want the slot freed before", p)
	}
}

func TestBlocks_TryGetDoesNotGrow(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 10})
	if p := b.TryGet(); p != nil {
		t.Errorf("TryGet in an unused pool = %p", p)
	}
	b.Put(mustGet(t, b))
	if p := b.TryGet(); p == nil {
		t.Error("TryGet missed a vacant slot")
	}
}

func TestBlocks_MisuseIsRefusedBeforeAnythingChanges(t *testing.T) {
	b, other := newBlocks(t, nil, BlocksConfig{Capacity: 100}), newBlocks(t, nil, BlocksConfig{Capacity: 100})
	p, q := mustGet(t, b), mustGet(t, b)
	foreign := mustGet(t, other)
	before := b.Stats()
	bad := []struct {
		p         unsafe.Pointer
		reason    string
		exactOnly bool
	}{
		{foreign, "foreign pointer", false},
		{unsafe.Add(p, 8), "interior pointer", false},
		{unsafe.Add(p, 1), "interior pointer", false},
		{unsafe.Add(p, 16), "interior pointer", true},
		{unsafe.Add(p, 99*64), "not allocated", true},
		{unsafe.Add(q, 64), "double free", true}, // opened, never handed out
	}
	for _, c := range bad {
		if c.exactOnly && !invariant.Exact {
			continue
		}
		memtest.Misuse(t, func() { b.Free(c.p, 64) }, "pool.Free(0x", "size 64", c.reason)
		memtest.Misuse(t, func() { b.FreeAny(c.p) }, "pool.FreeAny(0x", c.reason)
		memtest.Misuse(t, func() { b.SizeOf(c.p) }, "pool.SizeOf(0x", c.reason)
		memtest.Misuse(t, func() { b.Put(c.p) }, "pool.Put(0x", "not the start of a live slot")
	}
	memtest.Misuse(t, func() { b.Put(nil) }, "not the start of a live slot")
	memtest.Misuse(t, func() { b.Free(p, 65) }, "wrong size")
	if b.Stats() != before {
		t.Errorf("refused calls changed the statistics: %+v, were %+v", b.Stats(), before)
	}
	mustCheck(t, b)
	b.FreeAny(nil)
	b.Put(p)
	if invariant.Exact {
		memtest.Misuse(t, func() { b.Put(p) }, "freed twice")
		memtest.Misuse(t, func() { b.Free(p, 64) }, "double free")
		memtest.Misuse(t, func() { b.FreeAny(p) }, "double free")
	}
	b.FreeAny(q)
	mustCheck(t, b)
}

func TestBlocks_AllocRefusesWhatDoesNotFitASlot(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Size: 48, Capacity: 10})
	for _, c := range []struct {
		size, align uintptr
		want        error
	}{{49, 1, memory.ErrTooLarge}, {48, 32, memory.ErrTooLarge}, {48, 3, memory.ErrAlign}, {48, 16, nil}, {0, 1, nil}} {
		if p, err := b.Alloc(c.size, c.align); !errors.Is(err, c.want) || (p == nil) != (c.want != nil) {
			t.Errorf("Alloc(%d, %d) = %v, %v; want %v", c.size, c.align, p, err, c.want)
		} else if p != nil && (b.SizeOf(p) != 48 || !b.Owns(p)) {
			t.Errorf("SizeOf %d, Owns %t", b.SizeOf(p), b.Owns(p))
		}
	}
	if f := b.Stats().Failures; f != 2 {
		t.Errorf("failures %d, want 2", f)
	}
}

func TestBlocks_TrimGivesBackTheTail(t *testing.T) {
	budget := page.NewLimit(nil, 0)
	b := newBlocks(t, budget, BlocksConfig{Size: 1024, Capacity: 4096})
	var slots []unsafe.Pointer
	for range 2000 {
		slots = append(slots, mustGet(t, b))
	}
	*(*uint64)(slots[20]) = 42
	for i, p := range slots {
		if i != 20 {
			b.Put(p)
		}
	}
	peak := b.Stats().Peak
	if err := b.Trim(); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, b)
	if c := budget.Committed(); c != 2*page.Granule {
		t.Errorf("%d bytes stay committed for 21 slots of 1 KiB", c)
	}
	if s := b.Stats(); s.Peak != peak || s.Live != 1 || *(*uint64)(slots[20]) != 42 {
		t.Errorf("after Trim: %+v", s)
	}
	if p := mustGet(t, b); p != slots[0] {
		t.Errorf("after Trim the next slot is %p, want the lowest, %p", p, slots[0])
	}
	if invariant.Exact {
		memtest.Misuse(t, func() { b.FreeAny(slots[1999]) }, "not allocated since the last Reset or Trim")
	}
	for range 2000 {
		mustGet(t, b)
	}
	mustCheck(t, b)
}

func TestBlocks_GrowPreparesAndCarvesNothing(t *testing.T) {
	src := memtest.NewFaulty()
	b := newBlocks(t, src, BlocksConfig{Capacity: 10_000})
	if err := b.Grow(10_000); err != nil {
		t.Fatal(err)
	}
	calls := src.Calls()
	if n := testing.AllocsPerRun(4, func() { // and one before: one of them may meet an allocation of the runtime's own
		for range 2000 {
			mustGet(t, b)
		}
	}); n != 0 || src.Calls() != calls {
		t.Errorf("after Grow, 2,000 slots cost %v Go allocations and %d system calls", n, src.Calls()-calls)
	}
	if err := b.Grow(10_001); !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "raise BlocksConfig.Capacity") {
		t.Errorf("Grow beyond the capacity: %v", err)
	}
	if err := b.Grow(-1); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("Grow(-1): %v", err)
	}
	if s := b.Stats(); s.Peak != 10_000*64 || s.Failures != 2 {
		t.Errorf("stats %+v", s)
	}
	mustCheck(t, b)
}

func TestBlocks_RefusedMemoryChangesNothing(t *testing.T) {
	b := newBlocks(t, page.NewLimit(nil, page.Granule), BlocksConfig{Size: 1000, Capacity: 1000})
	n := 0
	for ; ; n++ {
		if _, err := b.Get(); err != nil {
			var full *memory.Exhausted
			if !errors.As(err, &full) {
				t.Errorf("refused with %v", err)
			}
			break
		}
	}
	if n != page.Granule/1008 {
		t.Errorf("%d slots of 1008 bytes in one granule", n)
	}
	mustCheck(t, b)
	if err := b.Grow(100); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("Grow beyond the budget: %v", err)
	}
}

func TestBlocks_CloseAndResetAreFinal(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 100})
	p := mustGet(t, b)
	b.Reset()
	if invariant.Exact {
		memtest.Misuse(t, func() { b.FreeAny(p) }, "not allocated since")
	}
	p = mustGet(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(); err != memory.ErrClosed {
		t.Errorf("Get after Close: %v", err)
	}
	if err := b.Grow(1); err != memory.ErrClosed {
		t.Errorf("Grow after Close: %v", err)
	}
	if err := b.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim after Close: %v", err)
	}
	memtest.Misuse(t, b.Reset, "pool.Reset", "closed")
	memtest.Misuse(t, func() { b.Put(p) }, "the pool is closed")
	memtest.Misuse(t, func() { b.FreeAny(p) }, "the pool is closed")
	if b.Owns(p) || b.Len() != 0 || b.Cap() != 0 {
		t.Errorf("closed, and owns %t, len %d, cap %d", b.Owns(p), b.Len(), b.Cap())
	}
}

func TestBlocks_StaysUsableWhenMemoryCannotBeReturned(t *testing.T) {
	src := memtest.NewFaulty()
	b := newBlocks(t, src, BlocksConfig{Capacity: 1000})
	for range 500 {
		mustGet(t, b)
	}
	src.FailReturns = true
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "pool: close") {
		t.Errorf("Close = %v", err)
	}
	b.Put(mustGet(t, b))
	if err := b.Trim(); err == nil || !strings.Contains(err.Error(), "pool: trim") {
		t.Errorf("Trim = %v", err)
	}
	mustCheck(t, b)
	src.FailReturns = false
}

func TestBlocks_CheckNamesWhatIsCorrupt(t *testing.T) {
	fresh := func() *Blocks {
		b := newBlocks(t, nil, BlocksConfig{Capacity: 1000})
		var slots [10]unsafe.Pointer
		for i := range slots {
			slots[i] = mustGet(t, b)
		}
		b.Put(slots[4])
		b.Put(slots[2])
		mustCheck(t, b)
		return b
	}
	b := fresh()
	b.n = uint(b.opened) + 1
	mustName(t, b, "are not in order")
	b = fresh()
	b.opened = 5000
	mustName(t, b, "are not in order")
	b.opened = 0
	b = fresh()
	b.free[b.n-1] = 4 * 4 // slot 4 again, and slot 2 is lost
	mustName(t, b, "slot 4 is vacant twice")
	b = fresh()
	b.free[b.n-1]++
	mustName(t, b, "where no slot starts")
	b = fresh()
	b.free[b.n-1] = 4 * 900
	mustName(t, b, "is slot 900 of 64 opened")
	b = fresh()
	b.allocs = 3
	mustName(t, b, "8 slots live of 3 allocated")
	if !invariant.Exact {
		return
	}
	b = fresh()
	b.live[0] |= 1 << 8 // slot 2
	mustName(t, b, "slot 2 is vacant and has its live bit set")
	b = fresh()
	b.live[0] |= 1 << 1
	mustName(t, b, "granule 1 has its live bit set")
	b = fresh()
	b.live[0] &^= 1 << 12
	mustName(t, b, "slot 3 is neither vacant nor has its live bit set")
}

// In every build, also in memfast ones that do not detect it, misuse does not exceed the bounds of the metadata.
func TestBlocks_NoBuildExceedsItsMetadata(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 1000})
	if err := b.Grow(1000); err != nil {
		t.Fatal(err)
	}
	p := mustGet(t, b)
	for name, q := range map[string]unsafe.Pointer{
		"the first slot not opened": unsafe.Add(b.base, 64*64), "one in the midst": unsafe.Add(b.base, 500*64),
		"the last one": unsafe.Add(b.base, 999*64), "what is behind": unsafe.Add(b.base, 1000*64), "what is elsewhere": unsafe.Pointer(new([64]uint64)), // not in front: on the Go heap there may be nothing
	} {
		for op, free := range map[string]func(unsafe.Pointer){"Put": b.Put, "FreeAny": b.FreeAny} {
			if m := memtest.Misuse(t, func() { free(q) }); m.Op != op || m.Addr != uintptr(q) {
				t.Errorf("%s, %s: %v", name, op, m)
			}
		}
	}
	b.Put(p)
	for range 3 { // more frees than there are live slots
		memtest.Misuse(t, func() { b.Put(p) }, "pool.Put(0x", "freed twice")
		memtest.Misuse(t, func() { b.Free(p, 64) }, "pool.Free(0x", "double free")
		memtest.Misuse(t, func() { b.FreeAny(p) }, "pool.FreeAny(0x", "double free")
		memtest.Misuse(t, func() { b.SizeOf(p) }, "pool.SizeOf(0x", "double free")
	}
	if s := b.Stats(); s.Live != 0 || b.n > uint(b.opened) {
		t.Errorf("%d vacant of %d, %+v", b.n, b.opened, s)
	}
	mustCheck(t, b)
}

func TestBlocks_ASizeThatNoSlotServesIsRefused(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Size: 40, Capacity: 100}) // slots of 48
	p := mustGet(t, b)
	for _, size := range []uintptr{49, 64, 1 << 20, math.MaxUint} {
		memtest.Misuse(t, func() { b.Free(p, size) }, "pool.Free(0x", "wrong size: a slot of this pool has 48 bytes")
		if _, err := b.Alloc(size, 1); err != memory.ErrTooLarge {
			t.Errorf("Alloc(%d): %v", size, err)
		}
	}
	if _, err := b.Alloc(1, 32); err != memory.ErrTooLarge {
		t.Errorf("Alloc aligned to 32: %v", err)
	}
	if _, err := b.Alloc(49, 3); err != memory.ErrAlign || b.Stats().Failures != 5 {
		t.Errorf("Alloc aligned to 3: %v, %d failures; a bad alignment is none", err, b.Stats().Failures)
	}
	b.Free(p, 48)
	mustCheck(t, b)
}

func TestBlocks_TheLargestSlotOfAll(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		_, err := NewBlocks(nil, BlocksConfig{Size: 1 << 31, Capacity: 1})
		if !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("2 GiB on 32 bits: %v", err)
		}
		return
	}
	huge := uint64(1) << 36
	b, err := NewBlocks(page.NewLimit(nil, page.Granule), BlocksConfig{Size: uintptr(huge), Capacity: 1})
	if errors.Is(err, memory.ErrOutOfMemory) || runtime.GOARCH == "wasm" && errors.Is(err, memory.ErrTooLarge) {
		return // the system does not reserve as much
	}
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b.Close)
	if _, err := b.Get(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("Get beyond the budget: %v", err)
	}
	b.open(0)
	if vacant, bad := b.vacant(); len(vacant) != 0 || len(bad) != 0 {
		t.Errorf("%v, %v", vacant, bad)
	}
	mustCheck(t, b)
	if err := b.Trim(); err != nil {
		t.Error(err)
	}
}
