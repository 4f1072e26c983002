package memtest

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

// opBytes is the length of one instruction: an opcode, an alignment, and a 32-bit operand.
const opBytes = 6

// Interpret runs program against a fresh allocator of s, with the shadow model beside it and
// Check after every operation (every 16th in long programs). Any bytes are a program:
//
//	opcode mod 8   0–3 alloc   4–5 free   6 free-any or resize, where offered
//	               7 reset (rarely) or trim (as rarely), where offered
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
	resets int
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
	m.tb.Helper()
	p, err := m.a.Alloc(size, al)
	if err != nil {
		if p != nil || !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
			m.tb.Fatalf("Alloc(%d, %d) = %v, %v", size, al, p, err)
		}
		return
	}
	m.shadow.Add(p, size, al)
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
		b := m.shadow.Take(i)
		m.a.Free(b.Ptr, b.Size)
	}
}

func (m *machine) freeAny(arg uint32) {
	f, ok := m.a.(memory.AnyFreer)
	i := m.pick(arg)
	if !ok || i < 0 {
		return
	}
	b := m.shadow.Take(i)
	if z, ok := m.a.(memory.Sizer); ok {
		if got := z.SizeOf(b.Ptr); got < b.Size || m.s.ExactSizes && got != b.Size {
			m.tb.Fatalf("SizeOf(%p) = %d for a block of %d bytes", b.Ptr, got, b.Size)
		}
	}
	f.FreeAny(b.Ptr)
}

func (m *machine) resize(r memory.Resizer, i int, size uintptr) {
	b := m.shadow.Live()[i]
	if m.s.FixedSize == 0 && r.Resize(b.Ptr, b.Size, size) {
		m.shadow.Resize(i, size)
	}
}

func (m *machine) reset() {
	if r, ok := m.a.(memory.Resetter); ok {
		m.shadow.VerifyAll()
		m.shadow.Clear()
		r.Reset()
		m.resets++
	}
}

// trim must return memory that nobody uses, and nothing else.
func (m *machine) trim() {
	r, ok := m.a.(trimmer)
	if !ok {
		return
	}
	before := stats(m.tb, m.a)
	if err := r.Trim(); err != nil {
		m.tb.Fatalf("Trim: %v", err)
	}
	after := stats(m.tb, m.a)
	if after.Committed > before.Committed || after.InUse != before.InUse || after.Allocs != before.Allocs || after.Frees != before.Frees {
		m.tb.Fatalf("Trim changed the books from %+v to %+v", before, after)
	}
	m.shadow.VerifyAll()
}

// count compares the allocator's books with the shadow's.
func (m *machine) count() {
	m.tb.Helper()
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
}

func (m *machine) finish() {
	m.tb.Helper()
	m.shadow.VerifyAll()
	m.shadow.FreeAll(m.a)
	check(m.tb, m.a)
	if st := stats(m.tb, m.a); !m.s.KeepsFreed && (st.Live != 0 || st.InUse != 0) {
		m.tb.Fatalf("at the end live is %d with %d bytes in use", st.Live, st.InUse)
	}
}

// RandomProgram makes a program of n instructions; the same seed makes the same program.
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

// Fuzz has the Go fuzzer write programs for [Interpret].
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
