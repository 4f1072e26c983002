package stream

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestNew_BadConfig(t *testing.T) {
	good := Config{FS: gallery(t), Heap: func(int) memory.Allocator { return newHeap(0) }, Free: newHeap(0).Free}
	for want, change := range map[string]func(*Config){
		"FS, Heap and Free are required": func(c *Config) { c.FS = nil }, "FS, Heap and Free": func(c *Config) { c.Heap = nil },
		"Heap and Free are required":        func(c *Config) { c.Free = nil },
		"Workers -1; allowed: 1 to 64, or ": func(c *Config) { c.Workers = -1 },
		"Workers 65; allowed":               func(c *Config) { c.Workers = 65 },
		"MaxBytes -1":                       func(c *Config) { c.MaxBytes = -1 },
		"Assets -1":                         func(c *Config) { c.Assets = -1 },
		"Handles -1":                        func(c *Config) { c.Handles = -1 },
		"Retries 1001":                      func(c *Config) { c.Retries = 1001 },
		"Resident -5":                       func(c *Config) { c.Resident = -5 },
		"Patience -1":                       func(c *Config) { c.Patience = -1 },
		"Upload.Bytes -1":                   func(c *Config) { c.Upload.Bytes = -1 },
		"no heap for worker 1 of 2": func(c *Config) {
			c.Workers = 2
			c.Heap = func(w int) memory.Allocator {
				if w == 1 {
					return nil
				}
				return newHeap(0)
			}
		},
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// everyState is a rig with assets queued, decoding, waiting, ready, loaded, cached and failed.
func everyState(t testing.TB) *rig {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0, func(c *Config) { c.Assets, c.Handles, c.Resident = 12, 16, 2400 })
	for range 4 {
		go func() { g.pass <- struct{}{} }()
	}
	cached := Request[File](r, art("a"), 0)
	loaded := r.picture("b", 0)
	failed := Request[File](r, "none", 0)
	within(t, soon, "loading", func() { r.run() })
	cached.Close()
	ready := r.picture("c", 1)
	within(t, soon, "decoding", func() {
		for ready.State() != Ready {
			r.Wait()
		}
	})
	r.picture("d", 1)
	for <-g.entered != art("d") {
	}
	r.picture("e", 2)
	r.picture("f", 3)
	want(t, loaded, Loaded)
	want(t, failed, Failed)
	t.Cleanup(func() { close(g.pass) })
	return r
}

func TestCheck_EndsWhateverBitIsFlipped(t *testing.T) {
	r := everyState(t)
	var f memtest.Flips
	within(t, 9*soon, "every bit", func() { f = memtest.EveryBit(t, r.Check, r.Streamer) })
	t.Logf("%+v", f)
	if f.Integers < 200 || f.Named*10 < f.Flipped {
		t.Errorf("%+v; the books are larger than that", f)
	}
}

func TestCheck_FindsEachBrokenBook(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Resident = 1 << 20 })
	loaded(t, r, "ab")
	k := Request[File](r, art("c"), -1)
	for r.Stats().Ready < 3 {
		r.Wait()
	}
	top := func(s *Streamer) *entry { return &s.entries[s.ready.heap[0]] }
	for want, spoil := range map[string]func(*Streamer){
		"is in no state":                 func(s *Streamer) { s.entries[0].state = stateCount },
		"and holds blocks":               func(s *Streamer) { top(s).state = Failed },
		"states are counted as":          func(s *Streamer) { s.stats.counts[Failed]++ },
		"are not in order":               func(s *Streamer) { s.stats.StagingPeak = 0 },
		"bytes are resident, counted as": func(s *Streamer) { s.resident++ },
		"ready holds 2 assets; 3 belong": func(s *Streamer) { s.ready.heap = s.ready.heap[:2] },
		"ready is out of order at 1":     func(s *Streamer) { top(s).eta = 99 },
		"which does not belong there":    func(s *Streamer) { s.ready.heap[0] = 1 << 30 },
		"handles, lists 1 and counts 7":  func(s *Streamer) { top(s).requests = 7 },
		"lists ticket":                   func(s *Streamer) { top(s).first = 9 },
		"is not found by its name":       func(s *Streamer) { top(s).name = "x" },
		"is the reload of none":          func(s *Streamer) { top(s).of = 3 },
		"has a reload that is none":      func(s *Streamer) { top(s).next = 3 },
		"blocks of worker 9":             func(s *Streamer) { top(s).held.worker = 9 },
		"wait for another attempt":       func(s *Streamer) { s.retries++ },
		"are listed as cached":           func(s *Streamer) { s.stats.Cached = 5 },
		"is listed as vacant and is not": func(s *Streamer) { s.vacant[0] = s.ready.heap[0] },
		"is listed as free and is not":   func(s *Streamer) { s.free[0] = k.index },
		"workers are busy, counted as":   func(s *Streamer) { s.busy++ },
		"has acknowledged cancellation":  func(s *Streamer) { s.acked[0] = 99 },
		"workers run and":                func(s *Streamer) { s.running = 9 },
		"counted as 0 and":               func(s *Streamer) { s.running = 0 },
	} {
		r.mu.Lock()
		s := r.Streamer
		entries, tickets, heap, vacant, free := slices.Clone(s.entries), slices.Clone(s.requests), slices.Clone(s.ready.heap), slices.Clone(s.vacant), slices.Clone(s.free)
		stats, resident, retries, busy, running := s.stats, s.resident, s.retries, s.busy, s.running
		spoil(s)
		r.mu.Unlock()
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check says %v, want %q", err, want)
		}
		r.mu.Lock()
		copy(s.entries, entries)
		copy(s.requests, tickets)
		copy(s.vacant, vacant)
		copy(s.free, free)
		s.ready.heap = append(s.ready.heap[:0], heap...)
		s.stats, s.resident, s.retries, s.busy, s.running, s.acked[0] = stats, resident, retries, busy, running, 0
		r.mu.Unlock()
		r.check(t)
	}
}

func TestSlow_DelaysOpensAndThrottlesAllReadsTogether(t *testing.T) {
	fsys := fstest.MapFS{"a": {Data: make([]byte, 30_000)}, "b": {Data: make([]byte, 30_000)}}
	r := newRig(t, Slow(fsys, 20*time.Millisecond, 1_000_000), 2, 0)
	began := time.Now()
	Request[File](r, "a", 0)
	Request[File](r, "b", 0)
	r.run()
	if took := time.Since(began); took < 75*time.Millisecond {
		t.Errorf("60 kB at 1 MB/s and 20 ms took %v", took)
	}
	if _, err := Slow(fsys, 0, 0).Open("none"); err == nil {
		t.Error("a file that does not exist")
	}
	if _, err := fs.Stat(Slow(fsys, time.Hour, 1), "a"); err != nil {
		t.Error(err)
	}
}

// A reads counts the bytes that are read from its files, and the files that are opened and closed.
type reads struct {
	fs.FS
	bytes, opened, closed atomic.Int64
}

func (r *reads) Open(name string) (fs.File, error) {
	r.opened.Add(1)
	f, err := r.FS.Open(name)
	return &readFile{f, r}, err
}

type readFile struct {
	fs.File
	r *reads
}

func (f *readFile) Close() error { f.r.closed.Add(1); return f.File.Close() }

func (f *readFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.r.bytes.Add(int64(n))
	return n, err
}

func TestSlow_ACancellationWaitsForOneReadAtMost(t *testing.T) {
	files := &reads{FS: fstest.MapFS{"a": {Data: make([]byte, 1<<20)}}}
	r := newRig(t, Slow(files, 0, 10*portion), 1, 0)
	k := Request[File](r, "a", 0) // some three seconds
	testenv.Until(t, "the first read", time.Millisecond, func() bool { return k.State() == Decoding && files.bytes.Load() > 0 })
	k.Close()
	// One read may have begun, and one more be counted between Close and the line below.
	before := files.bytes.Load()
	testenv.Until(t, "the worker ends", time.Millisecond, func() bool { return r.Stats().Busy == 0 })
	if n := files.bytes.Load() - before; n > 2*portion {
		t.Errorf("%d bytes are read after the cancellation; a read has %d", n, portion)
	}
}

func TestCancel_TheFileIsClosed(t *testing.T) {
	files := &reads{FS: fstest.MapFS{"a": {Data: make([]byte, 1<<20)}}}
	r := newRig(t, Slow(files, 0, 10*portion), 1, 0)
	k := Request[File](r, "a", 0)
	testenv.Until(t, "the first read", time.Millisecond, func() bool { return k.State() == Decoding && files.bytes.Load() > 0 })
	k.Close()
	testenv.Until(t, "the worker ends", time.Millisecond, func() bool { return r.Stats().Busy == 0 })
	if opened, closed := files.opened.Load(), files.closed.Load(); closed != opened {
		t.Errorf("%d files were opened and %d closed", opened, closed)
	}
}

// still is a file system whose files are made once, so that only the streamer allocates.
type still struct {
	data []byte
	at   int
	info fs.FileInfo
}

func (s *still) Open(string) (fs.File, error) { s.at = 0; return s, nil }
func (s *still) Stat() (fs.FileInfo, error)   { return s.info, nil }
func (s *still) Close() error                 { return nil }
func (s *still) Read(p []byte) (int, error) {
	n := copy(p, s.data[s.at:])
	s.at += n
	return n, s.end()
}
func (s *still) end() (err error) {
	if s.at == len(s.data) {
		err = io.EOF
	}
	return err
}

// What an asset costs on the Go heap, beside its file system's objects and its decoder's: the
// box that its value lies in.
func TestWorker_GoAllocationsPerAssetAreFew(t *testing.T) {
	info, err := fs.Stat(fstest.MapFS{"a": {Data: make([]byte, 100_000)}}, "a")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, &still{data: make([]byte, 100_000), info: info}, 1, 0, func(c *Config) {
		block := make([]byte, 1<<18)
		c.Heap = func(int) memory.Allocator { return oneBlock{&block} }
		c.Free = oneBlock{&block}.Free
	})
	n := testing.AllocsPerRun(200, func() {
		k := Request[File](r, "a", 0)
		for k.State() != Loaded {
			r.Wait()
			r.Poll()
		}
		k.Close()
	})
	if n > maxAllocsPerAsset {
		t.Errorf("%v Go allocations per asset, want at most %d", n, maxAllocsPerAsset)
	}
	t.Logf("%v Go allocations per asset", n)
}

// maxAllocsPerAsset is what doc.go states.
const maxAllocsPerAsset = 1

// oneBlock is an allocator of one block.
type oneBlock struct{ b *[]byte }

func (o oneBlock) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(*o.b)), nil
}
func (oneBlock) Free(unsafe.Pointer, uintptr) {}
