package plan

import (
	"fmt"
	"iter"
	"slices"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Plan has the offset of every buffer of a set in one block. A Plan never changes and is safe for concurrent use.
// Make a Plan with [Fast], [FastWithin], [Exact], [Read] or [Load].
type Plan struct {
	// Invariants, verified by Verify in this order:
	//
	//	(1) the buffers are a valid set in order of ID, and there is one offset for each
	//	(2) dense is how many of the first buffers have their index for an ID
	//	(3) every offset is a multiple of its buffer's alignment
	//	(4) offset + size <= total, which is a multiple of the smallest alignment
	//	(5) buffers that live together share no byte
	//	(6) bound is the largest load of any moment, and bound <= total <= all side by side

	buffers []Buffer
	offsets []uintptr // bytes from the base, by index
	dense   int
	total   uintptr // bytes
	bound   uintptr // bytes
}

// newPlan takes a declared set, its offsets and its load bound.
func newPlan(set []Buffer, offsets []uintptr, bound uintptr) *Plan {
	p := &Plan{buffers: set, offsets: offsets, dense: densePrefix(set), bound: bound}
	u := unit(set)
	for i, b := range set {
		if b.Size > 0 {
			p.total = max(p.total, offsets[i]+align.Up(b.Size, u))
		}
	}
	if invariant.Debug {
		if err := p.Verify(); err != nil {
			panic(err)
		}
	}
	return p
}

func densePrefix(set []Buffer) int {
	for i, b := range set {
		if b.ID != uint32(i) {
			return i
		}
	}
	return len(set)
}

// index returns the index of the buffer in order of ID.
func (p *Plan) index(id uint32) (i int, ok bool) {
	if uint(id) < uint(p.dense) {
		return int(id), true
	}
	return slices.BinarySearchFunc(p.buffers, id, byID)
}

func (p *Plan) mustIndex(id uint32) int {
	i, ok := p.index(id)
	if !ok {
		panic(fmt.Sprintf("plan: buffer %d is not in the plan", id))
	}
	return i
}

// Len returns the number of buffers.
func (p *Plan) Len() int { return len(p.buffers) }

// All yields the buffers in order of ID, each with its offset in bytes from the base.
func (p *Plan) All() iter.Seq2[Buffer, uintptr] {
	return func(yield func(Buffer, uintptr) bool) {
		for i, b := range p.buffers {
			if !yield(b, p.offsets[i]) {
				return
			}
		}
	}
}

// Has reports whether the plan has a buffer with this ID.
func (p *Plan) Has(id uint32) bool {
	_, ok := p.index(id)
	return ok
}

// Buffer returns the declaration of a buffer. If the buffer was declared with Align 0, the result has the default
// Align, 16. If the plan does not have the ID, Buffer panics.
func (p *Plan) Buffer(id uint32) Buffer { return p.buffers[p.mustIndex(id)] }

// Offset returns the offset of a buffer in bytes from the base of the block. If the plan does not have the ID, Offset
// panics.
func (p *Plan) Offset(id uint32) uintptr { return p.offsets[p.mustIndex(id)] }

// Total returns the size of the block in bytes. Total is a multiple of the smallest alignment of any buffer.
func (p *Plan) Total() uintptr { return p.total }

// Bound returns the load bound in bytes. The load of a moment is the sum of the sizes of its live buffers, each rounded
// up to the smallest alignment of any buffer of the plan. The bound is the largest load of any moment. No plan is
// smaller.
func (p *Plan) Bound() uintptr { return p.bound }

// Ratio returns Total/Bound. A ratio of 1 is optimal. For a plan without bytes Ratio returns 1.
func (p *Plan) Ratio() float64 {
	if p.bound == 0 {
		return 1
	}
	return float64(p.total) / float64(p.bound)
}

// Align returns the alignment in bytes that the block needs: the largest alignment of any buffer, or 1 without
// buffers.
func (p *Plan) Align() uintptr {
	a := uintptr(1)
	for _, b := range p.buffers {
		a = max(a, b.Align)
	}
	return a
}
