package freelist_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func subject(cfg freelist.Config) memtest.Subject {
	return memtest.Subject{
		New:     func(src page.Source) (memory.Allocator, error) { return freelist.New(src, cfg) },
		MaxSize: 20_000, Package: "freelist", ExactSizes: true, Shrinks: true, Closed: memory.ErrClosed, ClosesAnyway: true,
		Far: func(src page.Source) (memory.Allocator, error) {
			most := uint64(5 << 30)
			if err := backs(most); err != nil {
				return nil, err
			}
			return freelist.New(src, freelist.Config{Reserve: uintptr(most), Granule: 16 << 10, Policy: cfg.Policy})
		},
		FarSize: 60 << 20,
	}
}

var subjects = map[string]memtest.Subject{
	"FirstFit": subject(freelist.Config{Reserve: 768 << 10}),
	"NextFit":  subject(freelist.Config{Reserve: 768 << 10, Policy: freelist.NextFit}),
	"BestFit":  subject(freelist.Config{Reserve: 768 << 10, Policy: freelist.BestFit}),
	"WorstFit": subject(freelist.Config{Reserve: 768 << 10, Policy: freelist.WorstFit}),
	"Fine":     subject(freelist.Config{Reserve: 256 << 10, Granule: 16, Policy: freelist.BestFit}),
	"Words":    subject(freelist.Config{Reserve: 256 << 10, Granule: 8, Policy: freelist.FirstFit}),
	"Coarse":   subject(freelist.Config{Reserve: 4 << 20, Granule: 16 << 10, Policy: freelist.NextFit}),
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
	memtest.Each(t, testenv.Some(subjects, "FirstFit", "Fine", "Coarse"), memtest.Run)
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestFaults(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "NextFit", "Words"), memtest.Faults)
}

func FuzzFirstFit(f *testing.F) { memtest.Fuzz(f, subjects["FirstFit"]) }
func FuzzNextFit(f *testing.F)  { memtest.Fuzz(f, subjects["NextFit"]) }
func FuzzBestFit(f *testing.F)  { memtest.Fuzz(f, subjects["BestFit"]) }
func FuzzWorstFit(f *testing.F) { memtest.Fuzz(f, subjects["WorstFit"]) }
func FuzzFine(f *testing.F)     { memtest.Fuzz(f, subjects["Fine"]) }
