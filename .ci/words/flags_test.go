package main

import (
	"bytes"
	"testing"
)

// A wrong flag printed the usage, -help was exit 2, and -write of a unit changed nothing.
func TestFlags_WrongOnesAreOneLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-x"}, 2, "words: flag provided but not defined: -x; allowed: -other, -root, -write, -help\n"},
		{[]string{"-write=x"}, 2, "words: invalid value \"x\" for flag -write: allowed: true or false (lower the ratchet and remove finished units from the list of units to do)\n"},
		{[]string{"-write", "memory"}, 2, "words: 1 units; allowed are none with -write, and at least one with -other\n"},
		{[]string{"-other"}, 2, "words: 0 units; allowed are none with -write, and at least one with -other\n"},
		{[]string{"-help"}, 0, ""},
	} {
		var out, fault bytes.Buffer
		if code := run(c.args, &out, &fault); code != c.code || c.want != "" && fault.String() != c.want {
			t.Errorf("%q: exit %d, %q", c.args, code, &fault)
		}
	}
}
