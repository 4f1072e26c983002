// Package cmdline parses the flags of commands. It reports a wrong flag in one line: the flag, its value and the
// allowed values. The flag package of the standard library prints the usage of all flags instead.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ErrUsage reports that the command line is wrong, and that a line with the reason was printed. The command must then
// exit with code 2, which [Status] returns.
var ErrUsage = errors.New("wrong usage")

// Parse parses args with f. f must have flag.ContinueOnError. If all flags are valid, Parse returns nil. For -h and
// -help, unless f defines them, Parse prints the usage to out, or calls f.Usage if it is set, and returns flag.ErrHelp.
// If a flag is wrong, Parse prints one line to out and returns ErrUsage. The line has the name of f, the wrong flag or
// value, and the allowed flags or values. For a flag.Value of the caller the error of its Set must contain the allowed
// values. Parse sets the output of f to out.
func Parse(f *flag.FlagSet, args []string, out io.Writer) error {
	failed, restore := record(f)
	usage := f.Usage
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := f.Parse(args)
	restore()
	f.SetOutput(out)
	f.Usage = usage
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		if usage == nil {
			fmt.Fprintf(out, "Usage of %s:\n", f.Name())
			f.PrintDefaults()
			return err
		}
		usage()
		return err
	}
	return Wrong(f, out, reason(f, failed, err))
}

// Wrong prints the name of f and the problem to out in one line, and returns ErrUsage. Control characters, line
// separators and invalid UTF-8 of the problem become "?". A problem above 800 bytes loses its middle. Errors of out
// are ignored.
func Wrong(f *flag.FlagSet, out io.Writer, problem string) error {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, problem)
	if len(line) > lineBytes { // the flag stands in front and what is allowed at the end
		line = strings.ToValidUTF8(line[:lineBytes/2], "") + " ... " + strings.ToValidUTF8(line[len(line)-lineBytes/2:], "")
	}
	fmt.Fprintf(out, "%s: %s\n", f.Name(), line)
	return ErrUsage
}

// Status returns the exit status of a command that ends with err: 0 if err is nil or wraps flag.ErrHelp, 2 if it wraps
// ErrUsage, and 1 otherwise. Before it returns 1, Status prints the command's name and err to out. Errors of out are
// ignored.
func Status(name string, err error, out io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	}
	fmt.Fprintf(out, "%s: %v\n", name, err)
	return 1
}

// An Output writes to Writer and keeps its first error, so that a command needs no check of each line that it prints. Set
// Writer, for example to os.Stdout. An Output belongs to one goroutine at a time.
type Output struct {
	io.Writer
	Err error // the first error of Writer
}

// Write calls Writer.Write and returns its results. The first error stays in Err.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Status returns [Status] of err. If err is nil, Status uses o.Err instead, so a full disk is no success.
func (o *Output) Status(name string, err error, out io.Writer) int {
	if err == nil {
		err = o.Err
	}
	return Status(name, err, out)
}

// lineBytes is how long a line is at most: some rows of a terminal.
const lineBytes = 800

// reason explains an error of Parse.
func reason(f *flag.FlagSet, failed *failure, err error) string {
	const missing, undefined = "flag needs an argument: -", "flag provided but not defined: -"
	text := err.Error()
	switch {
	case failed.of != nil:
		return fmt.Sprintf("invalid value %s for flag -%s: %s", quoted(failed.value), failed.of.Name, allowed(failed.of, failed.err))
	case strings.HasPrefix(text, missing):
		if x := f.Lookup(strings.TrimPrefix(text, missing)); x != nil {
			return fmt.Sprintf("flag needs an argument: -%s: %s", x.Name, allowed(x, nil))
		}
	case strings.HasPrefix(text, undefined):
		var names []string
		f.VisitAll(func(x *flag.Flag) { names = append(names, "-"+x.Name) })
		return undefined + cut(strings.TrimPrefix(text, undefined)) + "; allowed: " + strings.Join(append(names, "-help"), ", ")
	}
	return cut(text) + "; allowed: -name or -name=value, see -help"
}

// allowed says which values a flag takes. The errors of values of one's own say it, those of the flag package do not.
func allowed(x *flag.Flag, err error) string {
	_, usage := flag.UnquoteUsage(x)
	kind := ""
	if g, ok := x.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case int, int64:
			kind = "a whole number"
		case uint, uint64:
			kind = "a whole number from 0"
		case float64:
			kind = "a number"
		case bool:
			kind = "true or false"
		case time.Duration:
			kind = "a time, as in 90s or 1m30s"
		}
	}
	switch {
	case kind != "":
		return "allowed: " + kind + " (" + usage + ")"
	case err != nil:
		return err.Error()
	}
	return "allowed: " + usage
}

// longest is how many bytes of a value a line repeats.
const longest = 80

func cut(s string) string {
	if len(s) > longest {
		return strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return s
}

func quoted(s string) string {
	if len(s) > longest {
		return strconv.Quote(s[:longest]) + "..."
	}
	return strconv.Quote(s)
}

// A failure is a value that a flag refused.
type failure struct {
	of    *flag.Flag
	value string
	err   error
}

// recorder notes the value that its flag refuses.
type recorder struct {
	flag.Value
	flag *flag.Flag
	to   *failure
}

func (r recorder) Set(s string) error {
	err := r.Value.Set(s)
	if err != nil {
		*r.to = failure{r.flag, s, err}
	}
	return err
}

// IsBoolFlag reports whether the flag may stand alone.
func (r recorder) IsBoolFlag() bool {
	b, ok := r.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// record puts a recorder around each value, until restore is called.
func record(f *flag.FlagSet) (failed *failure, restore func()) {
	failed = new(failure)
	values := map[*flag.Flag]flag.Value{}
	f.VisitAll(func(x *flag.Flag) {
		values[x] = x.Value
		x.Value = recorder{x.Value, x, failed}
	})
	return failed, func() {
		for x, v := range values {
			x.Value = v
		}
	}
}
