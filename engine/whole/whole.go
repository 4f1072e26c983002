// Package whole writes files that are there whole or not at all: under another name beside their own, which
// they are given when they are complete.
//
// A process that is killed in the middle (SIGKILL, a power cut) leaves the other name behind. It begins with
// a dot and tells whose it is, so that Sweep, which programs call when they start, can take it away.
package whole

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const prefix = ".strata-"

// forgotten is the age at which an unfinished file is nobody's, whoever has its process's number by now.
const forgotten = 24 * time.Hour

// started is when this process began, less what clocks of file systems are late.
var started = time.Now().Add(-time.Second)

// Pattern is for os.CreateTemp: names of unfinished files of this process that end in ext.
func Pattern(ext string) string { return fmt.Sprintf("%s%d-*%s", prefix, os.Getpid(), ext) }

// Write makes the file path of what write writes, with mode 0644. Where anything fails, an older file of
// that name stays as it was, and nothing else stays.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Pattern(filepath.Ext(path)))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error at hand says more
		}
	}()
	if err = errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Sweep removes from a folder the unfinished files of processes that have ended, and those of a day ago.
// What it cannot read or remove stays: a later one may.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		number, _, there := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ours || !there || err != nil || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && left(pid, info.ModTime()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// left reports whether nobody will finish a file that process pid wrote to last at a time.
func left(pid int, at time.Time) bool {
	if pid == os.Getpid() { // in a container every process may have the same
		return at.Before(started)
	}
	return time.Since(at) > forgotten || !lives(pid)
}

// lives reports whether there is a process of that number; in doubt there is.
func lives(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // where FindProcess looks
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
