package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/trace"
)

// A replay runs the program of a trace. The C driver has the same loops.
type replay struct {
	h     heap
	all   []trace.Op // the trace and the frees of what is live at its end
	p     *trace.Program
	slots []ref
	times []uint32 // ns of each slice of the operations in the last run
	ticks []uint32 // time of each tick in the last run
	tick  int      // the next one
	last  uint64   // when the tick before it ended
}

// slice is how many operations are timed together.
const slice = 1024

// replay is W14. The program is the file of -program.
func (j *job) replay() {
	p := readProgram(j.program)
	r := &replay{p: p, all: p.Ops, slots: refs(p.Slots)}
	for i := range r.all {
		if r.all[i].Kind == trace.OpTick {
			r.ticks = append(r.ticks, 0)
		}
		fold(&j.drawn, uint64(r.all[i].Slot)<<32|uint64(r.all[i].Size))
	}
	if j.nothing {
		j.empty()
		return
	}
	r.h = open(need{largest: uintptr(p.Largest), bytes: uintptr(p.Peak), blocks: p.Slots, option: j.option})
	r.check(j)
	run := r.run
	if j.whole {
		run = r.runWhole
	}
	r.times = make([]uint32, (p.Timed+slice-1)/slice)
	var times, ticks [][]uint32
	j.repeat(p.Operations, func() time.Duration {
		took := r.inSlices(run)
		times, ticks = append(times, slices.Clone(r.times)), append(ticks, slices.Clone(r.ticks))
		r.finish()
		return took
	})
	sum := 0.0
	for _, t := range typical(times) {
		sum += float64(t)
	}
	j.figures["pair"] = sum / float64(p.Operations)
	if len(r.ticks) > 0 && ticksPerNS > 0 && !j.whole {
		j.quantiles("tick ", typical(ticks))
	}
}

// inSlices runs the operations of the trace and times each slice of them.
func (r *replay) inSlices(run func(ops []trace.Op)) (took time.Duration) {
	r.tick, r.last = 0, stop()
	for k := range r.times {
		ops := r.all[k*slice : min((k+1)*slice, r.p.Timed)]
		begin := time.Now()
		run(ops)
		t := time.Since(begin)
		r.times[k] = uint32(min(t.Nanoseconds(), math.MaxUint32))
		took += t
	}
	return took
}

// typical returns the median over the runs of each slice or tick. It does the same work in each run, but the kernel may
// take the processor away in any of them.
func typical(runs [][]uint32) []uint32 {
	ticks, one := slices.Clone(runs[0]), make([]uint32, len(runs))
	for k := range ticks {
		for i := range runs {
			one[i] = runs[i][k]
		}
		slices.Sort(one)
		ticks[k] = one[(len(one)-1)/2]
	}
	return ticks
}

// readProgram maps the file of a program and checks it.
func readProgram(name string) *trace.Program {
	p, err := trace.ParseProgram(mapped(name))
	fail(err)
	if p.Operations == 0 {
		fail(errors.New("the trace has no operations"))
	}
	return p
}

// finish frees what is live at the end of the trace.
func (r *replay) finish() {
	for i := r.p.Timed; i < len(r.all); i++ {
		r.free(r.all[i].Slot, r.all[i].Size)
	}
}

func (r *replay) free(slot, size uint32) {
	r.h.Free(unsafe.Pointer(r.slots[slot]), uintptr(size))
	r.slots[slot] = none
}

// check runs the program once before the clock starts. It reads the first word of each block that is freed or resized.
// At the peak it measures the resident bytes.
func (r *replay) check(j *job) {
	for i := range r.all {
		op := &r.all[i]
		if op.Kind == trace.OpFree || op.Kind == trace.OpResize {
			fold(&j.read, *(*uint64)(unsafe.Pointer(r.slots[op.Slot])))
		}
		switch {
		case op.Kind == trace.OpTick:
		case i >= r.p.Timed:
			r.free(op.Slot, op.Size)
		case j.whole:
			r.runWhole(r.all[i : i+1])
		default:
			r.run(r.all[i : i+1])
		}
		if op.Kind != trace.OpFree && op.Kind != trace.OpTick {
			*(*uint64)(unsafe.Pointer(r.slots[op.Slot])) = uint64(i)
		}
		if i == r.p.PeakAt {
			j.figures["live"], j.figures["resident"] = float64(r.p.Peak), resident()
		}
	}
	for slot, p := range r.slots {
		if p != none && collected {
			fail(fmt.Errorf("slot %d is not free", slot))
		}
	}
}

// run runs operations, and writes the first word of each new block.
func (r *replay) run(ops []trace.Op) {
	h, slots := r.h, r.slots
	for i := range ops {
		op := &ops[i]
		switch op.Kind {
		case trace.OpAlloc:
			p, err := h.Alloc(uintptr(op.Size), 16)
			if err != nil {
				fail(err)
			}
			*(*uint64)(p) = uint64(i)
			slots[op.Slot] = ref(p)
		case trace.OpFree:
			h.Free(unsafe.Pointer(slots[op.Slot]), uintptr(op.Size))
			if collected {
				slots[op.Slot] = none
			}
		case trace.OpResize:
			slots[op.Slot] = ref(resize(h, unsafe.Pointer(slots[op.Slot]), uintptr(op.Old), uintptr(op.Size)))
		case trace.OpAligned:
			p, err := h.Alloc(uintptr(op.Size), 1<<(op.Shift&31))
			if err != nil {
				fail(err)
			}
			*(*uint64)(p) = uint64(i)
			slots[op.Slot] = ref(p)
		case trace.OpTick:
			now := stop()
			r.ticks[r.tick], r.last = elapsed(r.last, now, 0), now
			r.tick++
		}
	}
}

// runWhole writes the whole of each new block, and what a resize has added.
func (r *replay) runWhole(ops []trace.Op) {
	h, slots := r.h, r.slots
	for i := range ops {
		op := &ops[i]
		switch op.Kind {
		case trace.OpAlloc, trace.OpAligned:
			p, err := h.Alloc(uintptr(op.Size), max(16, uintptr(1)<<(op.Shift&31)))
			if err != nil {
				fail(err)
			}
			clear(unsafe.Slice((*byte)(p), op.Size))
			slots[op.Slot] = ref(p)
		case trace.OpFree:
			h.Free(unsafe.Pointer(slots[op.Slot]), uintptr(op.Size))
			if collected {
				slots[op.Slot] = none
			}
		case trace.OpResize:
			p := resize(h, unsafe.Pointer(slots[op.Slot]), uintptr(op.Old), uintptr(op.Size))
			if op.Size > op.Old {
				clear(unsafe.Slice((*byte)(p), op.Size)[op.Old:])
			}
			slots[op.Slot] = ref(p)
		}
	}
}

// resize changes the size of a block, which may move. A block of the Go heap moves always.
func resize(h heap, p unsafe.Pointer, size, to uintptr) unsafe.Pointer {
	if !collected {
		p, err := h.Grow(p, size, to)
		if err != nil {
			fail(err)
		}
		return p
	}
	q, err := h.Alloc(to, 16)
	if err != nil {
		fail(err)
	}
	copy(unsafe.Slice((*byte)(q), to), unsafe.Slice((*byte)(p), size))
	h.Free(p, size)
	return q
}
