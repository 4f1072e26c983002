package compose_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// A plain allocator has nothing but Alloc and Free, on the Go heap. Tests set how it behaves.
type plain struct {
	slots  [64][64]uint64
	taken  [64]bool
	most   int // slots to allocate
	err    error
	panics any
	frees  int
}

func newPlain(most int) *plain { return &plain{most: most, err: memory.ErrOutOfMemory} }

func (p *plain) Alloc(size, al uintptr) (unsafe.Pointer, error) {
	if p.panics != nil {
		panic(p.panics)
	}
	for i := range p.most {
		if !p.taken[i] && size <= 512 {
			p.taken[i] = true
			return unsafe.Pointer(&p.slots[i]), nil
		}
	}
	return nil, p.err
}

func (p *plain) Free(q unsafe.Pointer, size uintptr) {
	if p.panics != nil {
		panic(p.panics)
	}
	p.taken[(uintptr(q)-uintptr(unsafe.Pointer(&p.slots)))/512] = false
	p.frees++
}

// An owning plain allocator has what every part needs, and a Reset, and panics if a test asks for it.
type owning struct {
	*plain
	closes, resets int
	failClose      error
	stats          memory.Stats
	failCheck      error
}

func (o *owning) Owns(q unsafe.Pointer) bool {
	return uintptr(q)-uintptr(unsafe.Pointer(&o.slots)) < unsafe.Sizeof(o.slots)
}

func (o *owning) Reset() {
	if o.panics != nil {
		panic(o.panics)
	}
	o.taken = [64]bool{}
	o.resets++
}

func (o *owning) Close() error {
	if o.panics != nil {
		panic(o.panics)
	}
	o.closes++
	return o.failClose
}

func (o *owning) Stats() memory.Stats { return o.stats }
func (o *owning) Check() error        { return o.failCheck }

func newOwning(most int) *owning { return &owning{plain: newPlain(most)} }

func must[A any](a A, err error) A {
	if err != nil {
		panic(err)
	}
	return a
}

// panicOf returns what f panics with.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func second[A any](_ A, err error) error { return err }

func TestNew_RefusesUnusableParts(t *testing.T) {
	one := newOwning(1)
	var none *owning
	for want, err := range map[string]error{
		"compose: new Fallback: the first allocator is nil":                         second(compose.NewFallback(nil, one)),
		"compose: new Fallback: the second allocator is nil":                        second(compose.NewFallback(one, nil)),
		"compose: new Fallback: the second allocator is a nil *compose_test.owning": second(compose.NewFallback(one, none)),
		"compose: new Fallback: the first and the second allocator are the same":    second(compose.NewFallback(one, one)),
		"compose: new BySize: the small allocator is nil":                           second(compose.NewBySize(1, nil, one)),
		"compose: new BySize: the large allocator is a nil *compose_test.owning":    second(compose.NewBySize(1, one, none)),
		"compose: new BySize: the small and the large allocator are the same":       second(compose.NewBySize(1, one, one)),
		"compose: new Locked: the inner allocator is nil":                           second(compose.NewLocked(nil, nil)),
		"compose: new Locked: the inner allocator is a nil *compose_test.owning":    second(compose.NewLocked(none, nil)),
		"compose: new Counted: the inner allocator is nil":                          second(compose.NewCounted(nil, compose.CountedConfig{})),
		"compose: new Counted: the inner allocator is a nil *compose_test.owning":   second(compose.NewCounted(none, compose.CountedConfig{})),
	} {
		if want += ": " + memory.ErrConfig.Error(); err == nil || err.Error() != want || !errors.Is(err, memory.ErrConfig) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	m := must(tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}}))
	defer m.Close()
	tag := must(m.Tag("ai"))
	for _, a := range []memory.Allocator{m, tag, m.Worker(0)} {
		if err := second(compose.NewLocked(a, nil)); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "; a lock would not guard the other calls of its manager; other goroutines allocate from Manager.Worker and free through Manager.NewFreer: ") {
			t.Errorf("Locked of a %T: %v", a, err)
		}
		if err := second(compose.NewFallback(a, one)); err == nil || !strings.Contains(err.Error(), "; NewCounted adds it: ") {
			t.Errorf("Fallback of a %T: %v", a, err)
		}
	}
	// Not comparable, and still two.
	type odd struct {
		*owning
		_ []int
	}
	if _, err := compose.NewFallback(odd{owning: one}, odd{owning: one}); err != nil {
		t.Error(err)
	}
}

func TestFallback_OnlyExhaustionFallsBack(t *testing.T) {
	first, last := newOwning(0), newOwning(2)
	f := must(compose.NewFallback(first, last))
	for _, err := range []error{memory.ErrClosed, memory.ErrAlign, errors.New("else")} {
		first.err = err
		if p, got := f.Alloc(8, 8); p != nil || got != err {
			t.Errorf("%v, %v; want %v", p, got, err)
		}
	}
	for _, err := range []error{memory.ErrTooLarge, &memory.Exhausted{Op: "x: alloc"}} {
		first.err = err
		if p, got := f.Alloc(8, 8); p == nil || got != nil {
			t.Errorf("after %v: %v, %v", err, p, got)
		}
	}
	if s := f.Stats(); s.Failures != 0 {
		t.Errorf("%d failures, though every request that was in want was met", s.Failures)
	}
	if p, err := f.Alloc(8, 8); p != nil || err != memory.ErrOutOfMemory || f.Stats().Failures != 1 {
		t.Errorf("both full: %v, %v, %d failures", p, err, f.Stats().Failures)
	}
	last.err = memory.ErrClosed
	if _, err := f.Alloc(8, 8); err != memory.ErrClosed || f.Stats().Failures != 1 {
		t.Errorf("the second closed: %v, %d failures", err, f.Stats().Failures)
	}
}

func TestFallback_FreesABlockInItsPart(t *testing.T) {
	first, last := newOwning(1), newOwning(9)
	f := must(compose.NewFallback(first, last))
	p, q := memtest.MustAlloc(t, f, 8, 8), memtest.MustAlloc(t, f, 8, 8)
	if !f.Owns(p) || !f.Owns(q) || f.Owns(unsafe.Pointer(t)) {
		t.Error("Owns is not that of the parts")
	}
	f.Free(nil, 8)
	f.Free(q, 8)
	f.Free(p, 8)
	if first.frees != 1 || last.frees != 1 {
		t.Errorf("%d frees of the first, %d of the second", first.frees, last.frees)
	}
	if r := memtest.MustAlloc(t, f, 8, 8); r != p {
		t.Error("the first is not asked first")
	}
}

func TestBySize_TheSizeChoosesToTheByte(t *testing.T) {
	small, large := newOwning(9), newOwning(9)
	b := must(compose.NewBySize(100, small, large))
	var blocks []unsafe.Pointer
	for size, owner := range map[uintptr]*owning{0: small, 1: small, 100: small, 101: large, 512: large} {
		p := memtest.MustAlloc(t, b, size, 8)
		if !owner.Owns(p) || !b.Owns(p) {
			t.Errorf("%d bytes went to the other side", size)
		}
		if size > 100 {
			blocks = append(blocks, p)
		}
		b.Free(p, size)
	}
	if small.frees != 3 || large.frees != 2 {
		t.Errorf("%d and %d frees", small.frees, large.frees)
	}
	if _, err := b.Alloc(513, 8); err != memory.ErrOutOfMemory {
		t.Error(err)
	}
	_ = blocks
}

func TestBySize_FreeAnyAndSizeOfFindThePart(t *testing.T) {
	small, large := must(newTLSF(1<<20)(nil)), must(newSlab(nil))
	c := must(compose.NewBySize(100, small, large))
	sizer, anyFreer := c.(memory.Sizer), c.(memory.AnyFreer)
	p, q := memtest.MustAlloc(t, c, 10, 8), memtest.MustAlloc(t, c, 500, 8)
	if got, want := [2]uintptr{sizer.SizeOf(p), sizer.SizeOf(q)}, [2]uintptr{10, large.(memory.Sizer).SizeOf(q)}; got != want || want[1] < 500 {
		t.Errorf("sizes %d, want %d", got, want)
	}
	anyFreer.FreeAny(nil)
	anyFreer.FreeAny(p)
	anyFreer.FreeAny(q)
	if a, b := small.(memory.StatsReporter).Stats(), large.(memory.StatsReporter).Stats(); a.Frees != 1 || b.Frees != 1 {
		t.Errorf("%d and %d frees", a.Frees, b.Frees)
	}
	memtest.Misuse(t, func() { anyFreer.FreeAny(q) }, "slab.FreeAny")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestBySize_ResizeDoesNotCrossTheLimit(t *testing.T) {
	small, large := must(newTLSF(1<<20)(nil)), must(newTLSF(1<<20)(nil))
	b := must(compose.NewBySize(1000, small, large)).(resizer)
	defer b.Close()
	p, q := memtest.MustAlloc(t, b, 900, 8), memtest.MustAlloc(t, b, 1100, 8)
	if !b.Resize(p, 900, 1000) || b.Resize(p, 1000, 1001) || !b.Resize(q, 1100, 1001) || b.Resize(q, 1001, 1000) {
		t.Error("up to the limit a block grows, from the other side it shrinks to it")
	}
	memtest.Misuse(t, func() { b.Resize(p, 999, 2000) }, "tlsf.Resize", "size")
	memtest.Misuse(t, func() { b.Free(p, 1001) }, "tlsf.Free")
	memtest.Misuse(t, func() { b.Free(q, 1000) }, "tlsf.Free")
	b.Free(p, 1000)
	b.Free(q, 1001)
	memtest.MustCheck(t, b)
}

func TestBySize_LargestFreeIsOfTheSideThatWouldServeIt(t *testing.T) {
	report := func(largest uint64) *owning {
		o := newOwning(1)
		o.stats = memory.Stats{LargestFree: largest, Free: 5000, Peak: 7}
		return o
	}
	for _, c := range []struct{ small, large, want uint64 }{
		{400, 3000, 3000}, {400, 1000, 400}, {4000, 1000, 1000}, {4000, 1001, 1001}, {4000, 0, 1000}, {0, 900, 0},
	} {
		s := must(compose.NewBySize(1000, report(c.small), report(c.large))).Stats()
		if s.LargestFree != c.want || s.Free != 10_000 || s.Peak != 14 {
			t.Errorf("%d and %d: %+v", c.small, c.large, s)
		}
	}
}

// resizer is a composition of parts that can be resized.
type resizer interface {
	compose.Allocator
	memory.Resizer
}

func TestPair_ResetCanBeRetriedAfterAPanic(t *testing.T) {
	first, last := newOwning(9), newOwning(9)
	b := must(compose.NewBySize(8, first, last)).(memory.Resetter)
	b.Reset()
	last.panics = "hook"
	if panicOf(b.Reset) != "hook" || first.resets != 2 || last.resets != 1 {
		t.Errorf("a panic of the second: %d and %d resets", first.resets, last.resets)
	}
	last.panics = nil
	b.Reset()
	if first.resets != 3 || last.resets != 2 {
		t.Errorf("afterwards: %d and %d resets", first.resets, last.resets)
	}
}

func TestPair_CloseClosesBothIfTheFirstFails(t *testing.T) {
	first, last := newOwning(9), newOwning(9)
	f := must(compose.NewFallback(first, last))
	p := memtest.MustAlloc(t, f, 8, 8)
	first.panics = "hook"
	if panicOf(func() { _ = f.Close() }) != "hook" || last.closes != 0 {
		t.Error("the second was closed under a first that is open")
	}
	first.panics = nil
	f.Free(p, 8) // open
	first.failClose = errors.New("kept")
	if err := f.Close(); err == nil || err.Error() != "compose: the first allocator: kept" || last.closes != 1 {
		t.Errorf("%v, %d", err, last.closes)
	}
	if _, err := f.Alloc(8, 8); err != memory.ErrClosed || f.Owns(p) {
		t.Errorf("open after Close: %v", err)
	}
	memtest.Misuse(t, func() { f.Free(p, 8) }, "compose.Free(", "the allocator is closed")
	first.failClose = nil
	last.failClose = errors.New("late")
	if err := f.Close(); err == nil || err.Error() != "compose: the second allocator: late" {
		t.Error(err)
	}
	last.failClose = nil
	if err := f.Close(); err != nil || f.Check() != nil {
		t.Error(err)
	}
	tl, other := must(newTLSF(1<<20)(nil)), must(newTLSF(1<<20)(nil))
	b := must(compose.NewBySize(8, tl, other))
	q := memtest.MustAlloc(t, b, 8, 8)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Alloc(8, 8); err != memory.ErrClosed || b.(memory.Trimmer).Trim() != memory.ErrClosed || b.Owns(q) {
		t.Errorf("open after Close: %v", err)
	}
	for name, f := range map[string]func(){
		"Free": func() { b.Free(q, 8) }, "Resize": func() { b.(memory.Resizer).Resize(q, 8, 7) }, "FreeAny": func() { b.(memory.AnyFreer).FreeAny(q) },
		"SizeOf": func() { b.(memory.Sizer).SizeOf(q) }, "Reset": func() { b.(memory.Resetter).Reset() },
	} {
		memtest.Misuse(t, f, "compose."+name, "the allocator is closed")
	}
}

func TestPair_TrimTrimsBothParts(t *testing.T) {
	one, other := must(newTLSF(1<<20)(nil)), must(newTLSF(1<<20)(nil))
	f := must(compose.NewFallback(one, other))
	for _, a := range []memory.Allocator{one, other} {
		a.Free(memtest.MustAlloc(t, a, 30_000, 8), 30_000)
	}
	trim := f.(memory.Trimmer).Trim
	if err := trim(); err != nil || f.Stats().Committed != 0 {
		t.Errorf("%v, %d bytes committed", err, f.Stats().Committed)
	}
	_ = one.(io.Closer).Close()
	if err := trim(); !errors.Is(err, memory.ErrClosed) {
		t.Error(err)
	}
	_ = other.(io.Closer).Close()
	if err := trim(); err != memory.ErrClosed {
		t.Error(err)
	}
}

func TestPair_CheckNamesThePart(t *testing.T) {
	bad := newOwning(1)
	bad.failCheck = errors.New("corrupt")
	for want, c := range map[string]memory.Checker{
		"compose: the second allocator: corrupt": must(compose.NewFallback(newOwning(1), bad)),
		"compose: the small allocator: corrupt":  must(compose.NewBySize(1, bad, newOwning(1))),
		"corrupt":                                must(compose.NewLocked(bad, nil)),
	} {
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestLocked_APanicOfInnerUnlocks(t *testing.T) {
	in := newOwning(9)
	l := must(compose.NewLocked(in, nil))
	p := memtest.MustAlloc(t, l, 8, 8)
	in.panics = "inner"
	for name, f := range map[string]func(){
		"Alloc": func() { _, _ = l.Alloc(8, 8) }, "Free": func() { l.Free(p, 8) }, "Reset": l.(memory.Resetter).Reset,
		"Close": func() { _ = l.Close() },
	} {
		if got := panicOf(f); got != "inner" {
			t.Errorf("%s: %v", name, got)
		}
	}
	in.panics = nil
	l.Free(p, 8)
	if in.frees != 1 {
		t.Error("the block was not freed")
	}
}

// Every method holds the mutex that it was given, and a caller that holds it may use inner.
func TestLocked_EveryMethodLocksTheMutex(t *testing.T) {
	var mu sync.Mutex
	in := must(newTLSF(1 << 20)(nil))
	a := must(compose.NewLocked(in, &mu)).(everything)
	p, q, r := memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, in, 100, 8)
	locks := func(name string, f func()) {
		t.Helper()
		mu.Lock()
		done := make(chan struct{})
		go func() { f(); close(done) }()
		select {
		case <-done:
			t.Errorf("%s does not lock", name)
		case <-time.After(time.Millisecond):
		}
		mu.Unlock()
		<-done
	}
	for name, f := range map[string]func(){
		"Alloc": func() { _, _ = a.Alloc(8, 8) }, "Free": func() { a.Free(p, 100) }, "FreeAny": func() { a.FreeAny(q) },
		"SizeOf": func() { a.SizeOf(r) }, "Resize": func() { a.Resize(r, 100, 100) }, "Owns": func() { a.Owns(p) }, "Base": func() { a.Base() },
		"Extent": func() { a.Extent() }, "Trim": func() { _ = a.Trim() }, "Stats": func() { a.Stats() }, "Check": func() { _ = a.Check() },
	} {
		locks(name, f)
	}
	locks("Reset", a.Reset)
	locks("Close", func() { _ = a.Close() })
}

func TestLocked_ServesGoroutinesOneAtATime(t *testing.T) {
	in := must(newTLSF(1 << 20)(nil))
	var mu sync.Mutex
	l := must(compose.NewLocked(in, &mu))
	defer l.Close()
	used := func() int { return int(in.(memory.StatsReporter).Stats().InUse) }
	one := memtest.MustAlloc(t, l, 50, 8)
	small := used() // rounded up, as each block is
	l.Free(one, 50)
	var wg sync.WaitGroup
	most, alone := 0, 0
	for range 4 {
		wg.Go(func() {
			for range 500 {
				l.Free(memtest.MustAlloc(t, l, 50, 8), 50)
				mu.Lock()
				before := used()
				p, q := memtest.MustAlloc(t, in, 100, 8), memtest.MustAlloc(t, in, 200, 8)
				most, alone = max(most, used()), used()-before
				in.Free(p, 100)
				in.Free(q, 200)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if s := l.Stats(); s.Live != 0 || s.Allocs != 6001 {
		t.Errorf("%+v", s)
	}
	if alone < 300 || most < alone || most > alone+3*small {
		t.Errorf("%d bytes in use under one lock: two blocks of %d bytes, and at most three of %d", most, alone, small)
	}
}

// The parts of a composition refuse what they refuse alone, whatever lies between.
func TestCompose_NestedMisuseIsExact(t *testing.T) {
	b := must(buddy.New(nil, buddy.Config{Reserve: 1 << 20}))
	s := must(newSlab(nil))
	l := must(compose.NewLocked(must(compose.NewFallback(s, b)), nil))
	defer l.Close()
	p, q := memtest.MustAlloc(t, l, 100, 8), memtest.MustAlloc(t, l, 5000, 8)
	memtest.Misuse(t, func() { l.Free(q, 5001) }, "buddy.Free", "size")
	l.Free(p, 100)
	l.Free(q, 5000)
	if invariant.Exact {
		memtest.Misuse(t, func() { l.Free(p, 100) }, "slab.Free")
	}
	memtest.Misuse(t, func() { l.(memory.AnyFreer).FreeAny(q) }, "buddy.FreeAny")
	memtest.MustCheck(t, l)
}

func TestFallback_AnEmptyBlockAtTheEndOfTheFirst(t *testing.T) {
	first, err := arena.NewLinear(nil, arena.LinearConfig{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := compose.NewFallback(first, second)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err := f.Alloc(0, 16); err != nil || !first.Owns(p) {
		t.Errorf("the first has space: %p, %v", p, err)
	}
	rest := uintptr(first.Stats().Reserved)
	if p, err := f.Alloc(rest, 16); err != nil || !first.Owns(p) {
		t.Fatalf("the rest of the first: %p, %v", p, err)
	}
	p, err := f.Alloc(0, 16)
	if err != nil || !second.Owns(p) {
		t.Fatalf("the first is full: %p, %v", p, err)
	}
	if p, err = memory.Grow(f, p, 0, 64, 16); err != nil {
		t.Fatal(err)
	}
	f.Free(p, 64)
	if st := second.Stats(); st.Live != 0 || st.Allocs == 0 || f.Stats().Failures != 0 {
		t.Errorf("the second has %+v", st)
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}

// At is memory that begins or ends at a place, and has one block of no bytes left.
type at struct {
	*owning
	base, block unsafe.Pointer
	size        uintptr
	frees       int
}

func (a *at) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	if size > 0 || a.block == nil {
		return nil, memory.ErrOutOfMemory
	}
	return a.block, nil
}
func (a *at) Free(_ unsafe.Pointer, size uintptr) {
	if size == 0 { // its only size
		a.frees++
	}
}
func (a *at) Owns(p unsafe.Pointer) bool { return uintptr(p)-uintptr(a.base) < a.size }

func TestFallback_AnEmptyBlockAtTheEndOfTheSecond(t *testing.T) {
	buf := new([128]byte)
	second := &at{owning: newOwning(0), base: unsafe.Pointer(&buf[0]), size: 64, block: unsafe.Pointer(&buf[64])}
	first := &at{owning: newOwning(0), base: unsafe.Pointer(&buf[64]), size: 64}
	f := must(compose.NewFallback(first, second))
	if p, err := f.Alloc(0, 1); p != nil || err != memory.ErrOutOfMemory || second.frees != 1 || first.frees != 0 || f.Stats().Failures != 1 {
		t.Errorf("%p, %v; the second has %d back, the first %d", p, err, second.frees, first.frees)
	}
	second.block = unsafe.Pointer(&buf[63])
	if p, err := f.Alloc(0, 1); p != second.block || err != nil || second.frees != 1 {
		t.Errorf("%p, %v", p, err)
	}
}

// An allocator around one with a Base has it too, so containers can use it.
func TestBase_IsThatOfInner(t *testing.T) {
	tl := must(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20}))
	c := must(compose.NewCounted(tl, compose.CountedConfig{})).(based)
	l := must(compose.NewLocked(c, nil)).(based)
	ends := must(stack.NewDouble(nil, stack.DoubleConfig{Bytes: 1 << 16}))
	defer ends.Close()
	ce := must(compose.NewCounted(ends.Bottom(), compose.CountedConfig{})).(based)
	if c.Base() != tl.Base() || l.Base() != tl.Base() || l.Base() == nil || l.Extent() != uintptr(tl.Stats().Reserved) || c.Extent() != l.Extent() {
		t.Errorf("%p and %p, %d bytes; those of inner are %p and %d", c.Base(), l.Base(), l.Extent(), tl.Base(), tl.Stats().Reserved)
	}
	if ce.Base() != ends.Bottom().Base() || ce.Extent() != ends.Bottom().Extent() {
		t.Errorf("%p, %d bytes; those of the end are %p and %d", ce.Base(), ce.Extent(), ends.Bottom().Base(), ends.Bottom().Extent())
	}
	silent := must(compose.NewCounted(struct {
		memory.Allocator
		memory.Baser
	}{tl, tl}, compose.CountedConfig{})).(based)
	if silent.Base() != tl.Base() || silent.Extent() != 0 {
		t.Errorf("an inner allocator without statistics: %p, %d", silent.Base(), silent.Extent())
	}
	sp := must(container.In(l))
	var v container.Vec[int]
	for i := range 1000 {
		if err := v.Append(sp, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Check(sp); err != nil || v.At(sp, 999) != 999 || c.Stats().InUse != uint64(v.Cap())*uint64(unsafe.Sizeof(0)) {
		t.Errorf("%v, %d bytes", err, c.Stats().InUse)
	}
	v.Free(sp)
	if c.Stats().Live != 0 {
		t.Errorf("%+v", c.Stats())
	}
	if err := errors.Join(silent.Close(), l.Close()); err != nil || l.Base() != nil || c.Base() != nil || silent.Base() != nil {
		t.Errorf("%v; once closed: %p, %p, %p", err, l.Base(), c.Base(), silent.Base())
	}
}

type based interface {
	compose.Allocator
	memory.Baser
	Extent() uintptr
}

// everything has every optional interface.
type everything interface {
	based
	memory.Resetter
	memory.Resizer
	memory.Trimmer
	memory.Sizer
	memory.AnyFreer
}
