package main

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// The small form of what the command plays for ten minutes.
func TestGiant_WorldAndModelDoNotDiffer(t *testing.T) {
	entities, ticks := 20_000, 120
	if testenv.Brief() {
		entities, ticks = 5_000, 60
	}
	refused := 0
	for seed := range uint64(3) {
		c, most, err := play(entities, seed, 10, func(n int) bool { return n < ticks })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		t.Log(most, c)
		refused += c.Refused
		if most < entities/2 || c.Related == 0 || c.Passes == 0 || c.Destroyed < entities/10 {
			t.Errorf("seed %d: at most %d entities, %v", seed, most, c)
		}
	}
	if refused == 0 {
		t.Error("memory never ran short")
	}
}

func TestRun_RefusesWhatItCannotPlay(t *testing.T) {
	for _, args := range []string{"-entities 1", "-every 0", "-for 0s", "-for -1s", "more", "-entities 100000000000"} {
		var out, fault strings.Builder
		if code := command(strings.Fields(args), &out, &fault); code != 2 || out.Len() > 0 || strings.Count(fault.String(), "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q", args, code, &out, &fault)
		}
	}
	var fault strings.Builder // a full disk was exit 0
	if code := command([]string{"-entities", "10", "-for", "1ns"}, cmdtest.FullDisk{}, &fault); code != 1 || fault.String() != "giant: no space left\n" {
		t.Errorf("exit %d, %q", code, &fault)
	}
}
