package engine

import (
	"math"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

var (
	sinkFloat float32
	sinkVec   mgl32.Vec2
	sinkWord  uint64
)

func BenchmarkClock(b *testing.B) {
	c := NewClock(0)
	for b.Loop() {
		sinkWord += uint64(c.Advance(Step))
	}
}

func BenchmarkScheduleRun(b *testing.B) {
	var s Schedule
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		s.MustAdd(name, func(*Tick) error { return nil })
	}
	t := Tick{}
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Run(&t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/system")
}

func BenchmarkRand(b *testing.B) {
	r := NewRand(1, 1)
	b.Run("uint32", func(b *testing.B) {
		for b.Loop() {
			sinkWord += uint64(r.Uint32())
		}
	})
	b.Run("range", func(b *testing.B) {
		for b.Loop() {
			sinkFloat += r.Range(-1, 1)
		}
	})
	b.Run("intn", func(b *testing.B) {
		for b.Loop() {
			sinkWord += uint64(r.Intn(1000))
		}
	})
	b.Run("circle", func(b *testing.B) {
		for b.Loop() {
			sinkVec = r.Circle()
		}
	})
}

func BenchmarkSinCos(b *testing.B) {
	x := float32(0)
	b.Run("det", func(b *testing.B) {
		for b.Loop() {
			s, c := SinCos(x)
			sinkFloat += s + c
			x += 0.1
		}
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			s, c := math.Sincos(float64(x))
			sinkFloat += float32(s + c)
			x += 0.1
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	v := mgl32.Vec2{3, 4}
	b.Run("det", func(b *testing.B) {
		for b.Loop() {
			sinkVec = Normalize(v)
			v[0] += 0.1
		}
	})
	b.Run("mgl32", func(b *testing.B) {
		for b.Loop() {
			sinkVec = v.Normalize()
			v[0] += 0.1
		}
	})
}

func BenchmarkHasher(b *testing.B) {
	block := make([]byte, 64<<10)
	var h Hasher
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		h.Bytes(block)
	}
	sinkWord = h.Sum()
}
