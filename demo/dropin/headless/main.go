// Command headless is the loop of a server with sixty ticks a second by the clock. A request lives for some ticks. The
// command prints a report of the memory every few seconds and at the end. SIGINT and SIGTERM end the command.
//
//	go run ./demo/dropin/headless -for 10s
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/strata-go/strata/demo/dropin/profiles"
	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

func main() { os.Exit(cmdline.Status("headless", run(os.Args[1:]), os.Stderr)) }

func run(args []string) error {
	f := flag.NewFlagSet("headless", flag.ContinueOnError)
	asked := profiles.Flag(f)
	length, every, err := parse(f, args, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if length > 0 {
		time.AfterFunc(length, stop)
	}
	return serve(ctx, every, asked, os.Stdout)
}

func serve(ctx context.Context, every time.Duration, asked profiles.Requests, w io.Writer) error {
	// Keep: without it the manager raises GOGC for the process, which is for a game and not for a server.
	m, err := tiers.New(tiers.Config{Tags: true, SampleBytes: profiles.SampleBytes, GC: gcpace.Config{Keep: true}})
	if err != nil {
		return err
	}
	defer m.Close()
	s := &server{m: m}
	watch, err := meter.New(m, meter.Config{})
	if err == nil {
		s.bodies, err = m.Tag("bodies")
	}
	if err = errors.Join(err, m.BeginLevel()); err != nil { // blocks left at the level's end are leaks
		return err
	}
	clock, report := time.NewTicker(time.Second/60), time.NewTicker(every)
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case to := <-asked:
			err = profiles.Answer(to, m)
		case <-report.C:
			err = watch.WriteText(w)
		case <-clock.C:
			if err = m.BeginFrame(); err == nil {
				err = s.tick()
				watch.Frame() // always at the same place, best right before EndFrame
				err = errors.Join(err, m.EndFrame())
			}
		}
	}
	err = errors.Join(err, watch.WriteText(w))
	s.drop()
	leaks, end := m.EndLevel()
	fmt.Fprintf(w, "%d requests answered; %v\n", s.answered, leaks)
	return errors.Join(err, end)
}
