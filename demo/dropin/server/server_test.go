package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/dropin/profiles"
	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/cmdline"
)

// The comparison starts this binary again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-variant" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestPlay_EachVariantSendsTheSameAndAllocatesAsItSays(t *testing.T) {
	var first string
	for _, v := range variants {
		s, err := v.make(7)
		if err != nil {
			t.Fatal(err)
		}
		f, err := play(s, 40, 160, 7)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		t.Logf("%+v", f)
		if first == "" {
			first = f.Checksum
		}
		if f.Checksum != first || f.P50 <= 0 || f.P999 < f.P99 {
			t.Errorf("%s: %+v; want the checksum %s", v.name, f, first)
		}
		if v.name == "plain" && f.Mallocs < 2*clientCount || v.name == "strata" && f.Mallocs > 5 {
			t.Errorf("%s: %.2f objects a tick", v.name, f.Mallocs)
		}
	}
}

func TestPlay_AnotherSeedIsAnotherGame(t *testing.T) {
	sum := func(seed uint64) string {
		s, _ := newPlain(seed)
		f, err := play(s, 1, 10, seed)
		if err != nil {
			t.Fatal(err)
		}
		return f.Checksum
	}
	if a, b := sum(1), sum(2); a == b || a != sum(1) {
		t.Errorf("%s and %s", a, b)
	}
}

func TestClose_ReportsWhatWasForgotten(t *testing.T) {
	made, err := newStrata(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*strata)
	if err := s.say(3, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	s.chats[3].lines = nil // the server forgets to free it
	if err := s.close(); err == nil || !strings.Contains(err.Error(), "chat") {
		t.Errorf("close: %v", err)
	}
}

// Snapshots are kept until one is acknowledged, and no more than a connection may have.
func TestKeep_ForgetsWhatWasAcknowledgedAndTheOldest(t *testing.T) {
	s, _ := newPlain(1)
	b, n := s.shared(), newClients(1)
	for range mostKept + 3 {
		if err := s.tick(n); err != nil {
			t.Fatal(err)
		}
	}
	c := &b.connections[5]
	if len(c.history) != mostKept || c.history[0].tick != 4 {
		t.Fatalf("%d snapshots, the first of tick %d", len(c.history), c.history[0].tick)
	}
	if tick, _ := c.known(); tick != 0 {
		t.Errorf("known is %d before anything is acknowledged", tick)
	}
	if err := receive(s, 5, []byte{10, 'i', 1, 0xff, 3, 1, 'x'}); err != nil {
		t.Fatal(err)
	}
	if tick, known := c.known(); tick != 10 || len(known) == 0 || c.history[0].tick != 10 {
		t.Errorf("known is %d, the first of %d", tick, c.history[0].tick)
	}
	if in := b.zones[0].inputs[5]; in != (Input{DX: 1, DY: -1, Aim: 3, Fire: true}) || b.malformed != 1 {
		t.Errorf("input %+v, %d malformed", in, b.malformed)
	}
	rejoin(s, 5)
	if len(c.history) != 0 || c.acked != 0 || c.session.name != fmt.Sprint("player ", clientCount+1) {
		t.Errorf("the next player has %d snapshots and is %q", len(c.history), c.session.name)
	}
}

func TestCompare_PrintsMediansTiesAndCosts(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-ticks", "30", "-rounds", "1", "-seed", "3"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{settle.Processor(), "256 clients", "tie within", "RSS MiB", "Every run sent the same packets: checksum ", "What strata costs: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n < 15 {
		t.Errorf("%d lines\n%s", n, text)
	}
}

func TestRatio_WithinTheSpreadIsATie(t *testing.T) {
	of := func(p50 float64) []figures { return []figures{{P50: p50}, {P50: p50}} }
	all := [][]figures{of(1), of(1.1), of(1.05), of(.5)}
	if got := ratio(all, 1, 2, 0); got != "1.05 tie" {
		t.Error(got)
	}
	if got := ratio(all, 1, 3, 0); got != "0.50" {
		t.Error(got)
	}
	if got := ratio(all, 0, 3, 0); got != "1.00 tie" { // both are 0
		t.Error(got)
	}
}

func TestRun_RefusesWhatItDoesNotKnow(t *testing.T) {
	var out bytes.Buffer
	for args, want := range map[string]string{"-variant heap": "allowed are plain, reused and strata", "-ticks 0": "at least 1", "-rounds -1": "at least 1", "-rounds 9223372036854775807": "1 to 1000", "x": "none"} {
		out.Reset()
		if err := run(strings.Fields(args), nil, &out); !errors.Is(err, cmdline.ErrUsage) || !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %v, %q", args, err, &out)
		}
	}
	out.Reset()
	if err := run([]string{"-variant", "strata", "-ticks", "3"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var f figures
	if err := json.Unmarshal(out.Bytes(), &f); err != nil || f.Variant != "*main.strata" || len(f.Checksum) != 16 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A server that plays answers requests for profiles between its ticks.
func TestStrata_ServesProfilesWhileItRuns(t *testing.T) {
	asked := make(profiles.Requests)
	s, err := newStrata(7, asked)
	if err != nil {
		t.Fatal(err)
	}
	w, answered := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(answered)
		asked.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/strata", nil))
	}()
	n, over := newClients(7), false
	for i := uint32(1); !over; i++ {
		if _, _, err := tick(s, n, i); err != nil {
			t.Fatal(err)
		}
		select {
		case <-answered:
			over = true
		default:
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Contains(text, []byte("inuse_space")) {
		t.Errorf("the profile has %d bytes, error %v", len(text), err)
	}
	for _, args := range [][]string{{"-http", "localhost:0"}, {"-http", "localhost:0", "-variant", "plain"}} {
		var fault bytes.Buffer
		if err := run(args, io.Discard, &fault); !errors.Is(err, cmdline.ErrUsage) || !strings.Contains(fault.String(), "-variant strata") {
			t.Errorf("%v: %v, %q", args, err, &fault)
		}
	}
}
