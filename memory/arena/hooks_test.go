package arena

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

var errHook = errors.New("out of a hook")

// recovered runs f, which must panic with errHook.
func recovered(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r != errHook {
			t.Fatalf("recovered %v; want the panic of the hook", r)
		}
	}()
	f()
}

// hooked is an arena with four blocks, a hook behind each and a mark after the second.
type hooked struct {
	l    *Linear
	mark Mark
	ran  []int
}

func newHooked(t *testing.T, l *Linear, bad int) *hooked {
	h := &hooked{l: l}
	for i := range 4 {
		if i == 2 {
			h.mark = l.Mark()
		}
		*(*uint64)(mustAlloc(t, l, 8, 8)) = uint64(i)
		l.OnReset(func() {
			h.ran = append(h.ran, i)
			if i == bad {
				panic(errHook)
			}
		})
	}
	return h
}

// wantRan holds the hooks to have run from the newest down to oldest, each once.
func (h *hooked) wantRan(t *testing.T, oldest int) {
	t.Helper()
	var want []int
	for i := 3; i >= oldest; i-- {
		want = append(want, i)
	}
	if !slices.Equal(h.ran, want) {
		t.Errorf("hooks %v ran, want %v", h.ran, want)
	}
}

func TestHooks_OneThatPanicsIsGoneAndTheRestRunLater(t *testing.T) {
	for bad := range 4 {
		for name, call := range map[string]func(*hooked){
			"Reset":  func(h *hooked) { h.l.Reset() },
			"Rewind": func(h *hooked) { h.l.Rewind(h.mark) },
			"Close":  func(h *hooked) { h.l.Close() },
		} {
			oldest := 0
			if name == "Rewind" {
				oldest = 2
			}
			if bad < oldest {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", name, bad), func(t *testing.T) {
				h := newHooked(t, newLinear(t, 1000), bad)
				recovered(t, func() { call(h) })
				h.wantRan(t, bad)
				if s := h.l.Stats(); s.InUse != 32 || s.Live != 4 || s.Frees != 0 {
					t.Errorf("the panic left %+v; want everything live", s)
				}
				memtest.MustCheck(t, h.l)
				mustAlloc(t, h.l, 8, 8) // usable
				call(h)
				h.wantRan(t, oldest)
				if s := h.l.Stats(); s.Live != uint64(oldest) || s.InUse != uint64(oldest)*8 {
					t.Errorf("the second %s left %+v", name, s)
				}
				memtest.MustCheck(t, h.l)
			})
		}
	}
}

// After a panic has removed hooks, a new hook belongs to the scopes that are open now, and not to those that had
// as many hooks before.
func TestHooks_OfAnOpenScopeRunAtItsRewindAfterAPanic(t *testing.T) {
	l := newLinear(t, 1000)
	l.OnReset(func() {})
	l.OnReset(func() { panic(errHook) })
	outer := l.Mark()
	inner := l.Mark()
	recovered(t, l.Reset)
	memtest.MustCheck(t, l)
	ran := false
	l.OnReset(func() { ran = true })
	l.Rewind(inner)
	if !ran {
		t.Error("the hook of the scope did not run at its rewind")
	}
	l.Rewind(outer)
	memtest.MustCheck(t, l)
}

func TestFrames_AHookThatPanicsKeepsTheFrame(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		f := newFrames(t, n, 4096)
		v := mustNew(t, f)
		v.X = 7
		old := RefTo(f, v)
		ran := ""
		f.Current().OnReset(func() { ran += "a" })
		f.Current().OnReset(func() { ran += "b"; panic(errHook) })
		f.Current().OnReset(func() { ran += "c" })
		for range n - 1 {
			f.Advance()
		}
		was := f.Frame()
		recovered(t, f.Advance)
		if p, ok := old.Get(f); f.Frame() != was || !ok || p.X != 7 || f.Stats().Live != 1 {
			t.Errorf("N=%d: after the panic frame %d, was %d; the object: %v, %t", n, f.Frame(), was, p, ok)
		}
		memtest.MustCheck(t, f)
		mustNew(t, f)
		f.Advance()
		if _, ok := old.Get(f); f.Frame() != was+1 || ok || ran != "cba" || f.Current().Used() != 0 {
			t.Errorf("N=%d: frame %d after %d, hooks %q, %d bytes of the old frame", n, f.Frame(), was, ran, f.Current().Used())
		}
		memtest.MustCheck(t, f)
	}
}

func TestFrames_AHookThatPanicsInResetOrCloseLeavesTheRest(t *testing.T) {
	for name, call := range map[string]func(*Frames){
		"Reset": (*Frames).Reset,
		"Close": func(f *Frames) { f.Close() },
	} {
		for bad := range 3 {
			f := newFrames(t, 3, 4096)
			var ran []int
			for i := range 3 {
				if i > 0 {
					f.Advance()
				}
				mustNew(t, f)
				f.Current().OnReset(func() {
					ran = append(ran, i)
					if i == bad {
						panic(errHook)
					}
				})
			}
			recovered(t, func() { call(f) })
			if s := f.Stats(); s.Live != uint64(3-bad) || f.Frame() != 2 {
				t.Errorf("%s: a panic in frame %d left %+v in frame %d", name, bad, s, f.Frame())
			}
			memtest.MustCheck(t, f)
			if _, err := f.Alloc(8, 8); err != nil {
				t.Errorf("%s: after the panic: %v", name, err)
			}
			call(f)
			if s := f.Stats(); !slices.Equal(ran, []int{0, 1, 2}) || s.Live != 0 || f.Frame() != 2 {
				t.Errorf("%s: hooks of the frames %v ran; frame %d, %+v", name, ran, f.Frame(), s)
			}
			memtest.MustCheck(t, f)
		}
	}
}

func TestHooks_MayUseTheArenaAndNotResetIt(t *testing.T) {
	for name, end := range map[string]func(l *Linear, m Mark){
		"Reset":  func(l *Linear, _ Mark) { l.Reset() },
		"Rewind": func(l *Linear, m Mark) { l.Rewind(m) },
		"Close":  func(l *Linear, _ Mark) { l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLinear(t, 1000)
			mustAlloc(t, l, 10, 1)
			m := l.Mark()
			p := mustAlloc(t, l, 10, 1)
			ran := false
			l.OnReset(func() {
				ran = true
				const why = "a hook of this arena is running"
				memtest.Misuse(t, l.Reset, "arena.Reset", why)
				memtest.Misuse(t, func() { l.Rewind(m) }, "arena.Rewind", why)
				memtest.Misuse(t, func() { l.Close() }, "arena.Close", why)
				memtest.Misuse(t, func() { l.OnReset(func() {}) }, "arena.OnReset", why)
				l.Free(p, 10)
				mustAlloc(t, l, 100, 16)
				for range 20 { // the list of marks grows and moves
					l.Mark()
				}
				mustAlloc(t, l, 100, 16)
				memtest.MustCheck(t, l)
			})
			end(l, m)
			want := uint64(0)
			if name == "Rewind" {
				want = 1
			}
			if s := l.Stats(); !ran || s.Live != want || s.InUse != 10*want {
				t.Errorf("the hook ran: %t; %+v", ran, s)
			}
			memtest.MustCheck(t, l)
			if name != "Close" {
				memtest.Misuse(t, func() { l.Rewind(Mark{}) }, "by none") // no longer busy
				l.Reset()
			}
		})
	}
}

// A hook's own misuse comes out of what ran it, and leaves everything usable.
func TestHooks_MisuseInOneComesOutOfTheReset(t *testing.T) {
	l := newLinear(t, 1000)
	mustAlloc(t, l, 10, 1)
	l.OnReset(func() { l.Reset() })
	memtest.Misuse(t, l.Reset, "a hook of this arena is running")
	if l.Used() != 10 {
		t.Errorf("used %d", l.Used())
	}
	l.Reset()
	if l.Used() != 0 {
		t.Errorf("used %d", l.Used())
	}
}

func TestFrames_HooksMayUseTheRingAndNotAdvanceIt(t *testing.T) {
	f := newFrames(t, 2, 4096)
	ran := false
	f.Current().OnReset(func() {
		ran = true
		memtest.Misuse(t, f.Advance, "arena.Advance", "a hook of this arena is running")
		memtest.Misuse(t, f.Reset, "arena.Reset", "a hook of this arena is running")
		memtest.Misuse(t, func() { f.Close() }, "arena.Close", "a hook of this arena is running")
		mustNew(t, f)
		f.Current().OnReset(func() {})
	})
	f.Advance()
	f.Advance()
	if !ran || f.Frame() != 2 {
		t.Errorf("the hook ran: %t, frame %d", ran, f.Frame())
	}
	memtest.MustCheck(t, f)

	f.Reset()
	mustNew(t, f)
	f.Advance()
	f.Current().OnReset(func() {
		memtest.Misuse(t, f.Reset, "arena.Reset", "a hook of this arena is running")
		memtest.Misuse(t, func() { f.Close() }, "arena.Close", "a hook of this arena is running")
		if f.Stats().Live != 1 {
			t.Error("a refused Reset has freed the older frame")
		}
	})
	f.Current().Reset()
}

func TestFrames_UseAfterClose(t *testing.T) {
	f := newFrames(t, 2, 4096)
	p := mustAlloc(t, f, 10, 1)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, f.Advance, "arena.Advance", "closed")
	memtest.Misuse(t, f.Reset, "arena.Reset", "closed")
	memtest.Misuse(t, func() { f.Free(p, 10) }, "arena.Free", "closed")
	if _, err := f.Alloc(1, 1); err != memory.ErrClosed {
		t.Errorf("Alloc after Close: %v", err)
	}
	if f.Frame() != 0 || f.Owns(p) || f.Stats().Live != 0 {
		t.Errorf("frame %d, %+v", f.Frame(), f.Stats())
	}
	f.Free(nil, 0)
}

func TestFrames_BuffersAreBounded(t *testing.T) {
	for _, n := range []int{1 << 30, maxBuffers + 1} {
		if _, err := NewFrames(nil, FramesConfig{Buffers: n, Bytes: 1}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Buffers %d: want 1 to 1024", n)) {
			t.Errorf("err = %v", err)
		}
	}
	if f := newFrames(t, maxBuffers, 1); f.Buffers() != maxBuffers {
		t.Errorf("%d buffers", f.Buffers())
	}
}

func TestHooks_NilIsRefused(t *testing.T) {
	l := newLinear(t, 1000)
	memtest.Misuse(t, func() { l.OnReset(nil) }, "arena.OnReset", "nil")
	l.Reset()
}
