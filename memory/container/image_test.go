package container

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/stack"
)

// A world is a block that holds containers, and containers of containers.
type world struct {
	path  Vec[[3]byte]
	queue Ring[uint32]
	index Map[uint64, Vec[uint32]]
	names Strings
	next  Vec[Ring[uint8]]
}

// fill makes a world of some size in a block of sp.
func fill(tb testing.TB, sp *Space) *world {
	tb.Helper()
	p, err := sp.a.Alloc(unsafe.Sizeof(world{}), unsafe.Alignof(world{}))
	must(tb, err)
	w := (*world)(p)
	*w = world{index: NewMap[uint64, Vec[uint32]](7), names: NewStrings(8)}
	for i := range 60 {
		must(tb, w.path.Append(sp, [3]byte{byte(i), 1}))
		must(tb, w.queue.PushBack(sp, uint32(i)))
		if i%3 == 0 {
			w.queue.PopFront(sp)
		}
		var list Vec[uint32]
		for k := range uint32(i % 9) {
			must(tb, list.Append(sp, k*uint32(i)))
		}
		must(tb, w.index.Set(sp, uint64(i), list))
		_, err := w.names.Intern(sp, fmt.Sprint("name of ", i))
		must(tb, err)
		if i%10 == 0 {
			var r Ring[uint8]
			must(tb, r.PushFront(sp, uint8(i)))
			must(tb, w.next.Append(sp, r))
		}
	}
	return w
}

// read describes a world.
func (w *world) read(sp *Space) string {
	var b strings.Builder
	fmt.Fprintln(&b, w.path.Slice(sp), slices.Collect(w.queue.Values(sp)))
	for k, list := range w.index.All(sp) {
		fmt.Fprint(&b, k, list.Slice(sp), " ")
	}
	for id, name := range w.names.All(sp) {
		fmt.Fprint(&b, id, name, " ")
	}
	for _, r := range w.next.All(sp) {
		x, _ := r.Front(sp)
		fmt.Fprint(&b, x, " ")
	}
	return b.String()
}

func (w *world) check(sp *Space) error {
	errs := []error{w.path.Check(sp), w.queue.Check(sp), w.index.Check(sp), w.names.Check(sp), w.next.Check(sp)}
	for _, list := range w.index.All(sp) {
		errs = append(errs, list.Check(sp))
	}
	for _, r := range w.next.All(sp) {
		errs = append(errs, r.Check(sp))
	}
	return errors.Join(errs...)
}

func (w *world) free(sp *Space) {
	for _, list := range w.index.Ptrs(sp) {
		list.Free(sp)
	}
	for i := range w.next.Len() {
		w.next.Ptr(sp, i).Free(sp)
	}
	w.path.Free(sp)
	w.queue.Free(sp)
	w.index.Free(sp)
	w.names.Free(sp)
	w.next.Free(sp)
}

// TestImage_TheBytesMeanTheSameElsewhere copies the whole memory of an allocator into an arena
// at another address, and reads every container there.
func TestImage_TheBytesMeanTheSameElsewhere(t *testing.T) {
	for name, f := range families {
		t.Run(name, func(t *testing.T) {
			a, err := f(nil)
			must(t, err)
			if c, ok := a.(io.Closer); ok {
				defer c.Close()
			}
			sp := space(t, a)
			w := fill(t, sp)
			must(t, w.check(sp))
			want, off := w.read(sp), sp.offset(unsafe.Pointer(w))
			image := sp.image()
			copied, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: uintptr(len(image))})
			must(t, err)
			defer copied.Close()
			p := memtest.MustAlloc(t, copied, uintptr(len(image)), 1)
			copy(unsafe.Slice((*byte)(p), len(image)), image)
			there := space(t, copied)
			if there.base != p || there.base == sp.base {
				t.Fatal("the copy does not begin at another base")
			}
			twin := (*world)(there.at(off))
			clear(image)
			if got := twin.read(there); got != want {
				t.Errorf("read %s\nwant %s", got, want)
			}
			must(t, twin.check(there))
		})
	}
}

// image returns the memory of a space, as far as it is committed; the original is wiped when the
// bytes are.
func (sp *Space) image() []byte {
	n := sp.a.(memory.StatsReporter).Stats().Committed
	return unsafe.Slice((*byte)(sp.base), n)
}

func TestContainers_LiveAndDieInEveryFamily(t *testing.T) {
	for name, f := range families {
		t.Run(name, func(t *testing.T) {
			src := memtest.NewFaulty()
			a, err := f(src)
			must(t, err)
			sp := space(t, a)
			w := fill(t, sp)
			must(t, w.check(sp))
			must(t, a.(memory.Checker).Check())
			w.free(sp)
			must(t, w.check(sp))
			a.Free(unsafe.Pointer(w), unsafe.Sizeof(*w))
			must(t, a.(memory.Checker).Check())
			_, bump := a.(*arena.Linear)
			_, grows := a.(*arena.Growing)
			if st := a.(memory.StatsReporter).Stats(); st.Live != 0 && !bump && !grows {
				t.Errorf("%d blocks are left", st.Live)
			}
			if c, ok := a.(io.Closer); ok {
				must(t, c.Close())
			}
		})
	}
}

func TestContainers_EverySystemCallMayFail(t *testing.T) {
	for name, f := range families {
		t.Run(name, func(t *testing.T) {
			for failAt := 1; ; failAt++ {
				src := memtest.NewFaulty()
				a, err := f(src)
				must(t, err)
				src.FailAt = src.Calls() + failAt
				sp := space(t, a)
				var v Vec[uint64]
				var m Map[uint32, uint32]
				var s Strings
				var r Ring[uint32]
				for i := range uint32(3000) {
					for try := range 2 {
						err := errors.Join(v.Append(sp, uint64(i)), m.Set(sp, i, i), r.PushBack(sp, i))
						_, err2 := s.Intern(sp, fmt.Sprint(i))
						if err == nil && err2 == nil {
							break
						}
						if !errors.Is(errors.Join(err, err2), memory.ErrOutOfMemory) || try == 1 {
							t.Fatalf("call %d fails: %v, %v", failAt, err, err2)
						}
						must(t, errors.Join(v.Check(sp), m.Check(sp), s.Check(sp), r.Check(sp)))
					}
					if m.Len() != int(i)+1 || s.Len() != int(i)+1 {
						t.Fatalf("%d entries, %d texts", m.Len(), s.Len())
					}
				}
				failed := src.Calls() >= src.FailAt
				must(t, errors.Join(v.Check(sp), m.Check(sp), s.Check(sp), r.Check(sp)))
				v.Free(sp)
				m.Free(sp)
				s.Free(sp)
				r.Free(sp)
				if c, ok := a.(io.Closer); ok {
					must(t, c.Close())
				}
				if !failed || testenv.Brief() && failAt > 4 {
					return
				}
			}
		})
	}
}

func TestContainers_CostNoGoAllocations(t *testing.T) {
	_, sp := heap(t)
	var v Vec[int]
	var r Ring[int]
	var m Map[int, int]
	var f Map[[2]float32, int]
	var s Strings
	words := []string{"orc", "elf", "dwarf", "a rather long line of dialogue", strings.Repeat("x", 2000)}
	round := func() {
		for i := range 100 {
			must(t, v.Append(sp, i))
			must(t, v.Insert(sp, 0, i, i))
			must(t, r.PushBack(sp, i))
			must(t, r.PushFront(sp, i))
			must(t, m.Set(sp, i, i))
			must(t, f.Set(sp, [2]float32{float32(i)}, i))
			m.Get(sp, i+50)
			_, err := s.Intern(sp, words[i%len(words)])
			must(t, err)
			sink += len(s.Text(sp, 1))
		}
		for _, x := range v.All(sp) {
			sink += x
		}
		for x := range v.Values(sp) {
			sink += x
		}
		for _, x := range r.All(sp) {
			sink += x
		}
		for k, x := range m.All(sp) {
			sink += k + x
		}
		for k, p := range m.Ptrs(sp) {
			*p = k
		}
		for _, text := range s.All(sp) {
			sink += len(text)
		}
		m.DeleteFunc(sp, func(k, v int) bool { return k%2 == 0 })
		for i := range 100 {
			m.Delete(sp, i)
			r.PopFront(sp)
			s.Release(sp, uint32(i%len(words)+1))
		}
		must(t, errors.Join(v.Shrink(sp), r.Shrink(sp), m.Shrink(sp), s.Shrink(sp), s.Reserve(sp, 100)))
		v.Free(sp)
		r.Free(sp)
		m.Free(sp)
		f.Free(sp)
		s.Free(sp)
	}
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("a round costs %v Go allocations", n)
	}
}

func TestContainers_EveryBitIsNamedOrTolerated(t *testing.T) {
	for _, name := range []string{"tlsf", "slab", "growing"} {
		a, err := families[name](nil)
		must(t, err)
		sp := space(t, a)
		w := fill(t, sp)
		must(t, w.names.pages.Reserve(sp, 1))
		for _, text := range []string{strings.Repeat("x", 1200), "dead"} {
			_, err := w.names.Intern(sp, text)
			must(t, err)
		}
		id, _ := w.names.Lookup(sp, "dead")
		w.names.Release(sp, id)
		type tables struct {
			slots []byte
		}
		table := tables{unsafe.Slice((*byte)(sp.at(w.index.off)), w.index.bytes())}
		pages, texts, index := w.names.pages.Slice(sp), w.names.texts.Slice(sp), w.names.index.Slice(sp)
		for book, c := range map[string]struct {
			check func() error
			books []any
		}{
			"Vec":         {func() error { return w.path.Check(sp) }, []any{&w.path}},
			"Ring":        {func() error { return w.queue.Check(sp) }, []any{&w.queue}},
			"Map":         {func() error { return w.index.Check(sp) }, []any{&w.index}},
			"Map's table": {func() error { return w.index.Check(sp) }, []any{&table}},
			"Strings":     {func() error { return w.names.Check(sp) }, []any{&w.names, &pages, &texts, &index}},
		} {
			flips := memtest.EveryNthBit(t, testenv.Step(4), c.check, c.books...)
			t.Logf("%s, %s: %d bits of %d integers, %d named", name, book, flips.Flipped, flips.Integers, flips.Named)
			if flips.Integers == 0 || flips.Named == 0 {
				t.Errorf("%s, %s: %+v", name, book, flips)
			}
		}
		must(t, a.(io.Closer).Close())
	}
}

func TestContainers_UnderAGuardAnOverrunIsFound(t *testing.T) {
	h, _ := heap(t)
	g, err := guard.New(h, guard.Config{})
	must(t, err)
	sp := space(t, g)
	var v Vec[[3]byte]
	must(t, v.SetLen(sp, 100))
	must(t, v.Shrink(sp))
	*(*byte)(unsafe.Add(unsafe.Pointer(v.Ptr(sp, 99)), 3)) ^= 1
	if err := g.Check(); err == nil || !strings.Contains(err.Error(), "after") && !strings.Contains(err.Error(), "behind") {
		t.Errorf("the guard says %v", err)
	}
	*(*byte)(unsafe.Add(unsafe.Pointer(v.Ptr(sp, 99)), 3)) ^= 1
	v.Free(sp)
}

func TestVec_UnderAStackGrowsWhileItIsTheNewest(t *testing.T) {
	st, err := stack.New(nil, stack.Config{})
	must(t, err)
	defer st.Close()
	sp := space(t, st)
	var a, b Vec[int]
	for i := range 100 {
		must(t, a.Append(sp, i))
	}
	must(t, b.Append(sp, 1))
	before := st.Stats()
	memtest.Misuse(t, func() { a.Reserve(sp, 1000) }, "stack.")
	if after := st.Stats(); after.Live != before.Live || after.InUse != before.InUse || a.Len() != 100 || a.At(sp, 99) != 99 {
		t.Errorf("%+v, was %+v; %+v", after, before, a)
	}
	must(t, a.Check(sp))
	b.Free(sp)
	must(t, a.Append(sp, 100))
	a.Free(sp)
	must(t, st.Check())
}

func TestSpace_TwoGoroutinesAreToldApart(t *testing.T) {
	_, sp := heap(t)
	if invariant.Debug == (unsafe.Sizeof(sp.owner) == 0) {
		t.Error("the owner word is there in builds that do not debug, or is not in those that do")
	}
	var m Map[int, int]
	for i := range 100 {
		must(t, m.Set(sp, i, i))
	}
	done := make(chan map[int]int)
	for range 2 { // readers share
		go func() { done <- maps.Collect(m.All(sp)) }()
	}
	if a, b := <-done, <-done; !maps.Equal(a, b) || len(a) != 100 {
		t.Error("two readers, two maps")
	}
	m.Free(sp)
}
