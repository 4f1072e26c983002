package page_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// If the Go heap has no space for the metadata, the reservation is halved, as if the system refused address
// space. If the least is too large, nothing is kept.
func TestPrefixWithMetadata_TooMuchHalvesTheReservation(t *testing.T) {
	const most = 1 << 30 // bytes of metadata
	for _, tt := range []struct {
		want, least, got uintptr
		times            uint64 // bytes of metadata for each reserved byte
	}{
		{1 << 20, 1 << 16, 1 << 20, 1},
		{1 << 20, 1 << 16, 1 << 18, most >> 18},
		{1 << 20, 1 << 18, 1 << 18, most >> 18},
		{1 << 20, 1 << 19, 0, most >> 18},
		{1 << 20, 1 << 16, 0, math.MaxUint64 >> 21},
	} {
		src := memtest.NewFaulty()
		metadata := func(reserved uintptr) uint64 { // 0 up to the bound: nothing is allocated here
			if need := uint64(reserved) * tt.times; need > most {
				return need
			}
			return 0
		}
		p, err := page.NewPrefixWithMetadata(src, tt.want, tt.least, 0, metadata)
		if p.Reserved() != tt.got || (err == nil) != (tt.got > 0) {
			t.Errorf("%d to %d bytes with %d times as many of metadata: reserved %d, %v", tt.least, tt.want, tt.times, p.Reserved(), err)
		}
		if err != nil && (!errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "want at most 1073741824")) {
			t.Errorf("the refusal is %v", err)
		}
		if err := p.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("Close: %v, %d reservations are left", err, src.Reserved())
		}
	}
}
