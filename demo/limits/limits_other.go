//go:build !linux

// Package limits prepares a process for a limit on address space, on Linux.
package limits

// Limited reports whether the process has a limit on address space that this package knows of.
func Limited() bool { return false }
