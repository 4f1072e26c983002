//go:build !linux

// Package limits prepares a process for a limit on address space on Linux. Elsewhere it does nothing.
package limits

// Limited returns false: this package recognizes limits on Linux only.
func Limited() bool { return false }
