package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Count is the largest number of buffers in a plan: several times what the largest compilers of
// neural networks hand to a planner, and small enough that a forged plan file cannot ask for
// much.
const Count = 1 << 18

// MaxAlign is the largest alignment of a buffer, in bytes: a large page of the usual processors.
// Graphics interfaces want 64 KiB for what is placed in a heap, and never more than this.
const MaxAlign = 2 << 20

// maxTotal limits what the buffers of a set need side by side, dead or alive, in bytes, so that
// no sum of an offset, a size and an alignment wraps.
const maxTotal = math.MaxInt >> 2

// A Buffer declares what a plan has to place.
type Buffer struct {
	// ID names the buffer: any number that no other buffer of the set has. Declared as
	// constants with iota, so that they count from 0, Arena.Get finds them fastest.
	ID uint32
	// Size in bytes. A buffer of size 0 gets a place at offset 0 and conflicts with nobody.
	Size uintptr
	// Align is a power of two from 1 to MaxAlign; 0 means 16.
	Align uintptr
	// Birth and Death are moments of logical time, such as pass numbers: the buffer lives
	// in [Birth, Death). A buffer that dies when another is born may share its bytes.
	Birth, Death int
}

const defaultAlign = 16 // what SIMD loads and every Go type ask for

// declared returns the set in order of ID with its defaults filled in.
func declared(buffers []Buffer) ([]Buffer, error) {
	n := len(buffers)
	if n > Count {
		return nil, tooMany(n)
	}
	set := make([]Buffer, n)
	for x, i := range inOrder(n, func(i int) uint64 { return uint64(buffers[i].ID) }) {
		if set[x] = buffers[i]; set[x].Align == 0 {
			set[x].Align = defaultAlign
		}
	}
	if err := defects(set); err != nil {
		return nil, &badBuffers{err}
	}
	return set, nil
}

// badBuffers is what is wrong with declared buffers, which are the configuration of a plan.
type badBuffers struct{ error }

func (b *badBuffers) Unwrap() []error { return []error{b.error, memory.ErrConfig} }

func tooMany(n int) error { return fmt.Errorf("plan: %d buffers: at most %d are allowed", n, Count) }

// defects says everything that is wrong with a set of buffers in order of ID, in which Align 0
// is none.
func defects(set []Buffer) error {
	if len(set) > Count {
		return tooMany(len(set))
	}
	var errs []error
	for i, b := range set {
		if i > 0 && b.ID <= set[i-1].ID {
			what := "is declared twice"
			if b.ID < set[i-1].ID {
				what = fmt.Sprintf("stands behind buffer %d", set[i-1].ID)
			}
			errs = append(errs, fmt.Errorf("plan: buffer %d %s", b.ID, what))
		}
		if !validAlign(b.Align) {
			errs = append(errs, &badAlign{b.ID, b.Align})
		}
		if b.Birth >= b.Death {
			errs = append(errs, fmt.Errorf("plan: buffer %d lives in [%d, %d): its death must come after its birth", b.ID, b.Birth, b.Death))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	u, sum := unit(set), uintptr(0)
	for _, b := range set {
		if b.Size > maxTotal || sum > maxTotal-align.Up(b.Size, u) || sum+align.Up(b.Size, u) > maxTotal-(b.Align-u) {
			return fmt.Errorf("plan: buffer %d has %d bytes and the sizes add up to more than %d: %w",
				b.ID, b.Size, uintptr(maxTotal), memory.ErrTooLarge)
		}
		sum += alone(b, u)
	}
	return nil
}

// badAlign is a memory.ErrAlign without its text, which says that 4096 is the most.
type badAlign struct {
	id    uint32
	align uintptr
}

func (e *badAlign) Error() string {
	return fmt.Sprintf("plan: buffer %d has alignment %d, where powers of two up to %d are allowed", e.id, e.align, MaxAlign)
}

func (*badAlign) Unwrap() error { return memory.ErrAlign }

func validAlign(a uintptr) bool { return a-1 < MaxAlign && a&(a-1) == 0 }

// alone is what a buffer may add to the total of a plan, at most: its size and what its
// alignment wastes where everything lies on multiples of u.
func alone(b Buffer, u uintptr) uintptr {
	if b.Size == 0 {
		return 0
	}
	return align.Up(b.Size, u) + b.Align - u
}

// unit returns the smallest alignment of the set. Every offset is a multiple of it, so that
// a size that is not is as good as rounded up.
func unit(set []Buffer) uintptr {
	u := uintptr(MaxAlign)
	for _, b := range set {
		u = min(u, b.Align)
	}
	return u
}

// lifetime is unsigned: it holds the distance of any two ints.
func lifetime(b Buffer) uint { return uint(b.Death) - uint(b.Birth) }

func byID(b Buffer, id uint32) int { return cmp.Compare(b.ID, id) }
