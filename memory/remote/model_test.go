package remote

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A freed block passes through three places before the target has it: the Freer's batch,
// the inbox, the drain. The model keeps them apart and says after each step what every side
// must report. The interleaving is the program: one goroutine plays the owner and up to
// modelFreers workers, so that each run can be repeated.
const (
	modelFreers = 4
	modelSlots  = 300
	modelOp     = 2 // bytes of an instruction
)

type model struct {
	t      testing.TB
	s      *slots
	in     *Inbox
	shadow *memtest.Shadow // blocks that somebody still uses
	freers [modelFreers]*modelFreer
	pushed int // blocks pushed and not yet drained
	closed bool
	lost   int // blocks abandoned
}

type modelFreer struct {
	*Freer
	held []memtest.Block // given to Free, not yet pushed
	lost int
}

// run interprets program. Opcode mod 16: 0–5 alloc, 6–9 free, 10 flush, 11 drain, 12 drain
// some, 13 close a Freer, 14 open one, 15 close the inbox (rarely).
func runModel(t testing.TB, kind func(*slots) Target, batch int, program []byte) {
	s := newSlots(t, modelSlots, 24)
	m := &model{t: t, s: s, in: newInbox(t, kind(s), batch), shadow: memtest.NewShadow(t)}
	for len(program) >= modelOp {
		m.step(program[0], int(program[1]))
		m.verify()
		program = program[modelOp:]
	}
	m.finish()
}

func (m *model) step(op byte, arg int) {
	which := arg % modelFreers
	switch op % 16 {
	case 6, 7, 8, 9:
		m.free(which, arg)
	case 10:
		if f := m.freers[which]; f != nil {
			m.push(f)
			m.wantErr(f, f.Flush())
		}
	case 11:
		if !m.closed {
			m.drained(m.in.Drain(), m.pushed)
		}
	case 12:
		if !m.closed {
			m.drained(m.in.DrainSome(arg), min(arg, m.pushed))
		}
	case 13:
		m.closeFreer(which)
	case 14:
		m.open(which)
	case 15:
		if arg < 8 && !m.closed {
			m.closeInbox()
		}
	default:
		if p, err := m.s.Alloc(24, 8); err == nil {
			m.shadow.Add(p, 24, 8)
		}
	}
}

func (m *model) open(which int) *modelFreer {
	if m.freers[which] == nil {
		m.freers[which] = &modelFreer{Freer: m.in.NewFreer()}
	}
	return m.freers[which]
}

// free hands a block over; its content is verified now, and must not have changed when it
// is pushed: nothing in between may touch it.
func (m *model) free(which, arg int) {
	n := len(m.shadow.Live())
	if n == 0 {
		return
	}
	f := m.open(which)
	b := m.shadow.Take(arg % n)
	f.FreeAny(b.Ptr)
	f.held = append(f.held, b)
	if len(f.held) == m.in.size {
		m.push(f)
	}
}

// push is what the model expects of a full batch and of Flush.
func (m *model) push(f *modelFreer) {
	for _, b := range f.held {
		m.shadow.Verify(b)
	}
	if m.closed {
		f.lost += len(f.held)
		m.lost += len(f.held)
	} else {
		m.pushed += len(f.held)
	}
	f.held = f.held[:0]
}

func (m *model) wantErr(f *modelFreer, err error) {
	m.t.Helper()
	if (err != nil) != (f.lost > 0) {
		m.t.Fatalf("%d blocks abandoned, error %v", f.lost, err)
	}
}

func (m *model) drained(got, want int) {
	m.t.Helper()
	if got != want {
		m.t.Fatalf("drained %d blocks, want %d of %d", got, want, m.pushed)
	}
	m.pushed -= got
}

func (m *model) closeFreer(which int) {
	if f := m.freers[which]; f != nil {
		m.push(f)
		m.wantErr(f, f.Close())
		m.freers[which] = nil
	}
}

func (m *model) closeInbox() {
	if err := m.in.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.pushed, m.closed = 0, true
}

// verify compares every book with the model.
func (m *model) verify() {
	m.t.Helper()
	mustCheck(m.t, m.in)
	held, open := 0, 0
	for _, f := range m.freers {
		if f == nil {
			continue
		}
		open++
		held += len(f.held)
		if f.Pending() != len(f.held) {
			m.t.Fatalf("a Freer holds %d blocks, want %d", f.Pending(), len(f.held))
		}
	}
	st := m.in.Stats()
	if st.InFlight != uint64(m.pushed) || st.Abandoned != uint64(m.lost) || st.Freers != open || m.in.Pending() != (m.pushed > 0) {
		m.t.Fatalf("%d in flight, %d abandoned, %d Freers in the model; %+v", m.pushed, m.lost, open, st)
	}
	if live := len(m.shadow.Live()) + held + m.pushed + m.lost; m.s.liveCount() != live || st.Drained != uint64(m.s.freed) {
		m.t.Fatalf("%d blocks live, want %d; %d freed, %d drained", m.s.liveCount(), live, m.s.freed, st.Drained)
	}
	m.shadow.VerifyAll()
}

func (m *model) finish() {
	m.t.Helper()
	f := m.open(0)
	for len(m.shadow.Live()) > 0 {
		m.free(0, len(m.shadow.Live())-1)
	}
	m.verify()
	for i := range m.freers {
		m.closeFreer(i)
	}
	if len(f.held) != 0 {
		m.t.Fatal("blocks are held after Close")
	}
	if !m.closed {
		m.closeInbox()
	}
	m.verify()
}

func TestModel(t *testing.T) {
	programs := 60
	if testenv.Brief() {
		programs = 10
	}
	for seed := range programs {
		batch := []int{1, 2, 3, 8, 32, 64}[seed/4%6]
		runModel(t, kindOf(seed), batch, memtest.RandomProgram(uint64(seed)+1, 600))
	}
}

func kindOf(n int) func(*slots) Target {
	return kinds[[...]string{"pointers", "offsets", "runs of pointers", "runs of offsets"}[n%4]]
}

func FuzzModel(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(byte(seed*13), memtest.RandomProgram(seed+1, 60))
	}
	f.Fuzz(func(t *testing.T, batch byte, program []byte) {
		if len(program) > 4000*modelOp {
			program = program[:4000*modelOp]
		}
		runModel(t, kindOf(int(batch)), 1+int(batch>>1)%maxBatch, program)
	})
}
