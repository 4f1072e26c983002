package ecs

import (
	"bytes"
	"io"
	"testing"
)

// hundredThousand is a world of 100,000 entities with two components, and its text.
func hundredThousand(b *testing.B) (*World, []byte) {
	w, _ := newTestWorld(b, Config{})
	if err := NewMap2[position, health](w).NewBatch(100_000, func(i int, p *position, h *health) {
		*p, *h = position{float32(i) / 7, -float32(i) * 3}, health{int32(i), 100}
	}); err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := w.WriteJSON(&text); err != nil {
		b.Fatal(err)
	}
	return w, text.Bytes()
}

func BenchmarkWriteJSON(b *testing.B) {
	w, text := hundredThousand(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.WriteJSON(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/entity")
}

func BenchmarkReadJSON(b *testing.B) {
	_, text := hundredThousand(b)
	w, _ := newTestWorld(b, Config{})
	NewMap2[position, health](w)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w.Reset()
		if err := w.ReadJSON(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/entity")
}
