package guides

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// A cache under a limit, as caches.md describes it, has nearly as many entries after a change of the lengths of its keys
// as a new cache has. Without Strings.Shrink it loses all.
func TestTable_KeepsEntriesWhenKeyLengthsChange(t *testing.T) {
	open := func() *cache {
		m, err := tiers.New(tiers.Config{Workers: -1, GC: gcpace.Config{Keep: true}, Source: page.NewLimit(page.Default(), 3<<20)})
		must(err)
		sp, err := container.In(m)
		must(err)
		c := &cache{m: m, t: table{sp: sp, keys: container.NewStrings(1)}}
		must(errors.Join(c.t.entries.Reserve(sp, most), c.t.keys.Reserve(sp, most+most/8)))
		return c
	}
	shifting := open()
	defer shifting.m.Close()
	for _, length := range []int{8, 400, 30, 900, 12} {
		fresh := open()
		fresh.fill(length)
		shifting.fill(length)
		if got, want := shifting.t.keys.Len(), fresh.t.keys.Len(); 4*got < 3*want {
			t.Errorf("keys of %d bytes: %d entries; a new cache has %d", length, got, want)
		}
		must(errors.Join(shifting.m.Check(), shifting.t.keys.Check(shifting.t.sp), fresh.m.Close()))
	}
}

const most = 12_000 // entries

// A cache evicts the oldest entries of its table.
type cache struct {
	m   *tiers.Manager
	t   table
	ids []uint32 // the oldest first
}

// fill adds more entries than fit.
func (c *cache) fill(length int) {
	value := make([]byte, 100)
	for i := range 20_000 {
		key := fmt.Appendf(nil, "%0*d", length, i)
		id, err := c.t.set(key, value, 0)
		for len(c.ids) == most || errors.Is(err, memory.ErrOutOfMemory) && len(c.ids) > 0 {
			n := len(c.ids)/16 + 1
			c.t.evict(c.ids[:n])
			c.ids = c.ids[n:]
			must(errors.Join(c.m.Slab().Trim(), c.m.Large().Trim()))
			if err != nil {
				id, err = c.t.set(key, value, 0)
			}
		}
		must(err)
		c.ids = append(c.ids, id)
	}
}
