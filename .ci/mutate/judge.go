package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Verdicts on a mutant, as they stand in the state file.
const (
	killed      = "killed"
	survived    = "survived"
	unreached   = "unreached"   // no test reaches its line: a survivor
	unbuildable = "unbuildable" // no mutant at all
)

// judge tries a mutant in each config that has its file and whose tests reach its line.
func (r *runner) judge(ctx context.Context, m *mutant) (result, error) {
	start := time.Now()
	res := result{Key: m.key(), Hash: r.target.hash}
	temp, err := os.MkdirTemp("", "strata-mutate-")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(temp)
	overlay, err := r.target.overlay(temp, m)
	if err != nil {
		return res, err
	}
	res.Verdict, res.By, err = r.try(ctx, m, temp, overlay)
	res.Seconds = time.Since(start).Seconds()
	return res, err
}

func (r *runner) try(ctx context.Context, m *mutant, temp, overlay string) (verdict, by string, err error) {
	ran := false
	for i, c := range configs {
		switch {
		case r.target.testDir == "", r.target.same[i], !r.target.sources[m.file].in[i]:
			continue
		case c.tags == "memfast" && !r.needsFast(m, ran):
			continue
		}
		if err := r.base[i].measure(ctx, r.target, c); err != nil {
			return "", "", err
		}
		if !r.base[i].reached.reaches(m) {
			continue
		}
		bin := filepath.Join(temp, c.name+".test")
		if out, err := r.target.build(ctx, c, bin, overlay); err != nil {
			if ctx.Err() != nil || !refused(out) {
				return "", "", fmt.Errorf("%s: %w\n%s", m.key(), err, out)
			}
			if !ran {
				return unbuildable, "", nil
			}
			continue
		}
		ran = true
		if by, err := r.runTests(ctx, c, &r.base[i], bin, temp); err != nil || by != "" {
			return killed, by, err
		}
	}
	if ran {
		return survived, "", nil
	}
	return r.compile(ctx, m, overlay)
}

// needsFast reports mutants of code that only memfast builds, or that it leaves out: the
// constant invariant.Exact stands in their declaration, or nothing else came to them.
func (r *runner) needsFast(m *mutant, ran bool) bool {
	return !r.target.sources[m.file].in[0] || strings.Contains(m.decl, "Exact") || !ran && r.mentionsExact
}

// runTests returns what killed the mutant, or nothing.
func (r *runner) runTests(ctx context.Context, c config, b *baseline, bin, temp string) (string, error) {
	for _, short := range r.target.modes(c) {
		base, mode := b.full, "full"
		if short {
			base, mode = b.short, "short"
		}
		o, err := execute(ctx, bin, r.target.testDir, temp, max(r.o.least, slack*base), r.target.flags(short)...)
		if err != nil {
			return "", err
		}
		if !o.passed {
			return fmt.Sprintf("%s, %s: %s", c.name, mode, o.why), nil
		}
	}
	return "", nil
}

// compile decides about a mutant that no run had: it survives if it is a program at all.
func (r *runner) compile(ctx context.Context, m *mutant, overlay string) (verdict, by string, err error) {
	for i, c := range configs {
		if !r.target.sources[m.file].in[i] {
			continue
		}
		out, err := goTool(ctx, r.target.dir, "build", overlay, "-tags="+c.tags, "-o", os.DevNull, ".")
		if err == nil {
			return unreached, "", nil
		}
		if ctx.Err() != nil || !refused(out) {
			return "", "", fmt.Errorf("%s: %w\n%s", m.key(), err, out)
		}
	}
	return unbuildable, "", nil
}
