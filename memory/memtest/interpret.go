package memtest

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// opBytes is the length of one instruction: an opcode, an alignment, and a 32-bit operand.
const opBytes = 6

// Interpret runs program against a new allocator of s and compares it with a [Shadow]. It calls Check after every
// operation, in programs of more than 1,000 operations after every 16th operation. A violation fails the test. At the
// end it frees all blocks and closes the allocator.
//
// Any bytes are a program. An operation has 6 bytes: an opcode, an alignment, and an operand of 4 bytes, such as a
// size. If 1 to 5 bytes are left at the end, they are ignored. While 400 blocks are live, alloc does nothing. The
// opcode selects the operation:
//
//	opcode mod 8   0–3 alloc   4–5 free   6 free-any or resize, if the allocator has it
//	               7 reset (rarely) or trim (as rarely), if the allocator has it
func Interpret(tb testing.TB, s Subject, program []byte) {
	tb.Helper()
	s = s.withDefaults()
	a, err := s.New(nil)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	m := &machine{tb: tb, s: s, a: a, shadow: NewShadow(tb)}
	m.run(program)
	m.finish()
	closeIt(tb, a)
}

// machine is the state of one interpretation.
type machine struct {
	tb     testing.TB
	s      Subject
	a      memory.Allocator
	shadow *Shadow
	faulty bool // the source may fail or panic at any moment

	allocs, refused uint64 // what the books must say
	most, committed uint64 // the most that was ever seen in use, and committed
}

// maxLive keeps the quadratic shadow fast.
const maxLive = 400

func (m *machine) run(program []byte) {
	every := 1
	if len(program) > 1000*opBytes {
		every = 16
	}
	for n := 0; len(program) >= opBytes; n++ {
		m.step(program[0], uint32(program[1]), binary.LittleEndian.Uint32(program[2:]))
		program = program[opBytes:]
		m.sample()
		if n%every == 0 {
			check(m.tb, m.a)
			m.count()
		}
	}
}

func (m *machine) step(op byte, al, arg uint32) {
	live := m.shadow.Live()
	switch op % 8 {
	case 4, 5:
		m.free(arg)
	case 6:
		if r, ok := m.a.(memory.Resizer); ok && len(live) > 0 && arg&1 == 0 {
			m.resize(r, int(arg>>1)%len(live), m.s.size(arg))
			return
		}
		m.freeAny(arg)
	case 7:
		switch arg % 16 {
		case 0:
			m.reset()
		case 1:
			m.trim()
		}
	default:
		if len(live) < maxLive {
			m.alloc(m.s.size(arg), m.s.align(al))
		}
	}
}

func (m *machine) alloc(size, al uintptr) {
	var p unsafe.Pointer
	var err error
	before := stats(m.tb, m.a)
	if m.attempt(func() { p, err = m.a.Alloc(size, al) }) {
		return
	}
	if err != nil {
		if p != nil || !exhausts(err) {
			m.tb.Fatalf("Alloc(%d, %d) = %v, %v", size, al, p, err)
		}
		if after := stats(m.tb, m.a); !m.s.unchanged(before, after) || after.Failures <= before.Failures {
			m.tb.Fatalf("Alloc(%d, %d), which failed, changed the statistics from %+v to %+v", size, al, before, after)
		}
		m.refused++
		return
	}
	m.allocs++
	m.shadow.Add(p, size, al)
}

// attempt runs one operation and reports whether the source panicked during it, which must have changed
// nothing but Failures.
func (m *machine) attempt(op func()) (panicked bool) {
	return m.attemptThat(op, m.s.unchanged)
}

// attemptThat is attempt for an operation that may have done a part of its work before the panic:
// unchanged says what that must leave alone.
func (m *machine) attemptThat(op func(), unchanged func(before, after memory.Stats) bool) (panicked bool) {
	if !m.faulty {
		op()
		return false
	}
	before := stats(m.tb, m.a)
	if !survive(op) {
		return false
	}
	if after := stats(m.tb, m.a); !unchanged(before, after) {
		m.tb.Fatalf("a panic of the source changed the statistics from %+v to %+v", before, after)
	}
	m.shadow.VerifyAll()
	return true
}

// pick chooses a live block, or -1: the newest where the subject insists.
func (m *machine) pick(arg uint32) int {
	n := len(m.shadow.Live())
	if n == 0 || m.s.LIFO {
		return n - 1
	}
	return int(arg>>4) % n
}

func (m *machine) free(arg uint32) {
	if i := m.pick(arg); i >= 0 {
		b := m.shadow.Live()[i]
		m.shadow.Verify(b)
		if !m.attempt(func() { m.a.Free(b.Ptr, b.Size) }) {
			m.shadow.Forget(i)
		}
	}
}

func (m *machine) freeAny(arg uint32) {
	f, ok := m.a.(memory.AnyFreer)
	i := m.pick(arg)
	if !ok || i < 0 {
		return
	}
	b := m.shadow.Live()[i]
	m.shadow.Verify(b)
	if z, ok := m.a.(memory.Sizer); ok {
		if got := z.SizeOf(b.Ptr); got < b.Size || m.s.ExactSizes && got != b.Size {
			m.tb.Fatalf("SizeOf(%p) = %d for a block of %d bytes", b.Ptr, got, b.Size)
		}
	}
	if !m.attempt(func() { f.FreeAny(b.Ptr) }) {
		m.shadow.Forget(i)
	}
}

func (m *machine) resize(r memory.Resizer, i int, size uintptr) {
	if m.s.FixedSize != 0 {
		return
	}
	b, before := m.shadow.Live()[i], stats(m.tb, m.a)
	m.shadow.Verify(b) // what a smaller block loses is not seen afterwards
	done := false
	if m.attempt(func() { done = r.Resize(b.Ptr, b.Size, size) }) {
		return
	}
	if done {
		m.shadow.Resize(i, size)
	} else if after := stats(m.tb, m.a); !m.s.unchanged(before, after) {
		m.tb.Fatalf("Resize of %p to %d bytes, which failed, changed the statistics from %+v to %+v", b.Ptr, size, before, after)
	}
}

func (m *machine) reset() {
	if r, ok := m.a.(memory.Resetter); ok {
		m.shadow.VerifyAll()
		if !m.attempt(r.Reset) {
			m.shadow.Clear()
		}
	}
}

// trim must return memory that nobody uses, and nothing else.
func (m *machine) trim() {
	r, ok := m.a.(trimmer)
	if !ok {
		return
	}
	before := stats(m.tb, m.a)
	var err error
	if !m.attemptThat(func() { err = r.Trim() }, sameBlocks) && err != nil && !m.faulty {
		m.tb.Fatalf("Trim: %v", err)
	}
	after := stats(m.tb, m.a)
	if after.Committed > before.Committed || !sameBlocks(before, after) {
		m.tb.Fatalf("Trim changed the books from %+v to %+v", before, after)
	}
	m.shadow.VerifyAll()
}

// sample notes the most that was ever in use and committed.
func (m *machine) sample() {
	st := stats(m.tb, m.a)
	m.most, m.committed = max(m.most, st.InUse), max(m.committed, st.Committed)
}

// count compares the allocator's books with the shadow's.
func (m *machine) count() {
	st := stats(m.tb, m.a)
	if live := uint64(len(m.shadow.Live())); !m.s.KeepsFreed && st.Live != live {
		m.tb.Fatalf("Stats.Live is %d with %d blocks live", st.Live, live)
	}
	var bytes uint64
	for _, b := range m.shadow.Live() {
		bytes += uint64(b.Size)
	}
	if st.InUse < bytes {
		m.tb.Fatalf("Stats.InUse is %d with %d bytes live", st.InUse, bytes)
	}
	if st.Allocs != m.allocs || st.Failures < m.refused {
		m.tb.Fatalf("Stats: allocs %d, failures %d after %d allocations and %d refusals", st.Allocs, st.Failures, m.allocs, m.refused)
	}
	if st.Peak < m.most || st.Peak > m.committed {
		m.tb.Fatalf("Stats.Peak is %d; the most seen in use is %d, the most committed %d", st.Peak, m.most, m.committed)
	}
	if st.Requested > st.Measured || st.Measured > st.InUse || m.s.Mixed && !m.s.KeepsFreed && st.Requested > bytes {
		m.tb.Fatalf("Stats: %d bytes requested, measured on %d of the %d in use; the live blocks asked for %d", st.Requested, st.Measured, st.InUse, bytes)
	}
	if !m.s.Mixed && st.Measured != 0 && (st.Measured != st.InUse || !m.s.KeepsFreed && st.Requested != bytes) {
		m.tb.Fatalf("Stats: %d bytes requested, measured on %d of the %d in use; the live blocks asked for %d", st.Requested, st.Measured, st.InUse, bytes)
	}
}

func (m *machine) finish() {
	m.tb.Helper()
	m.shadow.VerifyAll()
	for n := len(m.shadow.Live()); n > 0; n = len(m.shadow.Live()) {
		m.free(uint32(n-1) << 4)
	}
	check(m.tb, m.a)
	if st := stats(m.tb, m.a); !m.s.KeepsFreed && (st.Live != 0 || st.InUse != 0) {
		m.tb.Fatalf("at the end live is %d with %d bytes in use", st.Live, st.InUse)
	}
}

// RandomProgram returns a program of n operations for [Interpret]. Two calls with equal arguments return equal
// programs. The seed must not be 0.
func RandomProgram(seed uint64, n int) []byte {
	p := make([]byte, 0, n*opBytes)
	for len(p) < n*opBytes {
		seed ^= seed >> 12
		seed ^= seed << 25
		seed ^= seed >> 27
		p = binary.LittleEndian.AppendUint64(p, seed*0x2545F4914F6CDD1D)
	}
	return p[:n*opBytes]
}

// Fuzz runs [Interpret] as a fuzz test: the Go fuzzer writes the programs, of at most 4,000 operations.
func Fuzz(f *testing.F, s Subject) {
	for seed := range uint64(4) {
		f.Add(RandomProgram(seed+1, 64))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 4000*opBytes {
			program = program[:4000*opBytes]
		}
		Interpret(t, s, program)
	})
}
