package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func TestHang_ACallThatHangsFailsItsFileAndCostsOneWorker(t *testing.T) {
	for _, call := range []string{"Open", "Stat", "Read", "Close"} {
		h := newHang()
		r := newOpenRig(t, hanging(t, call, h), 2, 0, impatient(50*time.Millisecond))
		a := r.picture("a", -1)
		<-h.entered
		within(t, soon, "loading beside a hanging "+call, func() {
			for _, id := range strings.Split("bcdefgh", "") {
				r.picture(id, 0)
			}
			r.run()
		})
		names := r.Errors()
		if len(names) != 1 || !errors.Is(names[0], ErrHangs) || !strings.Contains(names[0].Error(), `picture "art/a.png": reading: stream: the file system does not answer: `+call+" did not return within") {
			t.Errorf("%s: %v", call, names)
		}
		want(t, a, Failed)
		held := r.Stats().Staging
		if s := r.Stats(); s.Abandoned != 1 || s.Busy != 0 || (held > 0) != (call == "Close") || s.Resident != 7*1024 {
			t.Errorf("%s: %+v", call, s)
		}
		r.check(t)
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
			t.Error("a heap was asked after its streamer was closed")
		}
	}
	if before != 0 {
		t.Error("a heap was touched after its streamer was closed")
	}
	r.check(t)
}

// A decode function that frees with defer, or does not return the error of its read, goes on after its worker was
// abandoned.
func TestHang_TheHeapOfAnAbandonedWorkerIsClosed(t *testing.T) {
	h := newHang()
	drains, decoded := 0, make(chan error, 1)
	r := newOpenRig(t, hanging(t, "Read", h), 1, 0, impatient(50*time.Millisecond), func(c *Config) { c.Drain = func(int) { drains++ } })
	type tidy struct{}
	err := Register(r.Streamer, Kind[tidy]{Name: "tidy", Stays: true, Decode: func(rd *Reader, heap *Heap) (tidy, error) {
		scratch, err := heap.Bytes(64)
		if err != nil {
			return tidy{}, err
		}
		defer func() { decoded <- err }()
		defer heap.free(scratch)
		_, _ = rd.ReadByte()
		if err = rd.Wanted(); err != nil {
			_, err = heap.Bytes(32)
		}
		return tidy{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	Request[tidy](r, art("a"), 0)
	<-h.entered
	within(t, soon, "loading", func() { r.run() })
	r.Settle()
	if err := r.Close(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(h.pass); err = <-decoded })
	if s := r.Stats(); err == nil || drains != 0 || s.Staging != 64 {
		t.Errorf("%v, %d drains, %d bytes staged", err, drains, s.Staging)
	}
}

func TestHang_CloseEndsThoughEveryWorkerHangs(t *testing.T) {
	for name, first := range map[string]func(*rig){"at once": func(*rig) {}, "half cancelled": func(r *rig) { r.root.Cancel() }} {
		g := newGate(gallery(t), true)
		r := newOpenRig(t, g, 2, 0, impatient(100*time.Millisecond))
		Request[File](r, art("a"), 0)
		Request[File](r, art("b"), 0)
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
		if s := r.Stats(); s.Abandoned != 2 || s.Staging != 2*int64(len(gallery(t)[art("a")].Data)) || s.counts[Vacant] != defaultAssets || s.Resident != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		r.untouchedBy(t, func() { close(g.pass) })
	}
}

// With the patience that is the default, Close waits for its own.
func TestHang_CloseDoesNotWaitForTheWholePatience(t *testing.T) {
	h := newHang()
	r := newOpenRig(t, hanging(t, "Open", h), 1, 0, impatient(time.Hour))
	r.picture("a", 0)
	<-h.entered
	began := time.Now()
	var err error
	within(t, soon, "Close", func() { err = r.Close() })
	if took := time.Since(began); !errors.Is(err, ErrHangs) || took < closePatience {
		t.Errorf("%v after %v", err, took)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

func TestHang_WithoutWorkersEverythingFails(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newOpenRig(t, g, 1, 0, impatient(50*time.Millisecond), func(c *Config) { c.Retries = 5 })
	a, b := r.picture("a", 1), r.picture("b", 2)
	<-g.entered
	within(t, soon, "loading without workers", func() { r.run() })
	if err := a.Err(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	if err := b.Err(); !errors.Is(err, ErrNoWorkers) || !strings.Contains(err.Error(), "art/b.png") {
		t.Error(err)
	}
	if k := r.picture("c", 0); !errors.Is(k.Err(), ErrNoWorkers) {
		t.Error(k.Err())
	}
	a.Retry()
	r.Reload(art("a"))
	within(t, soon, "a retry without workers", func() { r.run() })
	want(t, a, Failed)
	if err := errors.Join(r.Check(), r.Close()); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(g.pass) })
}

func TestHang_AWatchThatHangsCostsItsWorkerAndNothingElse(t *testing.T) {
	h := newHang()
	var armed atomic.Bool
	evil := &hostile{FS: gallery(t), evil: art("a"), stat: h.when(&armed)}
	r := newOpenRig(t, evil, 2, 0, impatient(50*time.Millisecond), func(c *Config) { c.Watch = time.Millisecond })
	k := r.picture("a", 0)
	r.run()
	armed.Store(true)
	within(t, soon, "looking", func() {
		for r.Stats().Abandoned == 0 {
			r.Poll()
			time.Sleep(time.Millisecond)
		}
	})
	if err := r.Errors()[0]; !errors.Is(err, ErrHangs) || !strings.Contains(err.Error(), `looking for a change of "art/a.png"`) {
		t.Error(err)
	}
	want(t, k, Loaded)
	r.check(t)
	if err := r.Close(); !errors.Is(err, ErrHangs) {
		t.Error(err)
	}
	r.untouchedBy(t, func() { close(h.pass) })
}

// A file whose call was abandoned is not checked again: each check or reload of it would cost another worker.
func TestHang_WatchLeavesTheFileAlone(t *testing.T) {
	for call, state := range map[string]State{"Read": Failed, "Stat": Loaded, "reload": Loaded} {
		t.Run(call, func(t *testing.T) {
			h := newHang()
			var armed atomic.Bool
			evil := hanging(t, call, h)
			switch call {
			case "Stat":
				evil.stat = h.when(&armed)
			case "reload":
				evil.stat = func(i fs.FileInfo) (fs.FileInfo, error) {
					if armed.Load() {
						return lyingInfo{i, 5}, nil // it has changed
					}
					return i, nil
				}
				evil.read = func(f fs.File, p []byte) (int, error) {
					if armed.Load() {
						h.wait()
					}
					return f.Read(p)
				}
			}
			r := newOpenRig(t, evil, 2, 0, impatient(20*time.Millisecond), func(c *Config) { c.Watch = time.Millisecond })
			k := r.picture("a", 0)
			within(t, soon, "loading", func() {
				for !armed.Load() {
					time.Sleep(time.Millisecond)
					r.Poll()
					armed.Store(k.State() == state)
				}
				for r.Stats().Abandoned == 0 {
					r.Poll()
					time.Sleep(time.Millisecond)
				}
			})
			for rounds := 0; rounds < 20; {
				time.Sleep(time.Millisecond)
				r.mu.Lock()
				if r.look == 0 {
					rounds++
				}
				r.mu.Unlock()
				r.Poll()
				if s := r.Stats(); k.State() != state || s.Abandoned != 1 || s.Busy != 0 {
					t.Fatalf("round %d: %v, %+v", rounds, k.State(), s)
				}
			}
			if n := len(h.entered); n != 1 {
				t.Errorf("%d calls have hung, want 1", n)
			}
			r.check(t)
			if err := r.Close(); !errors.Is(err, ErrHangs) {
				t.Error(err)
			}
			r.untouchedBy(t, func() { close(h.pass) })
		})
	}
}

// A process that stood still, as in a debugger, is not the file system's fault.
func TestHang_AWatchdogThatStoodStillItselfWaitsAnew(t *testing.T) {
	h := newHang()
	r := newRig(t, hanging(t, "Read", h), 1, 0, impatient(time.Hour))
	a := r.picture("a", 0)
	<-h.entered
	w := r.workers[0]
	r.mu.Lock()
	w.deadline = time.Now().Add(-2 * stoodStill)
	r.mu.Unlock()
	w.expire()
	want(t, a, Decoding)
	close(h.pass)
	within(t, soon, "loading", func() { r.run() })
	want(t, a, Loaded)
}

func TestRead_HostileFilesAreNamedAndTheRestGoesOn(t *testing.T) {
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
		"Read panics":             {hostile{read: func(fs.File, []byte) (int, error) { panic("read") }}, "the file system panicked: read", nil},
		"Open panics":             {hostile{open: func() (fs.File, error) { panic(io.ErrClosedPipe) }}, "the file system panicked: io: read/write on closed pipe", io.ErrClosedPipe},
		"Open gives nothing":      {hostile{open: func() (fs.File, error) { return nil, nil }}, "Open gave neither file nor error", nil},
		"Open gives a nil file":   {hostile{open: func() (fs.File, error) { return (*hostileFile)(nil), nil }}, "the file system panicked: runtime error: invalid memory address", nil},
		"Open gives a bare PathError": {hostile{open: func() (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: "p"} }},
			"(PANIC=Error method: runtime error", nil},
		"Open gives an error that panics": {hostile{open: func() (fs.File, error) { return nil, panicking{} }}, "(PANIC=Error method: error)", nil},
		"Stat gives what panics":          {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return panicking{i}, nil }}, "the file system panicked: size", nil},
		"Stat panics":                     {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { panic("stat") }}, "the file system panicked: stat", nil},
		"Stat gives nothing":              {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { return nil, nil }}, "Stat gave neither information nor error", nil},
		"Stat fails":                      {hostile{stat: func(fs.FileInfo) (fs.FileInfo, error) { return nil, fs.ErrPermission }}, "permission denied", fs.ErrPermission},
		"Stat says too much":              {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, 5}, nil }}, "the file ends after", io.ErrUnexpectedEOF},
		"Stat says too little":            {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, -5}, nil }}, "the file is longer than the", nil},
		"Stat says 8 EiB":                 {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, 1<<63 - 1 - i.Size()}, nil }}, "file of 9223372036854775807 bytes, allowed", ErrTooLarge},
		"Stat says -1":                    {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return lyingInfo{i, -1 - i.Size()}, nil }}, "the file is empty", nil},
		"it is a pipe":                    {hostile{stat: func(i fs.FileInfo) (fs.FileInfo, error) { return pipeInfo{i}, nil }}, "it is no regular file: p---------", nil},
		"the goroutine ends":              {hostile{read: func(fs.File, []byte) (int, error) { runtime.Goexit(); return 0, nil }}, "the goroutine was ended by runtime.Goexit; worker", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.evil
			h.FS, h.evil = gallery(t), art("a")
			r := newOpenRig(t, &h, 2, 0)
			a := Request[File](r, art("a"), -1)
			within(t, soon, "loading", func() {
				for _, id := range strings.Split("bcdefgh", "") {
					r.picture(id, 0)
				}
				r.run()
			})
			err := a.Err()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `file "art/a.png": reading: `) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v; want %q", err, c.want)
			}
			if p := r.root.Progress(); p != (Progress{Done: 8, Failed: 1, Total: 8}) {
				t.Errorf("progress %+v: %v", p, r.Errors())
			}
			r.check(t)
			if err := r.Close(); (err != nil) != (name == "the goroutine ends") {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

type pipeInfo struct{ fs.FileInfo }

func (pipeInfo) Mode() fs.FileMode { return fs.ModeNamedPipe }

// panicking is information and an error whose methods panic.
type panicking struct{ fs.FileInfo }

func (panicking) Size() int64   { panic("size") }
func (panicking) Error() string { panic("error") }
func (panicking) Is(error) bool { panic("is") }

// The information was asked with the lock, outside of what guards calls: a panic ended the process.
func TestWatch_InformationThatPanicsIsLogged(t *testing.T) {
	for name, stat := range map[string]func(fs.FileInfo) (fs.FileInfo, error){
		"information": func(i fs.FileInfo) (fs.FileInfo, error) { return panicking{i}, nil },
		"no error":    func(fs.FileInfo) (fs.FileInfo, error) { return nil, (*fs.PathError)(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var armed atomic.Bool
			h := &hostile{FS: gallery(t), evil: art("a")}
			h.stat = func(i fs.FileInfo) (fs.FileInfo, error) {
				if armed.Load() {
					return stat(i)
				}
				return i, nil
			}
			r := newRig(t, h, 1, 0, func(c *Config) { c.Watch = time.Millisecond })
			k := r.picture("a", 0)
			r.run()
			armed.Store(true)
			within(t, soon, "looking", func() {
				for r.Stats().Failures == 0 {
					time.Sleep(time.Millisecond)
					r.Poll()
				}
			})
			want(t, k, Loaded)
			if err := k.Err(); err == nil || !strings.Contains(err.Error(), "the old one stays: the file system panicked: ") {
				t.Errorf("the error is %v", err)
			}
			r.check(t)
		})
	}
}

// lyingInfo says another size than the file has.
type lyingInfo struct {
	fs.FileInfo
	by int64
}

func (i lyingInfo) Size() int64 { return i.FileInfo.Size() + i.by }

func TestRead_TheFileSystemNeverSeesAWorkersHeap(t *testing.T) {
	reads := 0
	var r *rig
	h := &hostile{FS: gallery(t), evil: art("a"), read: func(f fs.File, p []byte) (int, error) {
		reads++
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
	a := Request[File](r, art("a"), 0)
	r.run()
	want(t, a, Loaded)
	if reads == 0 {
		t.Error("nothing was read")
	}
}
