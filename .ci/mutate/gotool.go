package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// goTool runs the go command in dir and returns what it printed, errors included.
func goTool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return append(out.Bytes(), errs.Bytes()...), fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out.Bytes(), nil
}

// build compiles the tests of t, as a config says, to bin; extra are flags of go test.
func (t *target) build(ctx context.Context, c config, bin string, extra ...string) ([]byte, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-tags=" + c.tags, "-o", bin}, extra...)
	return goTool(ctx, t.testDir, append(args, ".")...)
}

// overlay writes the mutated file and the list that puts it in place of the original, and
// returns the flag for the go command.
func (t *target) overlay(dir string, m *mutant) (string, error) {
	mutated := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(mutated, m.apply(t.sources[m.file].data), 0o644); err != nil {
		return "", err
	}
	original := filepath.Join(t.dir, m.file)
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return "-overlay=" + file, os.WriteFile(file, data, 0o644)
}

var position = regexp.MustCompile(`\.go:\d+:\d+: `)

// refused tells a compiler that rejects the mutant from a toolchain that cannot work, such as
// on a full disk: only the first means that there is no such mutant.
func refused(output []byte) bool { return position.Match(output) }
