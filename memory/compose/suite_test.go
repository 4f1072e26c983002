package compose_test

import (
	"io"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

type maker = func(page.Source) (memory.Allocator, error)

func newSlab(src page.Source) (memory.Allocator, error) {
	return slab.New(src, slab.Config{Reserve: 1280 << 10, MaxSize: 1000})
}

func newTLSF(bytes uintptr) maker {
	return func(src page.Source) (memory.Allocator, error) {
		return tlsf.New(src, tlsf.Config{Reserve: bytes, Step: 32 << 10, Granule: 16})
	}
}

// two makes both parts, or closes the first.
func two(src page.Source, first, second maker, join func(a, b memory.Allocator) (memory.Allocator, error)) (memory.Allocator, error) {
	a, err := first(src)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() { // also if the source panics
		if !made {
			_ = a.(io.Closer).Close()
		}
	}()
	b, err := second(src)
	if err != nil {
		return nil, err
	}
	made = true
	return join(a, b)
}

func fallback(first, second maker) maker {
	return func(src page.Source) (memory.Allocator, error) {
		return two(src, first, second, func(a, b memory.Allocator) (memory.Allocator, error) { return compose.NewFallback(a, b) })
	}
}

func bySize(limit uintptr, small, large maker) maker {
	return func(src page.Source) (memory.Allocator, error) {
		return two(src, small, large, func(a, b memory.Allocator) (memory.Allocator, error) { return compose.NewBySize(limit, a, b) })
	}
}

func locked(inner maker) maker {
	return func(src page.Source) (memory.Allocator, error) {
		a, err := inner(src)
		if err != nil {
			return nil, err
		}
		return compose.NewLocked(a, nil)
	}
}

func counted(cfg compose.CountedConfig, inner maker) maker {
	return func(src page.Source) (memory.Allocator, error) {
		a, err := inner(src)
		if err != nil {
			return nil, err
		}
		return compose.NewCounted(a, cfg)
	}
}

// lenient: in memfast builds slab keeps no live bits.
var lenient = map[bool]memtest.Misuses{false: memtest.DoubleFree | memtest.Interior}[invariant.Exact]

// shared lets several goroutines use the allocator.
func shared(s memtest.Subject) memtest.Subject {
	s.Shared = func(a memory.Allocator) (memory.Allocator, func()) { return a, func() {} }
	return s
}

var subjects = map[string]memtest.Subject{
	"Fallback": {
		New: fallback(newTLSF(256<<10), newTLSF(1<<20)), MaxSize: 20_000, ExactSizes: true,
		Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Fallback/arena": { // only its newest block is reused before a Reset; the Counted detects the misuse that it does not
		New: fallback(counted(compose.CountedConfig{}, func(src page.Source) (memory.Allocator, error) {
			return arena.NewGrowing(src, arena.GrowingConfig{Reserve: 100_000, Step: 16 << 10})
		}), newTLSF(1<<20)),
		MaxSize: 20_000, ExactSizes: true, Hoards: true, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"BySize": {
		New: bySize(1000, newSlab, newTLSF(1<<20)), MaxSize: 20_000, Lenient: lenient, Mixed: true,
		Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Locked": shared(memtest.Subject{
		New: locked(newTLSF(1 << 20)), MaxSize: 20_000, ExactSizes: true, Closed: memory.ErrClosed, ClosesAnyway: true, Package: "tlsf",
	}),
	"Counted": {
		New: counted(compose.CountedConfig{}, newSlab), MaxSize: 1000, ExactSizes: true,
		Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Counted/told": {
		New:     counted(compose.CountedConfig{OnEvent: func(compose.Event) {}}, newTLSF(1<<20)),
		MaxSize: 20_000, ExactSizes: true, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Locked(Fallback(slab, BySize(tlsf, tlsf)))": shared(memtest.Subject{
		New:     locked(fallback(newSlab, bySize(1500, newTLSF(128<<10), newTLSF(1<<20)))),
		MaxSize: 20_000, Lenient: lenient, Mixed: true, Closed: memory.ErrClosed, ClosesAnyway: true,
	}),
	"Counted(Locked(BySize(Counted, Fallback)))": {
		New: counted(compose.CountedConfig{}, locked(bySize(700,
			counted(compose.CountedConfig{}, newSlab),
			fallback(newTLSF(256<<10), newTLSF(1<<20))))),
		MaxSize: 20_000, ExactSizes: true, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
}

func TestConformance(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "Counted", "Locked(Fallback(slab, BySize(tlsf, tlsf)))"), memtest.Run)
}

func TestFaults(t *testing.T) {
	testenv.Long(t)
	for name, s := range testenv.Some(subjects, "Fallback", "Locked") {
		if testenv.Brief() && strings.ContainsAny(name, "(/") {
			continue // variants and nests of the others; with the race detector they take minutes
		}
		t.Run(name, func(t *testing.T) { memtest.Faults(t, s) })
	}
}

func TestSaved(t *testing.T) {
	memtest.Each(t, testenv.Some(subjects, "Fallback/arena", "Counted(Locked(BySize(Counted, Fallback)))"), memtest.Saved)
}

func FuzzFallback(f *testing.F) { memtest.Fuzz(f, subjects["Fallback"]) }
func FuzzBySize(f *testing.F)   { memtest.Fuzz(f, subjects["BySize"]) }
func FuzzCounted(f *testing.F)  { memtest.Fuzz(f, subjects["Counted/told"]) }
func FuzzNested(f *testing.F) {
	memtest.Fuzz(f, subjects["Counted(Locked(BySize(Counted, Fallback)))"])
}
