package compose

import (
	"testing"

	"github.com/strata-go/strata/memory"
)

// Each of the types of expose has exactly the interfaces of its bits.
func TestExpose_HasExactlyItsInterfaces(t *testing.T) {
	c, err := newCounted(new(fake), CountedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for can := range optional(32) {
		a := expose(c, can)
		var has [5]bool
		_, has[0] = a.(memory.Resetter)
		_, has[1] = a.(memory.Resizer)
		_, has[2] = a.(memory.Trimmer)
		_, has[3] = a.(sized)
		_, has[4] = a.(based)
		for i, ok := range has {
			if want := can>>i&1 != 0; ok != want {
				t.Errorf("%05b: interface %d is there: %t", can, i, ok)
			}
		}
		if a.(core).whole() != whole(c) {
			t.Errorf("%05b: not the same allocator", can)
		}
	}
}
