package realm

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// rested returns a flow at tick 1, whose worker has finished with these errors.
func rested(t *testing.T, errs ...error) *Flow {
	f := NewFlowIn(pages{})
	f.tick = 1
	for k, err := range errs {
		f.lanes[k].due, f.results[k], f.early = 1+Ahead, result{err: err}, k+1
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFlow_ResetReportsWhatIsNoLackOfMemory(t *testing.T) {
	other, second := errors.New("other"), errors.New("second")
	f := rested(t, memory.ErrOutOfMemory, other, errors.Join(memory.ErrOutOfMemory, second))
	if err := f.Reset(); !errors.Is(err, other) || !errors.Is(err, second) || errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("Reset: %v", err)
	}
	if err := rested(t, memory.ErrOutOfMemory).Reset(); err != nil {
		t.Errorf("Reset without space: %v", err)
	}
}

func TestFlow_LoadedFailureLacksMemory(t *testing.T) {
	for name, state := range map[string]func(*Flow, *save.Coder){
		"state": func(f *Flow, c *save.Coder) { f.SaveState(c, nil) },
		"file":  (*Flow).SaveFile,
	} {
		f := rested(t, memory.ErrOutOfMemory)
		var set save.Set
		if err := errors.Join(set.AddFunc("flow", func(c *save.Coder) { state(f, c) }), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot := set.NewSlot(64 << 10)
		if err := errors.Join(set.Save(slot), set.Load(slot)); err != nil {
			t.Fatal(err)
		}
		if err := f.Reset(); err != nil {
			t.Errorf("%s: Reset: %v", name, err)
		}
		if err := set.Load(slot); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Update(1+Ahead, Bare(Unknown("x")), flight{Bare(Unknown("x")), vec{}}); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: Update: %v", name, err)
		}
	}
}

func TestFlow_SavingDuringASearchIsBusy(t *testing.T) {
	for name, state := range map[string]func(*Flow, *save.Coder){
		"state": func(f *Flow, c *save.Coder) { f.SaveState(c, nil) },
		"file":  (*Flow).SaveFile,
	} {
		f := rested(t)
		f.lanes[0].due = 1 + Ahead // the worker has the job
		var set save.Set
		if err := errors.Join(set.AddFunc("flow", func(c *save.Coder) { state(f, c) }), set.Seal()); err != nil {
			t.Fatal(err)
		}
		if err := set.Save(set.NewSlot(64 << 10)); !errors.Is(err, save.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
		f.lanes[0].due = 0
	}
}
