package compose_test

import (
	"errors"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// A plain allocator is one that has nothing but Alloc and Free, on the Go heap, and does what a
// test tells it.
type plain struct {
	slots  [64][64]uint64
	taken  [64]bool
	most   int // slots to hand out
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

// An owning plain allocator knows its range, and panics in what a test tells it.
type owning struct {
	*plain
	closes, resets int
	failClose      error
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

func TestNew_RefusesPartsThatCannotBeOnes(t *testing.T) {
	one := newOwning(1)
	var none *owning
	for want, err := range map[string]error{
		"compose: new Fallback: the first allocator is nil":                                                                    second(compose.NewFallback(nil, one)),
		"compose: new Fallback: the second allocator is nil":                                                                   second(compose.NewFallback(one, nil)),
		"compose: new Fallback: the second allocator is a nil *compose_test.owning":                                            second(compose.NewFallback(one, none)),
		"compose: new Fallback: the first and the second allocator are one and the same":                                       second(compose.NewFallback(one, one)),
		"compose: new Fallback: the first allocator, a *compose_test.plain, cannot tell what it Owns, and so whose a block is": second(compose.NewFallback(newPlain(1), one)),
		"compose: new BySize: the small allocator is nil":                                                                      second(compose.NewBySize(1, nil, one)),
		"compose: new BySize: the large allocator is a nil *compose_test.owning":                                               second(compose.NewBySize(1, one, none)),
		"compose: new BySize: the small and the large allocator are one and the same":                                          second(compose.NewBySize(1, one, one)),
		"compose: new Locked: the inner allocator is nil":                                                                      second(compose.NewLocked(nil)),
		"compose: new Locked: the inner allocator is a nil *compose_test.owning":                                               second(compose.NewLocked(none)),
		"compose: new Counted: the inner allocator is nil":                                                                     second(compose.NewCounted(nil, compose.CountedConfig{})),
	} {
		if want += ": " + memory.ErrConfig.Error(); err == nil || err.Error() != want {
			t.Errorf("%v; want %q", err, want)
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

func second[A any](_ A, err error) error { return err }

func TestCan_IsWhatWorksOnEveryBlock(t *testing.T) {
	const bare = compose.Capabilities(0)
	ownOnly := compose.Owns | compose.Resets | compose.Closes
	tl := must(newTLSF(1 << 20)(nil))
	ar := must(arena.NewLinear(nil, arena.LinearConfig{Bytes: 4096}))
	defer func() { _, _ = tl.(interface{ Close() error }).Close(), ar.Close() }()
	ofLinear := compose.Resets | compose.Resizes | compose.Owns | compose.Reports | compose.Checks | compose.Closes
	const based = compose.Bases
	for name, c := range map[string]struct {
		a    memory.Allocator
		want compose.Capabilities
	}{
		"plain":                            {newPlain(1), bare},
		"owning":                           {newOwning(1), ownOnly},
		"tlsf":                             {tl, compose.All},
		"linear":                           {ar, ofLinear | based},
		"fallback of all":                  {must(compose.NewFallback(tl, must(compose.NewLocked(tl)))), compose.All &^ based},
		"locked tlsf":                      {must(compose.NewLocked(tl)), compose.All},
		"counted linear":                   {must(compose.NewCounted(ar, compose.CountedConfig{})), compose.All &^ compose.Trims},
		"fallback of some":                 {must(compose.NewFallback(ar, tl)), ofLinear},
		"fallback of few":                  {must(compose.NewFallback(newOwning(1), tl)), ownOnly},
		"by size, no owner":                {must(compose.NewBySize(8, must(compose.NewLocked(newPlain(1))), newPlain(1))), bare},
		"by size, no owner but any freers": {must(compose.NewBySize(8, anyFreer{newPlain(1)}, anyFreer{newPlain(1)})), bare},
		"by size, a large owner":           {must(compose.NewBySize(8, anyFreer{newPlain(1)}, tl)), compose.Sizes | compose.FreesAny},
		"by size":                          {must(compose.NewBySize(8, ar, tl)), ofLinear},
		"locked":                           {must(compose.NewLocked(newOwning(1))), ownOnly},
		"counted plain":                    {must(compose.NewCounted(newPlain(1), compose.CountedConfig{})), compose.Owns | compose.Sizes | compose.FreesAny | compose.Reports | compose.Checks},
		"locked counted":                   {must(compose.NewLocked(must(compose.NewCounted(newOwning(1), compose.CountedConfig{})))), ownOnly | compose.Sizes | compose.FreesAny | compose.Reports | compose.Checks},
		"locked fallback":                  {must(compose.NewLocked(must(compose.NewFallback(ar, tl)))), ofLinear},
	} {
		if got := compose.Can(c.a); got != c.want {
			t.Errorf("%s: %010b, want %010b", name, got, c.want)
		}
	}
}

type anyFreer struct{ *plain }

func (a anyFreer) FreeAny(p unsafe.Pointer)        { a.Free(p, 0) }
func (a anyFreer) SizeOf(p unsafe.Pointer) uintptr { return 512 }

// What a composition of plain parts cannot do it says, and nothing has happened.
func TestLacking_IsNamedAndChangesNothing(t *testing.T) {
	first, last := newOwning(1), newPlain(9)
	f := must(compose.NewFallback(first, last))
	b := must(compose.NewBySize(64, newPlain(9), last))
	l := must(compose.NewLocked(last))
	c := must(compose.NewCounted(last, compose.CountedConfig{}))
	pf := memtest.MustAlloc(t, f, 8, 8)
	ps := memtest.MustAlloc(t, f, 8, 8)
	before := last.frees
	for want, do := range map[string]func(){
		"compose.FreeAny(": func() { f.FreeAny(pf) },
		"the first allocator, a *compose_test.owning, has no SizeOf":                                                          func() { f.SizeOf(pf) },
		"the second allocator, a *compose_test.plain, has no FreeAny":                                                         func() { f.FreeAny(ps) },
		"the second allocator, a *compose_test.plain, has no SizeOf":                                                          func() { f.SizeOf(ps) },
		"the second allocator, a *compose_test.plain, has no Reset":                                                           func() { f.Reset() },
		"neither the small allocator, a *compose_test.plain, nor the large one, a *compose_test.plain, can tell what it Owns": func() { b.FreeAny(ps) },
		"compose.SizeOf(": func() { b.SizeOf(ps) },
		"the small allocator, a *compose_test.plain, has no Reset":   func() { b.Reset() },
		"the inner allocator, a *compose_test.plain, has no FreeAny": func() { l.FreeAny(ps) },
		"the inner allocator, a *compose_test.plain, has no SizeOf":  func() { l.SizeOf(ps) },
		"compose.Reset: the inner allocator":                         func() { l.Reset() },
		"a *compose_test.plain, has no Reset":                        func() { c.Reset() },
		"allocator does not own it":                                  func() { must(compose.NewLocked(first)).Resize(ps, 8, 9) },
	} {
		memtest.Misuse(t, do, want)
	}
	if first.resets != 0 || last.frees != before || f.Resize(pf, 8, 9) || f.Resize(ps, 8, 9) || l.Resize(ps, 8, 9) {
		t.Error("something was reset, freed or resized")
	}
	memtest.Misuse(t, func() { must(compose.NewLocked(anyFreer{last})).Resize(ps, 513, 8) }, "compose.Resize(", "size 513)", "wrong size: the block has 512 bytes")
	if must(compose.NewLocked(anyFreer{last})).Resize(ps, 512, 8) {
		t.Error("resized")
	}
	for _, trim := range []func() error{f.Trim, b.Trim, l.Trim, c.Trim} {
		if err := trim(); err != errors.ErrUnsupported {
			t.Errorf("Trim: %v", err)
		}
	}
	if (l.Stats() != memory.Stats{}) || f.Stats().InUse != 0 || l.Owns(ps) || b.Owns(ps) || f.Check() != nil || l.Check() != nil {
		t.Error("figures from parts that report none, or an address known to one that is no Owner")
	}
	l.Free(ps, 8) // the mutex is free
}

func TestFallback_OnlyWantOfMemoryFallsBack(t *testing.T) {
	first, last := newOwning(0), newPlain(2)
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
	if a, b := f.Parts(); a != memory.Allocator(first) || b != memory.Allocator(last) {
		t.Error("Parts are not what it was made of")
	}
}

func TestFallback_ABlockGoesBackToWhereItCameFrom(t *testing.T) {
	first, last := newOwning(1), newPlain(9)
	f := must(compose.NewFallback(first, last))
	p, q := memtest.MustAlloc(t, f, 8, 8), memtest.MustAlloc(t, f, 8, 8)
	if !f.Owns(p) || f.Owns(q) {
		t.Error("Owns is not what the parts say")
	}
	f.Free(nil, 8)
	f.FreeAny(nil)
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
	if b.Limit() != 100 {
		t.Errorf("Limit is %d", b.Limit())
	}
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

// One Owner is enough to tell both sides apart.
func TestBySize_AnOwnerOnEitherSideTellsWhoseABlockIs(t *testing.T) {
	for _, smallOwns := range []bool{true, false} {
		one := must(newTLSF(1 << 20)(nil))
		other := anyFreer{newPlain(9)}
		a, b := one, memory.Allocator(other)
		if !smallOwns {
			a, b = b, a
		}
		c := must(compose.NewBySize(100, a, b))
		p, q := memtest.MustAlloc(t, c, 10, 8), memtest.MustAlloc(t, c, 500, 8)
		want := [2]uintptr{10, 512}
		if !smallOwns {
			want = [2]uintptr{512, 500}
		}
		if got := [2]uintptr{c.SizeOf(p), c.SizeOf(q)}; got != want {
			t.Errorf("small owns %t: sizes %d, want %d", smallOwns, got, want)
		}
		c.FreeAny(nil)
		c.FreeAny(p)
		c.FreeAny(q)
		if other.frees != 1 || one.(memory.StatsReporter).Stats().Live != 0 {
			t.Errorf("small owns %t: %d frees of the other", smallOwns, other.frees)
		}
		_ = c.Close()
	}
}

func TestBySize_ResizeDoesNotCrossTheLimit(t *testing.T) {
	small, large := must(newTLSF(1<<20)(nil)), must(newTLSF(1<<20)(nil))
	b := must(compose.NewBySize(1000, small, large))
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
	report := func(largest uint64) reporter {
		return reporter{newPlain(1), memory.Stats{LargestFree: largest, Free: 5000, Peak: 7}}
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

type reporter struct {
	*plain
	s memory.Stats
}

func (r reporter) Stats() memory.Stats { return r.s }

func TestPair_ResetDoesBothOrNone(t *testing.T) {
	first, last := newOwning(9), newOwning(9)
	b := must(compose.NewBySize(8, first, last))
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

func TestPair_CloseClosesBothWhateverTheFirstSays(t *testing.T) {
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
	if _, err := f.Alloc(8, 8); err != memory.ErrClosed || f.Trim() != memory.ErrClosed || f.Owns(p) {
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
	b := must(compose.NewBySize(8, newPlain(1), newPlain(1)))
	if b.Close() != nil || panicOf(func() { b.Free(p, 8) }) == nil || panicOf(func() { b.Resize(p, 8, 7) }) == nil {
		t.Error("a pair of parts that cannot be closed is open afterwards")
	}
	if _, err := b.Alloc(8, 8); err != memory.ErrClosed {
		t.Error(err)
	}
}

func TestPair_TrimTrimsWhatCanBe(t *testing.T) {
	tl := must(newTLSF(1 << 20)(nil))
	plainOne := newOwning(9)
	for _, p := range []*compose.Fallback{must(compose.NewFallback(tl, plainOne)), must(compose.NewFallback(plainOne, tl))} {
		tl.Free(memtest.MustAlloc(t, tl, 30_000, 8), 30_000)
		if err := p.Trim(); err != nil || p.Stats().Committed != 0 {
			t.Errorf("%v, %d bytes committed", err, p.Stats().Committed)
		}
	}
	_ = tl.(interface{ Close() error }).Close()
	if err := must(compose.NewFallback(tl, plainOne)).Trim(); err != memory.ErrClosed {
		t.Error(err)
	}
}

func TestPair_CheckNamesThePart(t *testing.T) {
	bad := checker{newOwning(1)}
	for want, c := range map[string]memory.Checker{
		"compose: the second allocator: corrupt": must(compose.NewFallback(newOwning(1), bad)),
		"compose: the small allocator: corrupt":  must(compose.NewBySize(1, bad, newOwning(1))),
		"corrupt":                                must(compose.NewLocked(bad)),
	} {
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

type checker struct{ *owning }

func (checker) Check() error { return errors.New("corrupt") }

func TestLocked_APanicUnderItLeavesItUnlocked(t *testing.T) {
	in := newOwning(9)
	l := must(compose.NewLocked(in))
	p := memtest.MustAlloc(t, l, 8, 8)
	in.panics = "inner"
	for name, f := range map[string]func(){
		"Alloc": func() { _, _ = l.Alloc(8, 8) }, "Free": func() { l.Free(p, 8) }, "Reset": l.Reset,
		"Close": func() { _ = l.Close() }, "Do": func() { l.Do(func(a memory.Allocator) { a.Free(p, 8) }) },
		"none": func() { l.Free(p, 8) },
	} {
		if got := panicOf(f); got != "inner" {
			t.Errorf("%s: %v", name, got)
		}
	}
	in.panics = nil
	l.Free(p, 8)
	l.Free(nil, 8)
	l.FreeAny(nil)
	if l.Inner() != memory.Allocator(in) || in.frees != 1 {
		t.Error("the block was not freed, or elsewhere")
	}
}

func TestLocked_DoIsOneLockForMuch(t *testing.T) {
	l := must(compose.NewLocked(must(newTLSF(1 << 20)(nil))))
	defer l.Close()
	var wg sync.WaitGroup
	most := 0
	for range 4 {
		wg.Go(func() {
			for range 500 {
				l.Do(func(a memory.Allocator) {
					p, q := memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, a, 200, 8)
					most = max(most, int(a.(memory.StatsReporter).Stats().Live))
					a.Free(p, 100)
					a.Free(q, 200)
				})
			}
		})
	}
	wg.Wait()
	if s := l.Stats(); most != 2 || s.Live != 0 || s.Allocs != 4000 {
		t.Errorf("%d blocks live at once under one lock; %+v", most, s)
	}
}

func TestLocked_AnInnerThatCannotBeClosedIsOutOfReach(t *testing.T) {
	in := newPlain(9)
	l := must(compose.NewLocked(in))
	p := memtest.MustAlloc(t, l, 8, 8)
	if err := errors.Join(l.Close(), l.Close()); err != nil || l.Trim() != memory.ErrClosed || l.Owns(p) {
		t.Error("Close")
	}
	if _, err := l.Alloc(8, 8); err != memory.ErrClosed {
		t.Error(err)
	}
	for _, f := range []func(){func() { l.Free(p, 8) }, func() { l.FreeAny(p) }, func() { l.SizeOf(p) }, func() { l.Resize(p, 8, 9) }, l.Reset, func() { l.Do(nil) }} {
		memtest.Misuse(t, f, "the allocator is closed")
	}
	for op, c := range map[string]struct {
		f    func()
		size uintptr
	}{"Free": {func() { l.Free(p, 8) }, 8}, "FreeAny": {func() { l.FreeAny(p) }, 0}, "SizeOf": {func() { l.SizeOf(p) }, 0}, "Resize": {func() { l.Resize(p, 8, 9) }, 8}} {
		if m := panicOf(c.f).(*memory.Misuse); m.Op != op || m.Addr != uintptr(p) || m.Size != c.size {
			t.Errorf("%s: %+v", op, m)
		}
	}
	l.Free(nil, 0)
	if in.frees != 0 {
		t.Error("inner was touched")
	}
}

// The parts of a composition refuse what they refuse alone, whatever lies between.
func TestCompose_NestedMisuseIsExact(t *testing.T) {
	b := must(buddy.New(nil, buddy.Config{Reserve: 1 << 20}))
	s := must(newSlab(nil))
	l := must(compose.NewLocked(must(compose.NewFallback(s, b))))
	defer l.Close()
	p, q := memtest.MustAlloc(t, l, 100, 8), memtest.MustAlloc(t, l, 5000, 8)
	memtest.Misuse(t, func() { l.Free(q, 5001) }, "buddy.Free", "size")
	l.Free(p, 100)
	l.Free(q, 5000)
	if invariant.Exact {
		memtest.Misuse(t, func() { l.Free(p, 100) }, "slab.Free")
	}
	memtest.Misuse(t, func() { l.FreeAny(q) }, "buddy.FreeAny")
	memtest.MustCheck(t, l)
}

func TestFallback_ABlockOfNoBytesAtTheEndOfTheFirstIsTheSeconds(t *testing.T) {
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
		t.Errorf("the first has room: %p, %v", p, err)
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

func TestFallback_ABlockOfNoBytesAtTheEndOfTheSecondIsNotTheFirsts(t *testing.T) {
	room := new([128]byte)
	second := &at{base: unsafe.Pointer(&room[0]), size: 64, block: unsafe.Pointer(&room[64])}
	first := &at{base: unsafe.Pointer(&room[64]), size: 64}
	f := must(compose.NewFallback(first, second))
	if p, err := f.Alloc(0, 1); p != nil || err != memory.ErrOutOfMemory || second.frees != 1 || first.frees != 0 || f.Stats().Failures != 1 {
		t.Errorf("%p, %v; the second has %d back, the first %d", p, err, second.frees, first.frees)
	}
	second.block = unsafe.Pointer(&room[63])
	if p, err := f.Alloc(0, 1); p != second.block || err != nil || second.frees != 1 {
		t.Errorf("%p, %v", p, err)
	}
}

// What is put around an allocator with a Base has it, too, so that containers live in it.
func TestBase_IsTheInnersAsFarAsThereIsOne(t *testing.T) {
	based := func(a memory.Allocator) unsafe.Pointer { return a.(memory.Baser).Base() }
	reach := func(a memory.Allocator) uintptr { return a.(interface{ Extent() uintptr }).Extent() }
	tl := must(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20}))
	ar := must(arena.NewLinear(nil, arena.LinearConfig{Bytes: 1 << 16}))
	c := must(compose.NewCounted(tl, compose.CountedConfig{}))
	l := must(compose.NewLocked(c))
	ends := must(stack.NewDouble(nil, stack.DoubleConfig{Bytes: 1 << 16}))
	defer ends.Close()
	lb := must(compose.NewLocked(ends.Bottom()))
	if based(c) != tl.Base() || based(l) != tl.Base() || based(l) == nil || reach(l) != uintptr(tl.Stats().Reserved) || reach(c) != reach(l) {
		t.Errorf("%p and %p, %d bytes; the inner one's are %p and %d", based(c), based(l), reach(l), tl.Base(), tl.Stats().Reserved)
	}
	if based(lb) != ends.Bottom().Base() || reach(lb) != ends.Bottom().Extent() {
		t.Errorf("%p, %d bytes; the end's are %p and %d", based(lb), reach(lb), ends.Bottom().Base(), ends.Bottom().Extent())
	}
	f, b := must(compose.NewFallback(ar, l)), must(compose.NewBySize(64, ar, l))
	for _, a := range []memory.Allocator{f, b, must(compose.NewLocked(f)), must(compose.NewLocked(newPlain(1))), must(compose.NewCounted(b, compose.CountedConfig{}))} {
		if based(a) != nil || compose.Can(a)&compose.Bases != 0 {
			t.Errorf("%T has the base %p, and can %010b", a, based(a), compose.Can(a))
		}
	}
	still := must(compose.NewLocked(struct {
		memory.Allocator
		memory.Baser
	}{ar, ar}))
	if based(still) != ar.Base() || reach(still) != 0 {
		t.Errorf("an inner one without Close: %p, %d", based(still), reach(still))
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
	if err := errors.Join(still.Close(), l.Close(), ar.Close()); err != nil || based(l) != nil || based(c) != nil || based(still) != nil {
		t.Errorf("%v; once closed: %p, %p, %p", err, based(l), based(c), based(still))
	}
}
