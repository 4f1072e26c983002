package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A model of what the handles of a streamer may be seen to do, under random calls: nothing is
// lost, nothing is delivered that nobody wants, Check holds after every call, and in the end
// everything that can be loaded is.
func TestModel_RandomRequestsClosesAndPolls(t *testing.T) {
	testenv.Long(t)
	rounds := 60
	if testenv.Brief() {
		rounds = 15
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { within(t, 3*soon, "the model", func() { model(t, uint64(seed)) }) })
	}
}

// flaky fails some opens, and lets others wait.
type flaky struct {
	fs.FS
	n int
}

func (f flaky) Open(name string) (fs.File, error) {
	switch n := rand.IntN(12); {
	case n == 0 && f.n > 0:
		return nil, errors.New("flaky")
	case n < 4:
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
	}
	return f.FS.Open(name)
}

func model(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	fsys := fstest.MapFS{}
	var names []string
	for i := range 24 {
		name := fmt.Sprintf("art/%d.png", i)
		names = append(names, name)
		fsys[name] = &fstest.MapFile{Data: encode(t, 8+4*(i%5), 16)}
	}
	delete(fsys, names[7]) // is never there
	fsys[names[8]] = &fstest.MapFile{Data: []byte("not a picture")}
	limits := []uintptr{0, 6000, 20000}
	residents := []int64{0, 5000, 16000}
	r := newRig(t, flaky{fsys, int(seed % 2)}, 1+int(seed%3), limits[seed%3], func(c *Config) {
		c.Resident = residents[seed/3%3]
		c.Assets, c.Handles = 20, 40
		c.Upload = Budget{Bytes: 3000}
		c.Retries, c.Backoff = int(seed%4), 1
	})
	more := 0
	r.sink = func(string, Picture) error {
		switch rnd.IntN(10) {
		case 0:
			return errors.New("refused")
		case 1, 2:
			more++
			return ErrMore
		}
		return nil
	}
	scopes := []*Scope{r.NewScope("one"), r.NewScope("two")}
	var pictures []Handle[Picture]
	var files []Handle[File]
	for range 400 {
		name := names[rnd.IntN(len(names))]
		in := In(r)
		if n := rnd.IntN(3); n < 2 {
			in = scopes[n]
		}
		eta := ETA(rnd.Float32() * 10)
		switch rnd.IntN(14) {
		case 0, 1, 2:
			pictures = append(pictures, Request[Picture](in, name, eta))
		case 3, 4:
			files = append(files, Request[File](in, name, eta))
		case 5, 6:
			if len(pictures) > 0 {
				pictures[rnd.IntN(len(pictures))].Close()
			}
		case 7:
			if len(files) > 0 {
				files[rnd.IntN(len(files))].Close()
			}
		case 8:
			if len(pictures) > 0 {
				pictures[rnd.IntN(len(pictures))].Priority(eta)
			}
		case 9:
			if rnd.IntN(6) == 0 {
				scopes[rnd.IntN(2)].Cancel()
			}
		case 10:
			r.Reload(name)
		case 11:
			if len(pictures) > 0 {
				pictures[rnd.IntN(len(pictures))].Retry()
			}
		case 12:
			r.Settle()
			time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
		default:
			r.Poll()
		}
		r.check(t)
		for _, f := range files {
			if v, ok := f.Get(); ok && (len(v.Data) == 0 || f.State() != Loaded) {
				t.Fatal("a file without its bytes")
			}
		}
		if most := r.cfg.Resident; most > 0 && r.Stats().Resident > most {
			t.Fatalf("%d bytes are resident, allowed %d", r.Stats().Resident, most)
		}
	}
	r.sink = nil
	r.run()
	for _, p := range pictures {
		if s := p.State(); s != Vacant && s != Loaded && s != Failed && (s != Waiting || r.cfg.Resident == 0) {
			t.Errorf("%v is left over: %+v", s, r.Stats())
		}
	}
	for i, s := range []*Scope{&r.root, scopes[0], scopes[1]} {
		s.Cancel()
		if s.Len() != 0 {
			t.Errorf("scope %d has %d tickets", i, s.Len())
		}
	}
	for !r.Settled() {
		r.Wait()
	}
	r.check(t)
	if s := r.Stats(); s.Resident != s.Cached || s.InFlight+s.Queued+s.Waiting+s.Ready+s.Failed != 0 {
		t.Errorf("in the end %+v", s)
	}
}

// living is a file system whose files change when they are looked at, opened and read.
type living struct {
	mu      sync.Mutex
	rnd     *rand.Rand
	files   map[string]*alive
	now     int64 // each change has a second of its own
	changes int   // that are still to come
}

// alive is a file, or what has taken its place.
type alive struct {
	name string
	data []byte
	mode fs.FileMode
	mod  time.Time
}

type openLiving struct {
	l  *living
	a  *alive
	at int
}

func (l *living) Open(name string) (fs.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.stir(name)
	if a := l.files[name]; a != nil {
		return &openLiving{l: l, a: a}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (o *openLiving) Stat() (fs.FileInfo, error) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	defer o.l.stir(o.a.name)
	return fstest.MapFS{"a": {Data: slices.Clone(o.a.data), Mode: o.a.mode, ModTime: o.a.mod}}.Stat("a")
}

func (o *openLiving) Read(p []byte) (int, error) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	defer o.l.stir(o.a.name)
	if o.at >= len(o.a.data) {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 500)], o.a.data[o.at:])
	o.at += n
	return n, nil
}

func (o *openLiving) Close() error { return nil }

// stir has a file change now and then: get other bytes, grow, shrink, go, give its place to another one, or to a folder.
func (l *living) stir(name string) {
	if l.changes == 0 || l.rnd.IntN(5) > 0 {
		return
	}
	l.changes--
	l.now++
	data := bytes.Repeat([]byte{byte(l.now), byte(l.now >> 8), 1}, 1+l.rnd.IntN(1000))
	mod, a := time.Unix(l.now, 0), l.files[name]
	if a != nil {
		a.mod = mod
	}
	switch n := l.rnd.IntN(12); {
	case n == 0:
		delete(l.files, name)
	case n == 1:
		l.files[name] = &alive{name: name, mode: fs.ModeDir, mod: mod}
	case n == 2 || a == nil || a.mode.IsDir():
		l.files[name] = &alive{name: name, data: data, mod: mod}
	case n == 3:
		a.data = append(a.data, data...)
	case n == 4:
		a.data = a.data[:l.rnd.IntN(len(a.data)+1)]
	default: // as many bytes as before
		for i := range a.data {
			a.data[i]++
		}
	}
}

// Files change while they are looked at, opened and read, and assets are requested, closed, tried again and cancelled. As
// soon as nothing changes any more each handle has the last bytes of its file, or says why it has not.
func TestModel_WhateverAFileWasWhileItWasReadTheLastIsWhatThereIs(t *testing.T) {
	testenv.Long(t)
	rounds := 12
	if testenv.Brief() {
		rounds = 3
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { within(t, 3*soon, "the model", func() { lively(t, uint64(seed)) }) })
	}
}

func lively(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	l := &living{rnd: rand.New(rand.NewPCG(seed, 3)), files: map[string]*alive{}}
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		l.files[name] = &alive{name: name, data: []byte(name), mod: time.Unix(0, 0)}
	}
	r := newRig(t, l, 1+int(seed%3), 0, func(c *Config) {
		c.Watch, c.Retries, c.Backoff = time.Microsecond, int(seed%3), 1
	})
	scope := r.NewScope("some")
	open := map[Handle[File]]string{}
	for range 100 {
		l.mu.Lock()
		l.changes = 1 + rnd.IntN(5)
		l.mu.Unlock()
		for range rnd.IntN(30) {
			switch name := names[rnd.IntN(len(names))]; rnd.IntN(6) {
			case 0:
				open[Request[File]([]In{r, scope}[rnd.IntN(2)], name, 0)] = name
			case 1:
				r.Reload(name)
			case 2:
				if rnd.IntN(20) == 0 {
					scope.Cancel()
				}
			case 3:
				for k := range open { // any
					if k.Retry(); len(open) > 8 {
						k.Close()
						delete(open, k)
					}
					break
				}
			case 4:
				time.Sleep(time.Duration(rnd.IntN(100)) * time.Microsecond)
			default:
				r.Poll()
			}
			r.check(t)
		}
		l.settle(t, r, open)
	}
}

// settle ends the changes, and waits until every handle says what is there.
func (l *living) settle(t *testing.T, r *rig, open map[Handle[File]]string) {
	l.mu.Lock()
	l.changes = 0
	l.mu.Unlock()
	for end := time.Now().Add(soon); ; time.Sleep(10 * time.Microsecond) {
		r.Poll()
		r.check(t)
		wrong := ""
		for k, name := range open {
			v, ok := k.Get()
			a := l.files[name]
			gone := a == nil || len(a.data) == 0
			if s := k.State(); s != Vacant && (gone && k.Err() == nil || !gone && (!ok || !bytes.Equal(v.Data, a.data))) {
				wrong = fmt.Sprintf("%s is %v with %d bytes, %v; the file is gone: %v", name, s, len(v.Data), k.Err(), gone)
			}
		}
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(wrong)
		}
	}
}
