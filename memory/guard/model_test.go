package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// A model runs a random program on a guard around a random composition. Calls of the innermost allocators and of the
// functions of events refuse, panic, end their goroutine, or call the guard. After each call the guard is compared with
// what the program knows: the live blocks, their bytes, and the damage that was not reported yet.
type model struct {
	t       *testing.T
	rng     *rand.Rand
	name    string // of the composition
	src     *memtest.Faulty
	limit   *page.Limit
	top     *Allocator
	blocks  []*modelBlock
	damaged map[uintptr]bool // by the address of the block
	armed   bool             // calls may fail
	depth   int              // of calls that inner made
	alone   bool             // inner must not call the guard
	upset   bool             // a nested Reset has freed what the call uses
	refused bool             // OnFault has received a fault that is no damage
	log     []string
}

type modelBlock struct {
	p    unsafe.Pointer
	size uintptr
	fill byte
	busy bool // in a call
}

var errModel = errors.New("injected")

func (m *model) logf(format string, args ...any) {
	m.log = append(m.log, strings.Repeat("  ", m.depth)+fmt.Sprintf(format, args...))
}

func (m *model) errorf(format string, args ...any) {
	if m.t.Failed() {
		return
	}
	m.logf(format, args...)
	m.t.Errorf("%s\n%s", m.name, strings.Join(m.log[max(0, len(m.log)-40):], "\n"))
}

// at is called by inner. If panics is false, the contract of inner does not allow a panic here.
func (m *model) at(where string, panics bool) {
	if !m.armed {
		return
	}
	switch n := m.rng.IntN(40); {
	case n == 0 && panics:
		m.logf("%s panics", where)
		panic(errModel)
	case n == 1 && panics && m.depth == 0:
		m.logf("%s ends its goroutine", where)
		runtime.Goexit()
	case n < 6 && m.depth < 3 && !m.alone && !m.top.closed:
		m.logf("%s calls", where)
		m.depth++
		defer func() { m.depth-- }()
		// A Counter and a Limit undo a call if their function panics. A second panic then would hide a report.
		if !panics || n < 4 || where == "OnEvent" || where == "OnSoft" {
			defer m.survive()
		}
		m.op()
	}
}

// survive recovers from a panic, and reports one that must not be.
func (m *model) survive() {
	r := recover()
	if r == nil || r == errModel || r == memtest.ErrInjected {
		return
	}
	f, ok := r.(*memory.Misuse)
	m.logf("recovered: %v", r)
	switch {
	case ok && strings.Contains(f.Reason, "overwritten"):
		m.told(f.Addr, f.Reason)
	case ok && (m.upset || m.top.closed):
	case ok && (strings.Contains(f.Reason, "OnEvent calls") || strings.Contains(f.Reason, "being freed or resized") || strings.Contains(f.Reason, "is committing")):
	default:
		m.errorf("unexpected: %v\n%s", r, debug.Stack())
	}
}

// told notes damage that was reported, joined by raise.
func (m *model) told(addr uintptr, reason string) {
	first := addr
	for i, part := range strings.Split(reason, "; and ") {
		if addr = first; i > 0 {
			_, _ = fmt.Sscanf(part, "at 0x%x:", &addr)
		}
		if !m.damaged[addr] {
			m.errorf("invented, or reported twice: %#x: %s\n%s", addr, part, debug.Stack())
		}
		delete(m.damaged, addr)
	}
}

func (m *model) fault(f *memory.Misuse) {
	if !strings.Contains(f.Reason, "overwritten") {
		m.refused = true
		if !m.upset && !m.top.closed && !strings.Contains(f.Reason, "being freed or resized") {
			m.errorf("invented: %v\n%s", f, debug.Stack())
		}
		return
	}
	m.told(f.Addr, f.Reason)
	defer func(was bool) { m.alone = was }(m.alone)
	m.alone = true
	m.at("OnFault", true)
}

type modelPart interface {
	memory.Allocator
	memory.Owner
	memory.StatsReporter
	memory.Checker
	io.Closer
}

// A wild allocator calls m.at in each call. wildReset has Reset as well.
type (
	wild struct {
		m *model
		modelPart
	}
	wildReset struct{ wild }
)

func (w wild) Alloc(size, al uintptr) (unsafe.Pointer, error) {
	if w.m.at("Alloc", true); w.m.armed && w.m.rng.IntN(12) == 0 {
		return nil, memory.ErrOutOfMemory
	}
	return w.modelPart.Alloc(size, al)
}

func (w wild) Free(p unsafe.Pointer, size uintptr) {
	w.m.at("Free", true)
	w.modelPart.Free(p, size)
}

func (w wild) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	w.m.at("Resize", true)
	z, ok := w.modelPart.(memory.Resizer)
	if !ok || !z.Resize(p, oldSize, newSize) {
		return false
	}
	w.m.at("the end of Resize", false)
	return true
}

func (w wild) Close() error {
	w.m.at("Close", true)
	defer w.m.at("the end of Close", true)
	return w.modelPart.Close()
}

func (w wildReset) Reset() {
	w.m.at("Reset", true)
	w.modelPart.(memory.Resetter).Reset()
	w.m.at("the end of Reset", true)
}

// part returns a composition, at most depth deep.
func (m *model) part(depth int) (a modelPart) {
	var err error
	kind := m.rng.IntN(8)
	if depth == 0 {
		kind %= 4
	}
	m.name += " " + [...]string{"tlsf", "slab", "growing", "stomp", "guard", "counted", "two", "locked"}[kind]
	switch kind {
	case 0:
		a, err = tlsf.New(m.limit, tlsf.Config{Reserve: 1 << 20, Step: 32 << 10})
	case 1:
		a, err = slab.New(m.limit, slab.Config{Reserve: 2 << 20, MaxSize: 16 << 10})
	case 2:
		a, err = arena.NewGrowing(m.limit, arena.GrowingConfig{Reserve: 1 << 20, Step: 32 << 10})
	case 3:
		a, err = NewStomp(m.limit, StompConfig{Reserve: 2 << 20, Blocks: 20})
	case 4:
		a, err = New(m.part(depth-1), Config{QuarantineBytes: uintptr(m.rng.IntN(3) * 600), History: 1 + m.rng.IntN(20)})
	case 5:
		a, err = compose.NewCounted(m.part(depth-1), compose.CountedConfig{OnEvent: func(e compose.Event) {
			m.at("OnEvent", e.Op != compose.Resized) // not every Resize can be undone
		}})
	case 6:
		first := m.part(depth - 1)
		if m.rng.IntN(2) == 0 {
			a, err = compose.NewFallback(first, m.part(depth-1))
		} else {
			a, err = compose.NewBySize(500, first, m.part(depth-1))
		}
	case 7:
		m.alone = true // the guard would wait forever
		a, err = compose.NewLocked(m.part(depth-1), nil)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if _, ok := a.(memory.Resetter); kind < 4 && ok && m.rng.IntN(4) > 0 {
		return wildReset{wild{m, a}}
	} else if kind < 4 {
		return wild{m, a}
	}
	return a
}

// pick returns a live block that no call uses, or nil.
func (m *model) pick() *modelBlock {
	if len(m.blocks) > 0 {
		if b := m.blocks[m.rng.IntN(len(m.blocks))]; !b.busy {
			return b
		}
	}
	return nil
}

func (m *model) paint(b *modelBlock) {
	b.fill = byte(m.rng.IntN(200))
	for i := range b.size {
		*(*byte)(unsafe.Add(b.p, i)) = b.fill
	}
}

// use calls f with a live block. If f panics, the block is live, but its bytes may be lost.
func (m *model) use(what string, f func(b *modelBlock)) {
	b, done := m.pick(), false
	if b == nil {
		return
	}
	m.logf("%s %p of %d bytes", what, b.p, b.size)
	b.busy, m.refused = true, false
	defer func() {
		if b.busy = false; (!done || m.upset) && !m.top.closed && slices.Contains(m.blocks, b) {
			m.paint(b)
		}
	}()
	f(b)
	done = true
}

func (m *model) op() {
	defer func(was bool) { m.refused = was }(m.refused)
	switch n := m.rng.IntN(40); {
	case n < 17:
		m.alloc()
	case n < 27:
		m.use("Free", func(b *modelBlock) {
			if m.top.Free(b.p, b.size); !m.refused {
				m.blocks = slices.DeleteFunc(m.blocks, func(x *modelBlock) bool { return x == b })
			}
		})
	case n < 31:
		size := uintptr(m.rng.IntN(1500))
		m.use(fmt.Sprint("Resize to ", size), func(b *modelBlock) {
			if m.top.Resize(b.p, b.size, size) {
				b.size = size
				m.paint(b)
			}
		})
	case n < 32:
		m.logf("Flush")
		m.top.Flush()
	case n < 33:
		m.reset()
	case n < 39 && m.depth == 0:
		m.damage()
	case m.depth == 0:
		m.src.PanicAt, m.src.FailAt, m.src.PanicReturnAt, m.src.FailReturnAt = 0, 0, 0, 0
		*[]*int{&m.src.PanicAt, &m.src.FailAt}[m.rng.IntN(2)] = m.src.Calls() + 1 + m.rng.IntN(3)
		*[]*int{&m.src.PanicReturnAt, &m.src.FailReturnAt}[m.rng.IntN(2)] = m.src.Returns() + 1 + m.rng.IntN(3)
		m.limit.OnSoft(m.limit.Committed(), func(uintptr, uintptr) {
			m.limit.OnSoft(0, nil)
			m.at("OnSoft", true)
		})
	}
}

func (m *model) alloc() {
	size := uintptr(m.rng.IntN(700))
	if m.rng.IntN(6) == 0 {
		size = uintptr(m.rng.IntN(20_000))
	}
	p, err := m.top.Alloc(size, 1<<m.rng.IntN(7))
	m.logf("Alloc of %d bytes: %p, %v", size, p, err)
	if err != nil {
		return
	}
	for _, b := range m.blocks {
		if !b.busy && (uintptr(p)-uintptr(b.p) < max(b.size, 1) || uintptr(b.p)-uintptr(p) < max(size, 1)) {
			m.errorf("it overlaps %p of %d bytes", b.p, b.size)
		}
	}
	b := &modelBlock{p: p, size: size}
	m.blocks = append(m.blocks, b)
	m.paint(b)
}

func (m *model) reset() {
	defer func(was bool) { m.alone = was }(m.alone)
	m.alone, m.refused, m.upset = true, false, m.depth > 0
	m.logf("Reset")
	defer func() { // if it panics, no block is freed, or some, or all
		m.blocks = slices.DeleteFunc(m.blocks, func(b *modelBlock) bool {
			i := m.top.names[uintptr(b.p)]
			if live := i != 0 && m.top.records[i].state == live; !live {
				return true
			}
			if !b.busy {
				m.paint(b)
			}
			return false
		})
	}()
	m.top.Reset()
	if m.top.Stats().Live > 0 && !m.refused {
		m.errorf("Reset left blocks")
	}
}

// damage writes to a canary, or to a block in quarantine.
func (m *model) damage() {
	r := &m.top.records[0]
	for i := range m.top.records {
		if x := &m.top.records[i]; x.block != nil && !m.damaged[x.addr] && m.rng.IntN(4) == 0 {
			r = x
		}
	}
	if r.block == nil {
		return
	}
	m.logf("damage to %p", r.block)
	m.damaged[r.addr] = true
	at := unsafe.Add(r.block, r.size)
	if r.state == quarantined && m.rng.IntN(2) == 0 || r.state == live && m.rng.IntN(2) == 0 {
		at = unsafe.Add(r.block, -1)
	}
	*(*byte)(at) ^= 1
}

// verify compares the guard with the model.
func (m *model) verify() {
	err, live, bytesLive := m.top.Check(), 0, uintptr(0)
	for _, e := range flat(err) {
		if f, ok := e.(*memory.Misuse); !ok || !m.damaged[f.Addr] {
			m.errorf("Check: %v", err)
		}
	}
	for _, b := range m.blocks {
		if live, bytesLive = live+1, bytesLive+b.size; bytes.Count(unsafe.Slice((*byte)(b.p), b.size), []byte{b.fill}) != int(b.size) {
			m.errorf("the block at %p has other bytes", b.p)
		}
	}
	if s := m.top.Stats(); s.Live != uint64(live) || s.Requested != uint64(bytesLive) {
		m.errorf("want %d blocks of %d bytes: %+v", live, bytesLive, s)
	}
}

// flat returns the parts of a joined error.
func flat(err error) (errs []error) {
	if u, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range u.Unwrap() {
			errs = append(errs, flat(e)...)
		}
		return errs
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func (m *model) close() {
	m.logf("Close")
	for _, e := range flat(m.top.Close()) {
		if f, ok := e.(*memory.Misuse); ok {
			m.told(f.Addr, f.Reason)
		}
	}
}

// call runs f on a goroutine that f may end.
func (m *model) call(f func()) {
	done := make(chan struct{})
	m.upset = false
	go func() {
		defer close(done)
		defer m.survive()
		debug.SetPanicOnFault(true)
		f()
	}()
	<-done
	m.depth = 0
}

// Random programs: no block is returned twice, damage is reported once, and the second Close completes.
func TestAllocator_RandomPrograms(t *testing.T) {
	seeds := uint64(300)
	switch {
	case testenv.Night():
		seeds = 10_000
	case testenv.Short():
		seeds = 100
	}
	for seed := range seeds {
		m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 1)), src: memtest.NewFaulty(), damaged: map[uintptr]bool{}, name: fmt.Sprintf("seed %d:", seed)}
		m.limit = page.NewLimit(m.src, 0)
		cfg := Config{QuarantineBytes: uintptr(m.rng.IntN(4) * 700), History: 1 + m.rng.IntN(30)}
		if m.rng.IntN(2) == 0 {
			cfg.OnFault = m.fault
		}
		var err error
		if m.top, err = New(m.part(m.rng.IntN(3)), cfg); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			m.armed = true
			m.call(m.op)
			m.armed = false
			if m.call(m.verify); t.Failed() {
				return
			}
		}
		m.src.PanicAt, m.src.FailAt, m.src.PanicReturnAt, m.src.FailReturnAt = 0, 0, 0, 0
		m.alone, m.armed = true, true
		m.call(m.close)
		m.armed = false
		if m.call(m.close); m.src.Reserved() != 0 || m.limit.Committed() != 0 || len(m.damaged) > 0 {
			m.errorf("closed: %d reservations, %d bytes are committed, not reported is %v", m.src.Reserved(), m.limit.Committed(), m.damaged)
			return
		}
	}
}
