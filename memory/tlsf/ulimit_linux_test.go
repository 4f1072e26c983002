package tlsf

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Under a limit on address space a heap is as large as it and its books can be together. Books
// for which there is no room would end the process.
func TestNew_UnderALimitOnAddressSpaceTheBooksHaveRoom(t *testing.T) {
	const child = "TLSF_UNDER_ULIMIT"
	if os.Getenv(child) == "" {
		if invariant.Debug || !wide {
			return // the race detector needs more, and 32 bits are a limit of their own
		}
		cmd := exec.Command("sh", "-c", `ulimit -v 1048576 && exec "$0" -test.run "^TestNew_UnderALimitOnAddressSpace" -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%.2000s", err, out)
		}
		return
	}
	h, err := New(nil, Config{Reserve: far(4 << 30), Granule: 16})
	if err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); s.Reserved < 32<<20 || s.Reserved >= 1<<30 {
		t.Errorf("%d bytes are reserved", s.Reserved)
	}
	if _, err := New(nil, Config{Blocks: maxDescriptors}); err == nil {
		t.Error("512 MiB of descriptors found room beside it")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
