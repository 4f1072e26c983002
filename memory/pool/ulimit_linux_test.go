package pool

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A grower is any pool of this package.
type grower interface {
	Grow(n int) error
	Stats() memory.Stats
	Check() error
}

// Metadata for which the Go heap has no space fails Grow before anything is committed.
func TestGrow_WithoutSpaceForMetadataCommitsNothing(t *testing.T) {
	if !memtest.UnderUlimit(t, 4<<20) {
		return
	}
	const slots = 1 << 20
	p, err := New[enemy](nil, Config{Capacity: slots})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSplit[body, sheet](nil, Config{Capacity: slots})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBlocks(nil, BlocksConfig{Size: 112, Capacity: slots})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []grower{p, s, b} {
		if err := g.Grow(100); err != nil {
			t.Fatal(err)
		}
		giveBack := takeAddresses(t)
		before := g.Stats()
		err := g.Grow(slots)
		after := g.Stats()
		giveBack()
		if !errors.Is(err, memory.ErrOutOfMemory) || after.Failures != before.Failures+1 {
			t.Errorf("%T: Grow: %v, %d failures", g, err, after.Failures)
		}
		if after.Failures = before.Failures; after != before {
			t.Errorf("%T: a failed Grow changed %+v to %+v", g, before, after)
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		if err := g.Grow(slots); err != nil { // the next call works
			t.Errorf("%T: %v", g, err)
		}
	}
}

// takeAddresses takes all of the address space that a limit leaves, down to a MiB, and returns what
// gives it back.
func takeAddresses(t *testing.T) (giveBack func()) {
	var taken []page.Memory
	for size := uintptr(1 << 30); size >= 1<<20; size /= 2 {
		for {
			m, err := page.Default().Reserve(size)
			if err != nil {
				break
			}
			taken = append(taken, m)
		}
	}
	return func() {
		for _, m := range taken {
			if err := page.Default().Release(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}
