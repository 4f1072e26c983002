package guard_test

import (
	"errors"
	"io"
	"maps"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// dropper is a guard that means to drop at Close what is live: the suite does.
type dropper struct{ *guard.Allocator }

func (d dropper) Close() error {
	err := d.Allocator.Close()
	if leaks := (*guard.LeakError)(nil); errors.As(err, &leaks) && err.Error() == leaks.Error() {
		return nil
	}
	return err
}

// bare hides every capability of what it wraps but Close and Owns.
type bare struct {
	a memory.Allocator
	memory.Allocator
}

func (b bare) Close() error               { return b.a.(io.Closer).Close() }
func (b bare) Owns(p unsafe.Pointer) bool { return b.a.(memory.Owner).Owns(p) }

func guarded(cfg guard.Config, inner func(page.Source) (memory.Allocator, error)) func(page.Source) (memory.Allocator, error) {
	return func(src page.Source) (memory.Allocator, error) {
		under, err := inner(src)
		if err != nil {
			return nil, err
		}
		a, err := guard.New(under, cfg)
		return dropper{a}, err
	}
}

func newTLSF(src page.Source) (memory.Allocator, error) {
	return tlsf.New(src, tlsf.Config{Reserve: 1 << 20, Step: 32 << 10, Granule: 16})
}

func newBare(src page.Source) (memory.Allocator, error) {
	a, err := newTLSF(src)
	return bare{a, a}, err
}

func newLinear(src page.Source) (memory.Allocator, error) {
	return arena.NewLinear(src, arena.LinearConfig{Bytes: 600_000})
}

func newSlab(src page.Source) (memory.Allocator, error) {
	return slab.New(src, slab.Config{Reserve: 4 << 20, MaxSize: 16 << 10})
}

var subjects = map[string]memtest.Subject{
	"Linear":          {Allocs: 1 << 14, Hoards: true, New: guarded(guard.Config{}, newLinear)},
	"TLSF":            {Allocs: 1 << 14, MaxSize: 20_000, New: guarded(guard.Config{}, newTLSF)},
	"TLSF/quarantine": {Allocs: 1 << 14, Hoards: true, MaxSize: 20_000, New: guarded(guard.Config{QuarantineBytes: 128 << 10, History: 8}, newTLSF)},
	"Slab/quarantine": {Allocs: 1 << 14, Hoards: true, New: guarded(guard.Config{QuarantineBytes: 64 << 10, CanaryBytes: 33, Frames: 2}, newSlab)},
	"Bare/quarantine": {Allocs: 1 << 14, Hoards: true, New: guarded(guard.Config{QuarantineBytes: 64 << 10, CanaryBytes: 1}, newBare)},
}

func TestConformance(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "TLSF/quarantine"), memtest.Run)
}

func TestFaults(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "Linear", "Slab/quarantine"), memtest.Faults)
}

func TestSaved(t *testing.T) {
	saved := maps.Clone(subjects)
	delete(saved, "Bare/quarantine") // its inner one is no save.State
	memtest.Each(t, testenv.Some(saved, "TLSF/quarantine"), memtest.Saved)
}

func FuzzLinear(f *testing.F)     { memtest.Fuzz(f, subjects["Linear"]) }
func FuzzTLSF(f *testing.F)       { memtest.Fuzz(f, subjects["TLSF"]) }
func FuzzQuarantine(f *testing.F) { memtest.Fuzz(f, subjects["TLSF/quarantine"]) }
func FuzzSlab(f *testing.F)       { memtest.Fuzz(f, subjects["Slab/quarantine"]) }
