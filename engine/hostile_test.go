package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
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
