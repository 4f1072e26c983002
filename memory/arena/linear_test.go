package arena

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

func newLinear(t testing.TB, bytes uintptr) *Linear {
	t.Helper()
	l, err := NewLinear(nil, LinearConfig{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

var mustAlloc = memtest.MustAlloc

func TestLinear_FillsToTheLastByte(t *testing.T) {
	l := newLinear(t, 100)
	mustAlloc(t, l, 60, 1)
	mustAlloc(t, l, 40, 1)
	if l.Available() != 0 {
		t.Errorf("available %d, want 0", l.Available())
	}
	if _, err := l.Alloc(1, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("one byte more: %v, want ErrOutOfMemory", err)
	}
	if p := mustAlloc(t, l, 0, 1); p == nil {
		t.Error("size 0 in a full arena gave nil")
	}
}

// The natural test, size > limit-start, wraps when alignment pushes start past limit.
func TestLinear_AlignmentPastTheEndIsRefused(t *testing.T) {
	l := newLinear(t, 100)
	mustAlloc(t, l, 90, 1)
	for _, size := range []uintptr{0, 1, 16, 1 << 20, math.MaxUint - 128, math.MaxUint} {
		if p, err := l.Alloc(size, 128); err == nil {
			t.Errorf("Alloc(%d, 128) in an arena with 10 bytes left = %v", size, p)
		}
	}
	if l.Used() != 90 {
		t.Errorf("refused requests moved the top to %d", l.Used())
	}
}

func TestLinear_MarksNest(t *testing.T) {
	l := newLinear(t, 1000)
	mustAlloc(t, l, 10, 1)
	outer := l.Mark()
	mustAlloc(t, l, 20, 1)
	inner := l.Mark()
	mustAlloc(t, l, 30, 1)
	l.Rewind(inner)
	if l.Used() != 30 || l.Stats().Live != 2 {
		t.Errorf("after the inner rewind: used %d, live %d; want 30, 2", l.Used(), l.Stats().Live)
	}
	l.Rewind(outer)
	if l.Used() != 10 || l.Stats().Live != 1 {
		t.Errorf("after the outer rewind: used %d, live %d; want 10, 1", l.Used(), l.Stats().Live)
	}
	if p := l.Stats().Peak; p != 60 {
		t.Errorf("peak %d, want 60", p)
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

func TestLinear_BadMarksAreRefused(t *testing.T) {
	l, other := newLinear(t, 1000), newLinear(t, 1000)
	outer := l.Mark()
	mustAlloc(t, l, 100, 1)
	inner := l.Mark()
	foreign := other.Mark()
	memtest.Misuse(t, func() { l.Rewind(Mark{}) }, "arena.Rewind", "another arena, or by none")
	memtest.Misuse(t, func() { l.Rewind(foreign) }, "another arena")
	l.Rewind(outer)
	memtest.Misuse(t, func() { l.Rewind(outer) }, "the mark has expired")
	mustAlloc(t, l, 500, 1) // the top is above inner's place again
	memtest.Misuse(t, func() { l.Rewind(inner) }, "the mark has expired")
	late := l.Mark()
	l.Reset()
	l.Mark()
	memtest.Misuse(t, func() { l.Rewind(late) }, "the mark has expired")
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

func TestLinear_FreeGivesBackTheNewestBlockOnly(t *testing.T) {
	l := newLinear(t, 1000)
	a := mustAlloc(t, l, 100, 1)
	b := mustAlloc(t, l, 50, 1)
	l.Free(a, 100)
	if l.Used() != 150 {
		t.Errorf("freeing an old block moved the top to %d", l.Used())
	}
	l.Free(b, 50)
	if s := l.Stats(); l.Used() != 100 || s.Live != 1 || s.Frees != 1 {
		t.Errorf("after the free of the newest: used %d, %+v", l.Used(), s)
	}
	c := mustAlloc(t, l, 20, 1)
	if c != b {
		t.Errorf("the next block is at %p, not in the place %p of the freed one", c, b)
	}
	l.Free(c, 20)
	if err := l.Check(); err != nil || l.Stats().Frees != 2 {
		t.Errorf("%+v, %v", l.Stats(), err)
	}
}

func TestLinear_FreeStopsAtTheMark(t *testing.T) {
	l := newLinear(t, 1000)
	a := mustAlloc(t, l, 100, 1)
	m := l.Mark()
	l.Free(a, 100)
	if l.Used() != 100 {
		t.Fatalf("Free reached below the mark: used %d", l.Used())
	}
	mustAlloc(t, l, 100, 1)
	l.Rewind(m)
	if l.Used() != 100 {
		t.Errorf("used %d after the rewind, want 100", l.Used())
	}
}

func TestLinear_ResizeChangesTheNewestBlockOnly(t *testing.T) {
	l := newLinear(t, 1000)
	a := mustAlloc(t, l, 100, 1)
	b := mustAlloc(t, l, 50, 1)
	if l.Resize(a, 100, 50) || l.Resize(a, 100, 100) {
		t.Error("an older block was resized")
	}
	for _, size := range []uintptr{901, math.MaxUint, math.MaxUint - 99} {
		if l.Resize(b, 50, size) {
			t.Errorf("resized to %d bytes with 900 to the end", size)
		}
	}
	if !l.Resize(b, 50, 900) || l.Available() != 0 {
		t.Errorf("available %d, want 0", l.Available())
	}
	if !l.Resize(b, 900, 900) || !l.Resize(b, 900, 20) || l.Used() != 120 {
		t.Errorf("used %d, want 120", l.Used())
	}
	l.Free(b, 20)
	if s := l.Stats(); s.InUse != 100 || s.Live != 1 || s.Peak != 1000 {
		t.Errorf("%+v; want 100 bytes in 1 block, peak 1000", s)
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

func TestLinear_ResizeStopsAtTheMark(t *testing.T) {
	l := newLinear(t, 1000)
	a := mustAlloc(t, l, 100, 1)
	empty := mustAlloc(t, l, 0, 1)
	m := l.Mark()
	if l.Resize(a, 100, 50) || l.Resize(a, 100, 200) {
		t.Error("a block from before the mark was resized")
	}
	if l.Resize(empty, 0, 10) {
		t.Error("a block of size 0 from before the mark grew into what the rewind frees")
	}
	b := mustAlloc(t, l, 10, 1)
	if !l.Resize(b, 10, 30) || !l.Resize(b, 30, 0) || l.Used() != 100 {
		t.Errorf("a block at the mark does not resize: used %d", l.Used())
	}
	l.Rewind(m)
	if l.Resize(a, 100, 50) {
		t.Error("a block below one of size 0 was resized")
	}
	l.Free(empty, 0)
	b = mustAlloc(t, l, 10, 1)
	l.Rewind(l.Mark())
	if !l.Resize(b, 10, 50) || l.Used() != 150 {
		t.Errorf("after a rewind the newest block does not resize: used %d", l.Used())
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

func TestLinear_ForeignResizePanics(t *testing.T) {
	l, other := newLinear(t, 1000), newLinear(t, 1000)
	p := mustAlloc(t, l, 100, 1)
	q := mustAlloc(t, other, 100, 1)
	memtest.Misuse(t, func() { l.Resize(q, 100, 50) }, "arena.Resize", "size 100", "does not lie in the live part")
	memtest.Misuse(t, func() { l.Resize(q, 0, 50) }, "does not lie in the live part")
	memtest.Misuse(t, func() { l.Resize(p, 101, 50) }, "wrong size: the block has 100 bytes")
	memtest.Misuse(t, func() { l.Resize(nil, 0, 50) }, "does not lie in the live part")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { l.Resize(p, 0, 50) }, "arena.Resize")
}

func TestLinear_ForeignFreePanics(t *testing.T) {
	l, other := newLinear(t, 1000), newLinear(t, 1000)
	mustAlloc(t, l, 100, 1)
	p := mustAlloc(t, other, 100, 1)
	memtest.Misuse(t, func() { l.Free(p, 100) }, "arena.Free", "size 100", "does not lie in the live part")
	memtest.Misuse(t, func() { l.Free(unsafe.Add(l.base, 50), 51) }, "interior pointer: it points 50 bytes into a block of 100")
}

func TestLinear_HooksRunNewestFirst(t *testing.T) {
	l := newLinear(t, 1000)
	var log []string
	hook := func(s string) { l.OnReset(func() { log = append(log, s) }) }
	hook("a")
	m := l.Mark()
	hook("b")
	hook("c")
	l.Rewind(m)
	hook("d")
	l.Reset()
	l.Reset()
	if got := strings.Join(log, ""); got != "cbda" {
		t.Errorf("hooks ran in order %q, want cbda", got)
	}
}

func TestLinear_UseAfterClose(t *testing.T) {
	l := newLinear(t, 1000)
	p := mustAlloc(t, l, 10, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, l.Reset, "arena.Reset", "closed")
	memtest.Misuse(t, func() { l.Mark() }, "closed")
	memtest.Misuse(t, func() { l.Free(p, 10) }, "arena.Free")
	memtest.Misuse(t, func() { l.OnReset(func() {}) }, "closed")
	if l.Available() != 0 || l.Used() != 0 {
		t.Errorf("closed: available %d, used %d", l.Available(), l.Used())
	}
}

func TestLinear_CloseThatFailsMayBeRepeated(t *testing.T) {
	src := memtest.NewFaulty()
	l, err := NewLinear(src, LinearConfig{Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := l.Close(); err == nil {
		t.Fatal("Close hid that the memory could not be returned")
	}
	src.FailReturns = false
	if err := l.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close: %v, %d reservations left", err, src.Reserved())
	}
}

type vec struct{ X, Y, Z float32 }

var vecType = memory.MustType[vec]()

func TestNew_Zeroes(t *testing.T) {
	l := newLinear(t, 1000)
	for range 2 {
		v, err := New(l, vecType)
		if err != nil || *v != (vec{}) {
			t.Fatalf("New = %v, %v", v, err)
		}
		*v = vec{1, 2, 3}
		s, err := MakeSlice(l, vecType, 5)
		if err != nil || len(s) != 5 || cap(s) != 5 || s[4] != (vec{}) {
			t.Fatalf("MakeSlice = %v, %v", s, err)
		}
		s[4] = vec{4, 5, 6}
		l.Reset()
	}
}

func TestNew_WithoutProofFails(t *testing.T) {
	l := newLinear(t, 1000)
	g := newGrowing(t, nil, GrowingConfig{})
	if v, err := New(l, memory.Type[vec]{}); v != nil || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("New with the zero Type = %p, %v", v, err)
	}
	if v, err := NewIn(g, memory.Type[vec]{}); v != nil || err != memory.ErrTooLarge {
		t.Errorf("NewIn with the zero Type = %p, %v", v, err)
	}
	if s, err := MakeSliceIn(g, memory.Type[vec]{}, 1); s != nil || err != memory.ErrTooLarge {
		t.Errorf("MakeSliceIn with the zero Type = %v, %v", s, err)
	}
	if s, err := MakeSlice(l, memory.Type[vec]{}, 1); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("MakeSlice with the zero Type = %v, %v", s, err)
	}
	if l.Used() != 0 || g.Used() != 0 || l.Stats().Allocs != 0 || g.Stats().Allocs != 0 {
		t.Errorf("used %d and %d", l.Used(), g.Used())
	}
}

// Whatever a Type says, and it can be forged with package unsafe, T has the size that it has.
func TestNew_GoesByTheSizeOfTAndNotByTheType(t *testing.T) {
	type big [4096]byte
	small := memory.MustType[byte]()
	forged := *(*memory.Type[big])(unsafe.Pointer(&small))
	l, g := newLinear(t, 3*4096), newGrowing(t, nil, GrowingConfig{Reserve: 16 << 10, Step: 16 << 10})
	for n := range uintptr(3) {
		v, err := New(l, forged)
		w, err2 := NewIn(g, forged)
		if err != nil || err2 != nil || *v != (big{}) || *w != (big{}) || l.Used() != (n+1)*4096 || g.Used() != (n+1)*4096 {
			t.Fatalf("New used %d bytes, %v; NewIn %d bytes, %v", l.Used(), err, g.Used(), err2)
		}
		v[4095], w[4095] = 1, 1
	}
	if v, err := New(l, forged); v != nil || !errors.Is(err, memory.ErrOutOfMemory) || l.Stats().Failures != 1 {
		t.Errorf("New in a full arena = %p, %v", v, err)
	}
	if s, err := MakeSlice(l, forged, 1); s != nil || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("MakeSlice in a full arena = %d values, %v", len(s), err)
	}
	if s, err := MakeSliceIn(g, forged, 1); err != nil || len(s) != 1 || g.Used() != 16<<10 {
		t.Errorf("MakeSliceIn = %d values, %v, %d bytes", len(s), err, g.Used())
	}
	if s, err := MakeSliceIn(g, forged, 1); s != nil || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("MakeSliceIn in a full arena = %d values, %v", len(s), err)
	}
}

func TestMakeSlice_CountsAreChecked(t *testing.T) {
	l := newLinear(t, 1000)
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt/12 + 1} {
		if s, err := MakeSlice(l, vecType, n); !errors.Is(err, memory.ErrTooLarge) || s != nil {
			t.Errorf("MakeSlice of %d = %d values, %v; want ErrTooLarge", n, len(s), err)
		}
	}
	if s, err := MakeSlice(l, vecType, 0); err != nil || len(s) != 0 {
		t.Errorf("MakeSlice of 0 = %v, %v", s, err)
	}
}

func TestLinear_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*Linear)
	}{
		{"not in order", func(l *Linear) { l.off = l.limit + 1 }},
		{"not in order", func(l *Linear) { l.limit = l.mem.Committed() + 1 }},
		{"above the reservation", func(l *Linear) { l.peak = l.mem.Reserved() + 1 }},
		{"blocks freed of", func(l *Linear) { l.dropped = l.total() + 1 }},
		{"7 blocks up to 0 are kept", func(l *Linear) { l.kept = 7 }},
		{"0 blocks up to 7 are kept", func(l *Linear) { l.floor = 7 }},
		{"the newest block has 101 bytes, and the top is at 100", func(l *Linear) { l.book++ }},
	} {
		l := newLinear(t, 1000)
		mustAlloc(t, l, 100, 1)
		restore := memtest.Keep(l)
		c.corrupt(l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		restore()
	}
}
