package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// forgotten is the age at which a temporary file is removed even if a process has its number: numbers are reused.
const forgotten = 24 * time.Hour

// started is when this process began, less a second for the clocks of file systems.
var started = time.Now().Add(-time.Second)

// Sweep removes the temporary files that ended processes left in the folder dir. Call it when the program starts. The
// name of a temporary file contains the process ID (PID) of its writer. If it is the PID of another process, Sweep
// removes the file if no such process runs, or if the file has not changed for a day. If it is the PID of this process,
// Sweep removes the file only if the file is older than this process.
//
// Sweep does not see the processes of other computers and containers. If they use the same folder, it may remove files
// that they are writing. Files that Sweep cannot read or remove stay. Sweep reports no errors.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		pid, ok := writer(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && abandoned(pid, info.ModTime()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writer returns the number of the process that made a temporary file of this name. For a name that Pattern does
// not make ok is false.
func writer(name string) (pid int, ok bool) {
	rest, ours := strings.CutPrefix(name, prefix)
	number, _, there := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, ours && there && err == nil && strconv.Itoa(pid) == number
}

// abandoned reports whether process pid, which wrote to a file last at a time, will not finish it.
func abandoned(pid int, at time.Time) bool {
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
