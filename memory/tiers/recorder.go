package tiers

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/trace"
)

// A recorder writes the trace of Config.Trace. A nil recorder records nothing. The lock is held during each event,
// because workers allocate on their own goroutines. An event is recorded after the operation has succeeded and before
// another operation can use the address: the game goroutine has slab and large, and a worker's lock is held.
//
// The alternative to the lock is a buffer for each worker. The trace would then lack the order of events between
// goroutines, and the file would not be readable up to its last second.
type recorder struct {
	mu   sync.Mutex
	w    *trace.Writer
	base uintptr
	live map[uintptr]uint64 // the numbers of live blocks, by their offsets from base; nil after an error
	err  error
}

// maxTraced bounds the table of live blocks to about 150 MiB.
const maxTraced = 1 << 22

func newRecorder(w *trace.Writer, base unsafe.Pointer) *recorder {
	if w == nil {
		return nil
	}
	return &recorder{w: w, base: uintptr(base), live: make(map[uintptr]uint64)}
}

// Recorded returns an allocator that passes Alloc and Free on to the allocator a, such as Large or Slab. It records
// these calls in the trace of m. Blocks outside the tiers of m are not recorded. Calls of the methods of a itself are
// not recorded either: free each recorded block through the result. Do not pass m, a Tag or a Worker, which record
// their blocks themselves. Without Config.Trace, Recorded returns a. With Config.Trace the result has only the methods
// Alloc and Free, and belongs to the game goroutine.
func Recorded(m *Manager, a memory.Allocator) memory.Allocator {
	if m.recorder == nil {
		return a
	}
	return recorded{a, m}
}

type recorded struct {
	memory.Allocator
	m *Manager
}

func (r recorded) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	p, err := r.Allocator.Alloc(size, align)
	if t, ok := r.m.tierOf(p); ok && err == nil {
		r.m.recorder.alloc(t, 0, p, size, align)
	}
	return p, err
}

func (r recorded) Free(p unsafe.Pointer, size uintptr) {
	t, _ := r.m.tierOf(p)
	r.Allocator.Free(p, size)
	r.m.recorder.freed(t, p)
}

// where returns how a trace names a tier.
func where(t Tier, thread uint32) trace.Where { return trace.Where{Tier: uint8(t) + 1, Thread: thread} }

// failure returns the error that has stopped the recording.
func (r *recorder) failure() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// settle ends the recording if the writer has failed. The lock is held.
func (r *recorder) settle() {
	if err := r.w.Err(); err != nil {
		r.err, r.live = err, nil
	}
}

// alloc records a new block. If the address had a block that was freed past the manager, that ends now.
func (r *recorder) alloc(t Tier, thread uint32, p unsafe.Pointer, size, align uintptr) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if len(r.live) == maxTraced {
		r.err, r.live = fmt.Errorf("tiers: trace: %d blocks are live: the table is full", maxTraced), nil
		return
	}
	at := uintptr(p) - r.base
	if old, ok := r.live[at]; ok {
		r.w.Free(where(t, thread), old)
	}
	r.live[at] = r.w.Alloc(where(t, thread), uint64(size), uint64(align))
	r.settle()
}

func (r *recorder) freed(t Tier, p unsafe.Pointer) {
	if r != nil {
		r.freedBy(t, 0, p)
	}
}

// freedBy records that a block was freed. It ignores blocks that were allocated past the manager, and nil.
func (r *recorder) freedBy(t Tier, thread uint32, p unsafe.Pointer) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := uintptr(p) - r.base
	if block, ok := r.live[at]; ok {
		delete(r.live, at)
		r.w.Free(where(t, thread), block)
		r.settle()
	}
}

func (r *recorder) resized(t Tier, p unsafe.Pointer, size uintptr) { r.resizedBy(t, 0, p, size) }

// resizedBy records that a block has a new size.
func (r *recorder) resizedBy(t Tier, thread uint32, p unsafe.Pointer, size uintptr) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if block, ok := r.live[uintptr(p)-r.base]; ok {
		r.w.Resize(where(t, thread), block, uint64(size))
		r.settle()
	}
}

// declared records the static buffers as one block.
func (r *recorder) declared(a *plan.Arena) {
	if r != nil && a.Plan().Total() > 0 {
		r.alloc(Static, 0, a.Base(), a.Plan().Total(), 16)
	}
}

func (r *recorder) beginLevel() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.w.Level(where(Level, 0), true)
		r.settle()
	}
}

// endLevel records the end of a level whose arena had used bytes in use.
func (r *recorder) endLevel(m *Manager, used uintptr) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.allPools(m)
	r.w.Used(where(Level, 0), uint64(used))
	r.w.Level(where(Level, 0), false)
	r.settle()
}

// endFrame records the end of a frame.
func (r *recorder) endFrame(m *Manager) {
	if r == nil {
		return
	}
	used := m.frame.cur.Used()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.allPools(m)
	r.w.Used(where(Frame, 0), uint64(used))
	r.w.Tick(where(Frame, 0))
	r.settle()
}

// A traced has the live slots of a pool as they were recorded, and the number of the block in each.
type traced struct {
	live   []uint64
	blocks []uint64
}

// slotted is a pool whose live slots can be read without a cost to its fast path.
type slotted interface {
	LiveSlots() (live []uint64, size uintptr)
}

// allPools records what has changed in the pools since the last call. The lock is held.
func (r *recorder) allPools(m *Manager) {
	for _, e := range m.pools.all {
		if p, ok := e.pool.(slotted); ok {
			r.changed(&e.traced, p)
		}
	}
}

// changed records the slots of a pool that have become live or vacant.
func (r *recorder) changed(t *traced, p slotted) {
	live, size := p.LiveSlots()
	for i := range max(len(live), len(t.live)) {
		now := uint64(0)
		if i < len(live) {
			now = live[i]
		}
		if i == len(t.live) {
			t.live = append(t.live, 0)
			t.blocks = append(t.blocks, make([]uint64, 64)...)
		}
		was := t.live[i]
		t.live[i] = now
		for gone := was &^ now; gone != 0; gone &= gone - 1 {
			r.w.Free(where(Pools, 0), t.blocks[i*64+bits.TrailingZeros64(gone)])
		}
		for fresh := now &^ was; fresh != 0; fresh &= fresh - 1 {
			block := r.w.Alloc(where(Pools, 0), uint64(size), min(uint64(size&-size), 16))
			t.blocks[i*64+bits.TrailingZeros64(fresh)] = block
		}
	}
}

// dropped records that all blocks of a pool have ended with its registration.
func (r *recorder) dropped(e *poolEntry) {
	if _, ok := e.pool.(slotted); !ok || r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.changed(&e.traced, noSlots{})
		r.settle()
	}
}

// noSlots is a pool without slots.
type noSlots struct{}

func (noSlots) LiveSlots() ([]uint64, uintptr) { return nil, 1 }
