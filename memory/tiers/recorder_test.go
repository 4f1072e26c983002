package tiers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/trace"
)

// traced returns a manager that records into file, and a function that closes both and returns the events.
func tracedManager(t testing.TB, cfg Config, out io.Writer) (*Manager, *trace.Writer) {
	t.Helper()
	w, err := trace.NewWriter(out, trace.Header{Program: "test", Unit: "frame"}, trace.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Trace = w
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, w
}

// readTrace returns the events of a file, as text: kind, tier, thread, block, size.
func readTrace(t testing.TB, file []byte) (lines []string, live map[uint64]uint64) {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	live = map[uint64]uint64{}
	for {
		e, err := r.Next()
		if err == io.EOF || errors.Is(err, trace.ErrTruncated) {
			return lines, live
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case trace.Alloc, trace.Resize:
			live[e.Block] = e.Size
		case trace.Free:
			delete(live, e.Block)
		}
		tier := "none"
		if e.Tier > 0 {
			tier = Tier(e.Tier - 1).String()
		}
		line := fmt.Sprintf("%s %s/%d", e.Kind, tier, e.Thread)
		switch e.Kind {
		case trace.Alloc:
			line += fmt.Sprintf(" b%d %d align %d", e.Block, e.Size, e.Align)
		case trace.Free:
			line += fmt.Sprintf(" b%d", e.Block)
		case trace.Resize:
			line += fmt.Sprintf(" b%d %d", e.Block, e.Size)
		case trace.Used:
			line += fmt.Sprintf(" %d", e.Size)
		case trace.Level:
			line += fmt.Sprintf(" %v", e.Begin)
		}
		lines = append(lines, line)
	}
}

// orFail returns a function that returns a block, and ends the test if there is an error.
func orFail(t testing.TB) func(p unsafe.Pointer, err error) unsafe.Pointer {
	return func(p unsafe.Pointer, err error) unsafe.Pointer {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantLines(t *testing.T, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(want) {
		t.Errorf("the trace is\n%s\nwant\n%s", text, strings.TrimSpace(want))
	}
}

func TestRecorder_RecordsEveryOperation(t *testing.T) {
	must := orFail(t)
	for _, tags := range []bool{false, true} {
		var file bytes.Buffer
		m, w := tracedManager(t, Config{Tags: tags}, &file)
		a := must(m.Alloc(100, 8))
		b := must(m.Alloc(5000, 64))
		if !m.Resize(a, 100, 110) || !m.Resize(b, 5000, 4500) || m.Resize(a, 110, 4000) {
			t.Fatal("Resize")
		}
		if _, err := m.Alloc(8, 3); err == nil {
			t.Fatal("a bad alignment")
		}
		tag, err := m.Tag("ai")
		mustDo(t, err)
		c := must(tag.Alloc(32, 16))
		tag.Free(c, 32)
		m.FreeAny(a)
		m.Free(nil, 1)
		wk := m.Worker(1)
		d := must(wk.Alloc(300, 8))
		if !wk.Resize(d, 300, 200) {
			t.Fatal("Resize of a worker")
		}
		wk.Free(d, 200)
		d = must(wk.Alloc(70, 8))
		m.Free(d, 70) // the worker frees it later
		wk.Settle()
		f := m.NewFreer()
		f.Free(b, 4500)
		mustDo(t, f.Close())
		mustDo(t, m.BeginFrame()) // frees b
		must(m.Frame().Alloc(24, 8))
		mustDo(t, m.EndFrame())
		mustDo(t, m.Close())
		mustDo(t, w.Close())
		lines, live := readTrace(t, file.Bytes())
		if len(live) > 0 {
			t.Errorf("%d blocks are live", len(live))
		}
		wantLines(t, lines, `
alloc slab/0 b0 100 align 8
alloc large/0 b1 5000 align 64
resize slab/0 b0 110
resize large/0 b1 4500
alloc slab/0 b2 32 align 16
free slab/0 b2
free slab/0 b0
alloc inbox/2 b3 300 align 8
resize inbox/2 b3 200
free inbox/2 b3
alloc inbox/2 b4 70 align 8
free inbox/2 b4
free large/0 b1
used frame/0 24
tick frame/0`)
	}
}

func TestRecorder_RecordsLevelsStaticAndPools(t *testing.T) {
	must := orFail(t)
	var file bytes.Buffer
	m, w := tracedManager(t, Config{}, &file)
	pl, err := NewPool[[3]int64](m, pool.Config{Name: "p", Capacity: 200})
	mustDo(t, err)
	mustDo(t, m.BeginLevel())
	p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 1000, Align: 16, Birth: 0, Death: 1}})
	mustDo(t, err)
	_, err = m.Declare(p)
	mustDo(t, err)
	must(m.Level().Alloc(64, 8))
	mustDo(t, m.BeginFrame())
	a, _, err := pl.New()
	mustDo(t, err)
	b, _, err := pl.New()
	mustDo(t, err)
	mustDo(t, m.EndFrame())
	mustDo(t, m.BeginFrame())
	pl.Free(a)
	pl.Free(b)
	_, _, err = pl.New() // in the slot of b: the summary does not show it
	mustDo(t, err)
	mustDo(t, m.EndFrame())
	_, err = m.EndLevel() // resets the pool
	mustDo(t, err)
	_, _, err = pl.New()
	mustDo(t, err)
	mustDo(t, m.BeginFrame())
	mustDo(t, m.EndFrame())
	m.RemovePool(pl)
	mustDo(t, pl.Close())
	mustDo(t, m.Close())
	mustDo(t, w.Close())
	lines, live := readTrace(t, file.Bytes())
	if len(live) > 0 {
		t.Errorf("%d blocks are live", len(live))
	}
	wantLines(t, lines, `
level level/0 true
alloc static/0 b0 1008 align 16
alloc pools/0 b1 24 align 8
alloc pools/0 b2 24 align 8
used frame/0 0
tick frame/0
free pools/0 b1
used frame/0 0
tick frame/0
free static/0 b0
free pools/0 b2
used level/0 64
level level/0 false
alloc pools/0 b3 24 align 8
used frame/0 0
tick frame/0
free pools/0 b3`)
}

// A random program on the game goroutine, with a worker beside it: at the end the trace has the live blocks.
func TestRecorder_LiveBlocksAreThoseOfTheManager(t *testing.T) {
	must := orFail(t)
	var file bytes.Buffer
	m, w := tracedManager(t, Config{Tags: true}, &file)
	tag, err := m.Tag("list")
	mustDo(t, err)
	heaps := []memory.Allocator{m, tag}
	type live struct {
		p    unsafe.Pointer
		size uintptr
	}
	var wg sync.WaitGroup
	kept := uintptr(0)
	wg.Go(func() {
		rng := rand.New(rand.NewPCG(1, 1))
		wk := m.Worker(0)
		for range 500 {
			size := uintptr(rng.IntN(3000))
			p, err := wk.Alloc(size, 16)
			if err != nil {
				t.Error(err)
				return
			}
			if kept == 0 {
				kept = size
				continue
			}
			wk.Free(p, size)
		}
	})
	rng := rand.New(rand.NewPCG(2, 2))
	var blocks []live
	for range 5000 {
		switch k := rng.IntN(10); {
		case k < 5 || len(blocks) == 0:
			size := uintptr(rng.IntN(9000))
			blocks = append(blocks, live{must(heaps[k%2].Alloc(size, 16)), size})
		case k < 9:
			i := rng.IntN(len(blocks))
			m.Free(blocks[i].p, blocks[i].size)
			blocks[i] = blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
		default:
			b := &blocks[rng.IntN(len(blocks))]
			if size := uintptr(rng.IntN(9000)); m.Resize(b.p, b.size, size) {
				b.size = size
			}
		}
	}
	wg.Wait()
	want := map[uint64]int{uint64(kept): 1}
	for _, b := range blocks {
		want[uint64(b.size)]++
	}
	mustDo(t, m.Inspect().TraceErr())
	mustDo(t, w.Close())
	_, got := readTrace(t, file.Bytes())
	for _, size := range got {
		want[size]--
	}
	for size, n := range want {
		if n != 0 {
			t.Errorf("%d blocks of %d bytes are missing", n, size)
		}
	}
	mustDo(t, m.Check())
}

func TestRecorder_BlocksFreedPastTheManagerEnd(t *testing.T) {
	must := orFail(t)
	var file bytes.Buffer
	m, w := tracedManager(t, Config{}, &file)
	p := must(m.Alloc(48, 8))
	m.Slab().Free(p, 48)
	q := must(m.Slab().Alloc(48, 8)) // past it, too
	m.Free(q, 48)
	if again := must(m.Alloc(40, 8)); again != p {
		t.Fatal("the slab returned another block; the test needs the same one")
	}
	mustDo(t, w.Close())
	lines, _ := readTrace(t, file.Bytes())
	wantLines(t, lines, "alloc slab/0 b0 48 align 8\nfree slab/0 b0\nalloc slab/0 b1 40 align 8")
}

func TestRecorded_BlocksOfAnAllocatorAreRecorded(t *testing.T) {
	must := orFail(t)
	var file bytes.Buffer
	m, w := tracedManager(t, Config{}, &file)
	large := Recorded(m, m.Large())
	p := must(large.Alloc(300, 64))
	if _, err := large.Alloc(300, 3); err == nil {
		t.Error("a bad alignment")
	}
	q := must(large.Alloc(8, 8))
	large.Free(p, 300)
	m.Free(q, 8)
	outside := new([16]byte)
	foreign := Recorded(m, fixed{unsafe.Pointer(outside)})
	foreign.Free(must(foreign.Alloc(16, 1)), 16)
	mustDo(t, w.Close())
	lines, _ := readTrace(t, file.Bytes())
	wantLines(t, lines, "alloc large/0 b0 300 align 64\nalloc large/0 b1 8 align 8\nfree large/0 b0\nfree large/0 b1")

	plain, err := New(Config{})
	mustDo(t, err)
	if Recorded(plain, plain.Large()) != memory.Allocator(plain.Large()) {
		t.Error("without a trace it is not the allocator itself")
	}
	mustDo(t, plain.Close())
}

// fixed allocates one block.
type fixed struct{ p unsafe.Pointer }

func (f fixed) Alloc(uintptr, uintptr) (unsafe.Pointer, error) { return f.p, nil }
func (f fixed) Free(unsafe.Pointer, uintptr)                   {}

// A limited writer fails when it is full.
type limited struct {
	bytes.Buffer
	most int
}

var errFull = errors.New("the disk is full")

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > l.most {
		return 0, errFull
	}
	return l.Buffer.Write(b)
}

func TestRecorder_FullWriterStopsAndTheGameGoesOn(t *testing.T) {
	must := orFail(t)
	file := &limited{most: 100 << 10}
	m, w := tracedManager(t, Config{}, file)
	mustDo(t, m.Inspect().TraceErr())
	for range 50_000 {
		m.Free(must(m.Alloc(64, 8)), 64)
	}
	if err := m.Inspect().TraceErr(); !errors.Is(err, errFull) {
		t.Errorf("TraceErr %v", err)
	}
	if m.recorder.live != nil {
		t.Error("the table of live blocks is still there")
	}
	p := must(m.Alloc(64, 8))
	if !m.Resize(p, 64, 60) {
		t.Error("Resize")
	}
	m.Free(p, 60)
	mustDo(t, m.BeginFrame())
	mustDo(t, m.EndFrame())
	mustDo(t, m.BeginLevel())
	_, err := m.EndLevel()
	mustDo(t, err)
	mustDo(t, m.Check())
	mustDo(t, m.Close())
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close %v", err)
	}
	if lines, _ := readTrace(t, file.Bytes()); len(lines) < 10_000 || len(lines) > 100_000 {
		t.Errorf("%d events", len(lines))
	}
}

func TestRecorder_MisuseIsNotRecorded(t *testing.T) {
	must := orFail(t)
	var file bytes.Buffer
	m, w := tracedManager(t, Config{}, &file)
	p := must(m.Alloc(48, 8))
	for _, f := range []func(){
		func() { m.Free(p, 4000) },
		func() {
			if !invariant.Exact {
				panic("this build does not detect it")
			}
			m.Free(unsafe.Add(p, 16), 48)
		},
		func() { m.Resize(p, 4000, 48) },
		func() { var x int; m.FreeAny(unsafe.Pointer(&x)) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
	m.Free(p, 48)
	mustDo(t, w.Close())
	lines, _ := readTrace(t, file.Bytes())
	wantLines(t, lines, "alloc slab/0 b0 48 align 8\nfree slab/0 b0")
}

// BenchmarkTrace compares Alloc and Free with and without a trace.
func BenchmarkTrace(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("trace=%v", on), func(b *testing.B) {
			cfg := Config{}
			if on {
				w, err := trace.NewWriter(io.Discard, trace.Header{}, trace.Config{})
				mustDo(b, err)
				cfg.Trace = w
			}
			m, err := New(cfg)
			mustDo(b, err)
			b.Cleanup(func() { mustDo(b, m.Close()) })
			var ring [1024]unsafe.Pointer
			i := 0
			for b.Loop() {
				if p := &ring[i%1024]; true {
					m.Free(*p, 64)
					*p, err = m.Alloc(64, 8)
				}
				i++
			}
			mustDo(b, err)
		})
	}
}

// A panicking file panics in each Write after the header.
type panicking struct{ bytes.Buffer }

func (p *panicking) Write(b []byte) (int, error) {
	if p.Len() > 0 {
		panic(errInjected)
	}
	return p.Buffer.Write(b)
}

// A panic of the io.Writer of the trace stops the recording. It keeps no frame or level open, and loses no leak report.
func TestRecorder_AWriteThatPanicsStopsOnlyTheTrace(t *testing.T) {
	chunk := 0 // events that fill a chunk
	for _, w := tracedManager(t, small(), new(panicking)); protect(func() error { w.Used(where(Level, 0), 0); return nil }) == nil; chunk++ {
	}
	panics := 0
	for less := range 12 {
		m, w := tracedManager(t, small(), new(panicking))
		for range chunk - less {
			w.Used(where(Level, 0), 0)
		}
		again := func(f func() error) { // after a panic
			if protect(f) != nil {
				panics++
				must(t, f())
			}
		}
		for range 3 {
			again(m.BeginFrame)
			again(m.EndFrame)
			again(m.BeginLevel)
			alloc(t, m.Large(), 5000) // which is not recorded
			var leaks Leaks
			again(func() (err error) { leaks, err = m.EndLevel(); return err })
			if leaks.Tiers[Large].Blocks != 1 || m.Inspect().Leaks().Tiers[Large] != leaks.Tiers[Large] {
				t.Errorf("%d events before the end of the chunk EndLevel reports %v", less, leaks)
			}
			must(t, m.Check())
		}
		if err := m.Inspect().TraceErr(); err == nil || !strings.Contains(err.Error(), "the io.Writer panicked") {
			t.Errorf("%d events before the end of the chunk: %v", less, err)
		}
	}
	if panics < 3 {
		t.Errorf("%d panics", panics)
	}
}
