package slab_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
)

func subject(classes slab.ClassTable, maxSize uintptr) memtest.Subject {
	return promise(slab.Config{Reserve: 4 << 20, MaxSize: maxSize, Classes: classes})
}

// promise says what every heap of this package promises.
func promise(cfg slab.Config) memtest.Subject {
	s := memtest.Subject{
		New:     func(src page.Source) (memory.Allocator, error) { return slab.New(src, cfg) },
		MaxSize: cfg.MaxSize, Package: "slab", Closed: memory.ErrClosed, Lenient: lenient(),
		FarSize: 65536,
		Far: func(src page.Source) (memory.Allocator, error) {
			far := uint64(5) << 30
			return slab.New(src, slab.Config{Reserve: uintptr(far), MaxSize: 65536, Classes: cfg.Classes})
		},
	}
	if cfg.Classes == slab.Step16 {
		s.Far = nil // it has too few classes for large blocks, and small ones would be a million
	}
	return s
}

// lenient: memfast builds keep no live bits.
func lenient() memtest.Misuses {
	if invariant.Exact {
		return 0
	}
	return memtest.DoubleFree | memtest.Interior
}

// tight is exhausted within a few operations, so that classes steal slabs from each other.
var tight = promise(slab.Config{Reserve: 1280 << 10})

var subjects = map[string]memtest.Subject{
	"Geometric":  subject(slab.Geometric, 4096),
	"PowerOfTwo": subject(slab.PowerOfTwo, 4096),
	"Step16":     subject(slab.Step16, 4096),
	"Fibonacci":  subject(slab.Fibonacci, 4096),
	"Spans":      subject(slab.Geometric, 65536),
	"OddTop":     subject(slab.Geometric, 1000),
	"Tight":      tight,
}

// Short runs leave out the ladders that differ from the others in numbers alone.
func TestConformance(t *testing.T) {
	for name, s := range testenv.Some(subjects, "Spans", "Tight") {
		if testenv.Brief() && (name == "PowerOfTwo" || name == "Step16" || name == "Fibonacci") {
			continue
		}
		t.Run(name, func(t *testing.T) { memtest.Run(t, s) })
	}
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestFaults(t *testing.T) {
	for _, name := range []string{"Geometric", "Spans", "Tight"} {
		if testenv.Brief() && name == "Spans" {
			continue // its large blocks take minutes under the race detector
		}
		t.Run(name, func(t *testing.T) { memtest.Faults(t, subjects[name]) })
	}
}

func FuzzHeap(f *testing.F)  { memtest.Fuzz(f, subjects["Geometric"]) }
func FuzzSpans(f *testing.F) { memtest.Fuzz(f, subjects["Spans"]) }
func FuzzTight(f *testing.F) { memtest.Fuzz(f, tight) }
