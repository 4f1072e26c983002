//go:build !js

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that end a run. A SIGHUP that is ignored, as under nohup, stays so.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// attach is for a page. There is none.
func (a *app) attach() (detach func()) { return func() {} }
