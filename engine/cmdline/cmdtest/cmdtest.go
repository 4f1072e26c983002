// Package cmdtest tests the command lines of commands that use package cmdline.
package cmdtest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

// values are malformed for most flags; names of files may be any but the empty one.
var values = []string{
	"", " ", "x", "-1", "0", "-0", "1.5", "1e99", "NaN", "Inf", "-Inf", "0x", "99999999999999999999", "-99999999999999999999", "1,2", "1,", ",", "=", "a=b",
	"all=2", "1x", "x1", "0x0", "99999x99999", "true", "perhaps", "1\n2", "\x00", "\x1b[31m", "\xff\xfe", "\u2028", strings.Repeat("9", 5000), strings.Repeat("x,", 3000),
}

// Every calls parse with malformed values for each flag, in each form: -f=value, -f value and -f alone. The function
// parse must print its errors by Parse of cmdline. It must refuse an unknown flag. Every fails the test if a refused
// command line does not print exactly one line that names the flag. It also fails the test if a flag accepts every
// value, unless free contains the name of the flag, without the dash. Such flags are, for example, names of files.
// Every returns the number of refused command lines.
func Every(t *testing.T, parse func(args []string, out io.Writer) error, free ...string) (refused int) {
	t.Helper()
	var out bytes.Buffer
	if err := parse([]string{"-no-such-flag"}, &out); err == nil {
		t.Fatal("an unknown flag is accepted")
	}
	_, list, ok := strings.Cut(strings.TrimSpace(out.String()), "; allowed: ")
	if !ok || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("an unknown flag prints %q", &out)
	}
	for dashed := range strings.SplitSeq(list, ", ") {
		before := refused
		for _, v := range values {
			for _, args := range [][]string{{dashed + "=" + v}, {"-" + dashed, v}, {dashed}} {
				out.Reset()
				err := parse(args, &out)
				if err == nil || errors.Is(err, flag.ErrHelp) {
					continue
				}
				refused++
				text := out.String()
				named := strings.Contains(text, dashed) || strings.Contains(text, " argument") // after a flag that stands alone
				if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || len(text) > 1000 || strings.ContainsAny(text, "\r\x00\x1b\u2028") || !named {
					t.Errorf("%.80q: %v, %.300q", args, err, text)
				}
			}
		}
		if refused == before && dashed != "-help" && !strings.Contains(" "+strings.Join(free, " ")+" ", " "+dashed[1:]+" ") {
			t.Errorf("%s accepts every value", dashed)
		}
	}
	return refused
}

// A FullDisk is an output whose Write fails.
type FullDisk struct{}

// Write returns 0 and an error whose text is "no space left".
func (FullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A Last is an output that fails the test if one of the Files does not exist at a Write. A command must save its files
// before it prints, because a write to a closed pipe ends the process.
type Last struct {
	T     testing.TB
	Files []string // their paths
}

// Write tests that the Files exist, and returns len(p).
func (l Last) Write(p []byte) (int, error) {
	l.T.Helper()
	for _, name := range l.Files {
		if _, err := os.Stat(name); err != nil {
			l.T.Errorf("%.40q is printed before a file is saved: %v", p, err)
		}
	}
	return len(p), nil
}
