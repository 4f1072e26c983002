package tiers

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A poolEntry is something that lives in the pools tier.
type poolEntry struct {
	name  string
	stats func() memory.Stats
	reset func()
	close func() error
}

// PoolSource is where pools, component columns and particle columns take their memory from:
// it cuts them out of the pools tier and holds them to its budget. Pass it to their
// constructors, then register them with AddPool.
func (m *Manager) PoolSource() page.Source { return m.limits[Pools] }

// AddPool registers a pool that was built on PoolSource. stats feeds the books; reset, when
// not nil, runs at EndLevel and Close, newest pool first; close, when not nil, at Close, also
// newest first, before the memory goes. The name is for the overlay.
func (m *Manager) AddPool(name string, stats func() memory.Stats, reset func(), close func() error) {
	m.pools = append(m.pools, poolEntry{name, stats, reset, close})
}

// EachPool calls f with the name and books of every pool, in order of registration.
func (m *Manager) EachPool(f func(name string, s memory.Stats)) {
	for i := range m.pools {
		f(m.pools[i].name, m.pools[i].stats())
	}
}

func (m *Manager) resetPools() {
	for i := len(m.pools) - 1; i >= 0; i-- {
		if reset := m.pools[i].reset; reset != nil {
			reset()
		}
	}
}
