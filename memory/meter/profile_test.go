package meter

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// The parser and the tool of pprof read these profiles in .ci/profile.

func TestProfile_SharesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var exact [valueCount]uint64
		for v := range exact {
			exact[v] = rng.Uint64N(1 << (1 + rng.IntN(50)))
		}
		stacks := make([]stack, rng.IntN(6))
		for i := range stacks {
			for v := range valueCount {
				if rng.IntN(3) > 0 {
					stacks[i].estimates[v] = rng.ExpFloat64() * float64(exact[v])
				}
			}
		}
		var sums [valueCount]uint64
		for _, r := range share(exact, stacks) {
			for v, n := range r.values {
				sums[v] += n
			}
		}
		exact[allocSpace], sums[allocSpace] = 0, 0 // its sum is an estimate
		if sums != exact {
			t.Fatalf("the rows have %v, the whole %v; stacks %v", sums, exact, stacks)
		}
	}
}

func TestProfile_SharesAreInProportion(t *testing.T) {
	exact := [valueCount]uint64{allocObjects: 12, allocSpace: 90, inUseObjects: 9, inUseSpace: 90}
	stacks := []stack{
		{[]uint64{1}, [valueCount]float64{1, 600, 2, 20}},
		{[]uint64{2}, [valueCount]float64{2, 300, 0, 10}},
	}
	rows := share(exact, stacks)
	want := []shared{
		{[]uint64{1}, [valueCount]uint64{4, 600, 9, 60}},
		{[]uint64{2}, [valueCount]uint64{8, 300, 0, 30}},
	}
	if !slices.EqualFunc(rows, want, func(a, b shared) bool { return a.values == b.values && slices.Equal(a.stack, b.stack) }) {
		t.Errorf("the rows are %v, want %v", rows, want)
	}
	if rows := share(exact, nil); len(rows) != 1 || rows[0].stack != nil || rows[0].values != exact {
		t.Errorf("without estimates the rows are %v", rows)
	}
}

func TestProfile_InnerFunctionsOfStrataAreLeftOut(t *testing.T) {
	for function, want := range map[string]bool{
		"github.com/strata-go/strata/memory.New[...]":                  true,
		"github.com/strata-go/strata/memory/tiers.(*Tag).Alloc":        true,
		"github.com/strata-go/strata/memory/container.(*Map[...]).Set": true,
		"github.com/strata-go/strata/memory/tiers_test.ExampleTag":     false,
		"github.com/strata-go/strata/demo/game.(*Game).spawn":          false,
		"github.com/strata-go/strata/ecs.(*World).New":                 false,
		"main.main":              false,
		"example.com/memory.New": false,
	} {
		if got := ours(function); got != want {
			t.Errorf("ours(%q) = %v", function, got)
		}
	}
}

func TestProfile_WireFormat(t *testing.T) {
	b := number(nil, 1, 300)
	b = number(b, 2, 0) // left out
	b = message(b, 15, []byte("ab"))
	b = message(b, 16, packed([]uint64{1, 128, 1<<64 - 1}))
	want := []byte{1 << 3, 0xac, 2, 15<<3 | 2, 2, 'a', 'b', 0x82, 1, 13, 1, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	if !bytes.Equal(b, want) {
		t.Errorf("% x, want % x", b, want)
	}
}

// shortWriter fails after some bytes.
type shortWriter struct{ left int }

var errFull = errors.New("the disk is full")

func (w *shortWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteProfile_ReturnsTheErrorOfTheWriter(t *testing.T) {
	m, err := tiers.New(tiers.Config{SampleBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	memory.MakeSlice[byte](m, 100)
	var whole bytes.Buffer
	if err := WriteProfile(&whole, m); err != nil {
		t.Fatal(err)
	}
	for left := range whole.Len() / 2 {
		if err := WriteProfile(&shortWriter{left}, m); !errors.Is(err, errFull) {
			t.Fatalf("after %d bytes: %v", left, err)
		}
	}
}
