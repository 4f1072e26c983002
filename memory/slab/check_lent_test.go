//go:build !memfast || memdebug || race

package slab

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

func TestCheck_NamesWhatIsCorruptBetweenHeapAndCaches(t *testing.T) {
	const ci = 3 // blocks of 64 bytes, 4 granules, in unit 0; the first one is used, the others are cached
	for want, corrupt := range map[string]func(*Central, *Cache){
		"-1 caches are open":                         func(c *Central, _ *Cache) { c.caches = -1 },
		"is noted as 3, which means nothing":         func(c *Central, _ *Cache) { c.lent.at(0).set(0, 3) },
		"granule 1 is live or lent, and no block":    func(c *Central, _ *Cache) { c.lent.at(0).set(1, used) },
		"block 0 is two of free, live and lent":      func(c *Central, _ *Cache) { *c.heap.word(0) |= 1 },
		"15 live, lent and free blocks are not":      func(c *Central, _ *Cache) { c.lent.at(0).set(0, home) },
		"block 4 is not noted as cached":             func(c *Central, _ *Cache) { c.lent.at(0).set(4, used) },
		"cached class 3: 9999 is no block":           func(_ *Central, c *Cache) { c.stashes[ci].blocks[0] = 9999 },
		"cached class 4: 4 is no block of the class": func(_ *Central, c *Cache) { c.stashes[4].blocks[0], c.stashes[4].n = 4, 1 },
		"4294967295 is no block":                     func(_ *Central, c *Cache) { c.stashes[ci].blocks[0] = 1<<32 - 1 },
		"65 blocks are more than two batches of 32":  func(_ *Central, c *Cache) { c.stashes[ci].n = 65 },
		"are more than two batches of 31":            func(_ *Central, c *Cache) { c.stashes[ci].batch-- },
		"255 entries and":                            func(_ *Central, c *Cache) { c.rungs-- },
		"granules is not that of its heap":           func(_ *Central, c *Cache) { c.span++ },
		"a cache of 47 classes":                      func(_ *Central, c *Cache) { c.stashes = c.stashes[1:] },
	} {
		h, err := New(nil, Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		central := mustCentral(h)
		c := NewCache(central)
		memtest.MustAlloc(t, c, 64, 16)
		sound(t, central, c)
		corrupt(central, c)
		if err := errors.Join(c.Check(), central.Check()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v; want an error with %q", err, want)
		}
		if err := h.mem.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
