package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/trace"
)

// A program with every kind of operation, whose checksum is that of the words written by the operations.
func TestReplay_RunsEveryKindOfOperation(t *testing.T) {
	p := trace.Program{
		Slots: 2, Timed: 6, Operations: 5, Peak: 5032, PeakAt: 3, Largest: 5000,
		Ops: []trace.Op{
			{Kind: trace.OpAlloc, Slot: 0, Size: 64},
			{Kind: trace.OpTick},
			{Kind: trace.OpAligned, Shift: 6, Slot: 1, Size: 32},
			{Kind: trace.OpResize, Slot: 0, Size: 5000, Old: 64},
			{Kind: trace.OpFree, Slot: 1, Size: 32},
			{Kind: trace.OpAlloc, Slot: 1, Size: 8},
			{Kind: trace.OpFree, Slot: 0, Size: 5000},
			{Kind: trace.OpFree, Slot: 1, Size: 8},
		},
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "x.program"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteTo(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for _, word := range []uint64{0, 2, 3, 5} { // the operation that wrote the block that is resized or freed
		fold(&want, word)
	}
	for _, whole := range []bool{false, true} {
		j := job{warm: 1, reps: 2, whole: whole, program: file.Name(), figures: map[string]float64{}}
		j.replay()
		if j.read != want {
			t.Errorf("whole %v: read %#x, want %#x", whole, j.read, want)
		}
		if j.figures["live"] != 5032 {
			t.Errorf("whole %v: %v", whole, j.figures)
		}
		if _, ok := j.figures["tick p999"]; ok == (whole || ticksPerNS == 0) {
			t.Errorf("whole %v: %v", whole, j.figures)
		}
	}
}

func TestReplay_TypicalIsTheMedianOfEachSlice(t *testing.T) {
	got := typical([][]uint32{{1, 50}, {9, 40}, {3, 900}})
	if !slices.Equal(got, []uint32{3, 50}) {
		t.Errorf("%v", got)
	}
	if got := typical([][]uint32{{4}, {2}}); !slices.Equal(got, []uint32{2}) {
		t.Errorf("%v", got)
	}
}
