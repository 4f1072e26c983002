package plan

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// An Arena is one block of memory in which a plan is carried out. All of it is committed at
// New, so nothing fails later.
//
//	base      base+offset(id)          base+total
//	  | ......... | buffer id | ........ |
//
// Buffers are not zeroed, except that the block is when it is new: what dies leaves its bytes
// to the next. A pointer is valid from the buffer's birth to its death, or Close. In builds
// with -race or -tags memdebug, once Begin was called, a Get outside that lifetime panics, a
// buffer is filled with 0xCD when it is born and with 0xDD when it dies, and an Advance that has a
// buffer born where somebody wrote to the dead panics, too, and goes no further. One goroutine at
// a time; in other builds Get and Slice only read.
//
// A block aligned to more than page.BaseAlign, which is 64 KiB, starts within the memory taken for
// it, so that up to that much is committed in front and never touched.
//
// Invariants, verified by Check in this order:
//
//	(1) the plan verifies, and every offset is the plan's
//	(2) base + total <= what is committed, and base is aligned for every buffer
//	(3) a closed arena has neither base nor offsets nor committed memory
type Arena struct {
	base    unsafe.Pointer // nil once closed
	offsets []uintptr      // bytes from base, of the IDs from 0 on without a gap; nil once closed
	plan    *Plan
	now     int  // the moment, while begun
	begun   bool // a Begin without a Reset since
	mem     page.Prefix
	owner   invariant.Owner
}

// New takes one block of the plan's total from src; nil means page.Default(). The error wraps
// what src returned and nothing is kept. A plan from a file decides how much is taken: where it
// may be anybody's, have a page.Limit for a source.
func New(src page.Source, p *Plan) (*Arena, error) {
	if p == nil {
		return nil, fmt.Errorf("plan: new Arena: the plan is nil; make one with Fast, Exact or Load: %w", memory.ErrConfig)
	}
	pad := max(p.Align(), page.BaseAlign) - page.BaseAlign // what aligning the base may take
	size := max(p.total, 1) + pad                          // a plan without bytes needs a base too
	mem, err := page.NewCommitted(src, size, size, 0, size)
	if err != nil {
		return nil, fmt.Errorf("plan: new Arena of %d bytes: %w", p.total, err)
	}
	base := unsafe.Add(mem.Base(), align.Up(uintptr(mem.Base()), p.Align())-uintptr(mem.Base()))
	a := &Arena{base: base, offsets: slices.Clone(p.offsets[:p.dense]), plan: p, mem: mem}
	a.mem.Watch(func() { _ = a.Close() }) // touches no buffer
	return a, nil
}

// Get returns where the buffer starts, aligned as declared. IDs that count from 0 without a gap
// index the table of offsets: the cost is a comparison, a load and an addition, inlined. Others
// are searched for among those behind the gap: log2 n comparisons, 20 ns for a thousand buffers.
// A buffer of size 0 gives a pointer that must not be dereferenced. An ID
// that is not planned, a closed arena and, in debug builds, a buffer outside its lifetime
// panic with a *memory.Misuse.
func (a *Arena) Get(id uint32) unsafe.Pointer {
	if uint(id) >= uint(len(a.offsets)) {
		return a.far(id)
	}
	if invariant.Debug {
		a.debugGet(int(id))
	}
	return unsafe.Add(a.base, a.offsets[id])
}

//go:noinline
func (a *Arena) far(id uint32) unsafe.Pointer {
	return unsafe.Add(a.base, a.plan.offsets[a.index(id)])
}

// index returns where a buffer that may be got stands in the plan.
func (a *Arena) index(id uint32) int {
	if a.base == nil {
		panic(a.misuse("Get", "the arena is closed"))
	}
	i, ok := a.plan.index(id)
	if !ok {
		panic(a.misuse("Get", fmt.Sprintf("buffer %d is not in the plan of %d", id, a.plan.Len())))
	}
	if invariant.Debug {
		a.debugGet(i)
	}
	return i
}

func (a *Arena) debugGet(i int) {
	a.owner.Touch()
	b := a.plan.buffers[i]
	if a.begun && (a.now < b.Birth || a.now >= b.Death) {
		panic(a.misuse("Get", fmt.Sprintf("buffer %d lives in [%d, %d) and it is %d", b.ID, b.Birth, b.Death, a.now)))
	}
}

// Slice returns the buffer as values of T, as many as its size holds, with no room to append.
// They are not zeroed. t is the proof that T holds no Go pointer. The error is
// memory.ErrAlign where the buffer's alignment is less than T's, and memory.ErrTooLarge for
// the zero Type and for a T without size. Panics as Get does.
func Slice[T any](a *Arena, t memory.Type[T], id uint32) ([]T, error) {
	i := a.index(id)
	if !t.Valid() || t.Size() == 0 {
		return nil, memory.ErrTooLarge
	}
	b := &a.plan.buffers[i]
	if b.Align < unsafe.Alignof(*new(T)) {
		return nil, memory.ErrAlign
	}
	return unsafe.Slice((*T)(unsafe.Add(a.base, a.plan.offsets[i])), int(b.Size/t.Size())), nil
}

// Plan returns the plan that the arena carries out.
func (a *Arena) Plan() *Plan { return a.plan }

// Base returns the start of the block, from which the offsets of the plan count; nil once closed.
func (a *Arena) Base() unsafe.Pointer { return a.base }

// Owns reports whether p lies in the arena's range.
func (a *Arena) Owns(p unsafe.Pointer) bool { return a.mem.Contains(p) }

// Begin starts a run of the plan at the given moment, as at the top of a frame; a run that was
// going on is ended as by Reset.
func (a *Arena) Begin(moment int) {
	a.open("Begin")
	a.now, a.begun = moment, true
	if invariant.Debug {
		invariant.Freed(a.base, a.plan.total)
		for i, b := range a.plan.buffers {
			a.fresh(i, b.Birth <= moment && moment < b.Death)
		}
	}
}

// Advance goes on to a moment that is not earlier than the current one: buffers whose death
// has come are dead. Where Begin was not called, and for a moment that is past, it panics with
// a *memory.Misuse. Cost: constant, except in debug builds.
func (a *Arena) Advance(moment int) {
	a.open("Advance")
	if !a.begun {
		panic(a.misuse("Advance", "there was no Begin, or a Reset since"))
	}
	if moment < a.now {
		panic(a.misuse("Advance", fmt.Sprintf("time runs forwards: it is %d already, not %d; Begin starts over", a.now, moment)))
	}
	from := a.now
	if invariant.Debug {
		a.verifyBirths(from, moment)
	}
	a.now = moment
	if invariant.Debug {
		a.debugAdvance(from, moment)
	}
}

// debugAdvance fills what has died since from, then what was born since and still lives:
// where they share bytes the death came first. What lived all the time met neither.
func (a *Arena) debugAdvance(from, to int) {
	for i, b := range a.plan.buffers {
		if b.Death > from && b.Death <= to {
			invariant.Freed(unsafe.Add(a.base, a.plan.offsets[i]), b.Size)
		}
	}
	for i, b := range a.plan.buffers {
		a.fresh(i, b.Birth > from && b.Birth <= to && to < b.Death)
	}
}

func (a *Arena) fresh(i int, born bool) {
	if born {
		invariant.Fresh(unsafe.Add(a.base, a.plan.offsets[i]), a.plan.buffers[i].Size)
	}
}

// Reset ends a run: nothing is checked against a moment until the next Begin. Debug builds
// fill the block with 0xDD. On a closed arena it panics with a *memory.Misuse.
func (a *Arena) Reset() {
	a.open("Reset")
	a.begun = false
	invariant.Freed(a.base, a.plan.total)
}

func (a *Arena) open(op string) {
	if a.base == nil {
		panic(a.misuse(op, "the arena is closed"))
	}
	a.owner.Touch()
}

// Close releases the block: no pointer into it may be used any more. A second Close does
// nothing. If the memory cannot be given back the arena stays as it is; if it could, and the
// addresses cannot be released, the arena is closed all the same. Either way Close says so and may
// be called again. An arena whose source ends closes with it.
func (a *Arena) Close() error {
	if a.base == nil && a.mem.Base() == nil {
		return nil
	}
	a.owner.Touch()
	defer func() { // also where the source panics
		if a.mem.Committed() == 0 {
			a.base, a.offsets, a.begun = nil, nil, false
		}
	}()
	if err := a.mem.Close(); err != nil {
		return fmt.Errorf("plan: close: %w", err)
	}
	return nil
}

// Stats counts every buffer as one allocation, live from New to Close. InUse is the plan's
// total and Requested its load bound, so that internal fragmentation is what the plan wastes.
func (a *Arena) Stats() memory.Stats {
	n, total := uint64(a.plan.Len()), uint64(a.plan.total)
	s := memory.Stats{
		Reserved: uint64(a.mem.Reserved()), Committed: uint64(a.mem.Committed()),
		Peak: total, Allocs: n, Frees: n,
	}
	if a.base != nil {
		s.InUse, s.Requested, s.Measured, s.Live, s.Frees = total, uint64(a.plan.bound), total, n, 0
	}
	return s
}

// Check verifies the equations above the type.
func (a *Arena) Check() error {
	errs := []error{a.mem.Check(), a.plan.Verify()}
	if a.base == nil {
		if a.offsets != nil || a.mem.Committed() != 0 {
			errs = append(errs, errors.New("plan: a closed arena holds offsets or memory"))
		}
		return errors.Join(errs...)
	}
	if d := a.plan.dense; d > len(a.plan.offsets) || !slices.Equal(a.offsets, a.plan.offsets[:max(d, 0)]) {
		errs = append(errs, errors.New("plan: the arena's offsets are not the plan's"))
	}
	ends := uintptr(a.base) - uintptr(a.mem.Base()) + a.plan.total
	// As numbers: a flipped bit of an alignment must not make a pointer out of the block.
	if uintptr(a.base) != align.Up(uintptr(a.mem.Base()), a.plan.Align()) || a.plan.total > a.mem.Committed() || ends > a.mem.Committed() {
		errs = append(errs, fmt.Errorf("plan: the block at %#x with %d bytes committed does not hold a plan of %d bytes aligned to %d",
			uintptr(a.base), a.mem.Committed(), a.plan.total, a.plan.Align()))
	}
	return errors.Join(errs...)
}

func (a *Arena) misuse(op, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "plan", Op: op, Reason: reason}
}
