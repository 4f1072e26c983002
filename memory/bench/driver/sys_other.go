//go:build !linux

package main

import "os"

func pin(int) {}

func (j *job) sharedSwitches() {}

func switches() int64 { return 0 }

func resident() float64 { return 0 }

func table(n int) []uint32 { return make([]uint32, n) }

func mapped(name string) []byte {
	text, err := os.ReadFile(name)
	fail(err)
	return text
}
