package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
)

// syncMost is the largest -synctest: a state is kept for each tick of the distance.
const syncMost = 60

// badSynctest says why -synctest cannot go with the other flags, or nothing.
func (o *options) badSynctest(given map[string]bool) string {
	switch {
	case !given["synctest"]:
		return ""
	case o.distance < 1 || o.distance > syncMost:
		return fmt.Sprintf("-synctest %d: allowed are 1 to %d", o.distance, syncMost)
	case !o.headless:
		return "-synctest plays each tick twice, which a window cannot show: use it with -headless"
	case o.mem.Store != session.StoreTiers || o.guard:
		return "-synctest saves the tiers: use it with -mem tiers and without -guard"
	case o.stats != "" || o.paced || o.trace.path != "" || o.compare:
		return "-synctest does not go with -stats, -paced, -trace and -compare"
	}
	return ""
}

// synctest saves and loads the game while it plays, and prints what it has compared.
func (o *options) synctest(stdout io.Writer) error {
	cfg := o.session()
	cfg.Autopilot = true // there is no input
	o.heeding(&cfg)
	s, err := session.New(cfg)
	if err != nil {
		return err
	}
	for !s.Playing() && err == nil {
		err = s.Frame(engine.Input{})
		time.Sleep(100 * time.Microsecond)
	}
	began, ticks := time.Now(), int(cmp.Or(o.ticks, headlessTicks))
	var done engine.Synced
	if err == nil && s.Playing() {
		done, err = s.Synctest(ticks, o.distance)
	}
	fmt.Fprintf(stdout, "synctest at heat %.1f on %d processors: %d ticks were played twice, %d once, with a load each %d; %d loads, states of up to %d bytes, %v\n",
		s.Game.Heat, runtime.GOMAXPROCS(0), done.Ticks, done.Skipped, o.distance, done.Loads, done.Bytes, time.Since(began).Round(time.Millisecond))
	if errors.Is(err, errStopped) {
		err = nil // the line says what was compared
	}
	return errors.Join(err, s.Close())
}
