package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A runner judges the sample of one package.
type runner struct {
	o             options
	out           io.Writer
	target        *target
	base          [len(configs)]baseline
	mentionsExact bool
	state         *state
	explained     *explained
	ordered       []*mutant
	deadline      time.Time // zero: none

	mu       sync.Mutex
	changed  *sync.Cond
	next     int // in ordered
	good     int // of those before next: judged, and built
	inFlight int
	err      error
}

// runAll judges package after package, also behind one whose baseline is not green. There is
// a row for each, whatever the error.
func runAll(ctx context.Context, o options, out io.Writer) ([]tally, error) {
	var deadline time.Time
	if o.budget > 0 {
		deadline = time.Now().Add(o.budget)
	}
	targets, err := find(ctx, o.root, o.pkgs)
	if err != nil {
		return nil, err
	}
	var tables []tally
	var errs []error
	for _, t := range targets {
		r, err := newRunner(o, t, out, deadline)
		if err != nil {
			return tables, err
		}
		if len(r.ordered) == 0 {
			continue
		}
		start := time.Now()
		r.runSample(ctx)
		row := r.tally()
		row.seconds = time.Since(start).Seconds()
		tables = append(tables, row)
		if r.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.rel, r.err))
		}
		if o.write {
			if err := r.explained.write(row.unexplainedKeys); err != nil {
				return tables, err
			}
		}
	}
	return tables, errors.Join(errs...)
}

func newRunner(o options, t *target, out io.Writer, deadline time.Time) (*runner, error) {
	r := &runner{o: o, out: out, target: t, deadline: deadline}
	r.changed = sync.NewCond(&r.mu)
	all, err := t.candidates()
	if err != nil {
		return nil, err
	}
	r.ordered = order(all, o.seed)
	for _, s := range t.sources {
		r.mentionsExact = r.mentionsExact || bytes.Contains(s.data, []byte("Exact"))
	}
	if r.state, err = openState(o.state, t.rel, t.hash, o.keep); err != nil {
		return nil, err
	}
	r.explained, err = readExplained(o.root, t.rel)
	return r, err
}

// runSample judges mutants in their order until the sample is full, the budget is spent or
// something fails.
func (r *runner) runSample(ctx context.Context) {
	var workers sync.WaitGroup
	for range r.o.workers {
		workers.Go(func() {
			for m := r.take(ctx); m != nil; m = r.take(ctx) {
				res, err := r.judge(ctx, m)
				r.finish(ctx, m, res, err)
			}
		})
	}
	workers.Wait()
}

// want is the size of the sample.
func (r *runner) want() int {
	if r.o.n == 0 {
		return len(r.ordered)
	}
	return min(r.o.n, len(r.ordered))
}

// take returns the next mutant without a verdict, or nil. It waits while those in flight may fill the sample: one
// that does not build is replaced by another.
func (r *runner) take(ctx context.Context) *mutant {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil && ctx.Err() == nil && (r.deadline.IsZero() || time.Now().Before(r.deadline)) {
		if r.next == len(r.ordered) || r.good >= r.want() {
			return nil
		}
		if r.good+r.inFlight >= r.want() {
			r.changed.Wait()
			continue
		}
		m := r.ordered[r.next]
		r.next++
		known, ok := r.state.known[m.key()]
		if !ok {
			r.inFlight++
			return m
		}
		if known.Verdict != unbuildable {
			r.good++
		}
	}
	return nil
}

// finish records a verdict. A run that an interrupt ended has none.
func (r *runner) finish(ctx context.Context, m *mutant, res result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changed.Broadcast()
	r.inFlight--
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = r.state.add(res)
	}
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return
	}
	if res.Verdict != unbuildable {
		r.good++
	}
	r.report(m, res)
}
