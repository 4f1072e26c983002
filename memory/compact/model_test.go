package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// reporter is what *testing.T and *rapid.T have in common.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A model knows every block of a heap and each of its bytes, which depend on block and place:
// a byte that is moved to the wrong place does not go unseen.
type model struct {
	t     reporter
	h     *Heap
	live  []shadow
	stale []Handle
	seed  uint32
	steps int
}

type shadow struct {
	h     Handle
	size  uintptr
	seed  uint32
	locks []unsafe.Pointer // one for each Lock
}

func (s *shadow) byteAt(i int) byte { return byte((uint32(i)*2654435761 + s.seed) >> 13) }

const (
	modelReserve = 256 << 10
	modelLive    = 200
	modelLargest = 12_000
	verifyEvery  = 8
)

func newModel(t reporter, src page.Source, al uintptr) *model {
	h, err := New(src, Config{Reserve: modelReserve, Align: al, Step: 16 << 10, Blocks: 4})
	if err != nil {
		if !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("New: %v", err)
		}
		return nil
	}
	return &model{t: t, h: h}
}

func (m *model) alloc(size uintptr) {
	m.t.Helper()
	if len(m.live) == modelLive {
		return
	}
	before := m.h.Stats()
	h, err := m.h.Alloc(size)
	if err != nil {
		after := m.h.Stats()
		if before.Failures++; !errors.Is(err, memory.ErrOutOfMemory) || !h.IsZero() || after != before {
			m.t.Fatalf("Alloc(%d) = %v, %v with %+v, before %+v", size, h, err, after, before)
		}
		if before.LargestFree >= uint64(size) && size > 0 {
			m.t.Fatalf("Alloc(%d) fails with %d bytes free in one block", size, before.LargestFree)
		}
		return
	}
	m.seed += 40503
	s := shadow{h: h, size: size, seed: m.seed}
	b, ok := m.h.Bytes(h)
	if !ok || uintptr(len(b)) != size || cap(b) != len(b) {
		m.t.Fatalf("Bytes of a fresh block of %d: %d bytes, %t", size, len(b), ok)
	}
	for i := range b {
		b[i] = s.byteAt(i)
	}
	m.live = append(m.live, s)
}

func (m *model) free(k int) {
	m.t.Helper()
	if len(m.live) == 0 {
		return
	}
	k %= len(m.live)
	s := &m.live[k]
	if len(s.locks) > 0 {
		m.mustMisuse(func() { m.h.Free(s.h) }, "is locked")
		return
	}
	m.verify(s)
	if !m.h.Free(s.h) {
		m.t.Fatalf("Free(%v) of a live block is false", s.h)
	}
	m.stale = append(m.stale, s.h)
	m.live[k] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

// resize verifies that a block grows where there is a gap behind it, and stays where it is.
func (m *model) resize(k int, size uintptr) {
	m.t.Helper()
	if len(m.live) == 0 {
		return
	}
	s := &m.live[k%len(m.live)]
	b, _ := m.h.Bytes(s.h)
	r := m.h.find(s.h)
	fits := size <= r.room+r.gap
	if m.h.Resize(s.h, size) != fits && (fits || r.next != head) {
		m.t.Fatalf("Resize(%v, %d) of %d bytes with a gap of %d says %t", s.h, size, s.size, r.gap, !fits)
	}
	now, _ := m.h.Bytes(s.h)
	if unsafe.SliceData(now) != unsafe.SliceData(b) {
		m.t.Fatalf("Resize moved block %v", s.h)
	}
	if n, _ := m.h.Size(s.h); n != s.size {
		if n != size {
			m.t.Fatalf("Resize(%v, %d) made it %d", s.h, size, n)
		}
		for i := int(s.size); i < len(now); i++ {
			now[i] = s.byteAt(i)
		}
		s.size = size
	} else if fits && size != s.size {
		m.t.Fatalf("Resize(%v, %d) left it at %d", s.h, size, n)
	}
	m.verify(s)
}

func (m *model) lock(k int) {
	m.t.Helper()
	if len(m.live) == 0 {
		return
	}
	s := &m.live[k%len(m.live)]
	p, ok := m.h.Lock(s.h)
	if !ok || uintptr(p)%m.h.align != 0 || len(s.locks) > 0 && s.locks[0] != p {
		m.t.Fatalf("Lock(%v) = %p, %t; locked at %v", s.h, p, ok, s.locks)
	}
	s.locks = append(s.locks, p)
}

func (m *model) unlock(k int) {
	m.t.Helper()
	if len(m.live) == 0 {
		return
	}
	s := &m.live[k%len(m.live)]
	if len(s.locks) == 0 {
		m.mustMisuse(func() { m.h.Unlock(s.h) }, "is not locked")
		return
	}
	s.locks = s.locks[1:]
	if !m.h.Unlock(s.h) {
		m.t.Fatalf("Unlock(%v) of a locked block is false", s.h)
	}
}

func (m *model) compact(bytes uintptr) {
	m.t.Helper()
	before := m.h.Stats()
	moved, done := m.h.Compact(Budget{Bytes: bytes})
	if bytes != 0 && moved > bytes || bytes == 0 && !done {
		m.t.Fatalf("Compact(%d) moved %d, done %t", bytes, moved, done)
	}
	after := m.h.Stats()
	if done {
		m.settled()
	}
	if before.LargestFree, after.LargestFree = 0, 0; before != after {
		m.t.Fatalf("Compact changed %+v to %+v", before, after)
	}
}

// settled verifies that no gap is left in front of a block that can move.
func (m *model) settled() {
	m.t.Helper()
	var last Block
	free := 0
	for b := range m.h.Blocks {
		if last.Free && !b.Locked {
			m.t.Fatalf("done, but a gap of %d bytes is left in front of block %+v", last.Size, b)
		}
		if b.Free {
			free++
		}
		last = b
	}
	locked := 0
	for i := range m.live {
		locked += min(len(m.live[i].locks), 1)
	}
	if free > locked+1 {
		m.t.Fatalf("done, but there are %d gaps with %d blocks locked", free, locked)
	}
	if x := m.h.Stats().External(); locked == 0 && x != 0 {
		m.t.Fatalf("done and nothing locked, but external fragmentation is %v", x)
	}
}

func (m *model) reset() {
	for _, s := range m.live {
		m.stale = append(m.stale, s.h)
	}
	m.live = m.live[:0]
	m.h.Reset()
}

func (m *model) trim() {
	m.t.Helper()
	if err := m.h.Trim(); err != nil {
		m.t.Fatalf("Trim: %v", err)
	}
}

// verify reads the block through Bytes, which finishes a move, or where the block is locked
// through its address.
func (m *model) verify(s *shadow) {
	m.t.Helper()
	b, ok := m.h.Bytes(s.h)
	if size, known := m.h.Size(s.h); !ok || !known || size != s.size || uintptr(len(b)) != s.size {
		m.t.Fatalf("Bytes(%v) = %d bytes, %t; Size %d, %t; want %d", s.h, len(b), ok, size, known, s.size)
	}
	if len(s.locks) > 0 && unsafe.Pointer(unsafe.SliceData(b)) != s.locks[0] {
		m.t.Fatalf("the locked block %v is at %p, was at %p", s.h, unsafe.SliceData(b), s.locks[0])
	}
	for i, c := range b {
		if c != s.byteAt(i) {
			m.t.Fatalf("byte %d of %d of block %v is %#x, want %#x", i, len(b), s.h, c, s.byteAt(i))
		}
	}
}

// check compares all books with the model but leaves a half moved block as it is. All bytes are
// verified now and then: each is again before its block goes.
func (m *model) check() {
	m.t.Helper()
	m.steps++
	if err := m.h.Check(); err != nil {
		m.t.Fatalf("Check: %v", err)
	}
	var bytes uint64
	for i := range m.live {
		s := &m.live[i]
		bytes += uint64(s.size)
		if m.steps%verifyEvery == 0 && s.h.Index() != m.h.moving.record {
			m.verify(s)
		}
	}
	st := m.h.Stats()
	if st.Live != uint64(len(m.live)) || st.Requested != bytes || st.InUse < bytes || st.InUse > st.Committed ||
		st.Committed > st.Reserved || st.Peak < st.InUse || st.Live != st.Allocs-st.Frees {
		m.t.Fatalf("%d blocks of %d bytes live, but %+v", len(m.live), bytes, st)
	}
	if n := len(m.stale); n > 0 {
		m.isStale(m.stale[n-1])
		m.isStale(m.stale[int(m.seed)%n])
	}
	m.isStale(Handle{})
}

func (m *model) isStale(h Handle) {
	m.t.Helper()
	_, locked := m.h.Lock(h)
	_, read := m.h.Bytes(h)
	_, sized := m.h.Size(h)
	if locked || read || sized || m.h.Resize(h, 1) || m.h.Unlock(h) || m.h.Free(h) {
		m.t.Fatalf("the stale handle %v is taken for a live one", h)
	}
}

func (m *model) mustMisuse(f func(), want string) {
	m.t.Helper()
	defer func() {
		m.t.Helper()
		if e, ok := recover().(*memory.Misuse); !ok || !strings.Contains(e.Error(), want) {
			m.t.Fatalf("want a panic with a *memory.Misuse: %s", want)
		}
	}()
	f()
}

// finish frees everything, compacts and closes.
func (m *model) finish() {
	m.t.Helper()
	for i := range m.live {
		for len(m.live[i].locks) > 0 {
			m.unlock(i)
		}
	}
	m.compact(0)
	m.check()
	for i := range m.live {
		m.verify(&m.live[i])
	}
	for len(m.live) > 0 {
		m.free(len(m.live) / 2)
	}
	m.check()
	if st := m.h.Stats(); st.InUse != 0 || st.LargestFree != st.Committed {
		m.t.Fatalf("at the end: %+v", st)
	}
	if err := m.h.Close(); err != nil {
		m.t.Fatalf("Close: %v", err)
	}
}

// modelOp is the length of an instruction: an opcode and a 32-bit operand.
const modelOp = 5

// interpret runs any bytes as a program. Opcode mod 16: 0–4 alloc, 5–8 free, 9 lock, 10 and 11
// unlock, 12 and 13 compact, 14 resize, 15 trim, or rarely reset.
func (m *model) interpret(program []byte) {
	m.t.Helper()
	for len(program) >= modelOp {
		arg := binary.LittleEndian.Uint32(program[1:])
		k := int(arg >> 1)
		switch program[0] % 16 {
		case 5, 6, 7, 8:
			m.free(k)
		case 9:
			m.lock(k)
		case 10, 11:
			m.unlock(k)
		case 14:
			m.resize(k, uintptr(arg>>8)%(modelLargest/2))
		case 12, 13:
			m.compact(1 + uintptr(arg)%5000)
		case 15:
			if arg%16 == 0 {
				m.reset()
			} else {
				m.trim()
			}
		default:
			limit := uint32(modelLargest)
			if arg&1 == 0 {
				limit = 200
			}
			m.alloc(uintptr(uint32(k) % (limit + 1)))
		}
		m.check()
		program = program[modelOp:]
	}
	m.finish()
}

func TestModel_AnyOrderOfOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t, nil, rapid.SampledFrom([]uintptr{16, 64, 4096}).Draw(t, "align"))
		index := rapid.IntRange(0, modelLive)
		t.Repeat(map[string]func(*rapid.T){
			"":        func(*rapid.T) { m.check() },
			"alloc":   func(t *rapid.T) { m.alloc(rapid.UintptrRange(0, modelLargest).Draw(t, "size")) },
			"free":    func(t *rapid.T) { m.free(index.Draw(t, "block")) },
			"lock":    func(t *rapid.T) { m.lock(index.Draw(t, "block")) },
			"unlock":  func(t *rapid.T) { m.unlock(index.Draw(t, "block")) },
			"compact": func(t *rapid.T) { m.compact(rapid.UintptrRange(0, 20_000).Draw(t, "bytes")) },
			"resize": func(t *rapid.T) {
				m.resize(index.Draw(t, "block"), rapid.UintptrRange(0, modelLargest).Draw(t, "size"))
			},
			"trim":  func(*rapid.T) { m.trim() },
			"reset": func(*rapid.T) { m.reset() },
		})
		m.finish()
	})
}

func TestModel_LongPrograms(t *testing.T) {
	programs := 30
	if testenv.Brief() {
		programs = 6
	}
	for seed := range programs {
		newModel(t, nil, minAlign<<(seed%3*4)).interpret(memtest.RandomProgram(uint64(seed)+1, 1000))
	}
}

func FuzzHeap(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(byte(seed), memtest.RandomProgram(seed+1, 64))
	}
	f.Fuzz(func(t *testing.T, al byte, program []byte) {
		if len(program) > 3000*modelOp {
			program = program[:3000*modelOp]
		}
		newModel(t, nil, minAlign<<(al%9)).interpret(program)
	})
}

// Every single call to the system fails, once and for good.
func TestFaults_ARefusalChangesNothing(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		t.Run(fmt.Sprintf("forGood=%t", forGood), func(t *testing.T) {
			for call := 1; call < 1000; call++ {
				src := memtest.NewFaulty()
				src.FailAt, src.ForGood = call, forGood
				m := newModel(t, src, minAlign)
				if m != nil {
					m.interpret(memtest.RandomProgram(uint64(call), 400))
				} else if !forGood {
					t.Errorf("call %d failed once, and New with it", call)
				}
				if src.Reserved() != 0 {
					t.Fatalf("with call %d failing, %d reservations are left", call, src.Reserved())
				}
				if src.Calls() < call {
					return
				}
			}
		})
	}
}
