package arena

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

// A hook that has run cannot run again: a state that has it is refused, whatever was registered since.
func TestLinear_LoadRefusesAStateWhoseHookHasRun(t *testing.T) {
	run := map[string]func(l *Linear, m Mark){
		"RunHooks": func(l *Linear, _ Mark) { l.RunHooks() },
		"Rewind":   func(l *Linear, m Mark) { l.Rewind(m) },
		"Reset":    func(l *Linear, _ Mark) { l.Reset() },
	}
	for name, run := range run {
		for since := range 3 {
			l, set := newLinear(t, 10_000), new(save.Set)
			if err := errors.Join(set.Add("arena", l), set.Seal()); err != nil {
				t.Fatal(err)
			}
			slot, first := set.NewSlot(20_000), set.NewSlot(20_000)
			ran := 0
			mark := l.Mark()
			err := set.Save(first) // without a hook
			l.OnReset(func() { ran++ })
			if err := errors.Join(err, set.Save(slot)); err != nil {
				t.Fatal(err)
			}
			l.OnReset(func() { ran++ })
			if err := set.Load(slot); err != nil || ran != 0 { // drops the second
				t.Fatal(err, ran)
			}
			run(l, mark)
			for range since {
				l.OnReset(func() {})
			}
			if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || ran != 1 {
				t.Errorf("%s, %d hooks since: %v; %d hooks ran", name, since, err, ran)
			}
			if err := set.Load(first); err != nil {
				t.Errorf("%s: a state without hooks: %v", name, err)
			}
			l.Reset()
		}
	}
}

// RunHooks runs every hook newest first, and blocks and marks stand.
func TestLinear_RunHooksFreesNothing(t *testing.T) {
	l := newLinear(t, 10_000)
	var ran []int
	alloc := mustAlloc(t, l, 100, 16)
	l.OnReset(func() { ran = append(ran, 1) })
	mark := l.Mark()
	mustAlloc(t, l, 100, 16)
	l.OnReset(func() {
		ran = append(ran, 2)
		if !l.Busy() {
			t.Error("the arena is not busy in its hook")
		}
		memtest.Misuse(t, l.RunHooks, "arena.RunHooks", "a hook of this arena is running")
		memtest.Misuse(t, func() { l.OnReset(func() {}) }, "arena.OnReset")
		mustAlloc(t, l, 100, 16)
	})
	used := l.Used()
	l.RunHooks()
	if fmt.Sprint(ran) != "[2 1]" || l.Used() <= used || !l.Live(alloc) || l.Busy() {
		t.Errorf("ran %v; %d bytes are used, before %d", ran, l.Used(), used)
	}
	memtest.MustCheck(t, l)
	l.RunHooks()
	l.OnReset(func() { ran = append(ran, 3) })
	l.Rewind(mark)
	if fmt.Sprint(ran) != "[2 1 3]" || l.Used() != 100 {
		t.Errorf("ran %v; %d bytes are used", ran, l.Used())
	}
	l.Reset()
	if len(ran) != 3 {
		t.Errorf("ran %v", ran)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, l.RunHooks, "arena.RunHooks", "the arena is closed")
}

// A hook that panics is gone, and the next RunHooks runs those that are left.
func TestLinear_RunHooksGoesOnAfterAPanic(t *testing.T) {
	l := newLinear(t, 10_000)
	ran := 0
	boom := errors.New("boom")
	for range 3 {
		l.OnReset(func() { ran++; panic(boom) })
	}
	for i := range 3 {
		func() {
			defer func() {
				if r := recover(); r != boom {
					t.Errorf("call %d: %v", i, r)
				}
			}()
			l.RunHooks()
		}()
		memtest.MustCheck(t, l)
	}
	if l.RunHooks(); ran != 3 || l.Busy() {
		t.Errorf("%d hooks ran", ran)
	}
}

// The hooks of the oldest frame run first, and no frame changes.
func TestFrames_RunHooksRunsTheOldestFirst(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		f := newFrames(t, n, 10_000)
		var ran []int
		for i := range n {
			if i > 0 {
				f.Advance()
			}
			mustAlloc(t, f, 100, 16)
			f.Current().OnReset(func() {
				ran = append(ran, i)
				if !f.Busy() || len(f.At(n-1-i)) != 100 {
					t.Errorf("frame %d: busy %t, %d bytes", i, f.Busy(), len(f.At(n-1-i)))
				}
			})
		}
		frame := f.Frame()
		f.RunHooks()
		if len(ran) != n || ran[0] != 0 || ran[n-1] != n-1 || f.Frame() != frame || len(f.At(n-1)) != 100 || f.Busy() {
			t.Errorf("%d buffers: ran %v, frame %d of %d", n, ran, f.Frame(), frame)
		}
		f.Reset()
		if len(ran) != n {
			t.Errorf("%d buffers: ran %v", n, ran)
		}
		memtest.MustCheck(t, f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		memtest.Misuse(t, f.RunHooks, "arena.RunHooks", "the arena is closed")
	}
}

// A state whose newest hook a load has dropped is refused, also if another hook was registered since. Programs that do
// the same after a load save the same bytes.
func TestLinear_LoadRefusedAfterItsHookWasDropped(t *testing.T) {
	l, set := newLinear(t, 10_000), new(save.Set)
	if err := errors.Join(set.Add("arena", l), set.Seal()); err != nil {
		t.Fatal(err)
	}
	canonical := [2]*save.Slot{set.NewCanonical(1 << 16), set.NewCanonical(1 << 16)}
	before, after, again := set.NewSlot(1<<16), set.NewSlot(1<<16), set.NewSlot(1<<16)
	ran := ""
	l.OnReset(func() { ran += "a" })
	err := set.Save(before)
	l.OnReset(func() { ran += "b" })
	err = errors.Join(err, set.Save(after), set.Save(canonical[0]), set.Load(before))
	l.OnReset(func() { ran += "c" })
	if err = errors.Join(err, set.Save(again), set.Save(canonical[1])); err != nil {
		t.Fatal(err)
	}
	if err := set.Load(after); !errors.Is(err, save.ErrLayout) {
		t.Errorf("the state with the dropped hook: %v, want ErrLayout", err)
	}
	if !bytes.Equal(canonical[0].Bytes(), canonical[1].Bytes()) {
		t.Error("a hook that is registered again makes another state")
	}
	if err := errors.Join(set.Load(again), set.Load(canonical[1])); err != nil {
		t.Error(err)
	}
	if l.Reset(); ran != "ca" {
		t.Errorf("the hooks %q ran, want \"ca\"", ran)
	}
}
