package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// The number of states depends on when a worker is idle.
var kept = regexp.MustCompile(`\nrewind: [2-9] states in .* cover 2\.0 s; keeping them took `)

// States of the last ticks change no hash, and the report has what they cost.
func TestRewind_ChangesNoHash(t *testing.T) {
	testenv.Long(t)
	args := strings.Fields("-headless -ticks 120 -seed 7 -heat 2 -hash -config none")
	_, plain, _ := demo(args...)
	code, with, stderr := demo(append(args, "-rewind", "16")...)
	_, was, _ := strings.Cut(plain, "hash ")
	_, is, _ := strings.Cut(with, "hash ")
	if code != 0 || was == "" || was != is {
		t.Errorf("exit %d: hash %q, without -rewind %q: %s", code, is, was, stderr)
	}
	if strings.Contains(plain, "rewind:") || !kept.MatchString(with) {
		t.Errorf("the report says:\n%s", with)
	}
	if code, _, stderr := demo("-headless", "-rewind", "16", "-mem", "goheap"); code != 2 || !strings.Contains(stderr, "-rewind saves the tiers") {
		t.Errorf("on the Go heap: exit %d: %s", code, stderr)
	}
}

func TestRollback_NamesAHeat(t *testing.T) {
	testenv.Long(t)
	code, stdout, stderr := demo("-headless", "-rollback", "-heat", "10", "-ticks", "60")
	if code != 0 || !strings.HasPrefix(stdout, "heat 10: ") || !strings.Contains(stdout, "\na rollback of 8 ticks ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := demo("-rollback"); code != 2 || !strings.Contains(stderr, "-rollback saves the tiers") {
		t.Errorf("in a window: exit %d: %s", code, stderr)
	}
}
