package guard_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// What offsets from Base reach is inner's to say: the upper End of a buffer has reserved less than that.
func TestAllocator_BlocksLieWithinTheExtentOfInner(t *testing.T) {
	d, err := stack.NewDouble(nil, stack.DoubleConfig{Bytes: 64 << 10})
	memtest.Opened(t, d, err)
	memtest.MustAlloc(t, d.Bottom(), 32<<10, 16)
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	for _, inner := range []memory.Allocator{d.Top(), h} {
		g, err := guard.New(inner, guard.Config{})
		if err != nil {
			t.Fatal(err)
		}
		p := memtest.MustAlloc(t, g, 100, 16)
		off := uintptr(p) - uintptr(g.Base())
		if off+100 > g.Extent() {
			t.Errorf("%T: a block of 100 bytes at offset %d, within an extent of %d", inner, off, g.Extent())
		}
		g.Free(p, 100)
		if err := g.Close(); err != nil || g.Extent() != 0 {
			t.Errorf("%T: %v, and an extent of %d", inner, err, g.Extent())
		}
	}
}
