package pool

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

// The metadata of a pool that has grown is not copied when the pool grows further, and Close releases it.
func TestGrow_CopiesNoMetadata(t *testing.T) {
	if page.OS() == page.Heap() || unsafe.Sizeof(uintptr(0)) < 8 {
		return // tables have no reservations here
	}
	before := len(page.AppendMapped(nil))
	const slots = 1 << 20
	p, err := New[enemy](page.OS(), Config{Capacity: slots})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBlocks(page.OS(), BlocksConfig{Size: 16, Capacity: slots})
	if err != nil {
		t.Fatal(err)
	}
	metadata := func() [5]unsafe.Pointer {
		return [5]unsafe.Pointer{unsafe.Pointer(&p.gens[0]), unsafe.Pointer(&p.free[0]), unsafe.Pointer(&p.live[0]),
			unsafe.Pointer(&b.free[0]), unsafe.Pointer(&b.live[0])}
	}
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			if _, _, err := p.New(); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Get(); err != nil {
				t.Fatal(err)
			}
		}
	}
	const long = slots/2 + 1 // of which the live bits are longer than 64 KiB
	fill(0, long)
	at := metadata()
	fill(long, slots)
	if now := metadata(); now != at {
		t.Errorf("the metadata has moved from %v to %v", at, now)
	}
	for _, c := range []interface {
		Check() error
		Close() error
	}{p, b} {
		for _, f := range []func() error{c.Check, c.Close, c.Check} {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	}
	if after := len(page.AppendMapped(nil)); after != before {
		t.Errorf("%d reservations, before the pools %d", after, before)
	}
}
