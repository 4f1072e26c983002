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

// Books that the Go heap has no room for halve the reservation, as a system does that refuses
// address space; where not even the least will do, nothing is kept.
func TestPrefixWithBooks_BooksWithoutRoomHalveTheReservation(t *testing.T) {
	const most = 1 << 30 // of books
	for _, tt := range []struct {
		want, least, got uintptr
		times            uint64 // books per byte reserved
	}{
		{1 << 20, 1 << 16, 1 << 20, 1},
		{1 << 20, 1 << 16, 1 << 18, most >> 18},
		{1 << 20, 1 << 18, 1 << 18, most >> 18},
		{1 << 20, 1 << 19, 0, most >> 18},
		{1 << 20, 1 << 16, 0, math.MaxUint64 >> 21},
	} {
		src := memtest.NewFaulty()
		books := func(reserved uintptr) uint64 { // free of charge up to the bound: nothing is made here
			if need := uint64(reserved) * tt.times; need > most {
				return need
			}
			return 0
		}
		p, err := page.NewPrefixWithBooks(src, tt.want, tt.least, 0, books)
		if p.Reserved() != tt.got || (err == nil) != (tt.got > 0) {
			t.Errorf("%d to %d bytes with %d times as many of books: reserved %d, %v", tt.least, tt.want, tt.times, p.Reserved(), err)
		}
		if err != nil && (!errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "at most 1073741824 are possible")) {
			t.Errorf("the refusal is %v", err)
		}
		if err := p.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("Close: %v, %d reservations are left", err, src.Reserved())
		}
	}
}
