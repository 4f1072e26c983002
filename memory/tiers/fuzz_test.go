package tiers

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A life is a manager that runs a program of frames, levels, allocations and frees, with a
// shadow for each tier that knows what must still be intact.
type life struct {
	t      testing.TB
	m      *Manager
	shadow [Count]*memtest.Shadow
	// frames holds the shadow of the frame before, readable for one more frame.
	before *memtest.Shadow
}

func newLife(t testing.TB) *life {
	m, err := New(Config{Reserve: smallReserve(func(r *[Count]uintptr) { r[Slab], r[Large] = 2<<20, 2<<20 }), Workers: 1, GC: gcpace.Config{Keep: true}})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, m: m, before: memtest.NewShadow(t)}
	for i := range l.shadow {
		l.shadow[i] = memtest.NewShadow(t)
	}
	return l
}

// The blocks are kept below this many a tier: the shadow looks at all of them each time.
const lifeMost = 100

func (l *life) alloc(t Tier, a memory.Allocator, size, align uintptr) {
	if len(l.shadow[t].Live()) >= lifeMost {
		return
	}
	p, err := a.Alloc(size, align)
	if err != nil {
		if !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
			l.t.Fatalf("%v: Alloc(%d, %d): %v", t, size, align, err)
		}
		return
	}
	if got, ok := l.m.Inspect().TierOf(p); got != t || !ok {
		l.t.Fatalf("a block of %v lies in %v, %t", t, got, ok)
	}
	l.shadow[t].Add(p, size, align)
}

// free frees the i-th block of a tier through the router, which does not know the tier and
// half of the time not the size.
func (l *life) free(t Tier, i uint32) {
	n := uint32(len(l.shadow[t].Live()))
	if n == 0 {
		return
	}
	b := l.shadow[t].Take(int(i % n))
	if i&1 == 0 {
		l.m.FreeAny(b.Ptr)
	} else {
		l.m.Free(b.Ptr, b.Size)
	}
}

func (l *life) step(op byte, arg uint32) {
	size, align := uintptr(arg%5000), uintptr(1)<<(arg>>16%8)
	inFrame, inLevel := l.m.phase&inFrame != 0, l.m.phase&inLevel != 0
	switch op % 16 {
	case 0, 1:
		l.frame(inFrame)
	case 2:
		l.level(inFrame, inLevel)
	case 3, 4, 5:
		if inFrame {
			l.alloc(Frame, l.m.Frame(), size, align)
		}
	case 6, 7:
		if inLevel {
			l.alloc(Level, l.m.Level(), size, align)
		}
	case 8, 9:
		l.alloc(Slab, l.m, size%4097, align)
	case 10:
		l.alloc(Large, l.m, 4097+size*10, align)
	case 11:
		l.alloc(Inbox, l.m.Worker(0), size*8, align)
	case 12:
		l.free(Slab, arg)
	case 13:
		l.grow([]Tier{Slab, Large}[arg>>31], arg&^(1<<31))
	case 14:
		l.free(Large, arg)
	case 15:
		l.free(Inbox, arg)
	}
}

// grow grows or shrinks a block of the general heap, which may change its tier.
func (l *life) grow(t Tier, arg uint32) {
	n := uint32(len(l.shadow[t].Live()))
	if n == 0 {
		return
	}
	i, size := int(arg>>16%n), uintptr(arg%12_000)
	b := l.shadow[t].Live()[i]
	p, err := memory.Grow(l.m, b.Ptr, b.Size, size, b.Align)
	if err != nil && (p != b.Ptr || !errors.Is(err, memory.ErrOutOfMemory)) {
		l.t.Fatalf("%v: Grow of %p from %d to %d bytes: %p, %v", t, b.Ptr, b.Size, size, p, err)
	}
	if err != nil {
		l.shadow[t].Verify(b)
		return
	}
	l.shadow[t].Move(i, p, size)
	if now, _ := l.m.Inspect().TierOf(p); now != t {
		b = l.shadow[t].Take(i)
		l.shadow[now].Add(p, size, b.Align)
	}
}

// frame closes the frame or opens the next: what the frame before allocated has been readable
// until here.
func (l *life) frame(open bool) {
	if open {
		must(l.t, l.m.EndFrame())
		return
	}
	l.before.VerifyAll()
	l.shadow[Frame].VerifyAll()
	must(l.t, l.m.BeginFrame())
	l.before = l.shadow[Frame]
	l.shadow[Frame] = memtest.NewShadow(l.t)
}

func (l *life) level(inFrame, open bool) {
	switch {
	case inFrame:
		_, err := l.m.EndLevel()
		if !errors.Is(err, ErrOrder) {
			l.t.Fatalf("EndLevel inside a frame: %v", err)
		}
	case open:
		l.shadow[Level].VerifyAll()
		_, err := l.m.EndLevel()
		must(l.t, err)
		l.shadow[Level].Clear()
	default:
		must(l.t, l.m.BeginLevel())
	}
}

func (l *life) run(program []byte) {
	for ; len(program) >= 5; program = program[5:] {
		l.step(program[0], binary.LittleEndian.Uint32(program[1:]))
		must(l.t, l.m.Check())
	}
	for t := range l.shadow {
		l.shadow[t].VerifyAll()
	}
	if l.m.phase&inFrame != 0 {
		must(l.t, l.m.EndFrame())
	}
	for _, t := range []Tier{Slab, Large, Inbox} {
		for len(l.shadow[t].Live()) > 0 {
			l.free(t, 0)
		}
	}
	must(l.t, l.m.BeginFrame())
	must(l.t, l.m.EndFrame())
	l.m.Worker(0).Settle()
	for _, t := range []Tier{Slab, Large, Inbox} {
		if s := l.m.Stats(t); s.Live != 0 {
			l.t.Fatalf("%v: %d blocks live after everything was freed", t, s.Live)
		}
	}
	must(l.t, l.m.Close())
}

func TestManager_AnyOrderOfFramesLevelsAndBlocks(t *testing.T) {
	seeds := uint64(20)
	if testenv.Brief() {
		seeds = 5
	}
	for seed := range seeds {
		newLife(t).run(memtest.RandomProgram(seed+1, 400))
	}
}

func FuzzManager(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(memtest.RandomProgram(seed+1, 60))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		newLife(t).run(program[:min(len(program), 4000)])
	})
}
