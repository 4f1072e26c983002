package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// A finding is what a driver prints.
type finding struct {
	Allocator, Workload string
	Served              string // what served malloc, from C
	Drawn, Read         string // checksums
	Figures             map[string]float64
	Repeated, Disturbed int
}

// childTime is how long a driver may take.
const childTime = 10 * time.Minute

// call runs a side of a test once.
func (b *bench) call(t test, s side, placement int, more ...string) (f finding, err error) {
	program, err := b.program(s, placement)
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), childTime)
	defer cancel()
	traced, err := b.traceArgs(t)
	if err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, program, slices.Concat(t.args(s), traced, more)...)
	if s.preload != "" {
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+s.preload)
	}
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("%s, %s: %w\n%s", t.name, s.name, err, told.Bytes())
	}
	if f, err = parseFinding(out); err != nil {
		return f, fmt.Errorf("%s, %s: %w", t.name, s.name, err)
	}
	if s.kind == inC && !s.noop && !s.serves(f.Served) {
		return f, fmt.Errorf("%s, %s: malloc was served by %q, and not by %q", t.name, s.name, f.Served, orElse(s.preload, s.archive))
	}
	return f, nil
}

// parseFinding reads the output of a driver.
func parseFinding(out []byte) (f finding, err error) {
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, fmt.Errorf("output of the driver: %w", err)
	}
	if f.Figures == nil || f.Drawn == "" || f.Read == "" {
		return f, errors.New("output of the driver: figures or checksums are missing")
	}
	return f, nil
}

// args are the driver's arguments.
func (t test) args(s side) []string {
	args := []string{"-workload", t.workload, "-core", strconv.Itoa(runtime.NumCPU() - 1)}
	if t.live > 0 {
		args = append(args, "-live", strconv.Itoa(t.live))
	}
	switch {
	case t.brief && t.workload == "W1" && t.live > 1_000_000: // each repetition allocates and frees all of them
		args = append(args, "-warm", "1", "-reps", "1")
	case t.brief:
		args = append(args, "-warm", "1", "-reps", "3")
	}
	if t.whole {
		args = append(args, "-whole")
	}
	if s.option != "" {
		args = append(args, "-option", s.option)
	}
	return args
}

// sameWork compares the checksums of two sides. The loops without an allocator have one block, so they read other words.
func sameWork(t test, first, second string, a, b finding) error {
	if second == goLoop || second == cLoop {
		b.Read = a.Read
	}
	if a.Drawn != b.Drawn || a.Read != b.Read {
		return fmt.Errorf("%s: %s drew %s and read %s, %s drew %s and read %s: they have not done the same work", t.name, first, a.Drawn, a.Read, second, b.Drawn, b.Read)
	}
	return nil
}
