package tlsf_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

func subject(cfg tlsf.Config) memtest.Subject {
	return promise(func(src page.Source) (memory.Allocator, error) { return tlsf.New(src, cfg) })
}

// promise says what every heap of this package promises.
func promise(new func(page.Source) (memory.Allocator, error)) memtest.Subject {
	return memtest.Subject{
		New: new, MaxSize: 20_000, Package: "tlsf", ExactSizes: true, Shrinks: true, Closed: memory.ErrClosed, ClosesAnyway: true,
		Far: func(src page.Source) (memory.Allocator, error) {
			most := uint64(9 << 30)
			if err := backs(most / 2); err != nil {
				return nil, err
			}
			return tlsf.New(src, tlsf.Config{Reserve: uintptr(most), Step: 64 << 20, Granule: 64 << 10, QuickBytes: 1 << 30})
		},
		FarSize: 64 << 20,
	}
}

var subjects = map[string]memtest.Subject{
	"Eager":  subject(tlsf.Config{Reserve: 768 << 10, Step: 32 << 10}),
	"Quick":  subject(tlsf.Config{Reserve: 768 << 10, Step: 32 << 10, QuickBytes: 128 << 10}),
	"Fine":   subject(tlsf.Config{Reserve: 512 << 10, Step: 16 << 10, Granule: 16, Blocks: 4}),
	"Coarse": subject(tlsf.Config{Reserve: 4 << 20, Step: 64 << 10, Granule: 64 << 10, QuickBytes: 1 << 20}),
	"Pools": promise(func(src page.Source) (memory.Allocator, error) {
		h, err := tlsf.New(src, tlsf.Config{Reserve: 128 << 10, Step: 16 << 10})
		made := false
		defer func() { // also where src panics
			if h != nil && !made {
				h.Close()
			}
		}()
		for err == nil && h.Stats().Reserved < 768<<10 {
			err = h.AddPool(src, 160<<10)
		}
		made = err == nil
		return h, err
	}),
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
	memtest.Each(t, testenv.Some(subjects, "Quick", "Fine", "Pools"), memtest.Run)
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestFaults(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "Quick", "Pools"), memtest.Faults)
}

func FuzzEager(f *testing.F) { memtest.Fuzz(f, subjects["Eager"]) }
func FuzzQuick(f *testing.F) { memtest.Fuzz(f, subjects["Quick"]) }
func FuzzFine(f *testing.F)  { memtest.Fuzz(f, subjects["Fine"]) }
func FuzzPools(f *testing.F) { memtest.Fuzz(f, subjects["Pools"]) }
