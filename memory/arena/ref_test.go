package arena

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

func mustNew(t testing.TB, f *Frames) *vec {
	t.Helper()
	v, err := New(f.Current(), vecType)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRef_IsSmallAndComparable(t *testing.T) {
	if size, want := unsafe.Sizeof(Ref[vec]{}), 16+unsafe.Sizeof(uintptr(0)); size != want {
		t.Errorf("a Ref has %d bytes, want %d", size, want)
	}
	if err := memory.PointerFree[Ref[vec]](); err != nil {
		t.Error(err)
	}
	f := newFrames(t, 2, 4096)
	v := mustNew(t, f)
	if first, second := RefTo(f, v), RefTo(f, v); first != second {
		t.Error("two Refs to one object differ")
	}
}

func TestRef_EndsWithItsObjectAndNotBefore(t *testing.T) {
	size := unsafe.Sizeof(vec{})
	for name, end := range map[string]func(l *Linear, m Mark, v *vec){
		"Rewind": func(l *Linear, m Mark, _ *vec) { l.Rewind(m) },
		"Reset":  func(l *Linear, _ Mark, _ *vec) { l.Reset() },
		"Free":   func(l *Linear, _ Mark, v *vec) { l.Free(unsafe.Pointer(v), size) },
		"Resize": func(l *Linear, _ Mark, v *vec) { l.Resize(unsafe.Pointer(v), size, size-1) },
	} {
		f := newFrames(t, 2, 4096)
		below := RefTo(f, mustNew(t, f))
		m := f.Current().Mark()
		v := mustNew(t, f)
		r := RefTo(f, v)
		if got, ok := r.Get(f); !ok || got != v {
			t.Errorf("%s: before it Get = %p, %t", name, got, ok)
		}
		end(f.Current(), m, v)
		again, _ := New(f.Current(), vecType) // in the same place, after most
		if got, ok := r.Get(f); ok || got != nil {
			t.Errorf("%s: the Ref of a freed object finds %p, now %p", name, got, again)
		}
		if _, ok := below.Get(f); ok != (name != "Reset") {
			t.Errorf("%s: the Ref of the object below: %t", name, ok)
		}
		if got, ok := RefTo(f, again).Get(f); !ok || got != again {
			t.Errorf("%s: a new Ref finds %p, %t", name, got, ok)
		}
		memtest.MustCheck(t, f)
	}
}

func TestRef_NamesNothingAfterClose(t *testing.T) {
	for name, end := range map[string]func(*Frames) error{
		"Frames": (*Frames).Close,
		"Linear": func(f *Frames) error { return f.Current().Close() },
	} {
		f := newFrames(t, 2, 4096)
		v := mustNew(t, f)
		r := RefTo(f, v)
		if err := end(f); err != nil {
			t.Fatal(err)
		}
		if p, ok := r.Get(f); p != nil || ok {
			t.Errorf("%s closed: Get = %p, %t", name, p, ok)
		}
		memtest.Misuse(t, func() { RefTo(f, v) }, "arena.RefTo", "closed")
	}
}

// Loading restores the epoch. Close must also expire Refs that the loaded metadata does not know.
func TestRef_OfADiscardedFutureNamesNothingAfterClose(t *testing.T) {
	f, set := newFrames(t, 2, 4096), new(save.Set)
	if err := errors.Join(set.Add("frames", f), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot := set.NewSlot(20_000)
	err := set.Save(slot)
	r := RefTo(f, mustNew(t, f))
	if err := errors.Join(err, set.Load(slot), f.Close()); err != nil {
		t.Fatal(err)
	}
	if p, ok := r.Get(f); p != nil || ok {
		t.Errorf("Get = %p, %t", p, ok)
	}
}

func TestRef_OfAnotherRingNamesNothing(t *testing.T) {
	a, b := newFrames(t, 2, 4096), newFrames(t, 2, 4096)
	r := RefTo(a, mustNew(t, a))
	mustNew(t, b)
	if p, ok := r.Get(b); ok {
		t.Errorf("a Ref of one ring finds %p in another", p)
	}
	var zero Ref[vec]
	if _, ok := zero.Get(b); ok {
		t.Error("the zero Ref names something")
	}
	memtest.Misuse(t, func() { RefTo(b, mustNew(t, a)) }, "not allocated in the current frame")
	memtest.Misuse(t, func() { RefTo[vec](b, nil) }, "not allocated in the current frame")
	last := mustNew(t, b)
	beyond := (*vec)(unsafe.Add(unsafe.Pointer(last), 4))
	memtest.Misuse(t, func() { RefTo(b, beyond) }, "not allocated in the current frame")
}

func TestRef_OfSizeZeroEndsWithItsFrame(t *testing.T) {
	f := newFrames(t, 2, 4096)
	kind := memory.MustType[struct{}]()
	v, err := New(f.Current(), kind)
	if err != nil {
		t.Fatal(err)
	}
	r := RefTo(f, v)
	f.Advance()
	if _, ok := r.Get(f); !ok {
		t.Error("gone one frame later")
	}
	f.Advance()
	if _, ok := r.Get(f); ok {
		t.Error("still there when its frame has expired")
	}
	memtest.MustCheck(t, f)
}

// Every Ref that was ever made is asked after every step of a random life.
func TestRef_ResolvesExactlyWhileItsObjectLives(t *testing.T) {
	type named struct {
		ref    Ref[vec]
		v      *vec
		frame  uint64
		serial int // in its frame
		dead   bool
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		f := newFrames(t, 1+rng.IntN(3), 4096)
		var refs []named
		var live []*vec // of this frame, oldest first
		var marks []Mark
		var places []int
		kill := func(keep int) {
			for i := range refs {
				refs[i].dead = refs[i].dead || refs[i].frame == f.Frame() && refs[i].serial >= keep
			}
			live = live[:keep]
		}
		newest := false // its start is known
		for range 300 {
			switch rng.IntN(12) {
			case 0, 1, 2, 3, 4:
				v := mustNew(t, f)
				newest = true
				if rng.IntN(3) > 0 {
					refs = append(refs, named{RefTo(f, v), v, f.Frame(), len(live), false})
				}
				live = append(live, v)
			case 5, 6:
				if n := len(live); newest && (len(marks) == 0 || n > places[len(marks)-1]) {
					f.Free(unsafe.Pointer(live[n-1]), unsafe.Sizeof(vec{}))
					kill(n - 1)
					newest = false
				}
			case 7, 8:
				marks, places = append(marks, f.Current().Mark()), append(places, len(live))
			case 9:
				if n := len(marks); n > 0 {
					k := rng.IntN(n)
					f.Current().Rewind(marks[k])
					kill(places[k])
					marks, places, newest = marks[:k], places[:k], false
				}
			case 10:
				if rng.IntN(3) == 0 {
					f.Current().Reset()
					kill(0)
					marks, places, newest = nil, nil, false
				}
			case 11:
				if rng.IntN(2) == 0 {
					f.Advance()
					live, marks, places, newest = nil, nil, nil, false
				}
			}
			for i, r := range refs {
				p, ok := r.ref.Get(f)
				want := !r.dead && f.Frame()-r.frame < uint64(f.Buffers())
				if ok != want || ok && p != r.v || !ok && p != nil {
					t.Fatalf("Ref %d to %p of frame %d in frame %d: %p, %t; want %t", i, r.v, r.frame, f.Frame(), p, ok, want)
				}
			}
			memtest.MustCheck(t, f)
		}
	}
}

// The metadata of Refs is bounded by the live blocks, however often objects are allocated and freed.
func TestRef_CutsDoNotPileUp(t *testing.T) {
	f := newFrames(t, 2, 4096)
	for range 100_000 {
		m := f.Current().Mark()
		RefTo(f, mustNew(t, f))
		f.Current().Rewind(m)
	}
	if n := len(f.cur.cuts); n > 1 {
		t.Errorf("%d cuts are kept", n)
	}
}

func TestRefTo_AnObjectOfSizeZeroAtTheTopKeepsTheBooksTrue(t *testing.T) {
	f := newFrames(t, 2, 4096)
	mustNew(t, f)
	p := (*struct{})(mustAlloc(t, f, 0, 1))
	r := RefTo(f, p)
	if got, ok := r.Get(f); !ok || got != p {
		t.Errorf("Get = %p, %t; want %p", got, ok, p)
	}
	memtest.MustCheck(t, f)
}
