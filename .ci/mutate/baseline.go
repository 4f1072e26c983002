package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A baseline is the package without a mutant, in one config: how long its tests take and
// which lines they reach.
type baseline struct {
	once        sync.Once
	err         error
	short, full time.Duration
	reached     coverage
}

const (
	// slack and least: a loaded machine is no kill.
	slack = 5
	least = 15 * time.Second
	// baselineTimeout ends a baseline that hangs.
	baselineTimeout = 30 * time.Minute
)

// measure runs the tests; a failure is an error, for then a kill would mean nothing.
func (b *baseline) measure(ctx context.Context, t *target, c config) error {
	b.once.Do(func() { b.err = b.run(ctx, t, c) })
	return b.err
}

func (b *baseline) run(ctx context.Context, t *target, c config) error {
	temp, err := os.MkdirTemp("", "strata-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	bin := filepath.Join(temp, "base.test")
	if out, err := t.build(ctx, c, bin); err != nil {
		return fmt.Errorf("the baseline of %s (%s) does not build: %w\n%s", t.rel, c.name, err, out)
	}
	for _, short := range t.modes(c) {
		o, err := execute(ctx, bin, t.testDir, temp, baselineTimeout, t.flags(short)...)
		if err != nil {
			return err
		}
		if !o.passed {
			return fmt.Errorf("the baseline of %s (%s, short=%t) is not green: %s\n%s", t.rel, c.name, short, o.why, o.output)
		}
		if short {
			b.short = o.took
		} else {
			b.full = o.took
		}
	}
	if t.forks {
		return nil
	}
	b.reached, err = t.profile(ctx, c, temp)
	return err
}

// profile returns which lines the full tests reach; nil where tests fail because they are
// measured, such as those of allocations and inlining.
func (t *target) profile(ctx context.Context, c config, temp string) (coverage, error) {
	bin, file := filepath.Join(temp, "cover.test"), filepath.Join(temp, "cover.out")
	if out, err := t.build(ctx, c, bin, "-cover", "-covermode=set", "-coverpkg="+t.path); err != nil {
		return nil, fmt.Errorf("%s (%s) does not build with coverage: %w\n%s", t.rel, c.name, err, out)
	}
	o, err := execute(ctx, bin, t.testDir, temp, baselineTimeout, append(t.flags(false), "-test.coverprofile="+file)...)
	if err != nil || !o.passed {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseProfile(string(data), t.path)
}

// modes lists the runs, as whether they are short. Short tests come first where most mutants
// die; what comes to the other configs has survived, and mostly will.
func (t *target) modes(c config) []bool {
	if t.hasShort && c.tags == "" {
		return []bool{true, false}
	}
	return []bool{false}
}

// flags are those of the test binary. Random tests take one seed, so that a mutant has one
// verdict, and write no file into the repository.
func (t *target) flags(short bool) []string {
	var f []string
	if short {
		f = append(f, "-test.short")
	}
	if t.rapid {
		f = append(f, "-rapid.nofailfile", "-rapid.seed=1")
	}
	return f
}
