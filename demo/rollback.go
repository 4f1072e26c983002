package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	states "github.com/strata-go/strata/memory/save"
)

// What -rollback measures: the median of rollbackRounds rollbacks after -ticks, in the time of a frame.
const (
	rollbackTicks  = 8
	rollbackRounds = 15
	rollbackFrame  = 16 * time.Millisecond
	rollbackWarm   = 900
)

// rollback prints up to which heat a rollback of eight ticks fits into a frame. It begins at -heat.
func (o *options) rollback(stdout io.Writer) error {
	fits := -1
	for heat := int(o.heat); heat <= game.HeatMost; heat++ {
		took, waited, enemies, err := o.rollbackAt(float32(heat))
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "heat %2d: %5d enemies, a rollback of %d ticks takes %.1f ms, of which %.1f end the frames and wait for the worker of the paths\n", heat, enemies, rollbackTicks, took.Seconds()*1e3, waited.Seconds()*1e3)
		if took > rollbackFrame {
			break
		}
		fits = heat
	}
	if fits < 0 {
		fmt.Fprintf(stdout, "a rollback of %d ticks does not fit into %v at heat %d\n", rollbackTicks, rollbackFrame, int(o.heat))
		return nil
	}
	fmt.Fprintf(stdout, "a rollback of %d ticks fits into %v up to heat %d\n", rollbackTicks, rollbackFrame, fits)
	return nil
}

// rollbackAt returns the median at a heat, the mean of the waiting, and the number of enemies at the end.
func (o *options) rollbackAt(heat float32) (median, waited time.Duration, enemies int, err error) {
	cfg := o.session()
	cfg.Autopilot, cfg.Game.Heat, cfg.Rewind = true, heat, 0
	o.heeding(&cfg)
	s, err := session.New(cfg)
	if err != nil {
		return 0, 0, 0, err
	}
	for warm := cmp.Or(o.ticks, rollbackWarm); s.Game.Ticks < warm && err == nil; {
		if err = s.Frame(engine.Input{}); !s.Playing() {
			time.Sleep(100 * time.Microsecond)
		}
	}
	var all []time.Duration
	for len(all) < rollbackRounds && err == nil {
		var took, wait time.Duration
		if took, wait, err = s.Rollback(rollbackTicks); err == nil {
			waited += wait / rollbackRounds
			all = append(all, took)
		} else if errors.Is(err, states.ErrLayout) { // the realm has ended
			err = nil
		}
	}
	enemies = s.Game.Enemies()
	if err = errors.Join(err, s.Close()); err != nil {
		return 0, 0, 0, err
	}
	slices.Sort(all)
	return all[len(all)/2], waited, enemies, nil
}
