package memtest

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// manyAllocs is how many blocks ManyAllocationsStayApart takes: counters that break at a power of two
// break at 2^18 or before in nearly all cases, and the pass takes 0.1 s of the processor.
const manyAllocs = 1<<18 + 1<<10

// manyAllocations takes and frees blocks of up to 64 bytes, and some of up to MaxSize, until the
// allocator has served 2^18 of them. It finds what begins late: an overlap from the 2^k-th Alloc on,
// a byte of a live block that another operation writes, a counter that drifts.
//
// At each power of two and after each Trim all blocks are verified. So are those of a second
// allocator on the same source when the first one is trimmed, reset and closed.
func manyAllocations(t testing.TB, s Subject) {
	src := NewMargins()
	a, err := s.New(src)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	closed := false
	defer func() {
		if !closed {
			closeIt(t, a)
		}
	}()
	m := newMany(t, s, a)
	twin := newMany(t, s, s.make(t, src))
	for range 16 {
		twin.take()
	}
	for m.allocs < manyOf(s) && !m.full {
		m.step()
		if m.allocs >= m.next {
			m.next *= 2
			m.verify()
			twin.verify()
		}
	}
	m.verify()
	m.freeAll()
	if r, ok := a.(memory.Resetter); ok {
		r.Reset()
		twin.verify()
	}
	closeIt(t, a)
	closed = true
	twin.verify()
	twin.freeAll()
}

// manyOf returns how many allocations s is put to.
func manyOf(s Subject) uint64 {
	n := uint64(manyAllocs)
	if s.Allocs != 0 && testenv.Short() {
		n = min(n, uint64(s.Allocs))
	}
	if invariant.Debug { // each costs ten times as much
		n = min(n, 1<<16)
		if testenv.Short() {
			n = min(n, 1<<13)
		}
	}
	return n
}

// many is the state of one run. Its methods do not call t.Helper, which takes three quarters of the
// time. Addresses that are taken are bits, not a list: a live set of 20,000
// blocks costs an Alloc no more than one of 20.
type many struct {
	t       testing.TB
	s       Subject
	a       memory.Allocator
	rng     *rand.Rand
	live    []Block
	bytes   uint64                          // of live blocks
	taken   map[uintptr]*[takenWords]uint64 // by address / takenBytes: a bit for each byte
	stamp   byte
	allocs  uint64 // successful, all of a's
	refused uint64
	next    uint64 // the number of allocations at which all is verified next
	steps   uint64
	full    bool // nothing that is freed can be had again
}

const (
	takenBytes = 64 << 10
	takenWords = takenBytes / 64
)

func newMany(t testing.TB, s Subject, a memory.Allocator) *many {
	return &many{t: t, s: s, a: a, rng: rand.New(rand.NewPCG(18, 64)), taken: map[uintptr]*[takenWords]uint64{}, next: 64}
}

// step takes a block, after it has freed one where enough are live. How many that are changes, so that
// what is free is now a few large runs, now many small ones.
func (m *many) step() {
	m.steps++
	most := [...]int{64, 1 << 20, 1000, 1 << 20}[m.steps>>13&3]
	for n := 0; len(m.live) >= most && n < 2; n++ {
		m.free(m.pick())
	}
	if !m.take() {
		m.makeRoom()
	}
	if m.steps%8 == 0 && len(m.live) > 0 {
		m.resize(m.pick())
		m.ask(m.live[m.pick()])
	}
	if m.steps%(1<<13) == 0 {
		m.trim()
	}
}

// pick chooses a live block: the newest where the subject insists.
func (m *many) pick() int {
	if m.s.LIFO {
		return len(m.live) - 1
	}
	return m.rng.IntN(len(m.live))
}

func (m *many) request() (size, al uintptr) {
	r := m.rng.Uint32()
	if size = uintptr(1 + r>>8%64); r%64 == 0 {
		size = m.s.size(r >> 8)
	}
	al = 1 << (r >> 16 % 5)
	if m.s.FixedSize != 0 {
		size = m.s.FixedSize
	}
	return min(size, m.s.MaxSize), min(al, m.s.MaxAlign)
}

// take takes a block, and reports whether there was one.
func (m *many) take() bool {
	size, al := m.request()
	p, err := m.a.Alloc(size, al)
	if err != nil {
		if p != nil || !exhausts(err) {
			m.t.Fatalf("Alloc(%d, %d) = %v, %v", size, al, p, err)
		}
		m.refused++
		return false
	}
	m.allocs++
	if p == nil || uintptr(p)%al != 0 {
		m.t.Fatalf("allocation %d: Alloc(%d, %d) returned %p, which is not aligned or nil", m.allocs, size, al, p)
	}
	m.add(Block{Ptr: p, Size: size, Align: al})
	return true
}

// add records and fills b.
func (m *many) add(b Block) {
	m.mark(uintptr(b.Ptr), b.Size, true)
	m.stamp += 37
	b.stamp = m.stamp
	b.fill()
	m.live, m.bytes = append(m.live, b), m.bytes+uint64(b.Size)
}

// mark sets or clears the bits of a block; to set one that is set is an overlap.
func (m *many) mark(at, size uintptr, taken bool) {
	for size > 0 {
		part := m.taken[at/takenBytes]
		if part == nil {
			part = new([takenWords]uint64)
			m.taken[at/takenBytes] = part
		}
		n := min(size, 64-at%64)
		w, mask := &part[at%takenBytes/64], ^uint64(0)>>(64-n)<<(at%64)
		if taken && *w&mask != 0 {
			m.t.Fatalf("allocation %d: byte %#x belongs to a live block already", m.allocs, at&^63+uintptr(bits.TrailingZeros64(*w&mask)))
		}
		if *w |= mask; !taken {
			*w &^= mask
		}
		at, size = at+n, size-n
	}
}

// drop verifies and forgets block i.
func (m *many) drop(i int) Block {
	b := m.live[i]
	m.intact(b)
	m.mark(uintptr(b.Ptr), b.Size, false)
	last := len(m.live) - 1
	m.live[i] = m.live[last]
	m.live, m.bytes = m.live[:last], m.bytes-uint64(b.Size)
	return b
}

// free frees block i, every other one without its size if the allocator can.
func (m *many) free(i int) {
	b := m.drop(i)
	if f, ok := m.a.(memory.AnyFreer); ok && m.steps%2 == 0 {
		f.FreeAny(b.Ptr)
		return
	}
	m.a.Free(b.Ptr, b.Size)
}

// ask has the allocator look at b, which must not change it, nor any other block.
func (m *many) ask(b Block) {
	if z, ok := m.a.(memory.Sizer); ok {
		if n := z.SizeOf(b.Ptr); n < b.Size {
			m.t.Fatalf("after %d allocations SizeOf is %d for a block of %d bytes", m.allocs, n, b.Size)
		}
	}
	if o, ok := m.a.(memory.Owner); ok && b.Size > 0 && !o.Owns(b.Ptr) {
		m.t.Fatalf("after %d allocations Owns is false for a live block of %d bytes", m.allocs, b.Size)
	}
}

func (m *many) freeAll() {
	for len(m.live) > 0 {
		m.free(len(m.live) - 1)
	}
	m.verify()
}

// makeRoom frees half of the blocks, or resets the allocator if that gives nothing back.
func (m *many) makeRoom() {
	if !m.s.KeepsFreed && !m.s.Hoards && len(m.live) > 0 {
		for n := (len(m.live) + 1) / 2; n > 0; n-- {
			m.free(m.pick())
		}
		return
	}
	r, ok := m.a.(memory.Resetter)
	if m.full = !ok; m.full {
		return
	}
	m.verify()
	for len(m.live) > 0 {
		m.drop(len(m.live) - 1)
	}
	r.Reset()
}

// resize resizes block i in place, if the allocator can.
func (m *many) resize(i int) {
	r, ok := m.a.(memory.Resizer)
	if !ok || m.s.FixedSize != 0 {
		return
	}
	b := m.live[i]
	m.intact(b) // what a smaller block loses is not seen afterwards
	if size, _ := m.request(); r.Resize(b.Ptr, b.Size, size) {
		last := len(m.live) - 1
		kept := b
		kept.Size = min(b.Size, size)
		m.intact(kept)
		m.mark(uintptr(b.Ptr), b.Size, false)
		m.live[i] = m.live[last]
		m.live, m.bytes = m.live[:last], m.bytes-uint64(b.Size)
		b.Size = size
		m.add(b)
		m.live[i], m.live[last] = m.live[last], m.live[i]
	}
}

func (m *many) trim() {
	if r, ok := m.a.(trimmer); ok {
		if err := r.Trim(); err != nil {
			m.t.Fatalf("Trim: %v", err)
		}
		m.verify()
	}
}

func (m *many) intact(b Block) {
	if !b.intact() {
		m.t.Fatalf("after %d allocations a byte of the live block %p of %d bytes has changed", m.allocs, b.Ptr, b.Size)
	}
}

// verify verifies the contents of every live block, the figures and the allocator's own Check.
func (m *many) verify() {
	for _, b := range m.live {
		m.intact(b)
	}
	st := stats(m.t, m.a)
	exact := !m.s.KeepsFreed
	if st.Allocs != m.allocs || st.Failures != m.refused || st.InUse < m.bytes || exact && st.Live != uint64(len(m.live)) {
		m.t.Fatalf("after %d allocations and %d refusals %d blocks of %d bytes are live: %+v", m.allocs, m.refused, len(m.live), m.bytes, st)
	}
	if exact && !m.s.Mixed && st.Measured != 0 && st.Requested != m.bytes || exact && len(m.live) == 0 && st.InUse != 0 {
		m.t.Fatalf("after %d allocations %d blocks of %d bytes are live: %+v", m.allocs, len(m.live), m.bytes, st)
	}
	check(m.t, m.a)
}
