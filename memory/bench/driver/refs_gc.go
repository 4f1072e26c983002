//go:build !chosen || collected

package main

import "unsafe"

// A ref keeps a block of the Go heap alive.
type ref = unsafe.Pointer

// With collected a freed block must lose its ref.
const collected = true

var none ref
