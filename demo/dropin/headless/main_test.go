package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asServer has this binary be the program, with its flags.
const asServer = "STRATA_DROPIN_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestServe_ReportsWhatRequestsHaveAndLeavesNothing(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 1200*time.Millisecond)
	defer stop()
	var out bytes.Buffer
	if err := serve(ctx, 500*time.Millisecond, &out); err != nil {
		t.Fatal(err)
	}
	if checkReport(t, out.String(), 3); t.Failed() {
		t.Log(out.String())
	}
}

// checkReport wants so many reports, figures of the tag and of frame memory in the last one, answers and no leak.
func checkReport(t *testing.T, text string, reports int) {
	t.Helper()
	if n := strings.Count(text, "largest: "); n < reports {
		t.Errorf("%d reports, want %d", n, reports)
	}
	last := text[max(0, strings.LastIndex(text, "largest: ")):]
	bytesOf := func(row string) float64 {
		_, figures, _ := strings.Cut(last, "\n"+row+" ")
		f := strings.Fields(figures)
		if len(f) < 2 || f[1] != "KiB" && f[1] != "MiB" {
			t.Errorf("%s: no figures", row)
			return 0
		}
		n, _ := strconv.ParseFloat(f[0], 64)
		if f[1] == "MiB" {
			n *= 1024
		}
		return n
	}
	// 400 requests wait, each of 100 to 7,900 bytes, and 40 replies of 512 bytes are sent in a tick.
	if n := bytesOf("bodies"); n < 1400 || n > 1900 {
		t.Errorf("bodies: %.0f KiB", n)
	}
	if n := bytesOf("frame"); n != 20 {
		t.Errorf("frame: %.1f KiB", n)
	}
	var answered int
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%d requests answered; level 1 left nothing behind", &answered); err != nil || answered < 10*perTick {
		t.Errorf("%d answered, %v", answered, err)
	}
}
