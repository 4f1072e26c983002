//go:build !linux

package session

func cpuTime() int64 { return 0 }
