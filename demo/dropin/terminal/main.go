// Command terminal shows the meter's rows live in a terminal, while it runs a simulation that leaks memory. Q ends the
// command.
//
//	cd demo/dropin/terminal && go run .
package main

import (
	"errors"
	"log"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

func main() {
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		log.Fatal(err)
	}
	err = run(screen, meter.Config{})
	screen.Fini() // before anything is printed
	if err != nil {
		log.Fatal(err)
	}
}

func run(screen tcell.Screen, cfg meter.Config) error {
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		return err
	}
	defer m.Close()
	watch, err := meter.New(m, cfg)
	if err != nil {
		return err
	}
	s := &simulation{m: m}
	if err := s.init(); err != nil {
		return err
	}
	events, quit := make(chan tcell.Event, 16), make(chan struct{})
	defer close(quit)
	go screen.ChannelEvents(events, quit)
	clock, paint := time.NewTicker(time.Second/60), time.NewTicker(time.Second/4) // figures change as often
	for err == nil {
		select {
		case e := <-events:
			if ends(e) {
				return nil
			}
			if _, ok := e.(*tcell.EventResize); ok {
				screen.Sync()
			}
		case <-paint.C:
			show(screen, watch)
		case <-clock.C:
			if err = m.BeginFrame(); err == nil {
				err = s.tick()
				watch.Frame() // always at the same place, best right before EndFrame
				err = errors.Join(err, m.EndFrame())
			}
		}
	}
	return err
}

func ends(e tcell.Event) bool {
	key, ok := e.(*tcell.EventKey)
	return ok && (key.Rune() == 'q' || key.Key() == tcell.KeyEscape || key.Key() == tcell.KeyCtrlC)
}
