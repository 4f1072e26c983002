package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Count is the largest number of buffers in a plan. It bounds the memory that a forged plan file can demand.
const Count = 1 << 18

// MaxAlign is the largest alignment of a buffer in bytes: a large page of common processors.
const MaxAlign = 2 << 20

// maxTotal limits what the buffers of a set need side by side, dead or alive, in bytes, so that
// no sum of an offset, a size and an alignment wraps.
const maxTotal = math.MaxInt >> 2

// A Buffer declares a buffer that a plan places.
type Buffer struct {
	// ID names the buffer. All buffers of a set must have different IDs. Arena.Get is fastest for IDs that count from
	// 0, for example constants with iota.
	ID uint32
	// Size is in bytes. A buffer of size 0 gets offset 0 and conflicts with no other buffer.
	Size uintptr
	// Align is a power of two from 1 to MaxAlign, in bytes. 0 means 16.
	Align uintptr
	// Birth and Death are moments of logical time, such as pass numbers. The buffer lives in [Birth, Death), and
	// Death must be after Birth. If Death equals the Birth of another buffer, the two may share bytes.
	Birth, Death int
}

const defaultAlign = 16 // enough for SIMD loads and every Go type

// declared returns the set in order of ID with its defaults filled in.
func declared(buffers []Buffer) ([]Buffer, error) {
	n := len(buffers)
	if n > Count {
		return nil, &badBuffers{tooMany(n)}
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

// badBuffers are the errors of declared buffers, which are the configuration of a plan.
type badBuffers struct{ error }

func (b *badBuffers) Unwrap() []error { return []error{b.error, memory.ErrConfig} }

func tooMany(n int) error { return fmt.Errorf("plan: %d buffers: at most %d are allowed", n, Count) }

// defects returns all errors of a set of buffers in order of ID, in which Align 0 is an error.
func defects(set []Buffer) error {
	if len(set) > Count {
		return tooMany(len(set))
	}
	var errs []error
	for i, b := range set {
		if i > 0 && b.ID <= set[i-1].ID {
			what := "is declared twice"
			if b.ID < set[i-1].ID {
				what = fmt.Sprintf("follows buffer %d", set[i-1].ID)
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

// badAlign is a memory.ErrAlign with another text, because the limit is not 4096.
type badAlign struct {
	id    uint32
	align uintptr
}

func (e *badAlign) Error() string {
	return fmt.Sprintf("plan: buffer %d has alignment %d, where powers of two up to %d are allowed", e.id, e.align, MaxAlign)
}

func (*badAlign) Unwrap() error { return memory.ErrAlign }

func validAlign(a uintptr) bool { return a-1 < MaxAlign && a&(a-1) == 0 }

// alone returns the most that a buffer can add to the total of a plan: its size, and the padding for its alignment if
// everything lies on multiples of u.
func alone(b Buffer, u uintptr) uintptr {
	if b.Size == 0 {
		return 0
	}
	return align.Up(b.Size, u) + b.Align - u
}

// unit returns the smallest alignment of the set. Every offset is a multiple of it, so sizes can be rounded up to it.
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
