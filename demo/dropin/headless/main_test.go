package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/dropin/profiles"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
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

// A output is what the server has written. Another goroutine writes it.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// untilSteady waits for so many reports, of which the last has as many bodies as the server keeps.
func (o *output) untilSteady(t *testing.T, reports int) {
	t.Helper()
	testenv.Until(t, "the reports of a server at work", 5*time.Millisecond, func() bool {
		text := o.String()
		return strings.Count(text, "largest: ") >= reports && bytesOf(t, text, "bodies") > 1400
	})
}

// -every 0 was a panic of time.NewTicker, and -for -1s ran until a signal.
func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, _, err := parse(flag.NewFlagSet("headless", flag.ContinueOnError), args, out)
		return err
	})
}

func TestServe_ReportsWhatRequestsHaveAndLeavesNothing(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out output
	served := make(chan error, 1)
	go func() { served <- serve(ctx, 200*time.Millisecond, nil, &out) }()
	out.untilSteady(t, 3)
	stop()
	if err := testenv.Receive(t, "the server ends", served); err != nil {
		t.Fatal(err)
	}
	if checkReport(t, out.String(), 3); t.Failed() {
		t.Log(out.String())
	}
}

// bytesOf returns the KiB of a row of the last report, 0 if it has no such row.
func bytesOf(t *testing.T, text, row string) float64 {
	t.Helper()
	last := text[max(0, strings.LastIndex(text, "largest: ")):]
	_, figures, _ := strings.Cut(last, "\n"+row+" ")
	f := strings.Fields(figures)
	if len(f) < 2 || f[1] != "KiB" && f[1] != "MiB" {
		return 0
	}
	n, _ := strconv.ParseFloat(f[0], 64)
	if f[1] == "MiB" {
		n *= 1024
	}
	return n
}

// checkReport wants so many reports, figures of the tag and of frame memory in the last one, answers and no leak.
func checkReport(t *testing.T, text string, reports int) {
	t.Helper()
	if n := strings.Count(text, "largest: "); n < reports {
		t.Errorf("%d reports, want %d", n, reports)
	}
	// 400 requests wait, each of 100 to 7,900 bytes, and 40 replies of 512 bytes are sent in a tick.
	if n := bytesOf(t, text, "bodies"); n < 1400 || n > 1900 {
		t.Errorf("bodies: %.0f KiB", n)
	}
	if n := bytesOf(t, text, "frame"); n != 20 {
		t.Errorf("frame: %.1f KiB", n)
	}
	var answered int
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%d requests answered; level 1 left nothing behind", &answered); err != nil || answered < perTick {
		t.Errorf("%d answered, %v", answered, err)
	}
}

func TestProfiles_AreServedWhileItRuns(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	asked := make(profiles.Requests)
	served := make(chan error, 1)
	go func() { served <- serve(ctx, time.Hour, asked, io.Discard) }()
	testenv.Until(t, "a profile with a request's body", 5*time.Millisecond, func() bool {
		w := httptest.NewRecorder()
		asked.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/strata", nil))
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || !bytes.Contains(text, []byte("inuse_space")) {
			t.Fatalf("the profile has %d bytes, error %v", len(text), err)
		}
		return bytes.Contains(text, []byte("tag bodies"))
	})
	end()
	if err := <-served; err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	asked.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil)) // must return
	if err := asked.Listen("no address"); err == nil {
		t.Error("an address that is none was accepted")
	}
}
