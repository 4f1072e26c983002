package cmdline

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// even is a value of one's own.
type even int

func (e *even) String() string { return "" }
func (e *even) Set(s string) error {
	if _, err := fmt.Sscan(s, (*int)(e)); err != nil || *e%2 != 0 {
		return errors.New("want an even number")
	}
	return nil
}

func flags() (f *flag.FlagSet, n *int, b *bool) {
	f = flag.NewFlagSet("tool", flag.ContinueOnError)
	n, b = f.Int("n", 7, "how `MANY`, 1 to 9"), f.Bool("b", false, "both")
	f.Uint64("seed", 1, "the seed")
	f.Float64("share", 1, "from 0 to 1")
	f.Duration("for", time.Second, "how long")
	f.String("name", "", "the `NAME` of a file")
	f.Var(new(even), "even", "an even `N`")
	return f, n, b
}

func TestParse_MistakesAreOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-n many":                         `tool: invalid value "many" for flag -n: allowed: a whole number (how MANY, 1 to 9)`,
		"-n=":                             `tool: invalid value "" for flag -n: allowed: a whole number`,
		"-n":                              `tool: flag needs an argument: -n: allowed: a whole number (how MANY, 1 to 9)`,
		"-n 99999999999999999999":         `tool: invalid value "99999999999999999999" for flag -n: allowed: a whole number`,
		"-b=perhaps":                      `tool: invalid value "perhaps" for flag -b: allowed: true or false (both)`,
		"-seed -1":                        `tool: invalid value "-1" for flag -seed: allowed: a whole number from 0 (the seed)`,
		"-share x":                        `for flag -share: allowed: a number (from 0 to 1)`,
		"-for 3":                          `for flag -for: allowed: a time, as in 90s or 1m30s (how long)`,
		"-name":                           `tool: flag needs an argument: -name: allowed: the NAME of a file`,
		"-even 3":                         `tool: invalid value "3" for flag -even: want an even number`,
		"-even":                           `tool: flag needs an argument: -even: allowed: an even N`,
		"-none":                           `tool: flag provided but not defined: -none; allowed: -b, -even, -for, -n, -name, -seed, -share, -help`,
		"--=3":                            `tool: bad flag syntax: --=3; allowed: -name or -name=value`,
		"-n a\x1b[31m\nb":                 `tool: invalid value "a\x1b[31m\nb" for flag -n`,
		"-x\nyou=1":                       `tool: flag provided but not defined: -x?you; allowed`,
		"-n " + strings.Repeat("9", 1000): `tool: invalid value "` + strings.Repeat("9", 80) + `"... for flag -n`,
		"-" + strings.Repeat("x", 1000):   `not defined: -` + strings.Repeat("x", 80) + `...; allowed`,
	} {
		f, _, _ := flags()
		var out bytes.Buffer
		err := Parse(f, strings.SplitN(args, " ", 2), &out)
		if !errors.Is(err, ErrUsage) || !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%.80q: %v, %q; want %q", args, err, out.String(), want)
		}
	}
}

func TestParse_GoodLinesAndHelp(t *testing.T) {
	f, n, b := flags()
	var out bytes.Buffer
	if err := Parse(f, []string{"-n", "3", "-b", "-even=4", "rest"}, &out); err != nil || *n != 3 || !*b || f.Arg(0) != "rest" || out.Len() > 0 {
		t.Errorf("%v, %d, %v, %q", err, *n, *b, &out)
	}
	if v := f.Lookup("n").Value.String(); v != "3" {
		t.Errorf("the value is %q", v)
	}
	if err := Parse(f, []string{"-help"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "Usage of tool:") || !strings.Contains(out.String(), "-share") {
		t.Errorf("%v, %q", err, &out)
	}
	out.Reset()
	f.Usage = func() { fmt.Fprint(&out, "its own") }
	if err := Parse(f, []string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) || out.String() != "its own" {
		t.Errorf("%v, %q", err, &out)
	}
}

func TestOutput_KeepsTheFirstError(t *testing.T) {
	var text, fault bytes.Buffer
	o := &Output{Writer: &text}
	if n, err := o.Write([]byte("abc")); n != 3 || err != nil || text.String() != "abc" || o.Status("tool", nil, &fault) != 0 {
		t.Errorf("%d, %v, %q", n, err, &text)
	}
	first, second := errors.New("the first"), errors.New("the second")
	for _, err := range []error{first, second} {
		o.Writer = failing{err}
		if n, got := o.Write([]byte("d")); n != 0 || got != err || o.Err != first {
			t.Errorf("%d, %v, kept is %v", n, got, o.Err)
		}
	}
	for _, c := range []struct {
		err  error
		code int
		says string
	}{{nil, 1, "tool: the first\n"}, {second, 1, "tool: the second\n"}, {ErrUsage, 2, ""}, {flag.ErrHelp, 0, ""}} {
		fault.Reset()
		if code := o.Status("tool", c.err, &fault); code != c.code || fault.String() != c.says {
			t.Errorf("%v: %d, %q", c.err, code, &fault)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-n many", "-b=x", "--", "-", "-=", "-even 3 -n 4", "-none\n", "-n=\xff\u2028", "-name x -b rest"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		set, _, _ := flags()
		var out bytes.Buffer
		err := Parse(set, strings.Split(line, " "), &out)
		switch {
		case errors.Is(err, ErrUsage):
			if text := out.String(); strings.Count(text, "\n") != 1 || strings.ContainsAny(strings.TrimSuffix(text, "\n"), "\r\n\x1b\u2028") || len(text) > 800 {
				t.Fatalf("%q: %q", line, text)
			}
		case err == nil && out.Len() > 0:
			t.Fatalf("%q: %q", line, &out)
		}
	})
}
