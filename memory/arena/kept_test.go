package arena

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

// In debug builds the arena of an older frame is refused until its buffer begins another frame. Other builds use it.
func TestFrames_AKeptArenaPanicsInDebugBuilds(t *testing.T) {
	for n := 1; n <= 3; n++ {
		f := newFrames(t, n, 4096)
		kept := f.Current()
		p, mark := mustAlloc(t, kept, 8, 8), kept.Mark()
		for age := range uint64(len(f.ring)) + 1 {
			for op, use := range map[string]func(){
				"Resize":  func() { kept.Resize(p, 8, 8) },
				"Alloc":   func() { _, _ = kept.Alloc(8, 8) },
				"New":     func() { _, _ = New(kept, vecType) },
				"Mark":    func() { kept.Mark() },
				"OnReset": func() { kept.OnReset(func() {}) },
			} {
				if age%uint64(len(f.ring)) == 0 || !invariant.Debug { // the ring has come round to it
					mustAlloc(t, kept, 8, 8)
					continue
				}
				memtest.Misuse(t, use, "arena."+op, fmt.Sprintf("kept from a frame at least %d before this one", age), "call Manager.Frame")
			}
			mustAlloc(t, f, 8, 8)
			memtest.MustCheck(t, f)
			f.Advance()
		}
		memtest.Misuse(t, func() { kept.Rewind(mark) }, "arena.Rewind")
	}
}

// A hook uses the arena of its frame, and a load makes an older frame the current one.
func TestFrames_TheArenaOfAHookOrALoadIsNotKept(t *testing.T) {
	f := newFrames(t, 2, 4096)
	var set save.Set
	slot := set.NewSlot(1 << 20)
	old, ran := f.Current(), 0
	if err := errors.Join(set.Add("frames", f), set.Seal(), set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	f.Advance()
	if err := set.Load(slot); err != nil {
		t.Fatal(err)
	}
	old.OnReset(func() { mustAlloc(t, old, 8, 8); ran++ })
	for range len(f.ring) {
		f.Advance()
	}
	if ran != 1 {
		t.Errorf("%d hooks ran", ran)
	}
	f.Advance()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Alloc(8, 8); err != memory.ErrClosed {
		t.Errorf("a kept arena of a closed ring: %v", err)
	}
}
