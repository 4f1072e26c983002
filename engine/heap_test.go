package engine

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
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

// A rig is a loader over test heaps, which must be empty in the end.
type rig struct {
	*Loader
	heaps []*testHeap
}

func newRig(t testing.TB, fsys fs.FS, workers int, limit uintptr, change ...func(*LoaderConfig)) *rig {
	t.Helper()
	r := &rig{}
	for range workers {
		r.heaps = append(r.heaps, newHeap(limit))
	}
	cfg := LoaderConfig{
		FS: fsys, Workers: workers,
		Heap: func(w int) memory.Allocator { return r.heaps[w] },
		Free: r.home,
	}
	for _, c := range change {
		c(&cfg)
	}
	l, err := NewLoader(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Loader = l
	t.Cleanup(func() {
		if err := errors.Join(r.Check(), r.Close(), r.Check()); err != nil {
			t.Error(err)
		}
		r.noLeaks(t)
	})
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

func (r *rig) picture(t testing.TB, id string, priority int) PictureAsset {
	t.Helper()
	a, err := r.RequestPicture(ScopeLevel, id, "art/"+id+".png", priority)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// settle uploads until nothing is under way, and returns the ids in the order of arrival.
func (r *rig) settle() (ids []string) {
	for {
		r.Wait()
		for r.Upload(Budget{}, func(p Picture) error { ids = append(ids, p.ID); return nil }) > 0 {
		}
		r.mu.Lock()
		done := !r.underWay() && len(r.ready.heap) == 0
		r.mu.Unlock()
		if done {
			return ids
		}
	}
}

func (r *rig) wantState(t testing.TB, a Asset, want State) {
	t.Helper()
	if got, ok := r.State(a); got != want || ok != (want != Vacant) {
		t.Errorf("asset %v is %v (%v); want %v", a, got, ok, want)
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
