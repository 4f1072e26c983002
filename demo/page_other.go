//go:build !js

package main

import "syscall"

// hangup is the end of the terminal.
const hangup = syscall.SIGHUP

// attach is for a page. There is none.
func (a *app) attach() (detach func()) { return func() {} }
