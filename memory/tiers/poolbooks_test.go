package tiers

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
)

// Whoever is asked for the books of a pool may register and remove some, and close the manager where
// nothing is under way: each call that asks goes on, or says that it is out of order.
func TestManager_WhoIsAskedForItsBooksMayRegisterAndRemoveOthers(t *testing.T) {
	does := map[string]func(m *Manager, p Pool){
		"removes":   func(m *Manager, p Pool) { m.RemovePool(p) },
		"registers": func(m *Manager, p Pool) { m.AddPool("third", &Funcs{}) },
		"closes":    func(m *Manager, p Pool) { _ = m.Close() },
	}
	asks := map[string]func(m *Manager, tag *Tag) error{
		"Stats":      func(m *Manager, tag *Tag) error { m.Stats(Pools); return nil },
		"Tag.Stats":  func(m *Manager, tag *Tag) error { tag.Stats(); return nil },
		"EachTag":    func(m *Manager, tag *Tag) error { m.Inspect().EachTag(func(TagStats) {}); return nil },
		"EachPool":   func(m *Manager, tag *Tag) error { m.Inspect().EachPool(func(string, memory.Stats) {}); return nil },
		"Check":      func(m *Manager, tag *Tag) error { return m.Check() },
		"Snapshot":   func(m *Manager, tag *Tag) error { m.Snapshot(new(Snapshot)); return nil },
		"EndLevel":   func(m *Manager, tag *Tag) error { _, err := m.EndLevel(); return err },
		"BeginFrame": func(m *Manager, tag *Tag) error { return m.BeginFrame() },
		"BeginLevel": func(m *Manager, tag *Tag) error {
			if _, err := m.EndLevel(); err != nil {
				return err
			}
			return m.BeginLevel()
		},
		"EndFrame": func(m *Manager, tag *Tag) error {
			if err := m.BeginFrame(); err != nil {
				return err
			}
			return m.EndFrame()
		},
	}
	for does, do := range does {
		for asks, ask := range asks {
			m := newManager(t, tagged())
			tag := newTag(t, m, "subject")
			p, err := pool.New[[3]int64](m.PoolSource(), pool.Config{Capacity: 100})
			must(t, errors.Join(err, m.BeginLevel()))
			armed := false
			tag.AddPool("first", &Funcs{StatsFunc: func() (s memory.Stats) {
				if armed {
					armed = false
					do(m, p)
				}
				return s
			}})
			tag.AddPool("second", p)
			armed = true
			if err := protect(func() error { return ask(m, tag) }); err != nil && !errors.Is(err, ErrOrder) || armed {
				t.Errorf("%s, while somebody %s: %v", asks, does, err)
			}
			must(t, m.Check())
			if m.phase&inFrame != 0 {
				must(t, m.EndFrame())
			}
			must(t, m.Close())
		}
	}
}
