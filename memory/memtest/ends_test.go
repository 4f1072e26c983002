package memtest

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A roomy allocator only counts up, through address space that it has committed at once.
type roomy struct {
	mem  page.Memory
	n    uint64
	size uintptr
	at   func(x *roomy, n uint64) uint64 // the offset of block n
}

func (x *roomy) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	off := uintptr(x.at(x, x.n))
	x.n++
	return unsafe.Add(x.mem.Base, off), nil
}

func (x *roomy) Free(unsafe.Pointer, uintptr) {}

func (x *roomy) Stats() memory.Stats {
	used := x.n * uint64(x.size)
	return memory.Stats{Reserved: uint64(x.mem.Size), Committed: uint64(x.mem.Size), InUse: used, Peak: used, Live: x.n, Allocs: x.n}
}

func (x *roomy) Check() error { return nil }

func (x *roomy) Close() error {
	mem := x.mem
	if x.mem = (page.Memory{}); mem.Size == 0 {
		return nil
	}
	return page.Default().Release(mem)
}

func TestFar_AnOffsetThatIsCutShortIsNoticed(t *testing.T) {
	if !canGoFar {
		return
	}
	const size = 1 << 20
	room := farBytes + 256<<20
	in := func(n uint64) uint64 { return n * size }
	for name, c := range map[string]struct {
		at   func(x *roomy, n uint64) uint64
		hole uintptr // bytes in the middle that are not committed
		want string
	}{
		"right":                      {func(_ *roomy, n uint64) uint64 { return in(n) }, 0, ""},
		"cut to 32 bits":             {func(_ *roomy, n uint64) uint64 { return uint64(uint32(in(n))) }, 0, "overlap"},
		"one byte too near":          {func(_ *roomy, n uint64) uint64 { return in(n) - n }, 0, "overlap"},
		"not backed in the middle":   {func(_ *roomy, n uint64) uint64 { return in(n) }, 1 << 30, "panic: "},
		"the same for two neighbors": {func(_ *roomy, n uint64) uint64 { return in(n &^ 1) }, 0, "overlap"},
	} {
		src, x := page.Default(), &roomy{size: size, at: c.at}
		s := Subject{FarSize: size, Far: func(page.Source) (_ memory.Allocator, err error) {
			if x.mem, err = src.Reserve(uintptr(room)); err != nil {
				return nil, err
			}
			half := x.mem.Size / 2
			return x, errors.Join(src.Commit(x.mem, 0, half-c.hole), src.Commit(x.mem, half, half))
		}}.withDefaults()
		r := record(func(tb testing.TB) {
			debug.SetPanicOnFault(true)
			far(tb, s)
		})
		if err := x.Close(); err != nil { // a test that fails does not
			t.Error(err)
		}
		if r.skipped || r.failed != (c.want != "") || !strings.Contains(r.said, c.want) {
			t.Errorf("%s: %q; want %q", name, r.said, c.want)
		}
	}
}

// A hooked heap runs functions when its blocks die.
type hooked struct {
	*tampered
	hooks []func()
	run   func(x *hooked)
}

func (x *hooked) Reset() {
	x.run(x)
	x.Heap.Reset()
}

func (x *hooked) Close() error {
	x.run(x)
	return x.Heap.Close()
}

// newest runs the hooks as they should.
func newest(x *hooked) {
	for n := len(x.hooks); n > 0; n = len(x.hooks) {
		f := x.hooks[n-1]
		x.hooks = x.hooks[:n-1]
		f()
	}
}

func TestHooks_EachRunsOnceNewestFirst(t *testing.T) {
	const order = "Reset, tried "
	for name, c := range map[string]struct {
		run  func(x *hooked)
		want string
	}{
		"right": {newest, ""},
		"oldest first": {func(x *hooked) {
			for len(x.hooks) > 0 {
				f := x.hooks[0]
				x.hooks = x.hooks[1:]
				f()
			}
		}, order},
		"none":           {func(x *hooked) { x.hooks = nil }, order},
		"one is dropped": {func(x *hooked) { x.hooks = x.hooks[:max(0, len(x.hooks)-1)]; newest(x) }, order},
		"a panic drops the rest": {func(x *hooked) {
			all := x.hooks
			x.hooks = nil
			for len(all) > 0 {
				f := all[len(all)-1]
				all = all[:len(all)-1]
				f()
			}
		}, order},
		"one that panics stays": {func(x *hooked) {
			for n := len(x.hooks); n > 0; n = len(x.hooks) {
				x.hooks[n-1]()
				x.hooks = x.hooks[:n-1]
			}
		}, "Reset panics for the tenth time"},
		"a block is made behind them": {func(x *hooked) {
			newest(x)
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Live++; s.Allocs++; return s }
		}, "Reset with hooks that panic: live 1"},
	} {
		s := with(func(s *Subject) {
			s.Hook = func(a memory.Allocator, f func()) { a.(*hooked).hooks = append(a.(*hooked).hooks, f) }
			New := s.New
			s.New = func(src page.Source) (memory.Allocator, error) {
				a, err := New(src)
				if err != nil {
					return nil, err
				}
				return &hooked{tampered: a.(*tampered), run: c.run}, nil
			}
		}, untouched)
		r := record(func(tb testing.TB) { hooks(tb, s) })
		if r.failed != (c.want != "") || !strings.Contains(r.said, c.want) {
			t.Errorf("%s: %q; want %q", name, r.said, c.want)
		}
	}
}
