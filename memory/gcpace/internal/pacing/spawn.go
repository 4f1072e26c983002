package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// spawn plays the cell in a process of its own.
func spawn(c cell, limit time.Duration) (r result, err error) {
	arg, _ := json.Marshal(c) // a cell has nothing that JSON lacks
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-child", string(arg))
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off", "GOMAXPROCS=2")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return r, fmt.Errorf("not done after %v", limit)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return r, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return r, errors.Join(err, json.Unmarshal(out, &r))
}
