package freelist

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// Trim may come at any moment, and what it returned may be committed again.
func TestTrim_AnywhereInARandomProgram(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, Policy: policy})
		memtest.TrimAnywhere(t, h, func() uintptr { return h.grain.Bytes(h.tail()) })
	}
}
