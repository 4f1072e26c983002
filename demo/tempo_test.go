package main

import (
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/session"
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
			switch {
			case k < 1000:
				return time.Second / 10
			case k == 1000: // the last one that does not count ends here
				return time.Second * 9 / 10
			}
			return time.Second / 60
		}, 0},
		{"hidden for a minute every five seconds", func(k int) time.Duration { return time.Second/60 + time.Minute*time.Duration((k%300)/299) }, 0},
	} {
		var p tempo
		now, reports := time.Unix(1e9, 0), 0
		for k := range 1500 {
			now = now.Add(c.step(k))
			share, slow := p.tick(now, !strings.HasPrefix(c.name, "-seek") || k >= 1000)
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

// Frames are long while a realm loads, in a browser above all, where all goroutines have one thread.
func TestTempo_ARealmThatLoadsIsNoSlowMachine(t *testing.T) {
	s, err := session.New(session.Config{FS: assets.FS()})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{s: s, shoot: true}
	now := time.Unix(1e9, 0)
	for range 600 { // no frame of the session: it stays at the beginning of the load
		now = now.Add(time.Second / 10)
		a.pace(now)
	}
	if a.tempo.told {
		t.Error("the player is told that time runs slowly, and no time runs")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
