package remote

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// An earlier is a State during whose load another goroutine frees a block.
type earlier struct{ free func() }

func (s *earlier) SaveState(c *save.Coder) {
	if c.Loading() {
		s.free()
	}
}

// A part before the inbox has been loaded already when a block arrives: the load must not fail any more.
func TestInbox_LoadPassTakesBlocks(t *testing.T) {
	s := newSlots(t, 4, 16)
	in := newInbox(t, s, 4)
	f := in.NewFreer()
	send := func() {
		f.FreeAny(mustAlloc(t, s))
		if err := f.Flush(); err != nil {
			t.Error(err)
		}
	}
	var set save.Set
	other, slot := &earlier{func() {}}, set.NewSlot(100)
	if err := errors.Join(set.Add("other", other), set.Add("inbox", in), set.Seal(), set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	other.free = send
	if err := set.Load(slot); err != nil || !in.Pending() {
		t.Errorf("%v, a block waits: %t", err, in.Pending())
	}
	other.free = func() { t.Error("a part was loaded before the inbox was found busy") }
	for _, err := range []error{set.Save(slot), set.Load(slot)} {
		if !errors.Is(err, save.ErrBusy) {
			t.Errorf("with a block that waits: %v, want ErrBusy", err)
		}
	}
	if err := set.Scan(slot, func(save.Piece) bool { return true }); err != nil {
		t.Errorf("Scan, which frees no block: %v", err)
	}
	in.Drain()
	if err := errors.Join(f.Close(), in.Close()); err != nil {
		t.Error(err)
	}
	if err := set.Save(slot); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}
