//go:build !linux

package osthread

import "time"

func cpu() (time.Duration, bool) { return 0, false }

func bind() bool { return false }
