//go:build chosen && !collected

package main

// A ref is the address of a block outside of the Go heap. It is a number: the collector does not scan it, and a store
// needs no write barrier.
type ref uintptr

const (
	none      ref = 0
	collected     = false
)
