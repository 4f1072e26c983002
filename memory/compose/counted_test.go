package compose_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

func TestCounted_AddsWhatAPlainAllocatorLacks(t *testing.T) {
	in := newPlain(9)
	c := must(compose.NewCounted(in, compose.CountedConfig{}))
	p, q, none := memtest.MustAlloc(t, c, 100, 8), memtest.MustAlloc(t, c, 300, 8), memtest.MustAlloc(t, c, 0, 8)
	want := memory.Stats{Reserved: 400, Committed: 400, InUse: 400, Peak: 400, Live: 3, Allocs: 3, Requested: 400, Measured: 400}
	if s := c.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if c.SizeOf(p) != 100 || c.SizeOf(none) != 0 || !c.Owns(unsafe.Add(q, 299)) || c.Owns(unsafe.Add(q, 300)) || !c.Owns(none) || c.Owns(nil) || c.Owns(unsafe.Add(q, -1)) {
		t.Error("sizes, or ranges")
	}
	c.FreeAny(q)
	c.FreeAny(nil)
	c.Free(nil, 8)
	c.Free(none, 0)
	if _, err := c.Alloc(513, 8); err != memory.ErrOutOfMemory {
		t.Error(err)
	}
	in.err = memory.ErrAlign // which does not count as a failure
	if _, err := c.Alloc(513, 8); err != memory.ErrAlign {
		t.Error(err)
	}
	want = memory.Stats{Reserved: 100, Committed: 100, InUse: 100, Peak: 400, Live: 1, Allocs: 3, Frees: 2, Failures: 1, Requested: 100, Measured: 100}
	if s := c.Stats(); s != want || in.frees != 2 {
		t.Errorf("%+v, want %+v", s, want)
	}
	memtest.MustCheck(t, c)
	if errors.Join(c.Close(), c.Close(), c.Check()) != nil || c.Stats().Live != 0 || c.Stats().Frees != 3 {
		t.Errorf("closed: %+v", c.Stats())
	}
	memtest.Misuse(t, func() { c.Free(p, 100) }, "compose.Free(", "the allocator is closed")
	if _, err := c.Alloc(1, 1); err != memory.ErrClosed || c.Owns(p) {
		t.Error(err)
	}
}

// counter is a Counted around an allocator that can be resized.
type counter interface {
	compose.Counter
	memory.Resizer
}

// resizable is a plain allocator that resizes blocks up to 512 bytes.
type resizable struct{ *plain }

func (resizable) Resize(_ unsafe.Pointer, _, newSize uintptr) bool { return newSize <= 512 }

func TestCounted_MisuseIsExactBeforeInnerIsTouched(t *testing.T) {
	in := resizable{newPlain(9)}
	c := must(compose.NewCounted(in, compose.CountedConfig{})).(counter)
	p := memtest.MustAlloc(t, c, 100, 8)
	const unknown = "no live block starts there: freed twice, interior, or not from this allocator"
	for _, f := range []func(){
		func() { c.Free(unsafe.Add(p, 8), 92) }, func() { c.FreeAny(unsafe.Add(p, 8)) }, func() { c.SizeOf(unsafe.Add(p, 8)) },
		func() { c.SizeOf(nil) }, func() { c.Resize(unsafe.Add(p, 8), 92, 1) },
	} {
		memtest.Misuse(t, f, unknown)
	}
	for _, size := range []uintptr{0, 99, 101} {
		memtest.Misuse(t, func() { c.Free(p, size) }, "compose.Free(", "wrong size: the block was requested with 100 bytes")
		memtest.Misuse(t, func() { c.Resize(p, size, 5) }, "compose.Resize(", "wrong size: the block was requested with 100 bytes")
	}
	if in.frees != 0 {
		t.Error("inner was touched")
	}
	c.Free(p, 100)
	memtest.Misuse(t, func() { c.Free(p, 100) }, "compose.Free(", unknown)
	if in.frees != 1 || c.Stats().Frees != 1 {
		t.Errorf("%d frees of inner", in.frees)
	}
}

func TestCounted_AttributesBlocksOfOneHeap(t *testing.T) {
	heap := must(newTLSF(1 << 20)(nil))
	ai := must(compose.NewCounted(heap, compose.CountedConfig{}))
	sound := must(compose.NewCounted(heap, compose.CountedConfig{})).(counter)
	p, q := memtest.MustAlloc(t, ai, 1000, 8), memtest.MustAlloc(t, sound, 30, 8)
	if a, s := ai.Stats(), sound.Stats(); a.InUse != 1000 || s.InUse != 30 || a.Live != 1 || s.Live != 1 || a.Committed != s.Committed || a.Committed == 0 {
		t.Errorf("%+v and %+v", a, s)
	}
	memtest.Misuse(t, func() { sound.Free(p, 1000) }, "not from this allocator")
	if !sound.Resize(q, 30, 2000) || sound.Stats().InUse != 2000 || sound.Stats().Peak != 2000 || !sound.Resize(q, 2000, 0) || sound.Stats().InUse != 0 || sound.SizeOf(q) != 0 {
		t.Errorf("resized: %+v", sound.Stats())
	}
	memtest.MustCheck(t, sound)
	sound.Free(q, 0)
	ai.Free(p, 1000)
	if err := ai.Close(); err != nil {
		t.Error(err)
	}
	memtest.MustCheck(t, sound)
	if _, err := sound.Alloc(8, 8); err != memory.ErrClosed {
		t.Error(err)
	}
}

func TestCounted_DetectsAResetOfInner(t *testing.T) {
	in := must(arena.NewLinear(nil, arena.LinearConfig{Bytes: 4096}))
	c := must(compose.NewCounted(in, compose.CountedConfig{}))
	defer c.Close()
	p := memtest.MustAlloc(t, c, 100, 8)
	in.Reset()
	if err := c.Check(); err == nil || err.Error() != "compose: 1 blocks are live, but 0 in the inner allocator: blocks were freed without this allocator" {
		t.Error(err)
	}
	memtest.Misuse(t, func() { _, _ = c.Alloc(50, 8) }, "compose.Alloc(", "size 50", "returned the address of a live block of 100 bytes")
	memtest.MustCheck(t, c)
	q := memtest.MustAlloc(t, c, 50, 8)
	if s := c.Stats(); q != p || s.Live != 1 || s.InUse != 50 || s.Frees != 1 || s.Allocs != 2 {
		t.Errorf("afterwards: %+v", s)
	}
}

func TestCounted_ReportsEveryCall(t *testing.T) {
	in := shrinking{newOwning(2)}
	var told []string
	names := map[uintptr]string{0: "-"}
	c := must(compose.NewCounted(in, compose.CountedConfig{OnEvent: func(e compose.Event) {
		if names[e.Addr] == "" {
			names[e.Addr] = fmt.Sprint("#", len(names))
		}
		told = append(told, fmt.Sprint(e.Op, " ", names[e.Addr], " ", e.Size, " ", e.Old, " ", e.Err))
	}}))
	p := memtest.MustAlloc(t, c, 10, 8)
	memtest.MustAlloc(t, c, 20, 8)
	_, _ = c.Alloc(30, 8)
	c.Free(p, 10)
	p = memtest.MustAlloc(t, c, 40, 8)
	c.FreeAny(p)
	p = memtest.MustAlloc(t, c, 50, 8)
	r := c.(memory.Resizer)
	r.Resize(p, 50, 60) // inner cannot: no event
	r.Resize(p, 50, 45)
	c.(memory.Resetter).Reset()
	want := []string{
		"allocated #1 10 0 <nil>", "allocated #2 20 0 <nil>", "refused - 30 0 memory: out of memory", "freed #1 10 0 <nil>",
		"allocated #1 40 0 <nil>", "freed #1 40 0 <nil>", "allocated #1 50 0 <nil>", "resized #1 45 50 <nil>", "emptied - 65 0 <nil>",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q\nwant %q", told, want)
	}
	if compose.Op(9).String() != "Op(9)" || compose.Resized.String() != "resized" || compose.Emptied+1 != 5 {
		t.Error("names of Ops")
	}
}

// shrinking can make its blocks smaller.
type shrinking struct{ *owning }

func (shrinking) Resize(_ unsafe.Pointer, oldSize, newSize uintptr) bool { return newSize <= oldSize }

// If OnEvent or inner panics, nothing is lost, and the next call works.
func TestCounted_APanicLosesNothing(t *testing.T) {
	in := must(newTLSF(1 << 20)(nil))
	reports := in.(memory.StatsReporter)
	armed := false
	c := must(compose.NewCounted(in, compose.CountedConfig{OnEvent: func(compose.Event) {
		if armed {
			panic("told")
		}
	}})).(everything)
	defer c.Close()
	p := memtest.MustAlloc(t, c, 100, 8)
	for name, f := range map[string]func(){
		"Alloc": func() { _, _ = c.Alloc(50, 8) }, "Alloc of none": func() { _, _ = c.Alloc(0, 8) },
		"Refused": func() { _, _ = c.Alloc(1<<31-1, 8) }, "Free": func() { c.Free(p, 100) }, "FreeAny": func() { c.FreeAny(p) }, "Reset": c.Reset,
	} {
		before := c.Stats()
		armed = true
		if got := panicOf(f); got != "told" {
			t.Errorf("%s: %v", name, got)
		}
		armed = false
		after := c.Stats()
		after.Failures = before.Failures
		after.Committed, after.LargestFree, after.Free = before.Committed, before.LargestFree, before.Free
		if after != before || reports.Stats().Live != 1 {
			t.Errorf("%s: %+v, was %+v; inner has %d", name, after, before, reports.Stats().Live)
		}
		memtest.MustCheck(t, c)
	}
	armed = true
	for _, size := range []uintptr{120, 50} {
		before := c.Stats().InUse
		if panicOf(func() { c.Resize(p, 100, size) }) != "told" || c.SizeOf(p) != 100 || c.Stats().InUse != before || in.(memory.Sizer).SizeOf(p) < 100 {
			t.Errorf("a Resize to %d bytes whose listener panicked has happened: %d, %d", size, c.SizeOf(p), in.(memory.Sizer).SizeOf(p))
		}
		memtest.MustCheck(t, c)
	}
	none := uintptr(0)
	armed = false
	empty := memtest.MustAlloc(t, c, none, 8)
	armed = true
	if panicOf(func() { c.Resize(empty, none, 30) }) != "told" || c.SizeOf(empty) != none || in.(memory.Sizer).SizeOf(empty) > 16 {
		t.Errorf("a Resize of an empty block has happened: %d, %d", c.SizeOf(empty), in.(memory.Sizer).SizeOf(empty))
	}
	armed = false
	c.Free(empty, none)
	c.Free(p, 100)

	bad := newPlain(9)
	d := must(compose.NewCounted(bad, compose.CountedConfig{}))
	q := memtest.MustAlloc(t, d, 8, 8)
	bad.panics = "inner"
	if panicOf(func() { d.Free(q, 8) }) != "inner" || panicOf(func() { d.FreeAny(q) }) != "inner" || panicOf(func() { _, _ = d.Alloc(8, 8) }) != "inner" {
		t.Error("a panic of inner did not pass")
	}
	if d.Stats().Live != 1 || d.Check() != nil {
		t.Errorf("%+v", d.Stats())
	}
	bad.panics = nil
	d.Free(q, 8)
}

func TestCounted_OnEventMayLookButNotTouch(t *testing.T) {
	in := openHeap(t)
	var during func()
	c := must(compose.NewCounted(in, compose.CountedConfig{OnEvent: func(compose.Event) {
		if f := during; f != nil {
			during = nil
			f()
		}
	}})).(everything)
	p := memtest.MustAlloc(t, c, 8, 8)
	for _, f := range []func(){
		func() { _, _ = c.Alloc(8, 8) }, func() { c.Free(p, 8) }, func() { c.FreeAny(p) }, func() { c.Resize(p, 8, 9) }, c.Reset,
		func() { _ = c.Close() }, func() { _ = c.Trim() },
	} {
		during = f
		memtest.Misuse(t, func() { c.Free(p, 8) }, "OnEvent calls the allocator of the event")
	}
	seen := uint64(0)
	during = func() { seen = c.Stats().Live }
	c.Free(p, 8)
	if seen != 1 {
		t.Errorf("Stats of a Free that is told of: %d live", seen)
	}
}

func TestCounted_CloseCanBeRetried(t *testing.T) {
	in := newOwning(9)
	c := must(compose.NewCounted(in, compose.CountedConfig{}))
	memtest.MustAlloc(t, c, 8, 8)
	in.panics, in.stats.Live = "hook", 1
	if panicOf(func() { _ = c.Close() }) != "hook" || c.Stats().Live != 1 {
		t.Error("a panic out of Close has changed the books")
	}
	in.panics, in.failClose = nil, errors.New("kept")
	if err := c.Close(); err != in.failClose || c.Stats().Live != 0 {
		t.Error(err)
	}
	in.failClose = nil
	if err := c.Close(); err != nil || in.closes != 2 {
		t.Error(err, in.closes)
	}
}

// A tenant has no memory of its own: it reports the bytes that its blocks have in use.
type tenant struct {
	*tlsf.Heap
	live uint64
}

func (t *tenant) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	t.live++
	return t.Heap.Alloc(size, align)
}

func (t *tenant) Stats() memory.Stats {
	used := t.Heap.Stats().InUse
	return memory.Stats{Reserved: used, Committed: used, InUse: used, Live: t.Heap.Stats().Live, Allocs: t.live}
}

func TestCounted_AnEmptyInnerHasNotEnded(t *testing.T) {
	heap := memtest.Opened(t, must(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})), nil)
	c := must(compose.NewCounted(&tenant{Heap: heap}, compose.CountedConfig{})).(everything)
	heap.Free(memtest.MustAlloc(t, c, 100, 8), 100) // without the Counted
	if s := c.Stats(); s.Live != 1 {
		t.Errorf("%+v; one is live", s)
	}
	memtest.Misuse(t, func() { _, _ = c.Alloc(100, 8) }, "compose.Alloc(", "freed without this allocator")
	memtest.MustAlloc(t, c, 100, 8)
	c.Reset()

	under := must(compose.NewCounted(resetting{heap}, compose.CountedConfig{})).(interface {
		compose.Counter
		memory.Resetter
	})
	outer := must(compose.NewCounted(under, compose.CountedConfig{}))
	memtest.MustAlloc(t, outer, 100, 8)
	under.Reset() // without the Counted
	if s := outer.Stats(); s.Live != 1 {
		t.Errorf("%+v; one is live", s)
	}
	memtest.Misuse(t, func() { _, _ = outer.Alloc(100, 8) }, "compose.Alloc(", "freed without this allocator")
	memtest.MustAlloc(t, outer, 100, 8)
}

// resetting has nothing but a Reset.
type resetting struct{ heap *tlsf.Heap }

func (r resetting) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return r.heap.Alloc(size, align)
}
func (r resetting) Free(p unsafe.Pointer, size uintptr) { r.heap.Free(p, size) }
func (r resetting) Reset()                              { r.heap.Reset() }
