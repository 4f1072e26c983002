package tiers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
)

// A tagModel is what the books of tags must say, kept beside a manager in the plainest way.
type tagModel struct {
	t     testing.TB
	m     *Manager
	r     *rand.Rand
	tags  []*Tag // tags[0] is nil: no tag
	live  []tagBlock
	want  []tagWant // by tag
	pools []*pool.Pool[[3]int64]
	objs  [][]memory.Handle[[3]int64] // by tag
	away  chan unsafe.Pointer
	acks  chan struct{}
	out   []tagBlock // with the other goroutine
	freer *remote.Freer
}

// A tagBlock is a live block: of a worker from 1 on, or of the game.
type tagBlock struct {
	p           unsafe.Pointer
	size, taken uintptr
	tag, worker int
	level       uint64 // in which it was handed out, 0 outside of one
}

// tagWant are the figures of one tag in the game's heaps and, together, in the workers'.
type tagWant struct {
	game, work   tagCounts
	frame, level uint64 // blocks
}

func newTagModel(t testing.TB, src rand.Source) *tagModel {
	cfg := Config{GC: gcpace.Config{Keep: true}, Tags: true, Workers: 2, Reserve: [Count]uintptr{Static: 1 << 20, Frame: 4 << 20, Level: 16 << 20, Pools: 16 << 20, Slab: 32 << 20, Large: 64 << 20, Inbox: 32 << 20}}
	s := &tagModel{t: t, m: newManager(t, cfg), r: rand.New(src), tags: []*Tag{nil}, want: make([]tagWant, 1)}
	for i := range 4 {
		tag := newTag(t, s.m, fmt.Sprint("tag", i))
		p, err := NewPoolIn[[3]int64](tag, pool.Config{Name: "objects", Capacity: 10_000})
		must(t, err)
		s.tags, s.pools, s.want = append(s.tags, tag), append(s.pools, p), append(s.want, tagWant{})
	}
	s.objs = make([][]memory.Handle[[3]int64], 4)
	s.away, s.acks, s.freer = make(chan unsafe.Pointer), make(chan struct{}), s.m.NewFreer()
	go func() { // the other goroutine, which knows addresses only
		for p := range s.away {
			if s.freer.FreeAny(p); p == nil {
				_ = s.freer.Flush()
			}
			s.acks <- struct{}{}
		}
		close(s.acks)
	}()
	return s
}

func (s *tagModel) close() { close(s.away); <-s.acks }

func (s *tagModel) alloc() {
	b := tagBlock{tag: s.r.IntN(len(s.tags)), worker: max(0, s.r.IntN(8)-5)}
	b.size = uintptr(s.r.IntN(300))
	if s.r.IntN(8) == 0 {
		b.size = uintptr(s.r.IntN(20_000))
	}
	a, al := memory.Allocator(s.m), uintptr(1)<<s.r.IntN(8)
	switch {
	case b.worker > 0 && b.tag > 0:
		a = s.m.Worker(b.worker - 1).Tag(s.tags[b.tag])
	case b.worker > 0:
		a = s.m.Worker(b.worker - 1)
	case b.tag > 0:
		a = s.tags[b.tag]
	}
	var err error
	if b.p, err = a.Alloc(b.size, al); err != nil {
		s.t.Fatal(err)
	}
	s.takes(&b)
	if s.m.Inspect().InLevel() {
		b.level = s.m.level.begun
	}
	if w := s.of(&b); w != nil {
		w.allocs++
		w.used += uint64(b.taken)
		w.requested += uint64(b.size)
		w.peak = max(w.peak, w.used)
	}
	s.live = append(s.live, b)
}

// takes notes what a block takes up.
func (s *tagModel) takes(b *tagBlock) {
	granule := uintptr(workerGranule)
	switch t, _ := s.m.Inspect().TierOf(b.p); t {
	case Slab:
		b.taken = s.m.Slab().SizeOf(b.p)
		return
	case Large:
		granule = largeGranule
	}
	b.taken = (max(b.size, 1) + granule - 1) / granule * granule
}

// of returns the figures that a block counts in, nil where it has no tag.
func (s *tagModel) of(b *tagBlock) *tagCounts {
	switch {
	case b.tag == 0:
		return nil
	case b.worker > 0:
		return &s.want[b.tag].work
	}
	return &s.want[b.tag].game
}

func (s *tagModel) forget(b *tagBlock) {
	if w := s.of(b); w != nil {
		w.frees++
		w.used -= uint64(b.taken)
		w.requested -= uint64(b.size)
	}
}

func (s *tagModel) free() {
	i := s.r.IntN(len(s.live))
	b := s.live[i]
	s.live[i] = s.live[len(s.live)-1]
	s.live = s.live[:len(s.live)-1]
	switch how := s.r.IntN(5); {
	case b.worker > 0 && how == 0:
		s.m.Worker(b.worker-1).Free(b.p, b.size)
	case how == 1:
		s.m.FreeAny(b.p)
	case how == 2:
		s.tags[1+s.r.IntN(4)].Free(b.p, b.size)
	case how == 3 && b.worker == 0:
		s.away <- b.p
		<-s.acks
		s.out = append(s.out, b)
		return
	default:
		s.m.Free(b.p, b.size)
	}
	s.forget(&b)
}

func (s *tagModel) resize() {
	b := &s.live[s.r.IntN(len(s.live))]
	size := uintptr(s.r.IntN(int(b.size)*2 + 20))
	a := memory.Resizer(s.m)
	if b.worker > 0 {
		a = s.m.Worker(b.worker - 1)
	}
	if !a.Resize(b.p, b.size, size) {
		return
	}
	was := *b
	b.size = size
	s.takes(b)
	if w := s.of(b); w != nil {
		w.used += uint64(b.taken) - uint64(was.taken)
		w.requested += uint64(b.size) - uint64(was.size)
		w.peak = max(w.peak, w.used)
	}
}

// object makes or frees one of a pool's.
func (s *tagModel) object() {
	k := s.r.IntN(4)
	if h := s.objs[k]; len(h) > 0 && s.r.IntN(2) == 0 {
		if !s.pools[k].Free(h[len(h)-1]) {
			s.t.Fatal("an object is stale")
		}
		s.objs[k] = h[:len(h)-1]
		return
	}
	h, _, err := s.pools[k].New()
	must(s.t, err)
	s.objs[k] = append(s.objs[k], h)
}

// settle has everything that is on its way come home, and compares what is only sure then.
func (s *tagModel) settle() {
	s.away <- nil // flush
	<-s.acks
	if s.m.phase&inFrame != 0 {
		must(s.t, s.m.EndFrame())
	}
	must(s.t, s.m.BeginFrame())
	for i := range s.want {
		s.want[i].frame = 0
	}
	for k := range s.m.Workers() {
		s.m.Worker(k).Settle()
	}
	for i := range s.out {
		s.forget(&s.out[i])
	}
	s.out = s.out[:0]
	s.compare()
	for i, tag := range s.tags[1:] {
		var got memory.Stats
		for k := range s.m.Workers() {
			got = got.Add(s.m.Worker(k).Tag(tag).Stats())
		}
		w := s.want[i+1].work
		if got.InUse != w.used || got.Requested != w.requested || got.Allocs != w.allocs || got.Frees != w.frees {
			s.t.Fatalf("%s has %+v with the workers; want %+v", tag.Name(), got, w)
		}
		if got, want := len(s.objs[i]), s.pools[i].Stats().Live; uint64(got) != want {
			s.t.Fatalf("%d objects, %d in the pool", got, want)
		}
	}
}

// compare compares all that is sure at any time. What is with the other goroutine may or may not
// have come home.
func (s *tagModel) compare() {
	out := make([]tagCounts, len(s.tags))
	for i := range s.out {
		b := &s.out[i]
		out[b.tag].allocs++
		out[b.tag].used += uint64(b.taken)
		out[b.tag].requested += uint64(b.size)
	}
	for i, tag := range s.tags {
		if i == 0 {
			continue
		}
		got := tag.Stats()
		p := s.pools[i-1].Stats()
		got.InUse, got.Live, got.Allocs, got.Frees = got.InUse-p.InUse, got.Live-p.Live, got.Allocs-p.Allocs, got.Frees-p.Frees
		got.Requested, got.Measured = got.Requested-p.Requested, got.Measured-p.Measured
		peak := got.Peak - p.Peak
		for k := range s.m.Workers() {
			w := s.m.Worker(k).countsOf(tag.id)
			got.InUse, got.Live, got.Allocs, got.Frees = got.InUse-w.used, got.Live-(w.allocs-w.frees), got.Allocs-w.allocs, got.Frees-w.frees
			got.Requested, got.Measured, peak = got.Requested-w.requested, got.Measured-w.used, peak-w.peak
		}
		w, o := s.want[i].game, out[i]
		if got.Allocs != w.allocs || got.InUse > w.used || got.InUse < w.used-o.used || got.Requested > w.requested || got.Requested < w.requested-o.requested ||
			got.Frees < w.frees || got.Frees > w.frees+o.allocs || peak > w.peak || len(s.out) == 0 && got.InUse != w.used {
			s.t.Fatalf("%s has %+v; want %+v, of which %+v are away", tag.Name(), got, w, o)
		}
		if f, l := tag.Frame().Taken(), tag.Level().Taken(); f.Blocks != s.want[i].frame || l.Blocks != s.want[i].level {
			s.t.Fatalf("%s took %+v of the frame and %+v of the level; want %+v", tag.Name(), f, l, s.want[i])
		}
	}
}

func (s *tagModel) arenas() {
	k := 1 + s.r.IntN(4)
	if s.m.phase&inFrame != 0 {
		alloc(s.t, s.tags[k].Frame(), uintptr(s.r.IntN(64)))
		s.want[k].frame++
	}
	if s.m.phase&inLevel != 0 {
		alloc(s.t, s.tags[k].Level(), uintptr(s.r.IntN(64)))
		s.want[k].level++
	}
}

// leaks returns what the level's end must say of tags.
func (s *tagModel) leaks() (rows []TagLeak) {
	for i, tag := range s.tags {
		var l Leak
		for k := range s.live {
			if b := &s.live[k]; i > 0 && b.tag == i && b.level == s.m.level.begun {
				l.add(b.taken)
			}
		}
		if l.Blocks > 0 {
			rows = append(rows, TagLeak{tag.Name(), l})
		}
	}
	return rows
}

// level ends the level that is open, and begins one.
func (s *tagModel) level() {
	s.settle()
	must(s.t, s.m.EndFrame())
	if s.m.Inspect().InLevel() {
		want := s.leaks()
		l, err := s.m.EndLevel()
		must(s.t, err)
		if got := fmt.Sprint(l.Tags); invariant.Exact && got != fmt.Sprint(want) {
			s.t.Fatalf("by tag %s, want %v", got, want)
		}
		for k := range s.objs {
			s.objs[k] = s.objs[k][:0]
		}
		for i := range s.want {
			s.want[i].level = 0
		}
	}
	s.compare()
	must(s.t, s.m.BeginLevel())
	must(s.t, s.m.Check())
}

// The books never differ from the model: at each step's end those of the game goroutine, at
// settled moments those of others, too.
func TestTag_BooksAreTheModelsOverAMillionSteps(t *testing.T) {
	steps := 1_000_000
	if testenv.Brief() {
		steps = 30_000
	}
	if invariant.Debug {
		steps /= 20
	}
	s := newTagModel(t, rand.NewPCG(1, 2))
	defer s.close()
	must(t, s.m.BeginLevel())
	for i := range steps {
		s.step(1500 + 1000*(i/20_000%2)) // the heap breathes
		if s.compare(); i%500 == 499 {
			s.settle()
		}
		if i%20_000 == 19_999 {
			s.level()
		}
	}
	s.end()
}

// step does one thing, so that about target blocks are live.
func (s *tagModel) step(target int) {
	switch n := s.r.IntN(100); {
	case n < 5:
		s.object()
	case n < 10:
		s.arenas()
	case n < 25 && len(s.live) > 0:
		s.resize()
	case s.r.IntN(2*target) > len(s.live):
		s.alloc()
	case len(s.live) > 0:
		s.free()
	}
}

// end frees everything and verifies that no tag has a block.
func (s *tagModel) end() {
	t := s.t
	t.Helper()
	for len(s.live) > 0 {
		s.free()
	}
	s.settle()
	must(t, s.m.Check())
	for i, tag := range s.tags[1:] {
		if got := tag.Stats(); got.InUse != s.pools[i].Stats().InUse || got.Requested != s.pools[i].Stats().Requested {
			t.Errorf("everything is freed, and %s has %+v", tag.Name(), got)
		}
	}
	var rows []TagStats
	s.m.Inspect().EachTag(func(row TagStats) { rows = append(rows, row) })
	if rest := rows[len(rows)-1]; rest.Name != "" || rest.Live != 0 || rest.InUse != 0 || rest.Allocs != rest.Frees {
		t.Errorf("untagged is %+v", rest)
	}
}

// A byteSource is a source of numbers whose high bits are the bytes of a program: what the fuzzer
// changes is what the model does. The low bits, and all of them behind the program, are a sequence,
// so that no number is asked for twice in vain.
type byteSource struct {
	program []byte
	x       uint64
}

func (b *byteSource) Uint64() uint64 {
	b.x = b.x*6364136223846793005 + 1442695040888963407
	if len(b.program) == 0 {
		return b.x
	}
	high := uint64(b.program[0]) << 56
	b.program = b.program[1:]
	return high | b.x>>8
}

// FuzzTags has a program of bytes allocate, resize and free under tags, in every heap and however
// a block can be freed, and compares the books with the model's at each step.
func FuzzTags(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(memtest.RandomProgram(seed+1, 100))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		src := &byteSource{program: program[:min(len(program), 4000)], x: 1}
		s := newTagModel(t, src)
		defer s.close()
		for len(src.program) > 0 {
			switch s.r.IntN(64) {
			case 0:
				s.settle()
			case 1:
				s.level()
			case 2:
				must(t, s.m.Check())
			default:
				s.step(60)
			}
			s.compare()
		}
		s.end()
	})
}

// Workers allocate under tags on their own goroutines while the game frees, resets, looks and
// checks; in the end the books are those of what is live.
func TestTag_BooksAreExactOverGoroutines(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Inbox] = 16 << 20
	m := newManager(t, cfg)
	tags := []*Tag{newTag(t, m, "a"), newTag(t, m, "b"), newTag(t, m, "c")}
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	made := make(chan block, 64)
	steps := 4000
	if testenv.Brief() {
		steps = 500
	}
	var workers sync.WaitGroup
	for k := range m.Workers() {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 9))
			w := m.Worker(k)
			for range steps {
				v := w.Tag(tags[r.IntN(len(tags))])
				b := block{size: uintptr(r.IntN(3000))}
				var err error
				if b.p, err = v.Alloc(b.size, 16); err != nil {
					t.Error(err)
					return
				}
				if r.IntN(3) == 0 {
					if v.Resize(b.p, b.size, b.size/2) {
						b.size /= 2
					}
					v.Free(b.p, b.size)
					continue
				}
				made <- b
			}
		})
	}
	go func() { workers.Wait(); close(made) }()
	must(t, m.BeginFrame())
	var snap Snapshot
	n := 0
	for b := range made {
		if n++; n%2 == 0 {
			m.Free(b.p, b.size)
		} else {
			m.FreeAny(b.p)
		}
		if n%50 == 0 {
			must(t, m.EndFrame())
			m.Snapshot(&snap)
			must(t, m.BeginFrame())
		}
		if n%500 == 0 {
			must(t, m.Check())
		}
	}
	must(t, m.EndFrame())
	for k := range m.Workers() {
		m.Worker(k).Settle()
	}
	allocs := uint64(0)
	for _, tag := range tags {
		s := tag.Stats()
		if s.Live != 0 || s.InUse != 0 || s.Requested != 0 || s.Allocs != s.Frees || s.Failures != 0 {
			t.Errorf("%s: %+v", tag.Name(), s)
		}
		allocs += s.Allocs
	}
	if allocs != uint64(steps*m.Workers()) {
		t.Errorf("%d allocations, want %d", allocs, steps*m.Workers())
	}
	must(t, m.Check())
}
