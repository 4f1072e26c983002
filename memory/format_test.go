package memory_test

import (
	"math"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestFormatBytes_RoundsTenthsDown(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 640: "640 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 12_799: "12.4 KiB", 12_800: "12.5 KiB",
		1<<20 - 1: "1023.9 KiB", 1 << 20: "1.0 MiB", 1153433: "1.0 MiB", 1153434: "1.1 MiB", 3 << 30: "3.0 GiB", 1 << 40: "1.0 TiB", 1 << 50: "1.0 PiB",
		1<<60 - 1: "1023.9 PiB", 1 << 60: "1.0 EiB", math.MaxUint64: "15.9 EiB",
	} {
		if got := memory.FormatBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	buf := make([]byte, 0, 32)
	if n := testing.AllocsPerRun(100, func() { memory.AppendBytes(buf, 1<<40-1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
