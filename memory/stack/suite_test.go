package stack_test

import (
	"io"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/stack"
)

// An end is closed with its buffer.
type end struct {
	*stack.End
	io.Closer
}

// SaveState saves both ends: only that of the suite has blocks.
func (e end) SaveState(c *save.Coder) { e.Closer.(save.State).SaveState(c) }

func double(pick func(*stack.Double) *stack.End) func(page.Source) (memory.Allocator, error) {
	return func(src page.Source) (memory.Allocator, error) {
		d, err := stack.NewDouble(src, stack.DoubleConfig{Bytes: 300_001})
		if err != nil {
			return nil, err
		}
		return end{pick(d), d}, nil
	}
}

func pivot(pick func(*stack.Pivot) *stack.End) func(page.Source) (memory.Allocator, error) {
	return func(src page.Source) (memory.Allocator, error) {
		p, err := stack.NewPivot(src, stack.PivotConfig{Forward: 200_003, Backward: 200_005})
		if err != nil {
			return nil, err
		}
		return end{pick(p), p}, nil
	}
}

// subject says what every end promises.
func subject(new func(page.Source) (memory.Allocator, error)) memtest.Subject {
	return memtest.Subject{New: new, LIFO: true, ExactSizes: true, Package: "stack", Closed: memory.ErrClosed}
}

var subjects = map[string]memtest.Subject{
	"Stack": subject(func(src page.Source) (memory.Allocator, error) {
		return stack.New(src, stack.Config{Bytes: 300_000})
	}),
	"Bottom":   subject(double((*stack.Double).Bottom)),
	"Top":      subject(double((*stack.Double).Top)),
	"Forward":  subject(pivot((*stack.Pivot).Forward)),
	"Backward": subject(pivot((*stack.Pivot).Backward)),
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestConformance(t *testing.T) { memtest.Each(t, subjects, memtest.Run) }
func TestFaults(t *testing.T)      { memtest.Each(t, subjects, memtest.Faults) }

func FuzzStack(f *testing.F)    { memtest.Fuzz(f, subjects["Stack"]) }
func FuzzBottom(f *testing.F)   { memtest.Fuzz(f, subjects["Bottom"]) }
func FuzzTop(f *testing.F)      { memtest.Fuzz(f, subjects["Top"]) }
func FuzzForward(f *testing.F)  { memtest.Fuzz(f, subjects["Forward"]) }
func FuzzBackward(f *testing.F) { memtest.Fuzz(f, subjects["Backward"]) }
