//go:build !linux

package game

func cpuTime() int64 { return 0 }
