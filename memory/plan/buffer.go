package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Count is the largest number of buffers in a plan: what a 16-bit pass graph could ever name,
// and small enough that a forged plan file cannot ask for much.
const Count = 1 << 16

// maxTotal limits the sum of the sizes of a set, dead or alive, in bytes, so that no sum of an
// offset, a size and an alignment wraps.
const maxTotal = math.MaxInt >> 2

// A Buffer declares what a plan has to place.
type Buffer struct {
	// ID numbers the buffer. The IDs of a set of n buffers are 0 to n-1, each once, in any
	// order: declare them as constants with iota. Arena.Get takes the ID as an index.
	ID uint32
	// Size in bytes. A buffer of size 0 gets a place at offset 0 and conflicts with nobody.
	Size uintptr
	// Align is a power of two from 1 to memory.MaxAlign; 0 means 16.
	Align uintptr
	// Birth and Death are moments of logical time, such as pass numbers: the buffer lives
	// in [Birth, Death). A buffer that dies when another is born may share its bytes.
	Birth, Death int
}

const defaultAlign = 16 // what SIMD loads and every Go type ask for

// defects says everything that is wrong with a set of buffers, in which Align 0 is none.
func defects(buffers []Buffer) error {
	n := len(buffers)
	if n > Count {
		return fmt.Errorf("plan: %d buffers: at most %d are allowed", n, Count)
	}
	var errs []error
	seen := make([]bool, n)
	sum := uintptr(0)
	for _, b := range buffers {
		switch {
		case uint64(b.ID) >= uint64(n):
			errs = append(errs, fmt.Errorf("plan: buffer %d of %d: IDs are the numbers 0 to %d, each once", b.ID, n, n-1))
		case seen[b.ID]:
			errs = append(errs, fmt.Errorf("plan: buffer %d is declared twice", b.ID))
		default:
			seen[b.ID] = true
		}
		if !align.Valid(b.Align) {
			errs = append(errs, fmt.Errorf("plan: buffer %d has alignment %d: %w", b.ID, b.Align, memory.ErrAlign))
		}
		if b.Birth >= b.Death {
			errs = append(errs, fmt.Errorf("plan: buffer %d lives in [%d, %d): its death must come after its birth", b.ID, b.Birth, b.Death))
		}
		if b.Size > maxTotal-memory.MaxAlign || sum > maxTotal-memory.MaxAlign-b.Size {
			return errors.Join(append(errs, fmt.Errorf("plan: buffer %d has %d bytes and the sizes add up to more than %d: %w",
				b.ID, b.Size, uintptr(maxTotal), memory.ErrTooLarge))...)
		}
		sum += align.Up(b.Size, memory.MaxAlign) // what rounding may make of it
	}
	return errors.Join(errs...)
}

// declared returns the set in order of ID with its defaults filled in.
func declared(buffers []Buffer) ([]Buffer, error) {
	set := make([]Buffer, len(buffers))
	copy(set, buffers)
	for i := range set {
		if set[i].Align == 0 {
			set[i].Align = defaultAlign
		}
	}
	if err := defects(set); err != nil {
		return nil, err
	}
	for i := range set {
		for int(set[i].ID) != i {
			j := set[i].ID
			set[i], set[j] = set[j], set[i]
		}
	}
	return set, nil
}

// unit returns the smallest alignment of the set. Every offset is a multiple of it, so that
// a size that is not is as good as rounded up.
func unit(buffers []Buffer) uintptr {
	u := uintptr(memory.MaxAlign)
	for _, b := range buffers {
		u = min(u, b.Align)
	}
	return u
}

func byBirth(a, b Buffer) int {
	return cmp.Or(cmp.Compare(a.Birth, b.Birth), cmp.Compare(a.ID, b.ID))
}
