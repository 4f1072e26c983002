package arena

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// An arena has what all arenas of this package have in common.
type arena interface {
	memory.Allocator
	memory.Resetter
	memory.Owner
	memory.StatsReporter
	memory.Checker
	Close() error
}

// arenas makes one arena of each type on src.
func arenas(t *testing.T, src page.Source) map[string]arena {
	t.Helper()
	made := map[string]arena{}
	add := func(name string, a arena, err error) {
		if err != nil {
			t.Fatal(err)
		}
		made[name] = a
	}
	l, err := NewLinear(src, LinearConfig{Bytes: 20_000})
	add("Linear", l, err)
	g, err := NewGrowing(src, GrowingConfig{Reserve: 64 << 10, Step: 16 << 10})
	add("Growing", g, err)
	f, err := NewFrames(src, FramesConfig{Buffers: 3, Bytes: 20_000})
	add("Frames", f, err)
	s, err := NewStepBack(src, StepBackConfig{Bytes: 20_000})
	add("StepBack", s, err)
	r, err := NewRegion(src, RegionConfig{RegionBytes: regionBytes, Reserve: 4 * regionBytes})
	add("Region", r, err)
	return made
}

// An arena that outlives its manager is closed, and never touches addresses that may have a new owner.
func TestEveryArena_MayOutliveItsSource(t *testing.T) {
	src := memtest.NewMortal(t, nil, 4<<20)
	made := arenas(t, src)
	first := map[string]*byte{}
	hooks := 0
	for name, a := range made {
		for range 3 {
			first[name] = (*byte)(mustAlloc(t, a, 100, 16))
		}
	}
	l, g, f, s := made["Linear"].(*Linear), made["Growing"].(*Growing), made["Frames"].(*Frames), made["StepBack"].(*StepBack)
	l.OnReset(func() { hooks++ })
	g.OnReset(func() { hooks++ })
	m := l.Mark()
	ref := RefTo(f, (*vec)(mustAlloc(t, f, 12, 4)))
	peak := l.Stats().Peak
	src.End(t)
	for name, a := range made {
		for _, size := range []uintptr{0, 1, 1 << 20} {
			if p, err := a.Alloc(size, 1); p != nil || err != memory.ErrClosed {
				t.Errorf("%s: Alloc(%d) = %v, %v; want ErrClosed", name, size, p, err)
			}
		}
		p := first[name]
		memtest.Misuse(t, func() { memory.Free(a, p) }, "arena.Free", "closed")
		memtest.Misuse(t, a.Reset, "arena.Reset", "closed")
		if r, ok := a.(memory.Resizer); ok {
			memtest.Misuse(t, func() { r.Resize(unsafe.Pointer(p), 100, 50) }, "arena.Resize", "closed")
		}
		st := a.Stats()
		if st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.Allocs < 3 || st.Frees != st.Allocs || a.Owns(unsafe.Pointer(p)) {
			t.Errorf("%s: %+v", name, st)
		}
		if err := errors.Join(a.Check(), a.Close(), a.Close(), a.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	memtest.Misuse(t, f.Advance, "arena.Advance", "closed")
	if m := memtest.Misuse(t, func() { l.Mark() }, "arena.Mark", "closed"); m.Addr != 0 || m.Size != 0 {
		t.Errorf("%+v; a Mark has neither an address nor a size", *m)
	}
	memtest.Misuse(t, func() { l.Rewind(m) }, "arena.Rewind", "closed")
	memtest.Misuse(t, func() { l.OnReset(func() {}) }, "arena.OnReset", "closed")
	memtest.Misuse(t, func() { s.Undo() }, "arena.Undo", "closed")
	memtest.Misuse(t, func() { s.UndoTo(0) }, "arena.UndoTo", "closed")
	memtest.Misuse(t, func() { RefTo(f, (*vec)(unsafe.Pointer(first["Frames"]))) }, "arena.RefTo", "closed")
	if p, ok := ref.Get(f); p != nil || ok {
		t.Errorf("a Ref finds %p", p)
	}
	if v, err := New(l, vecType); v != nil || err != memory.ErrClosed {
		t.Errorf("New = %v, %v", v, err)
	}
	if v, err := NewIn(g, vecType); v != nil || err != memory.ErrClosed {
		t.Errorf("NewIn = %v, %v", v, err)
	}
	if v, err := MakeSlice(l, vecType, 0); v != nil || err != memory.ErrClosed {
		t.Errorf("MakeSlice = %v, %v", v, err)
	}
	if p := g.TryAlloc(0, 1); p != nil || g.Stats().Live != 0 || g.Trim() != memory.ErrClosed {
		t.Errorf("TryAlloc = %v, %+v", p, g.Stats())
	}
	if hooks != 0 || l.Stats().Peak != peak {
		t.Errorf("%d hooks ran on blocks that are gone; peak %d, was %d", hooks, l.Stats().Peak, peak)
	}
}

// A hook may end the source of the arena that it belongs to.
func TestHooks_OneMayEndTheSource(t *testing.T) {
	for name, call := range map[string]func(*Linear, Mark){
		"Reset":  func(l *Linear, _ Mark) { l.Reset() },
		"Rewind": func(l *Linear, m Mark) { l.Rewind(m) },
		"Close":  func(l *Linear, _ Mark) { l.Close() },
	} {
		src := memtest.NewMortal(t, nil, 1<<20)
		l, err := NewLinear(src, LinearConfig{Bytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		m := l.Mark()
		mustAlloc(t, l, 100, 1)
		l.OnReset(func() { src.End(t) })
		call(l, m)
		if _, err := l.Alloc(0, 1); err != memory.ErrClosed || l.Stats().Live != 0 {
			t.Errorf("%s: Alloc: %v; %+v", name, err, l.Stats())
		}
		if err := errors.Join(l.Check(), l.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A Close that fails may have decommitted memory, which must not be allocated afterwards.
func TestEveryArena_AFailedCloseAllocatesNothingDecommitted(t *testing.T) {
	src := &memtest.Halfway{Source: page.Default(), On: true}
	for name, a := range arenas(t, src) {
		mustAlloc(t, a, 100, 16)
		if err := a.Close(); err == nil {
			t.Errorf("%s: Close hid that the addresses are kept", name)
		}
		if err := a.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p, err := a.Alloc(64, 16); err == nil {
			*(*uint64)(p) = 1 // committed again, as in a Growing and a Region
		} else if err != memory.ErrClosed {
			t.Errorf("%s: Alloc: %v", name, err)
		}
		src.On = false
		if err := errors.Join(a.Close(), a.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := a.Alloc(0, 1); err != memory.ErrClosed || a.Stats().Reserved != 0 {
			t.Errorf("%s: Alloc after Close: %v; %+v", name, err, a.Stats())
		}
		src.On = true
	}
}

// `go vet` names copies of what embeds an Owner.
func TestEveryArena_CopiesAreNamedByVet(t *testing.T) {
	memtest.CopiesAreNamed(t, reflect.TypeFor[Linear](), reflect.TypeFor[Growing](), reflect.TypeFor[Frames](),
		reflect.TypeFor[StepBack](), reflect.TypeFor[Region](), reflect.TypeFor[Window[byte]]())
}

// TestConfig_NamesTheErrorsOfAlloc: an owner of an arena knows better than the arena why a block is refused.
func TestConfig_NamesTheErrorsOfAlloc(t *testing.T) {
	shut, full := fmt.Errorf("not today: %w", memory.ErrClosed), fmt.Errorf("too much: %w", memory.ErrOutOfMemory)
	l, lerr := NewLinear(page.Heap(), LinearConfig{Bytes: 100, Closed: shut})
	g, gerr := NewGrowing(page.Heap(), GrowingConfig{Closed: shut})
	f, ferr := NewFrames(page.Heap(), FramesConfig{Bytes: 100, Full: full})
	if err := errors.Join(lerr, gerr, ferr); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := f.Current().Alloc(101, 1); err != full {
			t.Errorf("frame %d: %v", f.Frame(), err)
		}
		f.Advance()
	}
	if err := errors.Join(l.Close(), g.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, a := range []memory.Allocator{l, g} {
		if _, err := a.Alloc(1, 1); err != shut {
			t.Errorf("%T: %v", a, err)
		}
	}
	memtest.Misuse(t, func() { l.Mark() }, "arena.Mark", "the arena is closed: not today")
	memtest.Misuse(t, g.Reset, "arena.Reset", "the arena is closed: not today")
	if _, err := f.Alloc(1, 1); err != memory.ErrClosed {
		t.Errorf("closed frames: %v", err)
	}
}
