package slab

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// Books of a Central for which the Go heap has no room are an error, and not the end of the process.
func TestNewCentral_BooksThatDoNotFitAreAnError(t *testing.T) {
	const child = "SLAB_UNDER_ULIMIT"
	if os.Getenv(child) == "" {
		if invariant.Debug || ^uintptr(0)>>32 == 0 {
			return // the race detector needs more, and 32 bits are a limit of their own
		}
		cmd := testenv.Command(t, "sh", "-c", `ulimit -v 8388608 && exec "$0" -test.run "^TestNewCentral_Books" -test.v`, os.Args[0])
		cmd.Env = append(cmd.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%.2000s", err, out)
		}
		return
	}
	reserve := uint64(4 << 30)
	h, err := New(nil, Config{Reserve: uintptr(reserve)})
	if err != nil {
		t.Fatal(err)
	}
	giveBack := takeAddresses(t)
	c, err := NewCentral(h)
	if c != nil || !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "slab: new Central: no memory for the metadata of 4294967296 bytes reserved: page: Go heap: ") {
		t.Errorf("%v, %v", c, err)
	}
	giveBack()
	// The heap is as it was.
	p, err := h.Alloc(100, 16)
	if err != nil || h.Check() != nil {
		t.Fatal(err, h.Check())
	}
	h.Free(p, 100)
	if c, err := NewCentral(h); err != nil || c.Check() != nil {
		t.Error(err)
	}
}

// takeAddresses takes all of the address space that a limit leaves, down to a MiB, and returns what
// gives it back.
func takeAddresses(t *testing.T) (giveBack func()) {
	var taken []page.Memory
	for size := uintptr(1 << 30); size >= 1<<20; size /= 2 {
		for {
			m, err := page.Default().Reserve(size)
			if err != nil {
				break
			}
			taken = append(taken, m)
		}
	}
	return func() {
		for _, m := range taken {
			if err := page.Default().Release(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// So are the maps of a heap, which grow with it.
func TestHeap_MapsThatDoNotFitAreAnError(t *testing.T) {
	if !memtest.UnderUlimit(t, 2<<20) {
		return
	}
	h, err := New(nil, Config{Reserve: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 128 << 20 / 4096 { // so that the next maps are more than what nobody is asked for
		memtest.MustAlloc(t, h, 4096, 16)
	}
	giveBack := takeAddresses(t)
	before := h.Stats()
	for err == nil {
		before = h.Stats()
		_, err = h.Alloc(4096, 16)
	}
	after := h.Stats()
	giveBack()
	if after.Failures = before.Failures; after != before {
		t.Errorf("a failed Alloc changed %+v to %+v", before, after)
	}
	if !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "page: Go heap: ") {
		t.Error(err)
	}
	memtest.MustCheck(t, h)
	memtest.MustAlloc(t, h, 4096, 16)
}
