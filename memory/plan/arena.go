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

// An Arena is one block of memory with the buffers of a plan. New commits the whole block: Get needs no memory.
//
//	Base      Base+Offset(id)          Base+Total
//	  | ......... | buffer id | ........ |
//
// A pointer is valid from the buffer's birth until its death, Close or the end of the page source. Buffers are not
// zeroed: a new buffer contains the bytes of the buffers that used the same memory before. Buffers must not contain Go
// pointers. If the plan's alignment exceeds 64 KiB, up to Plan.Align bytes around the block are committed and not used.
//
// Builds with -race or -tags memdebug check lifetimes between Begin and Reset. Get panics for a buffer outside its
// lifetime. A buffer is filled with 0xCD at its birth and with 0xDD at its death. If the memory of a new buffer was
// written while no buffer lived there, Advance panics and does not advance.
//
// An Arena belongs to one goroutine at a time. In builds without these checks several goroutines may call Get and Slice
// at the same time. After Close, and after the end of the page source, Get, Slice, Begin, Advance and Reset panic with
// a *memory.Misuse.
type Arena struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) the plan verifies, and every offset is the plan's
	//	(2) base + total <= what is committed, and base is aligned for every buffer
	//	(3) a closed arena has neither base nor offsets nor committed memory

	base    unsafe.Pointer // nil once closed
	offsets []uintptr      // bytes from base, of the IDs from 0 on without a gap; nil once closed
	plan    *Plan
	now     int  // the moment, while begun
	begun   bool // a Begin without a Reset since
	mem     page.Prefix
	owner   invariant.Owner
}

// New reserves and commits one block for the plan from src. A nil src means page.Default(). If p is nil, the error
// wraps memory.ErrConfig. If src fails, the error wraps that of src. After an error nothing stays reserved,
// unless src fails to release it. The plan decides how much is committed: if the plan is from an untrusted file, use
// a page.Limit as src.
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

// Get returns the address of a buffer, aligned as declared. The pointer of a buffer of size 0 must not be dereferenced.
// If the plan does not have the ID, or the arena is closed, Get panics with a *memory.Misuse. In debug builds, between
// Begin and Reset, Get also panics for a buffer outside its lifetime.
//
// Cost: if the IDs count from 0 without a gap, a comparison, a load and an addition, inlined. For IDs beyond the first
// gap Get takes a binary search.
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

// index returns the index of a buffer in the plan, and panics if Get must.
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

// Slice returns the buffer as a slice of T. Length and capacity are the number of elements that fit into the buffer.
// The elements are not zeroed. The [memory.Type] proves that T has no Go pointer. If the buffer's alignment is less
// than the alignment of T, the error is memory.ErrAlign. For the zero Type, and if T has size 0, the error is
// memory.ErrTooLarge, whatever the alignment is. With an error the slice is nil. Slice panics in the same cases as
// Get.
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

// Plan returns the plan of the arena.
func (a *Arena) Plan() *Plan { return a.plan }

// Base returns the start of the block. The offsets of the plan count from this address. After Close, Base returns nil.
func (a *Arena) Base() unsafe.Pointer { return a.base }

// Owns reports whether p lies in the memory of the arena. After a successful Close, Owns returns false.
func (a *Arena) Owns(p unsafe.Pointer) bool { return a.mem.Contains(p) }

// Begin starts a run of the plan at the given moment, for example at the start of a frame. If another run has not
// ended, Begin ends it, as Reset does. Cost: constant, except in debug builds.
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

// Advance sets the current moment. The buffers that live at a moment are those with Birth <= moment < Death. If there
// was no Begin since the last Reset, or if moment is before the current moment, Advance panics with a *memory.Misuse.
// Debug builds also panic if the memory of a new buffer was written while no buffer lived there. Cost: constant, except
// in debug builds.
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

// debugAdvance fills the buffers that died since from, then those that were born since and still live. If two of
// them share bytes, the death came first.
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

// Reset ends a run: lifetimes are not checked until the next Begin. Debug builds fill the block with 0xDD.
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

// Close releases the block. Pointers into the block are dangling afterwards. If the source cannot decommit the
// memory, the arena stays open. If the source cannot release the addresses, the arena is closed. In both cases the
// error wraps that of the source, and Close can be retried. After a successful Close a second Close does nothing.
// When the source is closed, the arena is closed, too.
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

// Stats counts every buffer as one allocation, live from New to Close. While the arena is open, InUse is the plan's
// Total and Requested is the plan's Bound; after Close both are 0. Peak is always Total. Internal fragmentation is
// therefore the memory that the plan wastes.
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

// Check verifies the arena and its plan and returns the inconsistencies, joined into one error, or nil.
// Cost: as [Plan.Verify].
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
