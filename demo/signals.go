package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/strata-go/strata/demo/session"
)

// heed makes SIGINT, SIGTERM and SIGHUP end the run in order: what was asked for is written. It returns what
// gives them back their meaning.
func (o *options) heed() (done func()) {
	c := make(chan os.Signal, 1)
	if which := endings(); len(which) > 0 { // without a name Notify takes all
		signal.Notify(c, which...)
	}
	end := make(chan struct{})
	go func() {
		select {
		case s := <-c:
			o.stopped.Store(true)
			o.log(fmt.Sprintf("%v: the run ends here", s))
		case <-end:
		}
	}()
	return func() {
		signal.Stop(c)
		close(end)
	}
}

// errStopped ends a session of heeding.
var errStopped = errors.New("stopped")

// heeding makes a signal end the sessions of cfg with errStopped, for runs that are not played frame by frame here.
func (o *options) heeding(cfg *session.Config) {
	cfg.Stop = func() error {
		if o.stopped.Load() {
			return errStopped
		}
		return nil
	}
}

// log writes a line for the player.
func (o *options) log(line string) { fmt.Fprintln(o.stderr, "demo:", line) }

// progressEvery is how often a run without a window reports its progress.
const progressEvery = 5 * time.Second

// progress reports the progress of a long run.
type progress struct {
	out   io.Writer // nil: nothing is reported
	total uint64
	last  time.Time
	ticks uint64 // at last
}

// newProgress reports if -progress is set or if the output is a terminal.
func (o *options) newProgress(total uint64) *progress {
	p := &progress{total: total, last: time.Now()}
	if o.progress || terminal(o.stderr) {
		p.out = o.stderr
	}
	return p
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// tell writes a line when it is time. It asks for the time every 64 ticks.
func (p *progress) tell(s *session.Session) {
	n := s.Game.Ticks
	if p.out == nil || n%64 != 0 || n == p.ticks {
		return
	}
	since := time.Since(p.last)
	if since < progressEvery {
		return
	}
	fmt.Fprintf(p.out, "demo: tick %d of %d, %d%%, %.0f a second; %d entities, %d particles\n",
		n, p.total, 100*n/p.total, float64(n-p.ticks)/since.Seconds(), s.Game.Entities(), s.Game.Particles().Len())
	p.last, p.ticks = time.Now(), n
}
