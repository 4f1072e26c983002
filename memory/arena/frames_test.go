package arena

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

func newFrames(t testing.TB, n int, bytes uintptr) *Frames {
	t.Helper()
	f, err := NewFrames(nil, FramesConfig{Buffers: n, Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFrames_ResizeIsForTheNewestBlockOfThisFrame(t *testing.T) {
	f := newFrames(t, 2, 1<<16)
	p := mustAlloc(t, f, 100, 8)
	if !f.Resize(p, 100, 200) || !f.Resize(p, 200, 50) || f.Resize(p, 50, 1<<16+1) || f.Current().Used() != 50 {
		t.Errorf("%d bytes used", f.Current().Used())
	}
	memtest.Misuse(t, func() { f.Resize(p, 51, 100) }, "arena.Resize", "wrong size")
	q := mustAlloc(t, f, 10, 8)
	if f.Resize(p, 50, 60) {
		t.Error("a block that is not the newest one was resized")
	}
	f.Advance()
	if f.Resize(q, 10, 5) || f.Resize(q, 10, 20) {
		t.Error("a block of the frame before was resized")
	}
	memtest.Misuse(t, func() { f.Resize(q, 1<<15, 5) }, "arena.Resize", "in the frame 1 before this one")
	memtest.Misuse(t, func() { f.Resize(unsafe.Pointer(f), 8, 5) }, "arena.Resize", "the block does not lie in any frame of this ring")
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	memtest.Misuse(t, func() { f.Resize(q, 10, 5) }, "arena.Resize", "closed")
}

func TestFrames_LastNMinusOneFramesStayReadable(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		f := newFrames(t, n, 4096)
		var refs []Ref[vec]
		for frame := range 12 {
			v, err := New(f.Current(), vecType)
			if err != nil {
				t.Fatal(err)
			}
			v.X = float32(frame)
			refs = append(refs, RefTo(f, v))
			for past, r := range refs {
				p, ok := r.Get(f)
				if want := frame-past < n; ok != want {
					t.Fatalf("N=%d: frame %d read in frame %d: ok=%t, want %t", n, past, frame, ok, want)
				}
				if ok && p.X != float32(past) {
					t.Fatalf("N=%d: frame %d reads %v", n, past, p.X)
				}
			}
			f.Advance()
		}
		if f.Frame() != 12 || f.Buffers() != n {
			t.Errorf("frame %d of %d buffers", f.Frame(), f.Buffers())
		}
	}
}

func TestFrames_RefKnowsWhatIsGone(t *testing.T) {
	f := newFrames(t, 2, 4096)
	if _, ok := (Ref[vec]{}).Get(f); ok {
		t.Error("the zero Ref names something")
	}
	m := f.Current().Mark()
	v, _ := New(f.Current(), vecType)
	r := RefTo(f, v)
	f.Current().Rewind(m)
	if _, ok := r.Get(f); ok {
		t.Error("a rewound object is still found")
	}
	v, _ = New(f.Current(), vecType)
	r = RefTo(f, v)
	f.Reset()
	if _, ok := r.Get(f); ok {
		t.Error("an object from before Reset is still found")
	}
	memtest.Misuse(t, func() { RefTo(f, new(vec)) }, "arena.RefTo", "not allocated in the current frame")
}

func TestFrames_HooksRunWhenTheFrameDies(t *testing.T) {
	f := newFrames(t, 2, 4096)
	ran := 0
	f.Current().OnReset(func() { ran++ })
	f.Advance()
	if ran != 0 {
		t.Error("the hook ran while its frame was readable")
	}
	f.Advance()
	if ran != 1 {
		t.Errorf("the hook ran %d times", ran)
	}
}

// The hook begins a frame in a buffer that was reset before. Its blocks and its hook end, too.
func TestFrames_AHookMayAdvanceDuringResetAndRunHooks(t *testing.T) {
	for name, end := range map[string]func(*Frames){"Reset": (*Frames).Reset, "RunHooks": (*Frames).RunHooks} {
		f := newFrames(t, 3, 4096)
		var ran []string
		var ref Ref[vec]
		f.Advance()
		f.Current().OnReset(func() {
			f.Advance()
			v, err := New(f.Current(), vecType)
			if err != nil {
				t.Fatal(err)
			}
			ref = RefTo(f, v)
			f.Current().OnReset(func() { ran = append(ran, "new") })
		})
		f.Advance()
		f.Current().OnReset(func() { ran = append(ran, "last") })
		if end(f); strings.Join(ran, " ") != "last new" {
			t.Errorf("%s: the hooks ran as %q", name, ran)
		}
		if _, ok := ref.Get(f); name == "Reset" && (ok || f.Stats().InUse != 0) {
			t.Errorf("after Reset a Ref is valid: %t, and %d bytes are in use", ok, f.Stats().InUse)
		}
		if err := f.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestFrames_ForeignFreePanics(t *testing.T) {
	f, l := newFrames(t, 2, 4096), newLinear(t, 100)
	memtest.Misuse(t, func() { f.Free(mustAlloc(t, l, 10, 1), 10) }, "does not lie in any frame")
}

func TestFrames_NegativeBuffersAreRefused(t *testing.T) {
	if _, err := NewFrames(nil, FramesConfig{Buffers: -1}); err == nil || !strings.Contains(err.Error(), "Buffers -1: want") {
		t.Errorf("err = %v", err)
	}
}

func TestFrames_CheckNamesWhatIsCorrupt(t *testing.T) {
	f := newFrames(t, 3, 4096)
	f.cur = &f.ring[1]
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "does not use buffer 0") {
		t.Errorf("Check = %v", err)
	}
	f.cur = &f.ring[0]
	f.ring[0].limit--
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "buffer 0 has a capacity of 4095 bytes instead of 4096") {
		t.Errorf("Check = %v", err)
	}
	f.ring[0].limit++
}

func TestNewFrames_APanicOfTheSourceKeepsNoBuffer(t *testing.T) {
	src := memtest.NewFaulty()
	l := page.NewLimit(src, 3<<20)
	l.OnSoft(0, func(uintptr, uintptr) { panic("tight") })
	func() {
		defer func() { _ = recover() }()
		_, _ = NewFrames(l, FramesConfig{Buffers: 3, Bytes: 1 << 20})
		t.Error("the panic did not arrive")
	}()
	if l.Committed() != 0 || src.Reserved() != 0 {
		t.Errorf("%d bytes committed, %d reservations", l.Committed(), src.Reserved())
	}
	l.OnSoft(0, nil)
	f, err := NewFrames(l, FramesConfig{Buffers: 3, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestFrames_BuffersAreCommittedWhenTheirFramesBegin(t *testing.T) {
	const bytes = 1 << 20
	for _, idle := range []bool{false, true} {
		limit := page.NewLimit(nil, 3*bytes)
		f, err := NewFrames(limit, FramesConfig{Buffers: 3, Bytes: bytes, Idle: idle})
		if err != nil {
			t.Fatal(err)
		}
		memtest.Opened(t, f, nil)
		first := uintptr(bytes)
		if idle {
			first = 0
		}
		if limit.Committed() != first || f.Current().Available() != first {
			t.Errorf("idle %t: %d bytes committed at first, %d can be had", idle, limit.Committed(), f.Current().Available())
		}
		if _, err := f.Alloc(100, 16); errors.Is(err, memory.ErrOutOfMemory) != idle || !idle && err != nil {
			t.Errorf("idle %t: Alloc before the first Advance: %v", idle, err)
		}
		memtest.MustCheck(t, f)
		for frame := uintptr(1); frame < 9; frame++ {
			f.Advance()
			mustAlloc(t, f, bytes, 16)
			memtest.MustCheck(t, f)
			if want := min(first+frame*bytes, 3*bytes); limit.Committed() != want {
				t.Errorf("idle %t, frame %d: %d bytes committed, want %d", idle, frame, limit.Committed(), want)
			}
		}
		f.Reset()
		if limit.Committed() != 3*bytes || limit.Failures() != 0 {
			t.Errorf("%d bytes committed, %d refusals", limit.Committed(), limit.Failures())
		}
	}
}

// A frame whose buffer cannot be committed has no capacity, a source that panics changes nothing, and the next
// Advance to that buffer tries again.
func TestFrames_AFrameWithoutMemoryIsRetried(t *testing.T) {
	src := memtest.NewFaulty()
	limit := page.NewLimit(src, 0)
	f, err := NewFrames(limit, FramesConfig{Buffers: 2, Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	memtest.Opened(t, f, nil)
	limit.OnSoft(page.Granule, func(uintptr, uintptr) { panic("tight") })
	func() {
		defer func() {
			if recover() != "tight" {
				t.Error("the panic did not arrive")
			}
		}()
		f.Advance()
	}()
	if f.Frame() != 0 || f.Current().Available() != 1000 {
		t.Errorf("a panic out of Advance: frame %d with %d bytes", f.Frame(), f.Current().Available())
	}
	memtest.MustCheck(t, f)
	limit.OnSoft(0, nil)
	src.FailAt = src.Calls() + 1
	f.Advance()
	if _, err := f.Alloc(1, 1); !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "injected") || f.Frame() != 1 {
		t.Errorf("Alloc in frame %d without memory: %v; want the error of the commit", f.Frame(), err)
	}
	memtest.MustCheck(t, f)
	f.Advance()
	mustAlloc(t, f, 1000, 1)
	f.Advance()
	mustAlloc(t, f, 1000, 1)
	if _, err := f.Alloc(1, 1); err == nil || !strings.Contains(err.Error(), "no space in the frame's buffer of 1000 bytes") {
		t.Errorf("Alloc in a full frame whose buffer was refused before: %v", err)
	}
	memtest.MustCheck(t, f)
}

// A load may give memory to a buffer that was refused, and take it away again.
func TestFrames_LoadKeepsTheErrorsOfFullAndRefused(t *testing.T) {
	src := memtest.NewFaulty()
	f, err := NewFrames(src, FramesConfig{Buffers: 2, Bytes: 1000})
	memtest.Opened(t, f, err)
	set := &save.Set{}
	first, ready, refused := set.NewSlot(20_000), set.NewSlot(20_000), set.NewSlot(20_000)
	err = errors.Join(set.Add("frames", f), set.Seal(), set.Save(first))
	f.Advance()
	err = errors.Join(err, set.Save(ready), set.Load(first))
	src.FailAt = src.Calls() + 1
	f.Advance()
	if err = errors.Join(err, set.Save(refused), set.Load(ready)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		slot *save.Slot
		want string
	}{{ready, "no space in the frame's buffer of 1000 bytes"}, {refused, "injected"}, {ready, "no space in the frame's buffer of 1000 bytes"}} {
		if err := set.Load(c.slot); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Alloc(1001, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("after a load: %v, want %s", err, c.want)
		}
		memtest.MustCheck(t, f)
	}
}

func TestFrames_AtReadsTheFramesThatAreReadable(t *testing.T) {
	for n := 1; n <= 4; n++ {
		f, err := NewFrames(nil, FramesConfig{Buffers: n, Bytes: 4096})
		if err != nil {
			t.Fatal(err)
		}
		refused := func(age int, want string) {
			t.Helper()
			if invariant.Debug {
				memtest.Misuse(t, func() { f.At(age) }, "arena.At", want)
			} else if got := f.At(age); got != nil {
				t.Errorf("N = %d, frame %d, age %d: %d bytes", n, f.Frame(), age, len(got))
			}
		}
		for frame := range 20 {
			if frame > 0 {
				f.Advance()
			}
			if b := f.At(0); b == nil || len(b) != 0 {
				t.Fatalf("a new frame has %v", b)
			}
			for k := range frame + 1 {
				p, err := f.Alloc(1, 1)
				if err != nil {
					t.Fatal(err)
				}
				*(*byte)(p) = byte(frame + k)
			}
			for age := range n {
				if age > frame {
					refused(age, fmt.Sprintf("this is frame %d, and there was none %d frames before it", frame, age))
					continue
				}
				b := f.At(age)
				if len(b) != frame-age+1 || cap(b) != len(b) || b[0] != byte(frame-age) || b[len(b)-1] != byte(2*(frame-age)) {
					t.Fatalf("N = %d, frame %d, age %d: %v", n, frame, age, b)
				}
			}
			refused(n, fmt.Sprintf("a frame %d frames old has expired; it stays readable for %d", n, n-1))
			refused(-1, "-1 frames before this one: the frame is still to come")
			refused(math.MaxInt, "has expired")
			refused(math.MinInt, "still to come")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		refused(0, "the arena is closed")
	}
}
