//go:build !linux

package cputime

import "time"

func now() time.Duration { return wall() }
