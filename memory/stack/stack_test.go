package stack

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func newDouble(t testing.TB, bytes uintptr) *Double {
	t.Helper()
	d, err := NewDouble(nil, DoubleConfig{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, d)
	return d
}

func newPivot(t testing.TB, forward, backward uintptr) *Pivot {
	t.Helper()
	p, err := NewPivot(nil, PivotConfig{Forward: forward, Backward: backward})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, p)
	return p
}

func TestDouble_EndsCollideOnTheLastByte(t *testing.T) {
	for split := uintptr(0); split <= 100; split++ {
		d := newDouble(t, 100)
		for range split {
			memtest.MustAlloc(t, d.Bottom(), 1, 1)
		}
		for range 100 - split {
			memtest.MustAlloc(t, d.Top(), 1, 1)
		}
		for _, e := range []*End{d.Bottom(), d.Top()} {
			if p, err := e.Alloc(1, 1); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Errorf("split at %d: one byte more is %v, %v", split, p, err)
			}
		}
		if s := d.Stats(); d.Available() != 0 || s.InUse != 100 || s.Live != 100 || s.Peak < 100 {
			t.Errorf("split at %d: available %d, %+v", split, d.Available(), s)
		}
		memtest.MustCheck(t, d)
	}
}

func TestDouble_AnEndThatShrinksMakesRoomForTheOther(t *testing.T) {
	d := newDouble(t, 100)
	p := memtest.MustAlloc(t, d.Bottom(), 60, 1)
	q := memtest.MustAlloc(t, d.Top(), 40, 1)
	if d.Bottom().Resize(p, 60, 61) {
		t.Error("the bottom grew into the top")
	}
	d.Top().Free(q, 40)
	if !d.Bottom().Resize(p, 60, 100) {
		t.Error("the bottom does not grow into what the top gave back")
	}
	d.Bottom().Free(p, 100)
	memtest.MustAlloc(t, d.Top(), 100, 1)
	memtest.MustCheck(t, d)
}

func TestDouble_EachEndResetsAlone(t *testing.T) {
	d := newDouble(t, 1000)
	b, p := memtest.MustAlloc(t, d.Bottom(), 100, 1), memtest.MustAlloc(t, d.Top(), 200, 1)
	memtest.Misuse(t, func() { d.Bottom().Free(p, 200) }, "foreign", hex(b))
	memtest.Misuse(t, func() { d.Top().Free(b, 100) }, "foreign", hex(p))
	if d.Bottom().Owns(p) || d.Top().Owns(b) || !d.Owns(p) || !d.Owns(b) {
		t.Error("the ends own each other's blocks")
	}
	if d.Bottom().Owns(unsafe.Add(b, 100)) || !d.Bottom().Owns(unsafe.Add(b, 99)) || d.Top().Owns(unsafe.Add(p, 200)) || !d.Top().Owns(unsafe.Add(p, 199)) {
		t.Error("what an end owns does not stop at its edge and its origin")
	}
	d.ResetTop()
	if d.Top().Used() != 0 || d.Bottom().Used() != 100 {
		t.Errorf("after ResetTop: bottom %d, top %d", d.Bottom().Used(), d.Top().Used())
	}
	memtest.MustAlloc(t, d.Top(), 300, 1)
	d.ResetBottom()
	if d.Top().Used() != 300 || d.Bottom().Used() != 0 {
		t.Errorf("after ResetBottom: bottom %d, top %d", d.Bottom().Used(), d.Top().Used())
	}
	d.Reset()
	if s := d.Stats(); s.InUse != 0 || s.Live != 0 || s.Allocs != 3 || s.Frees != 3 {
		t.Errorf("after Reset: %+v", s)
	}
}

func TestDouble_PeakIsAtMostWhatIsCommitted(t *testing.T) {
	d := newDouble(t, page.Granule)
	memtest.MustAlloc(t, d.Bottom(), 1000, 1)
	d.ResetBottom()
	memtest.MustAlloc(t, d.Top(), 3000, 1)
	if p := d.Stats().Peak; p != 4000 {
		t.Errorf("peak %d, want the sum of both, 4000", p)
	}
	d.Reset()
	memtest.MustAlloc(t, d.Bottom(), page.Granule, 1)
	if p := d.Stats().Peak; p != page.Granule {
		t.Errorf("peak %d of %d bytes", p, page.Granule)
	}
}

func TestStack_CheckKnowsHowMuchPaddingThereCanBe(t *testing.T) {
	s := newStack(t, 20_000)
	memtest.MustAlloc(t, s, 100, 1)
	s.blocks[0].off, s.edge = memory.MaxAlign-1, memory.MaxAlign+99
	memtest.MustCheck(t, s)
	s.blocks[0].off, s.edge = memory.MaxAlign, memory.MaxAlign+100
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("Check = %v", err)
	}
}

func TestDouble_CheckNamesWhatIsCorrupt(t *testing.T) {
	d := newDouble(t, 1000)
	d.top.wall = &d.top.limit
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "do not stop at each other") {
		t.Errorf("Check = %v", err)
	}
	d.top.wall = &d.bottom.edge
	d.top.origin, d.top.edge = 1<<20, 1<<20
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "is above the") {
		t.Errorf("Check = %v", err)
	}
	d.top.origin, d.top.edge = 1000, 1000
}

func TestPivot_BlocksJoinAtThePivot(t *testing.T) {
	p := newPivot(t, 100, 50)
	put := func(e *End, text string) {
		copy(unsafe.Slice((*byte)(memtest.MustAlloc(t, e, uintptr(len(text)), 1)), len(text)), text)
	}
	put(p.Forward(), "body")
	put(p.Backward(), "header ")
	put(p.Forward(), " tail")
	put(p.Backward(), "outer ")
	if got := string(p.Bytes()); got != "outer header body tail" {
		t.Errorf("Bytes = %q", got)
	}
	p.Backward().Reset()
	if got := string(p.Bytes()); got != "body tail" {
		t.Errorf("Bytes = %q without the headers", got)
	}
	p.Reset()
	if len(p.Bytes()) != 0 {
		t.Errorf("Bytes = %q after Reset", p.Bytes())
	}
}

func TestPivot_NeitherEndTakesTheOthersRoom(t *testing.T) {
	p := newPivot(t, 100, 50)
	memtest.MustAlloc(t, p.Forward(), 100, 1)
	memtest.MustAlloc(t, p.Backward(), 50, 1)
	for _, e := range []*End{p.Forward(), p.Backward()} {
		if _, err := e.Alloc(0, 1); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("full: %v", err)
		}
		if _, err := e.Alloc(101, 1); err != memory.ErrTooLarge {
			t.Errorf("more than its room: %v", err)
		}
	}
	if s := p.Stats(); s.InUse != 150 || s.Live != 2 || s.Failures != 4 {
		t.Errorf("%+v", s)
	}
	memtest.MustCheck(t, p)
}

func TestPivot_NewestForwardBlockExtendsInPlace(t *testing.T) {
	p := newPivot(t, 100, 50)
	a := memtest.MustAlloc(t, p.Forward(), 10, 1)
	h := memtest.MustAlloc(t, p.Backward(), 10, 1)
	if !p.Extend(a, 10, 90) || p.Extend(a, 90, 101) {
		t.Error("the forward block does not extend to its room")
	}
	b := memtest.MustAlloc(t, p.Forward(), 10, 1)
	if p.Extend(a, 90, 95) || p.Extend(b, 10, 11) {
		t.Error("a block extended into another, or beyond the end")
	}
	memtest.Misuse(t, func() { p.Extend(h, 10, 20) }, "foreign")
	memtest.MustCheck(t, p)
}

func TestPivot_CheckNamesWhatIsCorrupt(t *testing.T) {
	p := newPivot(t, 100, 50)
	p.backward.origin, p.backward.edge = 40, 40
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "start at 50 and 40") {
		t.Errorf("Check = %v", err)
	}
	p.backward.origin, p.backward.edge = 50, 50
	p.forward.limit = 1 << 20
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "is above the") {
		t.Errorf("Check = %v", err)
	}
}

func TestStack_CheckNamesWhatIsCorrupt(t *testing.T) {
	s := newStack(t, 100)
	s.limit = 1 << 20
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "is above the") {
		t.Errorf("Check = %v", err)
	}
}

func TestUseAfterClose_MarksAndBytes(t *testing.T) {
	s, p := newStack(t, 100), newPivot(t, 100, 100)
	m := s.Mark()
	for _, c := range []interface{ Close() error }{s, p} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []*End{&s.End, p.Forward(), p.Backward()} {
		memtest.Misuse(t, func() { e.Mark() }, "stack.Mark", "closed")
	}
	memtest.Misuse(t, func() { s.Rewind(m) }, "stack.Rewind", "closed")
	if p.Bytes() != nil {
		t.Error("a closed Pivot has bytes")
	}
}

func TestBadConfigurationSaysWhatIsWrong(t *testing.T) {
	_, a := New(nil, Config{Bytes: math.MaxUint})
	_, b := NewDouble(nil, DoubleConfig{Bytes: math.MaxUint})
	_, c := NewPivot(nil, PivotConfig{Forward: math.MaxUint})
	_, d := NewPivot(nil, PivotConfig{Forward: math.MaxInt, Backward: 7})
	for _, err := range []error{a, b, c, d} {
		if !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "stack: new ") {
			t.Errorf("err = %v", err)
		}
	}
}
