package buddy_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func subject(cfg buddy.Config) memtest.Subject {
	return memtest.Subject{
		New:     func(src page.Source) (memory.Allocator, error) { return buddy.New(src, cfg) },
		MaxSize: 20_000, Package: "buddy", ExactSizes: true, Shrinks: true, Closed: memory.ErrClosed, ClosesAnyway: true,
		Far: func(src page.Source) (memory.Allocator, error) {
			most := uint64(8 << 30)
			if err := backs(most); err != nil {
				return nil, err
			}
			return buddy.New(src, buddy.Config{Reserve: uintptr(most), MinBlock: 16 << 10, System: cfg.System})
		},
		FarSize: 60 << 20,
	}
}

var subjects = map[string]memtest.Subject{
	"Binary":          subject(buddy.Config{Reserve: 768 << 10}),
	"Fibonacci":       subject(buddy.Config{Reserve: 768 << 10, System: buddy.Fibonacci}),
	"BinaryFine":      subject(buddy.Config{Reserve: 256 << 10, MinBlock: 16}),
	"BinaryWords":     subject(buddy.Config{Reserve: 256 << 10, MinBlock: 8}),
	"FibonacciFine":   subject(buddy.Config{Reserve: 256 << 10, MinBlock: 16, System: buddy.Fibonacci}),
	"FibonacciCoarse": subject(buddy.Config{Reserve: 4 << 20, MinBlock: 16 << 10, System: buddy.Fibonacci}),
}

// backs says why the system would not back as much memory as the far test commits, or nil.
func backs(bytes uint64) error {
	src := page.Default()
	m, err := src.Reserve(uintptr(bytes))
	if err != nil {
		return err
	}
	return errors.Join(src.Commit(m, 0, m.Size), src.Release(m))
}

func TestConformance(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "Binary", "FibonacciFine"), memtest.Run)
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestFaults(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "BinaryFine", "Fibonacci"), memtest.Faults)
}

func FuzzBinary(f *testing.F)        { memtest.Fuzz(f, subjects["Binary"]) }
func FuzzFibonacci(f *testing.F)     { memtest.Fuzz(f, subjects["Fibonacci"]) }
func FuzzFibonacciFine(f *testing.F) { memtest.Fuzz(f, subjects["FibonacciFine"]) }
