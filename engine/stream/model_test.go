package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/fstest"
	"time"
)

// A model of what the tickets of a streamer may be seen to do, under random calls: nothing is
// lost, nothing is delivered that nobody wants, Check holds after every call, and in the end
// everything that can be loaded is.
func TestModel_RandomRequestsClosesAndPolls(t *testing.T) {
	rounds := 60
	if testing.Short() {
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
		c.Assets, c.Tickets = 20, 40
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
	var pictures []Ticket[Picture]
	var files []Ticket[File]
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
