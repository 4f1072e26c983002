package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A hostile file system passes everything on, but for the file named evil: of that one,
// every call that is not nil is made instead.
type hostile struct {
	fs.FS
	evil string
	open func() (fs.File, error)
	stat func(fs.FileInfo) (fs.FileInfo, error)
	read func(f fs.File, p []byte) (int, error)
	shut func() error
}

func (h *hostile) Open(name string) (fs.File, error) {
	if name == h.evil && h.open != nil {
		return h.open()
	}
	f, err := h.FS.Open(name)
	if err != nil || name != h.evil {
		return f, err
	}
	return &hostileFile{f, h}, nil
}

type hostileFile struct {
	fs.File
	h *hostile
}

func (f *hostileFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if f.h.stat != nil && err == nil {
		return f.h.stat(info)
	}
	return info, err
}

func (f *hostileFile) Read(p []byte) (int, error) {
	if f.h.read != nil {
		return f.h.read(f.File, p)
	}
	return f.File.Read(p)
}

func (f *hostileFile) Close() error {
	if f.h.shut != nil {
		return errors.Join(f.h.shut(), f.File.Close())
	}
	return f.File.Close()
}

func TestLoader_HostileFilesAreNamedAndTheRestGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		evil hostile
		want string
		is   error
	}{
		"reads nothing for ever": {hostile{read: func(fs.File, []byte) (int, error) { return 0, nil }},
			"100 reads brought nothing: multiple Read calls return no data or error", io.ErrNoProgress},
		"reads more than was asked": {hostile{read: func(_ fs.File, p []byte) (int, error) { return len(p) + 1, nil }},
			"bytes where", nil},
		"reads a negative number": {hostile{read: func(fs.File, []byte) (int, error) { return -1, nil }}, "Read gave -1 bytes where", nil},
		"reads minus all":         {hostile{read: func(fs.File, []byte) (int, error) { return -1 << 31, io.EOF }}, "Read gave -2147483648 bytes where", nil},
		"Read panics":             {hostile{read: func(fs.File, []byte) (int, error) { panic("read") }}, "the file system panicked: read", nil},
		"Open panics":             {hostile{open: func() (fs.File, error) { panic(io.ErrClosedPipe) }}, "the file system panicked: io: read/write on closed pipe", io.ErrClosedPipe},
		"Open gives nothing":      {hostile{open: func() (fs.File, error) { return nil, nil }}, "Open gave neither file nor error", nil},
		"Open gives a nil file":   {hostile{open: func() (fs.File, error) { return (*hostileFile)(nil), nil }}, "the file system panicked: runtime error: invalid memory address", nil},
		"Open gives a bare PathError": {hostile{open: func() (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: "p"} }},
			"(PANIC=Error method: runtime error", nil},
		"Stat panics":          {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { panic("stat") }}, "the file system panicked: stat", nil},
		"Stat gives nothing":   {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { return nil, nil }}, "Stat gave neither information nor error", nil},
		"Stat fails":           {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { return nil, fs.ErrPermission }}, "permission denied", fs.ErrPermission},
		"Stat says too much":   {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, 5}, nil }}, "the file ends after", io.ErrUnexpectedEOF},
		"Stat says too little": {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, -5}, nil }}, "the file is longer than the", nil},
		"Stat says 8 EiB":      {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, 1<<63 - 1 - i.Size()}, nil }}, "file of 9223372036854775807 bytes, allowed", ErrTooLarge},
		"Stat says -1":         {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, -1 - i.Size()}, nil }}, "the file is empty", nil},
		"it is a pipe":         {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return pipeInfo{i}, nil }}, "it is no regular file: p---------", nil},
		"the goroutine ends":   {hostile{read: func(fs.File, []byte) (int, error) { runtime.Goexit(); return 0, nil }}, "the goroutine was ended by runtime.Goexit; worker", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.evil
			h.FS, h.evil = gallery(t), "art/a.png"
			r := newOpenRig(t, &h, 2)
			a := r.picture(t, "a", 1)
			within(t, soon, "loading", func() {
				for _, id := range strings.Split("bcdefgh", "") {
					r.picture(t, id, 0)
				}
				r.settle()
			})
			err := r.Err(a.Asset)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `asset "a": reading art/a.png: `) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v; want %q", err, c.want)
			}
			if p := r.Progress(ScopeLevel); p != (Progress{Done: 8, Failed: 1, Total: 8}) {
				t.Errorf("progress %+v: %v", p, r.Errors())
			}
			if err := r.Check(); err != nil {
				t.Error(err)
			}
			if err := r.Close(); (err != nil) != (name == "the goroutine ends") {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

type pipeInfo struct{ fs.FileInfo }

func (pipeInfo) Mode() fs.FileMode { return fs.ModeNamedPipe }

// newOpenRig is newRig without the checks in the end: for what leaves a worker behind.
func newOpenRig(t testing.TB, fsys fs.FS, workers int, change ...func(*LoaderConfig)) *rig {
	t.Helper()
	r := &rig{}
	for range workers {
		r.heaps = append(r.heaps, newHeap(0))
	}
	cfg := LoaderConfig{FS: fsys, Workers: workers, Heap: func(w int) memory.Allocator { return r.heaps[w] }, Free: r.home}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if r.Loader, err = NewLoader(cfg); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLoadLevel_HostileFilesAreErrors(t *testing.T) {
	for want, h := range map[string]hostile{
		"100 reads brought nothing":                 {read: func(fs.File, []byte) (int, error) { return 0, nil }},
		"Read gave -1 bytes where":                  {read: func(fs.File, []byte) (int, error) { return -1, nil }},
		"bytes where":                               {read: func(_ fs.File, p []byte) (int, error) { return len(p) + 1, nil }},
		"the file system panicked: read":            {read: func(fs.File, []byte) (int, error) { panic("read") }},
		"the file system panicked: open":            {open: func() (fs.File, error) { panic("open") }},
		"it is no regular file: p---------":         {stat: func(i fs.FileInfo) (fs.FileInfo, error) { return pipeInfo{i}, nil }},
		"a level file has at most":                  {read: func(_ fs.File, p []byte) (int, error) { return len(p), nil }},
		"the file system panicked: runtime error: ": {open: func() (fs.File, error) { return nil, nil }},
		"permission denied":                         {open: func() (fs.File, error) { return nil, fs.ErrPermission }},
	} {
		h.FS, h.evil = fstest.MapFS{"levels/x.json": {Data: []byte(small)}}, "levels/x.json"
		within(t, soon, "LoadLevel: "+want, func() {
			if _, err := LoadLevel(&h, "levels/x.json"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "levels/x.json") {
				t.Errorf("%v; want %q", err, want)
			}
		})
	}
}

// A hang is a call that does not return until the test lets it go.
type hang struct {
	entered chan struct{}
	pass    chan struct{}
}

func newHang() *hang { return &hang{make(chan struct{}, 100), make(chan struct{})} }

func (h *hang) wait() { h.entered <- struct{}{}; <-h.pass }

// hanging is a gallery whose file a hangs in one call.
func hanging(t testing.TB, call string, h *hang) *hostile {
	evil := &hostile{FS: gallery(t), evil: "art/a.png"}
	switch call {
	case "Open":
		evil.open = func() (fs.File, error) { h.wait(); return evil.FS.Open("art/b.png") }
	case "Stat":
		evil.stat = func(i fs.FileInfo) (fs.FileInfo, error) { h.wait(); return i, nil }
	case "Read":
		evil.read = func(f fs.File, p []byte) (int, error) { h.wait(); return f.Read(p) }
	case "Close":
		evil.shut = func() error { h.wait(); return nil }
	}
	return evil
}

func impatient(d time.Duration) func(*LoaderConfig) { return func(c *LoaderConfig) { c.Patience = d } }

func TestLoader_ACallThatHangsFailsItsFileAndCostsOneWorker(t *testing.T) {
	for _, call := range []string{"Open", "Stat", "Read", "Close"} {
		h := newHang()
		r := newOpenRig(t, hanging(t, call, h), 2, impatient(50*time.Millisecond))
		a := r.picture(t, "a", 1)
		<-h.entered
		within(t, soon, "loading beside a hanging "+call, func() {
			for _, id := range strings.Split("bcdefgh", "") {
				r.picture(t, id, 0)
			}
			r.settle()
			r.CancelLevel()
		})
		names := r.Errors()
		if len(names) != 1 || !errors.Is(names[0], ErrHangs) || !strings.Contains(names[0].Error(), `asset "a": reading art/a.png: engine: the file system does not answer: `+call+" did not return within") {
			t.Errorf("%s: %v", call, names)
		}
		r.wantState(t, a.Asset, Vacant)
		held := r.Stats().Staging
		if s := r.Stats(); s.Abandoned != 1 || s.Busy != 0 || (held > 0) != (call == "Read" || call == "Close") {
			t.Errorf("%s: %+v", call, s)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		var err error
		within(t, soon, "Close beside a hanging "+call, func() { err = r.Close() })
		if !errors.Is(err, ErrHangs) || !strings.Contains(err.Error(), "art/a.png") || !strings.Contains(err.Error(), "and its heap are given up") {
			t.Errorf("%s: Close: %v", call, err)
		}
		r.untouchedBy(t, func() { close(h.pass) })
		if s := r.Stats(); s.Staging != held {
			t.Errorf("%s: %d bytes staged in the end, %d before", call, s.Staging, held)
		}
	}
}

// untouchedBy lets hanging calls go, and fails where their goroutines then touch a heap.
func (r *rig) untouchedBy(t testing.TB, release func()) {
	t.Helper()
	before := 0
	for _, h := range r.heaps {
		before += h.blocks() + h.total
		h.fail = errors.New("touched") // also a write for the race detector
	}
	release()
	time.Sleep(20 * time.Millisecond)
	for _, h := range r.heaps {
		before -= h.blocks() + h.total
		if h.fail == nil {
			t.Error("a heap was asked after its loader was closed")
		}
	}
	if before != 0 {
		t.Error("a heap was touched after its loader was closed")
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestClose_EndsThoughEveryWorkerHangs(t *testing.T) {
	for name, first := range map[string]func(*rig){
		"at once": func(*rig) {}, "half cancelled": func(r *rig) { r.BeginCancel() },
	} {
		g := newGate(gallery(t), true)
		r := newOpenRig(t, g, 2, impatient(100*time.Millisecond))
		r.picture(t, "a", 0)
		r.pictureOf(t, ScopeGame, "b", 0)
		<-g.entered
		<-g.entered
		first(r)
		var err error
		within(t, soon, "Close, "+name, func() { err = r.Close() })
		if !errors.Is(err, ErrHangs) || !strings.Contains(err.Error(), "art/a.png") || !strings.Contains(err.Error(), "art/b.png") {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if s := r.Stats(); s.Abandoned != 2 || s.Staging != 2*uint64(len(gallery(t)["art/a.png"].Data)) || s.Counts[Vacant] != defaultAssets {
			t.Errorf("%s: %+v", name, s)
		}
		r.untouchedBy(t, func() { close(g.pass) })
	}
}

// With the patience that is the default, Close waits for its own.
func TestClose_DoesNotWaitForThePatienceOfTheLoader(t *testing.T) {
	h := newHang()
	r := newOpenRig(t, hanging(t, "Open", h), 1, impatient(time.Hour))
	r.picture(t, "a", 0)
	<-h.entered
	began := time.Now()
	var err error
	within(t, soon, "Close", func() { err = r.Close() })
	if took := time.Since(began); !errors.Is(err, ErrHangs) || took < closePatience {
		t.Errorf("%v after %v", err, took)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

func TestLoader_WithoutWorkersEverythingFails(t *testing.T) {
	g := newGate(world(t), false)
	r := newOpenRig(t, g, 1, impatient(50*time.Millisecond))
	f, err := NewFlow(FlowConfig{Loader: r.Loader, Sink: func(Picture) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.pictureOf(t, ScopeGame, "a", 1), r.pictureOf(t, ScopeGame, "b", 0)
	<-g.entered
	within(t, soon, "a level without workers", func() {
		f.Go("first")
		if err := f.Finish(); !errors.Is(err, ErrNoWorkers) || f.Phase() != Broken {
			t.Errorf("%v, %v", f.Phase(), err)
		}
		f.Go("second")
		if err := f.Finish(); !errors.Is(err, ErrNoWorkers) || f.Phase() != Broken {
			t.Errorf("%v, %v", f.Phase(), err)
		}
	})
	if err := r.Err(a.Asset); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	if err := r.Err(b.Asset); !errors.Is(err, ErrNoWorkers) || !strings.Contains(err.Error(), "art/b.png") {
		t.Error(err)
	}
	if err := errors.Join(r.Check(), r.Close()); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(g.pass) })
}

func TestFlow_LeavesALevelThatHangs(t *testing.T) {
	h := newHang()
	evil := &hostile{FS: world(t), evil: "art/a.png", open: func() (fs.File, error) { h.wait(); return nil, fs.ErrNotExist }}
	r := newOpenRig(t, evil, 2, impatient(50*time.Millisecond))
	f, err := NewFlow(FlowConfig{Loader: r.Loader, Sink: func(Picture) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	within(t, soon, "leaving a level that hangs", func() {
		f.Go("first")
		<-func() chan struct{} {
			for len(h.entered) == 0 {
				f.Update()
			}
			return h.entered
		}()
		f.Go("second")
		if err := f.Finish(); err != nil || f.Level().Name != "second" {
			t.Error(err)
		}
	})
	if err := r.Close(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

// A decoder that panics, as one over a broken heap does, costs one picture.
func TestLoader_ADecoderThatPanicsFailsItsPicture(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	bad := errors.New("bad heap")
	r.heaps[0].alarm = func(op string, size uintptr) {
		if op == "alloc" && size == 1024 && r.heaps[0].total == 1 {
			panic(&memory.Misuse{Package: "test", Op: "Alloc", Reason: bad.Error()})
		}
	}
	a, b := r.picture(t, "a", 1), r.picture(t, "b", 0)
	within(t, soon, "loading", func() { r.settle() })
	var m *memory.Misuse
	if err := r.Err(a.Asset); err == nil || err.Error() != `engine: asset "a": decoding art/a.png: decoding panicked: test.Alloc: bad heap` || !errors.As(err, &m) {
		t.Error(err)
	}
	r.wantState(t, a.Asset, Failed)
	r.wantState(t, b.Asset, Uploaded)
	r.noLeaks(t)
}

// The pixels of a picture are its own whatever the file system does with the buffer it was
// given: it never gets one of the heap.
func TestLoader_TheFileSystemNeverSeesAWorkersHeap(t *testing.T) {
	var seen []unsafe.Pointer
	var r *rig
	h := &hostile{FS: gallery(t), evil: "art/a.png", read: func(f fs.File, p []byte) (int, error) {
		seen = append(seen, unsafe.Pointer(unsafe.SliceData(p)))
		r.heaps[0].mu.Lock()
		defer r.heaps[0].mu.Unlock()
		for q, size := range r.heaps[0].live {
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(p))); at >= uintptr(q) && at < uintptr(q)+size {
				return 0, fmt.Errorf("a buffer inside a block")
			}
		}
		return f.Read(p)
	}}
	r = newRig(t, h, 1, 0)
	a := r.picture(t, "a", 0)
	r.settle()
	r.wantState(t, a.Asset, Uploaded)
	if len(seen) == 0 {
		t.Error("nothing was read")
	}
}
