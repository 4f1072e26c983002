package stream

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

func BenchmarkPoll_NothingToDo(b *testing.B) {
	r := newRig(b, gallery(b), 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		r.Poll()
	}
}

// A request that changes its priority, among n that are queued, and is closed.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{16, 256} {
		b.Run(fmt.Sprintf("queued=%d", n), func(b *testing.B) {
			fsys := fstest.MapFS{"first": {Data: []byte("x")}}
			g := newGate(fsys, false)
			r := newRig(b, g, 1, 0)
			defer close(g.pass)
			Request[File](r, "first", -1)
			<-g.entered
			for i := range n {
				Request[File](r, fmt.Sprint(i), ETA(float32(i)))
			}
			b.ReportAllocs()
			for b.Loop() {
				k := Request[File](r, "it", 0)
				k.Priority(ETA(float32(n)))
				k.Close()
			}
		})
	}
}

// All the art of the game, from the file system to a sink.
func BenchmarkLoadArt(b *testing.B) {
	fsys := os.DirFS("../../assets")
	names, err := fs.Glob(fsys, "art/*.png")
	if err != nil || len(names) == 0 {
		b.Fatal(err)
	}
	r := newRig(b, fsys, defaultWorkers, 0)
	for b.Loop() {
		for _, name := range names {
			Request[Picture](r, name, 0)
		}
		r.run()
		r.root.Cancel()
	}
	b.ReportMetric(float64(r.Stats().BytesDecoded)/b.Elapsed().Seconds()/1e6, "MB/s")
}

// A Poll that finds space for half of n assets that wait for it.
func BenchmarkPoll_SpaceForMany(b *testing.B) {
	for _, n := range []int{256, 4096} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			r := newRig(b, fstest.MapFS{}, 1, 0, func(c *Config) { c.Assets, c.Resident = n, 1<<30 })
			s := r.Streamer
			s.mu.Lock()
			defer s.mu.Unlock()
			for b.Loop() {
				b.StopTimer()
				s.queue.heap = s.queue.heap[:0]
				s.blocked.heap = s.blocked.heap[:0]
				for i := range uint32(n) {
					s.entries[i] = entry{state: Waiting, need: 1 << 30 / int64(n/2), seq: uint64(i), eta: Priority(i * 7919 % 4096)}
					s.blocked.push(s.entries, i)
				}
				b.StartTimer()
				s.makeRoom()
			}
			for i := range s.entries {
				s.entries[i] = vacantEntry()
			}
			s.queue.heap, s.blocked.heap, s.stats.counts = s.queue.heap[:0], s.blocked.heap[:0], [stateCount]int{Vacant: n}
		})
	}
}
