package tiers

import (
	"testing"

	"github.com/strata-go/strata/memory/gcpace"
)

func BenchmarkFrame(b *testing.B) {
	m := newManager(b, Config{})
	must(b, m.BeginLevel())
	for b.Loop() {
		must(b, m.BeginFrame())
		must(b, m.EndFrame())
	}
}

func BenchmarkSnapshot(b *testing.B) {
	m := newManager(b, Config{})
	var s Snapshot
	for b.Loop() {
		m.Snapshot(&s)
	}
}

// BenchmarkManager is a pair of Alloc and free through the manager, by tier, and the Go heap.
func BenchmarkManager(b *testing.B) {
	b.Run("slab/FreeAny", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.FreeAny(p)
		}
	})
	b.Run("slab/Free", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 64)
		}
	})
	b.Run("large/Free", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 10_000)
		}
	})
	b.Run("frame", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginFrame())
		mark := m.Frame().Mark()
		for n := 0; b.Loop(); n++ {
			if n%10_000 == 0 {
				m.Frame().Rewind(mark)
				mark = m.Frame().Mark()
			}
			if _, err := m.Frame().Alloc(64, 16); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("worker", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		w := m.Worker(0)
		for b.Loop() {
			p, err := w.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			w.Free(p, 10_000)
		}
	})
	b.Run("worker/home", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		w := m.Worker(0)
		must(b, m.BeginFrame())
		for b.Loop() {
			p, err := w.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 10_000)
		}
	})
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			garbage = make([]byte, 64)
			garbage[0] = 1
		}
	})
}
