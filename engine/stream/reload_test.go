package stream

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// A shelf is a file system whose files a test changes while it is read.
type shelf struct {
	mu    sync.Mutex
	files fstest.MapFS
}

func (s *shelf) Open(name string) (fs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Open(name)
}

func (s *shelf) Stat(name string) (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Stat(name)
}

// put writes a file, one second later than the one before; "" removes it.
func (s *shelf) put(name, data string, second int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if data == "" {
		delete(s.files, name)
		return
	}
	s.files[name] = &fstest.MapFile{Data: []byte(data), ModTime: time.Unix(second, 0)}
}

func text(t testing.TB, k Handle[File]) string {
	t.Helper()
	f, ok := k.Get()
	if !ok {
		t.Errorf("the file is %v: %v", k.State(), k.Err())
	}
	return string(f.Data)
}

func TestReload_TheOldValueStaysUntilTheNewOneIsDelivered(t *testing.T) {
	s := &shelf{files: fstest.MapFS{}}
	s.put("a", "one", 1)
	g := newGate(s, false)
	close(g.pass)
	r := newRig(t, g, 1, 0)
	k := Request[File](r, "a", 0)
	if r.Reload("a") || r.Reload("b") {
		t.Error("what is on its way, or unknown, was reloaded")
	}
	r.run()
	s.put("a", "two", 2)
	g.pass = make(chan struct{})
	for len(g.entered) > 0 {
		<-g.entered
	}
	if !r.Reload("a") {
		t.Error("there was nothing to reload")
	}
	r.Poll()
	<-g.entered
	r.check(t)
	if got := text(t, k); got != "one" {
		t.Errorf("%q in the middle of the reload", got)
	}
	close(g.pass)
	r.run()
	if got := text(t, k); got != "two" || r.Stats().Reloads != 1 {
		t.Errorf("%q, %+v", got, r.Stats())
	}
	if n := r.heaps[0].blocks(); n != 1 {
		t.Errorf("%d blocks", n)
	}
	r.check(t)
}

func TestReload_ABrokenFileKeepsTheOldValueAndSaysSo(t *testing.T) {
	s := &shelf{files: gallery(t)}
	r := newRig(t, s, 1, 0)
	k := r.picture("a", 0)
	r.run()
	good := string(s.files[art("b")].Data)
	for i, broken := range []string{"this is no picture, it is text", ""} {
		s.put(art("a"), broken, int64(i))
		r.Reload(art("a"))
		r.run()
		r.check(t)
		want(t, k, Loaded)
		if err := k.Err(); err == nil || !strings.Contains(err.Error(), `picture "art/a.png": reloading, `) {
			t.Errorf("%v", err)
		}
	}
	if errs := r.Errors(); len(errs) != 2 || !errors.Is(errs[1], fs.ErrNotExist) || len(r.gone) != 0 {
		t.Errorf("%v, released %v", errs, r.gone)
	}
	r.sink = func(string, Picture) error { return errors.New("the atlas is full") }
	s.put(art("a"), good, 9)
	r.Reload(art("a"))
	r.run()
	if err := k.Err(); k.State() != Loaded || err == nil || !strings.Contains(err.Error(), "reloading, delivering: the atlas is full") {
		t.Errorf("%v", err)
	}
	r.sink = nil
	r.Reload(art("a"))
	r.run()
	if k.State() != Loaded || k.Err() != nil {
		t.Error(k.Err())
	}
	s.put(art("a"), "broken", 10)
	r.Reload(art("a"))
	k.Close() // and the reload with it
	r.run()
	if s := r.Stats(); s.Loaded+s.Failed+s.Queued != 0 || len(r.gone) != 1 {
		t.Errorf("%+v, released %v", s, r.gone)
	}
	r.check(t)
}

func TestWatch_FilesThatChangeVanishAndComeBack(t *testing.T) {
	s := &shelf{files: fstest.MapFS{}}
	s.put("a", "one", 1)
	r := newRig(t, s, 1, 0, func(c *Config) { c.Watch = time.Millisecond })
	k, late := Request[File](r, "a", 0), Request[File](r, "late", 0)
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(soon); !done(); time.Sleep(time.Millisecond) {
			r.Poll()
			r.check(t)
			if time.Now().After(end) {
				t.Fatalf("%s: %q, %v, %+v", what, text(t, k), r.Errors(), r.Stats())
			}
		}
	}
	until("the first load", func() bool { return k.State() == Loaded && late.State() == Failed })
	s.put("a", "two", 2)
	until("a change", func() bool { return text(t, k) == "two" })
	s.put("a", "", 0)
	until("a file that is gone", func() bool { return k.Err() != nil })
	for range 20 {
		time.Sleep(time.Millisecond)
		r.Poll()
	}
	if n := r.Stats().Failures; n != 2 || text(t, k) != "two" || !strings.Contains(k.Err().Error(), "looking for a change, the old one stays: file does not exist") {
		t.Errorf("%d errors: %v", n, r.Errors()) // of late, and one of a
	}
	s.put("a", "two", 2) // as it was
	until("a file that is back", func() bool { return k.Err() == nil })
	s.put("late", "here", 3)
	until("a file that had failed", func() bool { return late.State() == Loaded })
	before := r.Stats().BytesRead
	for range 20 {
		time.Sleep(time.Millisecond)
		r.Poll()
	}
	if r.Stats().BytesRead != before {
		t.Error("a file that does not change was read again")
	}
}

// What cannot be read is told of once, until it is another one: a folder has a time and a size, too.
func TestWatch_WhatIsNoFileIsToldOfOnce(t *testing.T) {
	s := &shelf{files: fstest.MapFS{}}
	folder := func(name string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o700, ModTime: time.Unix(9, 0)}
	}
	folder("first")
	s.put("later", "one", 1)
	r := newRig(t, s, 1, 0, func(c *Config) { c.Watch = time.Millisecond })
	first, later := Request[File](r, "first", 0), Request[File](r, "later", 0)
	polls := func(n int) {
		t.Helper()
		for range n {
			time.Sleep(time.Millisecond)
			r.Poll()
			r.check(t)
		}
	}
	polls(50)
	folder("later")
	polls(100)
	if n := r.Stats().Failures; n != 2 || first.State() != Failed || text(t, later) != "one" {
		t.Errorf("%d failures of two folders: %q", n, r.Errors())
	}
	s.put("first", "one", 9)
	s.put("later", "two", 9)
	polls(100)
	if text(t, first) != "one" || text(t, later) != "two" {
		t.Errorf("files that took the place of folders are not read: %q", r.Errors())
	}
}

func TestRetry_ByTheCallerAndByANewRequest(t *testing.T) {
	s := &shelf{files: fstest.MapFS{}}
	r := newRig(t, s, 1, 0)
	k := Request[File](r, "a", 0)
	r.run()
	k.Retry()
	r.run()
	want(t, k, Failed)
	s.put("a", "one", 1)
	r.run()
	want(t, k, Failed) // by itself nothing happens
	other := Request[File](r, "a", 0)
	r.run()
	if text(t, k) != "one" || text(t, other) != "one" || k.Err() != nil {
		t.Error(k.Err())
	}
	k.Retry() // of what is loaded it does nothing
	want(t, k, Loaded)
	missing := Request[File](r, "b", 0)
	r.run()
	s.put("b", "two", 1)
	if !r.Reload("b") {
		t.Error("what has failed was not reloaded")
	}
	r.run()
	if text(t, missing) != "two" {
		t.Error(missing.Err())
	}
	released := Request[File](r, "a", 0)
	other.Close()
	k.Close()
	released.Close()
	k = Request[File](r, "a", 0) // released, and loaded again
	r.run()
	if text(t, k) != "one" {
		t.Error(k.Err())
	}
}

func TestRetry_ByItselfAfterSomePolls(t *testing.T) {
	s := &shelf{files: fstest.MapFS{}}
	r := newRig(t, s, 1, 0, func(c *Config) { c.Retries, c.Backoff = 2, 3 })
	k := Request[File](r, "a", 0)
	var failed []uint64
	for polls := uint64(0); len(failed) < 3 && polls < 100; polls++ { // the first attempt needs no Poll
		for k.State() == Queued || k.State() == Decoding {
			time.Sleep(time.Millisecond)
		}
		if n := r.Stats().Failures; n > uint64(len(failed)) {
			failed = append(failed, polls)
			if k.Err() == nil {
				t.Error("an attempt failed without an error")
			}
		}
		r.check(t)
		r.Poll()
	}
	want(t, k, Failed)
	if len(failed) != 3 || failed[1]-failed[0] != 3 || failed[2]-failed[1] != 6 || r.Stats().Retries != 2 {
		t.Errorf("failed in the Polls %v, %+v", failed, r.Stats())
	}
	s.put("a", "one", 1)
	k.Retry()
	r.run()
	if text(t, k) != "one" {
		t.Error(k.Err())
	}
}
