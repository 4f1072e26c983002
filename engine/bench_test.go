package engine

import (
	"io/fs"
	"math"
	"os"
	"testing"
	"time"
	"unsafe"

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

func BenchmarkUpload(b *testing.B) {
	budget := Budget{Bytes: 1 << 20, Time: 2 * time.Millisecond}
	sink := func(Picture) error { return nil }
	b.Run("idle", func(b *testing.B) {
		r := newRig(b, gallery(b), 1, 0)
		b.ReportAllocs()
		for b.Loop() {
			r.Upload(budget, sink)
		}
	})
	// One picture of 16 by 16 from the books to the sink and home; the worker's part is not counted.
	b.Run("picture", func(b *testing.B) {
		r := newRig(b, gallery(b), 1, 0)
		a := r.picture(b, "a", 0)
		r.Wait()
		r.mu.Lock()
		e := &r.entries[a.index]
		p, size := e.block, e.size
		r.mu.Unlock()
		r.cfg.Free = func(_ unsafe.Pointer, _ uintptr) {}
		b.ReportAllocs()
		for b.Loop() {
			r.Upload(budget, sink)
			r.mu.Lock() // ready once more
			e.block, e.size = p, size
			r.set(a.index, Ready)
			r.waiting[0]++
			r.stats.Staging += uint64(size)
			r.ready.push(r.entries, a.index)
			r.mu.Unlock()
		}
		r.cfg.Free = r.home
	})
}

// The art of one level, from the file system to a sink.
func BenchmarkLoadArt(b *testing.B) {
	fsys := os.DirFS("../assets")
	data, err := fs.ReadFile(fsys, "levels/ember.json")
	if err != nil {
		b.Fatal(err)
	}
	l, err := parseTestLevel("levels/ember.json", data)
	if err != nil {
		b.Fatal(err)
	}
	r := newRig(b, fsys, defaultWorkers, 0)
	for b.Loop() {
		for _, a := range l.Assets {
			if _, err := r.RequestPicture(ScopeLevel, a.ID, a.File, -a.Priority); err != nil {
				b.Fatal(err)
			}
		}
		r.settle()
		r.CancelLevel()
	}
	b.ReportMetric(float64(r.Stats().BytesDecoded)/b.Elapsed().Seconds()/1e6, "MB/s")
}
