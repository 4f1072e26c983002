package stream

import (
	"errors"
	"io/fs"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
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

// within fails the test, with every goroutine's stack, if f takes longer than d or has not returned at the
// deadline of the tests.
func within(t testing.TB, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(min(d, time.Until(testenv.Deadline(t)))):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s did not end within %v\n%s", what, d, stacks[:runtime.Stack(stacks, true)])
	}
}

// soon guards against hanging. It bounds no speed: what takes a second here took 20 on a busy machine.
const soon = 4 * time.Minute

// A hang is a call that does not return until the test lets it go.
type hang struct {
	entered chan struct{}
	pass    chan struct{}
}

func newHang() *hang { return &hang{make(chan struct{}, 100), make(chan struct{})} }

func (h *hang) wait() { h.entered <- struct{}{}; <-h.pass }

// when is a Stat that hangs as soon as it is armed: a worker may be looking at that very moment.
func (h *hang) when(armed *atomic.Bool) func(fs.FileInfo) (fs.FileInfo, error) {
	return func(i fs.FileInfo) (fs.FileInfo, error) {
		if armed.Load() {
			h.wait()
		}
		return i, nil
	}
}

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

func impatient(d time.Duration) func(*Config) { return func(c *Config) { c.Patience = d } }
