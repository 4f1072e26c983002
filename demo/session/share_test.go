package session

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/trace"
)

// BenchmarkShare_AllocatorsOfATick measures what part of the game's ticks its allocators take. It plays at full heat,
// then repeats in a manager alone what these ticks have allocated and freed in slab, large and workers. It adds as many
// blocks of the frame's arena. The time of a tick is the median processor time of the game's goroutine.
func BenchmarkShare_AllocatorsOfATick(b *testing.B) {
	const before, ticks = 1200, 600
	runtime.LockOSThread() // whose processor time counts
	defer runtime.UnlockOSThread()
	var recorded bytes.Buffer
	w, err := trace.NewWriter(&recorded, trace.Header{Program: "demo", Unit: "tick"}, trace.Config{})
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Game: game.Config{Seed: 7, Heat: game.HeatMost}, Memory: ample}
	cfg.Memory.Trace = w
	s := newSession(b, cfg)
	play(b, s, before)
	var snap [2]tiers.Snapshot
	s.Mem.Snapshot(&snap[0])
	tick := medianTick(b, s, ticks)
	s.Mem.Snapshot(&snap[1])
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	frames := int(snap[1].Tiers[tiers.Frame].Allocs-snap[0].Tiers[tiers.Frame].Allocs) / ticks
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := trace.NewReader(&recorded)
	if err != nil {
		b.Fatal(err)
	}
	p, err := trace.Compile(r)
	if err != nil {
		b.Fatal(err)
	}
	m := &mirror{slots: make([]unsafe.Pointer, p.Slots), frames: frames}
	var took time.Duration
	operations := 0
	for b.Loop() {
		m.open(b)
		ops := p.Ops[:p.Timed]
		rest, _ := m.run(b, ops, before)
		began := cpuTime()
		_, operations = m.run(b, ops[rest:], ticks)
		took += time.Duration(cpuTime() - began)
		m.close(b)
	}
	each := float64(took.Nanoseconds()) / float64(b.N) / ticks
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(operations)/ticks, "blocks/tick")
	b.ReportMetric(float64(frames), "frame-blocks/tick")
	b.ReportMetric(each, "allocators-ns/tick")
	b.ReportMetric(tick, "game-ns/tick")
	b.ReportMetric(100*each/tick, "%")
}

// medianTick plays n ticks and returns the median processor time of one in nanoseconds.
func medianTick(b *testing.B, s *Session, n int) float64 {
	times := make([]int64, n)
	for i := range times {
		began := cpuTime()
		play(b, s, 1)
		times[i] = cpuTime() - began
	}
	slices.Sort(times)
	return float64(times[n/2])
}

// A mirror repeats what a trace has recorded, on a manager without a game.
type mirror struct {
	m      *tiers.Manager
	slots  []unsafe.Pointer
	frames int // blocks of the frame's arena in a tick
}

func (r *mirror) open(b *testing.B) {
	m, err := tiers.New(tiers.Config{Reserve: ample.Reserve})
	if err != nil {
		b.Fatal(err)
	}
	if err := m.NextFrame(); err != nil {
		b.Fatal(err)
	}
	r.m = m
	clear(r.slots)
}

func (r *mirror) close(b *testing.B) {
	if err := errors.Join(r.m.EndFrame(), r.m.Close()); err != nil {
		b.Fatal(err)
	}
}

// run repeats operations until so many ticks have ended. It returns how many operations it has read and how many of
// them were the manager's.
func (r *mirror) run(b *testing.B, ops []trace.Op, ticks int) (read, done int) {
	for i := range ops {
		op := &ops[i]
		if op.Kind == trace.OpTick {
			for range r.frames {
				if _, err := r.m.Frame().Alloc(64, 16); err != nil {
					b.Fatal(err)
				}
			}
			if err := r.m.NextFrame(); err != nil {
				b.Fatal(err)
			}
			if ticks--; ticks == 0 {
				return i + 1, done
			}
			continue
		}
		switch tiers.Tier(op.Tier - 1) {
		case tiers.Slab, tiers.Large, tiers.Inbox:
			r.block(b, op)
			done++
		}
	}
	b.Fatalf("%d ticks are missing in the trace", ticks)
	return 0, 0
}

// block repeats an operation on a block.
func (r *mirror) block(b *testing.B, op *trace.Op) {
	at := &r.slots[op.Slot]
	switch op.Kind {
	case trace.OpFree:
		r.m.Free(*at, uintptr(op.Size))
		*at = nil
		return
	case trace.OpResize:
		if r.m.Resize(*at, uintptr(op.Old), uintptr(op.Size)) {
			return
		}
		r.m.Free(*at, uintptr(op.Old)) // without the copy, which is the game's own
	}
	p, err := r.m.Alloc(uintptr(op.Size), 1<<op.Shift)
	if err != nil {
		b.Fatal(err)
	}
	*at = p
}
