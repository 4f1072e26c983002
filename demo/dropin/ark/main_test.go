package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/tiers"
)

func TestPlay_ReportHasTheTexturesAndNothingIsLeft(t *testing.T) {
	var out bytes.Buffer
	if err := play(time.Second, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	_, row, _ := strings.Cut(text, "\ntextures")
	if f := strings.Fields(row); len(f) < 2 || f[0]+f[1] != "2.0MiB" {
		t.Errorf("textures: want 2.0 MiB, all %d", textureCount)
	}
	_, end, _ := strings.Cut(text, fmt.Sprintf("entities       %d", entityCount))
	var drawn, removed int
	if _, err := fmt.Sscanf(strings.TrimSpace(end), "%d drawn, %d removed", &drawn, &removed); err != nil {
		t.Error("no count of what was drawn: ", err)
	}
	if drawn < 10*entityCount || drawn%entityCount != 0 || removed == 0 {
		t.Errorf("%d drawn, %d removed; want all %d each frame, and some removed", drawn, removed, entityCount)
	}
	if !strings.Contains(text, "left nothing behind") {
		t.Error("a leak")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A frame takes its lists from the frame tier and nothing from the Go heap, but for Ark's own growth.
func TestStep_AllocatesNothingOnTheGoHeap(t *testing.T) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	g, err := newGame(m)
	if err != nil {
		t.Fatal(err)
	}
	frame := func() {
		if err := m.BeginFrame(); err != nil {
			t.Fatal(err)
		}
		if err := g.step(); err != nil {
			t.Fatal(err)
		}
		if used := m.Frame().Stats().InUse; used < entityCount*12 {
			t.Fatalf("%d bytes of frame memory; the quads alone have %d", used, entityCount*12)
		}
		if err := m.EndFrame(); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		frame()
	}
	if n := testing.AllocsPerRun(100, frame); n > 0 {
		t.Errorf("%v Go allocations a frame", n)
	}
}
