package arena

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
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

func TestFrames_ForeignFreePanics(t *testing.T) {
	f, l := newFrames(t, 2, 4096), newLinear(t, 100)
	memtest.Misuse(t, func() { f.Free(mustAlloc(t, l, 10, 1), 10) }, "does not lie in any frame")
}

func TestFrames_NegativeBuffersAreRefused(t *testing.T) {
	if _, err := NewFrames(nil, FramesConfig{Buffers: -1}); err == nil || !strings.Contains(err.Error(), "-1 buffers") {
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
}

func TestNewFrames_APanicOfTheSourceKeepsNoBuffer(t *testing.T) {
	src := memtest.NewFaulty()
	l := page.NewLimit(src, 3<<20)
	l.OnSoft(1<<20, func(uintptr, uintptr) { panic("tight") })
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
