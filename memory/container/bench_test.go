package container

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Beside each benchmark of a container stands the same work on the Go heap, under /go.

var sink int

func BenchmarkVecAppend(b *testing.B) {
	_, sp := heap(b)
	const n = 1000
	b.Run("vec", func(b *testing.B) {
		for b.Loop() {
			var v Vec[int]
			for i := range n {
				if v.Append(sp, i) != nil {
					b.Fatal("full")
				}
			}
			v.Free(sp)
		}
	})
	b.Run("vec/reserved", func(b *testing.B) {
		var v Vec[int]
		must(b, v.Reserve(sp, n))
		for b.Loop() {
			v.Clear()
			for i := range n {
				if v.Append(sp, i) != nil {
					b.Fatal("full")
				}
			}
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			var v []int
			for i := range n {
				v = append(v, i)
			}
			sink += len(v)
		}
	})
	b.Run("go/reserved", func(b *testing.B) {
		v := make([]int, 0, n)
		for b.Loop() {
			v = v[:0]
			for i := range n {
				v = append(v, i)
			}
		}
		sink += len(v)
	})
}

// The compiler inlines no iterator in the loop of a benchmark, and does so in a function.
//
//go:noinline
func sumOfVec(v *Vec[int], sp *Space) (sum int) {
	for _, x := range v.All(sp) {
		sum += x
	}
	return sum
}

//go:noinline
func sumOfMap(m *Map[int, int], sp *Space) (sum int) {
	for k, v := range m.All(sp) {
		sum += k ^ v
	}
	return sum
}

func BenchmarkVecSum(b *testing.B) {
	_, sp := heap(b)
	const n = 4096
	var v Vec[int]
	must(b, v.SetLen(sp, n))
	s := make([]int, n)
	b.Run("slice of vec", func(b *testing.B) {
		for b.Loop() {
			sum := 0
			for _, x := range v.Slice(sp) {
				sum += x
			}
			sink += sum
		}
	})
	b.Run("at", func(b *testing.B) {
		for b.Loop() {
			sum := 0
			for i := range v.Len() {
				sum += v.At(sp, i)
			}
			sink += sum
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			sink += sumOfVec(&v, sp)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			sum := 0
			for _, x := range s {
				sum += x
			}
			sink += sum
		}
	})
	b.Run("go/again", func(b *testing.B) { // how much two runs of the same differ
		for b.Loop() {
			sum := 0
			for _, x := range s {
				sum += x
			}
			sink += sum
		}
	})
	b.Run("go/index", func(b *testing.B) {
		for b.Loop() {
			sum := 0
			for i := range len(s) {
				sum += s[i]
			}
			sink += sum
		}
	})
}

// goRing is the ring that one writes by hand.
type goRing struct {
	buf     []int
	head, n int
}

func (r *goRing) push(x int) {
	if r.n == len(r.buf) {
		next := make([]int, max(2*r.n, 8))
		k := copy(next, r.buf[r.head:])
		copy(next[k:], r.buf[:r.head])
		r.buf, r.head = next, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = x
	r.n++
}

func (r *goRing) pop() (int, bool) {
	if r.n == 0 {
		return 0, false
	}
	x := r.buf[r.head]
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return x, true
}

func BenchmarkRing(b *testing.B) {
	_, sp := heap(b)
	b.Run("ring", func(b *testing.B) {
		var r Ring[int]
		for i := range 100 {
			must(b, r.PushBack(sp, i))
		}
		for b.Loop() {
			x, _ := r.PopFront(sp)
			if r.PushBack(sp, x) != nil {
				b.Fatal("full")
			}
		}
	})
	b.Run("go", func(b *testing.B) {
		var r goRing
		for i := range 100 {
			r.push(i)
		}
		for b.Loop() {
			x, _ := r.pop()
			r.push(x)
		}
	})
}

// sizes of maps: in the first cache, and out of all of them.
var sizes = []int{1000, 1_000_000}

func BenchmarkMapGet(b *testing.B) {
	for _, n := range sizes {
		_, sp := bigHeap(b)
		var m Map[int, int]
		g := map[int]int{}
		keys := make([]int, n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range keys {
			keys[i] = int(r.Uint64())
			must(b, m.Set(sp, keys[i], i))
			g[keys[i]] = i
		}
		r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		b.Run(fmt.Sprintf("n=%d/hit/map", n), func(b *testing.B) {
			i, sum := 0, 0
			for b.Loop() {
				v, _ := m.Get(sp, keys[i])
				sum += v
				if i++; i == n {
					i = 0
				}
			}
			sink += sum
		})
		b.Run(fmt.Sprintf("n=%d/hit/go", n), func(b *testing.B) {
			i, sum := 0, 0
			for b.Loop() {
				sum += g[keys[i]]
				if i++; i == n {
					i = 0
				}
			}
			sink += sum
		})
		b.Run(fmt.Sprintf("n=%d/miss/map", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if m.Has(sp, keys[i]+1) {
					sink++
				}
				if i++; i == n {
					i = 0
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/miss/go", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if _, ok := g[keys[i]+1]; ok {
					sink++
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkMapSetDelete(b *testing.B) {
	for _, n := range sizes {
		_, sp := bigHeap(b)
		var m Map[int, int]
		g := map[int]int{}
		for i := range n {
			must(b, m.Set(sp, i, i))
			g[i] = i
		}
		b.Run(fmt.Sprintf("n=%d/map", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				m.Delete(sp, i)
				if m.Set(sp, i+n, i) != nil {
					b.Fatal("full")
				}
				i++
			}
		})
		b.Run(fmt.Sprintf("n=%d/go", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				delete(g, i)
				g[i+n] = i
				i++
			}
		})
	}
}

func BenchmarkMapBuild(b *testing.B) {
	const n = 100_000
	_, sp := bigHeap(b)
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			var m Map[int, int]
			for i := range n {
				if m.Set(sp, i, i) != nil {
					b.Fatal("full")
				}
			}
			m.Free(sp)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			m := map[int]int{}
			for i := range n {
				m[i] = i
			}
			sink += len(m)
		}
	})
}

func BenchmarkMapIterate(b *testing.B) {
	const n = 100_000
	_, sp := bigHeap(b)
	var m Map[int, int]
	g := map[int]int{}
	for i := range n {
		must(b, m.Set(sp, i, i))
		g[i] = i
	}
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			sink += sumOfMap(&m, sp)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			for k, v := range g {
				sink += k ^ v
			}
		}
	})
}

func BenchmarkIntern(b *testing.B) {
	_, sp := heap(b)
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("level/%d/enemy-%d", i%7, i)
	}
	b.Run("found/strings", func(b *testing.B) {
		var s Strings
		for _, t := range texts {
			_, err := s.Intern(sp, t)
			must(b, err)
		}
		i := 0
		for b.Loop() {
			id, _ := s.Lookup(sp, texts[i])
			sink += int(id)
			if i++; i == len(texts) {
				i = 0
			}
		}
		s.Free(sp)
	})
	b.Run("found/go", func(b *testing.B) {
		m := map[string]uint32{}
		for i, t := range texts {
			m[t] = uint32(i)
		}
		i := 0
		for b.Loop() {
			sink += int(m[texts[i]])
			if i++; i == len(texts) {
				i = 0
			}
		}
	})
	b.Run("all new/strings", func(b *testing.B) {
		for b.Loop() {
			var s Strings
			for _, t := range texts {
				if _, err := s.Intern(sp, t); err != nil {
					b.Fatal(err)
				}
			}
			s.Free(sp)
		}
	})
	b.Run("all new/go", func(b *testing.B) {
		for b.Loop() {
			m, list := map[string]uint32{}, []string(nil)
			for _, t := range texts {
				if _, ok := m[t]; !ok {
					t = strings.Clone(t)
					m[t] = uint32(len(list))
					list = append(list, t)
				}
			}
			sink += len(list)
		}
	})
}

// BenchmarkRelease replaces a random one of 10,000 texts by a new one of its length.
func BenchmarkRelease(b *testing.B) {
	const n = 10_000
	b.Run("strings", func(b *testing.B) {
		_, sp := bigHeap(b)
		var s Strings
		text, ids := []byte("level/0000000000/enemy"), make([]uint32, n)
		next := uint64(0)
		add := func() uint32 {
			next++
			for i, x := 15, next; i >= 6; i, x = i-1, x/10 {
				text[i] = byte('0' + x%10)
			}
			id, err := s.InternBytes(sp, text)
			must(b, err)
			return id
		}
		for i := range ids {
			ids[i] = add()
		}
		at := uint64(1)
		for b.Loop() {
			at = at*6364136223846793005 + 1
			i := at >> 33 % n
			s.Release(sp, ids[i])
			ids[i] = add()
		}
		texts, metadata := s.Bytes(sp)
		b.ReportMetric(float64(texts+metadata)/n, "B/text")
		s.Free(sp)
	})
	b.Run("go", func(b *testing.B) {
		m, keys := map[string]uint32{}, make([]string, n)
		next := uint32(0)
		add := func() string {
			next++
			t := fmt.Sprintf("level/%010d/enemy", next)
			m[t] = next
			return t
		}
		for i := range keys {
			keys[i] = add()
		}
		at := uint64(1)
		for b.Loop() {
			at = at*6364136223846793005 + 1
			i := at >> 33 % n
			delete(m, keys[i])
			keys[i] = add()
		}
	})
}

// BenchmarkShrink releases all but one in eight of 10,000 texts of 1 to 60 bytes, at random, and shrinks.
func BenchmarkShrink(b *testing.B) {
	const n = 10_000
	_, sp := bigHeap(b)
	var s Strings
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("%0*d", i*37%60, i)
	}
	var shrinking time.Duration
	for b.Loop() {
		for _, t := range texts {
			_, err := s.Intern(sp, t)
			must(b, err)
		}
		for id := range uint32(n) {
			if id*2654435761>>29 != 0 {
				s.Release(sp, id+1)
			}
		}
		start := time.Now()
		must(b, s.Shrink(sp))
		shrinking += time.Since(start)
		s.Free(sp)
	}
	b.ReportMetric(float64(shrinking.Nanoseconds())/float64(b.N)/n, "ns/id")
}

// BenchmarkMarking is a collection beside a map of a million entries.
func BenchmarkMarking(b *testing.B) {
	const n = 1_000_000
	collect := func(b *testing.B) {
		runtime.GC()
		for b.Loop() {
			runtime.GC()
		}
	}
	b.Run("empty", collect)
	b.Run("map", func(b *testing.B) {
		_, sp := bigHeap(b)
		var m Map[int, int]
		for i := range n {
			must(b, m.Set(sp, i, i))
		}
		collect(b)
		if m.Len() != n {
			b.Fatal(m.Len())
		}
	})
	b.Run("go", func(b *testing.B) {
		m := map[int]int{}
		for i := range n {
			m[i] = i
		}
		collect(b)
		runtime.KeepAlive(m)
	})
	b.Run("go/strings", func(b *testing.B) {
		m := map[int]string{}
		for i := range n {
			m[i] = time.Duration(i).String()
		}
		collect(b)
		runtime.KeepAlive(m)
	})
}
