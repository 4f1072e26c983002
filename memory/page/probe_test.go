package page

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

// The largest size that the Go heap could hold is asked of the system, one byte more is not.
func TestProbeHeap_AsksUpToWhatTheHeapCanAddress(t *testing.T) {
	if ^uintptr(0)>>32 == 0 {
		return // there every size is asked for, or wraps
	}
	most := maxHeap + BaseAlign + heapGuard
	var full *memory.Exhausted
	if err := ProbeHeap(uintptr(most)); errors.As(err, &full) && full.Cause == errBeyond {
		t.Errorf("%d bytes were not asked for: %v", most, err)
	}
	if err := ProbeHeap(uintptr(most + 1)); !errors.As(err, &full) || full.Cause != errBeyond {
		t.Errorf("%d bytes: %v", most+1, err)
	}
}
