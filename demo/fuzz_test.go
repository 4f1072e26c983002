package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/engine/cmdline"
)

// value is what the flags with values of their own have.
type value interface {
	String() string
	Set(s string) error
}

// fuzzValue gives a flag any text. What it refuses is explained in a short line; what it accepts satisfies ok.
func fuzzValue(f *testing.F, fresh func() value, ok func(v value) bool, seeds ...string) {
	for _, s := range append(seeds, "", ",", "x", "=", "\x1b", "NaN", "1e999", strings.Repeat("9", 5000)) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := fresh()
		if err := v.Set(text); err != nil {
			if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		if !ok(v) {
			t.Fatalf("%q is accepted as %+v", text, v)
		}
	})
}

func FuzzBudget(f *testing.F) {
	fuzzValue(f, func() value { return new(budgets) }, func(v value) bool {
		b, back := v.(*budgets), new(budgets)
		some := false
		for _, share := range b {
			if !(share >= 0 && share <= 1) {
				return false
			}
			some = some || share > 0
		}
		return some && back.Set(b.String()) == nil && *back == *b
	}, "level=0.1", "all=0.1", "all=0.5,slab=1", "level=0", "level=1e-300", "attic=1")
}

func FuzzSlow(f *testing.F) {
	fuzzValue(f, func() value { return new(slowness) }, func(v value) bool {
		s := v.(*slowness)
		return s.latency >= 0 && s.latency <= 10*time.Second && s.rate >= 10_000 && s.rate <= 10_000_000_000
	}, "200,1", "0,0.01", "10000,10000", "-0,1", "0x1p3,1")
}

func FuzzSize(f *testing.F) {
	fuzzValue(f, func() value { return new(dimensions) }, func(v value) bool {
		d := v.(*dimensions)
		return d[0] >= 1 && d[0] <= 16384 && d[1] >= 1 && d[1] <= 16384
	}, "640x360", "1x1", "16384x16384", "0x0", "1x1x1", "+5x5")
}

func FuzzOverlay(f *testing.F) {
	fuzzValue(f, func() value { return new(parts) }, func(v value) bool { return len(*v.(*parts)) <= 5000 }, "f1,maps", "true", "false", "strip", "f1,f1")
}

// Any command line is accepted, or refused in one line.
func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{"-headless -ticks 60", "-tour zigzag", "-tour -fast -headless", "-budget all=0.1 -slow 200,1", "-size 640x360", "-ticks\nx", "-stats= x", "-version", "-help", "--", "-level \xff"} {
		f.Add(s)
	}
	builtin := assets.FS()
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		for _, a := range args {
			if strings.Contains(a, "assets") {
				return // this opens folders of the machine
			}
		}
		var out bytes.Buffer
		_, err := parse(args, &out, builtin)
		switch text := out.String(); {
		case errors.Is(err, cmdline.ErrUsage):
			if strings.Count(text, "\n") != 1 || len(text) > 1000 || strings.ContainsAny(text, "\x1b\r") {
				t.Fatalf("%q prints %q", line, text)
			}
		case err == nil || errors.Is(err, errVersion), errors.Is(err, errNotices):
			if text != "" {
				t.Fatalf("%q prints %q", line, text)
			}
		case !errors.Is(err, flag.ErrHelp):
			t.Fatalf("%q: %v", line, err)
		}
	})
}
