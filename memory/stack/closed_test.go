package stack

import (
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// buffers has what all types with a buffer have in common.
type buffers interface {
	Reset()
	Owns(unsafe.Pointer) bool
	Stats() memory.Stats
	Check() error
	Close() error
}

// stacked is one buffer and its Ends.
type stacked struct {
	buffers
	ends []*End
}

// stacks makes one of each type on src.
func stacks(t *testing.T, src page.Source) map[string]stacked {
	t.Helper()
	s, a := New(src, Config{Bytes: 20_000})
	d, b := NewDouble(src, DoubleConfig{Bytes: 20_000})
	p, c := NewPivot(src, PivotConfig{Forward: 20_000, Backward: 10_000})
	if err := errors.Join(a, b, c); err != nil {
		t.Fatal(err)
	}
	return map[string]stacked{
		"Stack":  {s, []*End{&s.End}},
		"Double": {d, []*End{d.Bottom(), d.Top()}},
		"Pivot":  {p, []*End{p.Forward(), p.Backward()}},
	}
}

// A stack that outlives its manager is closed, and never touches addresses that may have a new owner.
func TestEveryStack_MayOutliveItsSource(t *testing.T) {
	src := memtest.NewMortal(t, nil, 1<<20)
	made := stacks(t, src)
	blocks, marks := map[*End]unsafe.Pointer{}, map[*End]Mark{}
	for _, f := range made {
		for _, e := range f.ends {
			memtest.MustAlloc(t, e, 200, 16)
			e.Free(memtest.MustAlloc(t, e, 100, 1), 100)
			marks[e] = e.Mark()
			blocks[e] = memtest.MustAlloc(t, e, 40, 16)
		}
	}
	src.End(t)
	for name, f := range made {
		var allocs uint64
		for _, e := range f.ends {
			for _, size := range []uintptr{0, 1, 1 << 30} {
				if p, err := e.Alloc(size, 1); p != nil || err != memory.ErrClosed {
					t.Errorf("%s: Alloc(%d) = %v, %v; want ErrClosed", name, size, p, err)
				}
			}
			p := blocks[e]
			memtest.Misuse(t, func() { e.Free(p, 40) }, "stack.Free", "closed")
			memtest.Misuse(t, func() { e.Resize(p, 40, 50) }, "stack.Resize", "closed")
			memtest.Misuse(t, func() { e.Mark() }, "stack.Mark", "closed")
			memtest.Misuse(t, func() { e.Rewind(marks[e]) }, "stack.Rewind", "closed")
			memtest.Misuse(t, e.Reset, "stack.Reset", "closed")
			e.Free(nil, 0)
			if q, size := e.Newest(); q != nil || size != 0 || e.Len() != 0 || e.Used() != 0 || e.Available() != 0 || e.Owns(p) || f.Owns(p) {
				t.Errorf("%s: newest %p of %d bytes, %d blocks, used %d, available %d", name, q, size, e.Len(), e.Used(), e.Available())
			}
			if s := e.Stats(); s.Peak < 300 || s.Live != 0 || s.Reserved != 0 {
				t.Errorf("%s: %+v", name, s)
			}
			allocs += 3
		}
		memtest.Misuse(t, f.Reset, "stack.Reset", "closed")
		st := f.Stats()
		if st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.Allocs != allocs || st.Frees != allocs || st.Failures != 0 {
			t.Errorf("%s: %+v", name, st)
		}
		if err := errors.Join(f.Check(), f.Close(), f.Close(), f.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if made["Pivot"].buffers.(*Pivot).Bytes() != nil || made["Double"].buffers.(*Double).Available() != 0 {
		t.Error("a closed Pivot has bytes, or a closed Double free bytes")
	}
}

// A Close that fails may have decommitted memory, which must not be allocated afterwards.
func TestEveryStack_AFailedCloseAllocatesNothingDecommitted(t *testing.T) {
	src := &memtest.Halfway{Source: page.Default(), On: true}
	for name, f := range stacks(t, src) {
		for _, e := range f.ends {
			memtest.MustAlloc(t, e, 100, 16)
		}
		for range 2 {
			if err := f.Close(); err == nil {
				t.Errorf("%s: Close hid that the addresses are kept", name)
			}
			for _, e := range f.ends {
				if p, err := e.Alloc(64, 16); err != memory.ErrClosed {
					t.Errorf("%s: Alloc = %p, %v", name, p, err)
				}
			}
			if err := f.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		src.On = false
		if err := errors.Join(f.Close(), f.Check()); err != nil || f.Stats().Reserved != 0 {
			t.Errorf("%s: %v, %+v", name, err, f.Stats())
		}
		src.On = true
	}
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	for name, f := range stacks(t, nil) {
		for _, e := range f.ends {
			for i := range uintptr(6) {
				memtest.MustAlloc(t, e, 100*i, 1<<i)
				if i%2 == 0 {
					e.Mark()
				}
			}
			p := memtest.MustAlloc(t, e, 50, 1)
			e.Resize(p, 50, 40)
		}
		t.Run(name, func(t *testing.T) {
			flips := memtest.EveryBit(t, f.Check, f.buffers)
			t.Logf("%+v", flips)
			if flips.Named*100 < flips.Flipped*70 {
				t.Errorf("Check named %d of %d flipped bits", flips.Named, flips.Flipped)
			}
		})
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// `go vet` names copies of what embeds an Owner.
func TestEveryStack_CopiesAreNamedByVet(t *testing.T) {
	memtest.CopiesAreNamed(t, reflect.TypeFor[End](), reflect.TypeFor[Stack](), reflect.TypeFor[Double](), reflect.TypeFor[Pivot]())
}
