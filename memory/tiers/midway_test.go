package tiers

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// What is done with a manager and its worker, on one goroutine, from New on. It ends with the
// first call that fails.
func useAll(m *Manager) error {
	w := m.Worker(0)
	steps := []func() error{
		m.BeginLevel,
		func() error { _, err := w.Alloc(100_000, 16); return err },
		func() error { _, err := w.BeginTask(); return err },
		w.EndTask,
		m.BeginFrame,
		func() error { _, err := m.Frame().Alloc(10_000, 16); return err },
		func() error { _, err := m.Alloc(100, 16); return err },
		func() error { _, err := m.Alloc(100_000, 16); return err },
		func() error { _, err := m.Level().Alloc(100_000, 16); return err },
		func() error { _, err := w.Alloc(1<<20, 16); return err },
		m.EndFrame,
		func() error { _, err := m.EndLevel(); return err },
		m.Close,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestManager_ItsSourceMayEndInTheMidstOfEveryCallOfIt(t *testing.T) {
	at := 1
	for ; at < 200; at++ {
		src := memtest.NewSudden(t, 96<<20, at)
		cfg := tagged()
		cfg.Source, cfg.Scratch = src, 64<<10
		m, err := New(cfg)
		if err != nil {
			if !src.Ended || !errors.Is(err, memory.ErrClosed) {
				t.Fatalf("New, whose source ended (%t) in its call %d: %v", src.Ended, at, err)
			}
			continue
		}
		err = useAll(m)
		if !src.Ended {
			must(t, err)
			src.End(t)
			break
		}
		if err != nil && !errors.Is(err, memory.ErrClosed) && !errors.Is(err, ErrOrder) {
			t.Errorf("the source ended in its call %d: %v; want ErrClosed, or ErrOrder", at, err)
		}
		if m.Base() != nil {
			t.Errorf("the source ended in its call %d, and the manager has a base", at)
		}
		for _, w := range m.inbox.workers {
			if _, err := w.Alloc(16, 16); err != memory.ErrClosed {
				t.Errorf("a worker, whose source ended in call %d: %v", at, err)
			}
			w.Settle()
			if st := w.Stats(); st.Live != 0 || st.Committed != 0 {
				t.Errorf("a worker, whose source ended in call %d: %+v", at, st)
			}
		}
		must(t, m.Check())
		must(t, m.Close())
	}
	if at < 5 || at == 200 {
		t.Errorf("the source was called %d times", at-1)
	}
}
