package main

import (
	"strings"
	"testing"
	"time"
)

// A slow game is reported once, with its share of the clock's ticks. A quick one is not, nor is a pause.
func TestTempo_ASlowGameIsReportedOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		step  func(tick int) time.Duration
		share float64 // 0 is no report
	}{
		{"quick", func(int) time.Duration { return time.Second / 60 }, 0},
		{"five ticks in a frame", func(k int) time.Duration { return time.Second / 12 * time.Duration((k%5)/4) }, 0},
		{"half as quick", func(int) time.Duration { return time.Second / 30 }, 0.5},
		{"two frames a second of ten ticks", func(k int) time.Duration { return time.Second / 2 * time.Duration((k%10)/9) }, 1. / 3},
		{"-seek with a tenth of a second a frame", func(k int) time.Duration {
			if k < 1000 {
				return time.Second / 10
			}
			return time.Second / 60
		}, 0},
		{"hidden for a minute every five seconds", func(k int) time.Duration { return time.Second/60 + time.Minute*time.Duration((k%300)/299) }, 0},
	} {
		var p tempo
		now, reports := time.Unix(1e9, 0), 0
		for k := range 1500 {
			now = now.Add(c.step(k))
			share, slow := p.tick(now, strings.HasPrefix(c.name, "-seek") && k < 1000)
			if !slow {
				continue
			}
			if reports++; share < c.share-0.03 || share > c.share+0.03 {
				t.Errorf("%s: the share is %.2f, want %.2f", c.name, share, c.share)
			}
		}
		if want := c.share > 0; reports > 1 || (reports == 1) != want {
			t.Errorf("%s: %d reports; want one: %v", c.name, reports, want)
		}
	}
}
