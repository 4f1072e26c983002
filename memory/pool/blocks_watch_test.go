package pool

import (
	"errors"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

func TestBlocks_TellWhoStandsOnThemWhenTheirMemoryGoes(t *testing.T) {
	for name, end := range map[string]func(c *page.Carve, b *Blocks){
		"the open is closed": func(c *page.Carve, b *Blocks) { c.Close() },
		"the pool is closed": func(c *page.Carve, b *Blocks) { b.Close() },
	} {
		src := page.Default()
		mem, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		c, err := page.NewCarve(src, mem)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBlocks(c, BlocksConfig{Size: 1024, Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Get()
		if err != nil {
			t.Fatal(err)
		}
		var told []int
		for i := range 3 {
			unwatch := b.Watch(func() {
				told = append(told, i)
				if _, err := b.Get(); !errors.Is(err, memory.ErrClosed) || b.Owns(p) || b.Len() != 0 {
					t.Errorf("%s: told of an open pool", name)
				}
			})
			if i == 1 {
				unwatch()
			}
		}
		b.Watch(func() { panic(name) })
		r := func() (r any) {
			defer func() { r = recover() }()
			end(c, b)
			return
		}()
		if r != name || !slices.Equal(told, []int{2, 0}) {
			t.Errorf("%s: told %v, %v", name, told, r)
		}
		if b.Watch(func() { t.Errorf("%s: told once more", name) }) != nil {
			t.Errorf("%s: a closed pool is watched", name)
		}
		if err := errors.Join(b.Close(), b.Check()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
		if err := src.Release(mem); err != nil {
			t.Fatal(err)
		}
	}
}
