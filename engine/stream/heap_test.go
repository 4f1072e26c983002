package stream

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A testHeap is a worker's heap that knows what is out, bounds it and fails on demand. Blocks
// come from the Go heap, so that -race watches every byte.
type testHeap struct {
	mu    sync.Mutex
	limit uintptr // 0: none
	used  uintptr
	fail  error                         // the next Alloc returns it, once
	alarm func(op string, size uintptr) // called first in Alloc and Free, and may panic
	live  map[unsafe.Pointer]uintptr
	total int
}

func newHeap(limit uintptr) *testHeap {
	return &testHeap{limit: limit, live: map[unsafe.Pointer]uintptr{}}
}

func (h *testHeap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alarm != nil {
		h.alarm("alloc", size)
	}
	if err := h.fail; err != nil {
		h.fail = nil
		return nil, err
	}
	if h.limit > 0 && h.used+size > h.limit {
		return nil, memory.ErrOutOfMemory
	}
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
	h.used += size
	h.live[p] = size
	h.total++
	return p, nil
}

func (h *testHeap) Free(p unsafe.Pointer, size uintptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alarm != nil {
		h.alarm("free", size)
	}
	if got, ok := h.live[p]; !ok || got != size {
		panic(fmt.Sprintf("free of %p, size %d: live %v, size %d", p, size, ok, got))
	}
	delete(h.live, p)
	h.used -= size
}

func (h *testHeap) blocks() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// A rig is a streamer over test heaps, which must be empty in the end. It knows pictures and
// files, and writes down what is delivered, and what released.
type rig struct {
	*Streamer
	heaps []*testHeap
	shown []string
	gone  []string
	sink  func(name string, p Picture) error // nil: takes everything
}

func newRig(t testing.TB, fsys fs.FS, workers int, limit uintptr, change ...func(*Config)) *rig {
	t.Helper()
	r := newOpenRig(t, fsys, workers, limit, change...)
	t.Cleanup(func() {
		if err := errors.Join(r.Check(), r.Close(), r.Check()); err != nil {
			t.Error(err)
		}
		r.noLeaks(t)
	})
	return r
}

// newOpenRig is newRig without the checks in the end: for what leaves a worker behind.
func newOpenRig(t testing.TB, fsys fs.FS, workers int, limit uintptr, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{}
	for range workers {
		r.heaps = append(r.heaps, newHeap(limit))
	}
	cfg := Config{FS: fsys, Workers: workers, Heap: func(w int) memory.Allocator { return r.heaps[w] }, Free: r.home,
		Upload: Budget{Bytes: 1 << 30}}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if r.Streamer, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	pictures := Pictures(func(name string, p Picture) error {
		if r.sink != nil {
			if err := r.sink(name, p); err != nil {
				return err
			}
		}
		r.shown = append(r.shown, name)
		return nil
	}, func(name string) { r.gone = append(r.gone, name) })
	if err := errors.Join(Register(r.Streamer, pictures), Register(r.Streamer, Files())); err != nil {
		t.Fatal(err)
	}
	return r
}

// home finds the heap by its books, as the manager does by address.
func (r *rig) home(p unsafe.Pointer, size uintptr) {
	for _, h := range r.heaps {
		h.mu.Lock()
		_, mine := h.live[p]
		h.mu.Unlock()
		if mine {
			h.Free(p, size)
			return
		}
	}
	panic(fmt.Sprintf("block %p belongs to no heap", p))
}

func (r *rig) noLeaks(t testing.TB) {
	t.Helper()
	for w, h := range r.heaps {
		if n := h.blocks(); n != 0 {
			t.Errorf("worker %d: %d blocks were not freed", w, n)
		}
	}
	if s := r.Stats().Staging; s != 0 {
		t.Errorf("%d bytes are counted as staged", s)
	}
}

// art is the name of a picture of the gallery.
func art(id string) string { return "art/" + id + ".png" }

func (r *rig) picture(id string, p Priority) Handle[Picture] { return Request[Picture](r, art(id), p) }

// run polls until nothing is under way, and nothing happened in the last Poll or beside it, so that it saw
// everything; it returns the ids in the order of their delivery.
func (r *rig) run() string {
	r.shown = r.shown[:0]
	for {
		r.mu.Lock()
		before := r.events
		r.mu.Unlock()
		r.Poll()
		r.mu.Lock()
		idle := r.events == before && len(r.ready.heap)+len(r.leaving)+r.retries+r.changed == 0 && !r.underWay()
		r.mu.Unlock()
		if idle {
			break
		}
		r.Wait()
	}
	var ids strings.Builder
	for _, name := range r.shown {
		ids.WriteString(strings.TrimSuffix(strings.TrimPrefix(name, "art/"), ".png"))
	}
	return ids.String()
}

func want[T any](t testing.TB, k Handle[T], s State) {
	t.Helper()
	if got := k.State(); got != s {
		t.Errorf("the asset is %v, want %v: %v", got, s, k.Err())
	}
}

func (r *rig) check(t testing.TB) {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
}

// encode returns a PNG of w by h pixels whose colours depend on the place.
func encode(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 7), uint8(y * 5), uint8(x ^ y), uint8(255 - x*y)})
		}
	}
	return encodeImage(t, img)
}

func encodeImage(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gallery holds art/a.png to art/h.png, of 16 by 16 pixels each.
func gallery(t testing.TB) fstest.MapFS {
	t.Helper()
	data := encode(t, 16, 16)
	fsys := fstest.MapFS{}
	for c := 'a'; c <= 'h'; c++ {
		fsys["art/"+string(c)+".png"] = &fstest.MapFile{Data: data}
	}
	return fsys
}

// A gate is a file system whose opens, or reads, wait until the test lets them go.
type gate struct {
	fs.FS
	entered chan string   // receives a path when a worker is inside
	pass    chan struct{} // one receive lets one call go; closed: all
	reads   bool          // wait in each Read, not in Open
}

func newGate(fsys fs.FS, reads bool) *gate {
	return &gate{FS: fsys, entered: make(chan string, 1000), pass: make(chan struct{}), reads: reads}
}

func (g *gate) Open(name string) (fs.File, error) {
	if !g.reads {
		g.entered <- name
		<-g.pass
	}
	f, err := g.FS.Open(name)
	if err != nil || !g.reads {
		return f, err
	}
	return &gatedFile{f, g, name}, nil
}

type gatedFile struct {
	fs.File
	gate *gate
	name string
}

func (f *gatedFile) Read(p []byte) (int, error) {
	f.gate.entered <- f.name
	<-f.gate.pass
	return f.File.Read(p)
}
