//go:build !js

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// readWhole returns a plain file of at most most bytes.
func readWhole(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, reason(err)
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, fmt.Errorf("not a plain file of at most %d bytes", most)
	}
	data, err := os.ReadFile(name)
	return data, reason(err)
}

// endings are the signals that end a run. A SIGHUP that is ignored, as under nohup, stays so.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// needsPress is about a page. There is none.
func needsPress() bool { return false }

// attach is for a page. There is none.
func (a *app) attach() (detach func()) { return func() {} }
