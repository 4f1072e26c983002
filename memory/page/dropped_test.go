package page_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// forget makes a Prefix without keeping it, and closes another.
func forget(t *testing.T) {
	t.Helper()
	p, err := page.NewPrefix(nil, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p, err = page.NewPrefix(nil, 2<<20, 0, 0); err != nil {
		t.Fatal(err)
	}
}

func TestPrefix_OneThatIsDroppedIsToldWithItsSite(t *testing.T) {
	told := make(chan page.Dropped, 8)
	page.OnDropped(func(d page.Dropped) { told <- d })
	defer page.OnDropped(nil)
	forget(t)
	for end, round := testenv.Deadline(t), 0; round < 20 || invariant.Debug && time.Now().Before(end); round++ {
		runtime.GC()
		select {
		case d := <-told:
			if !invariant.Debug {
				t.Fatalf("a build that does not watch says %v", d)
			}
			if d.Bytes == 1<<20 {
				t.Fatalf("the Prefix that was closed is told: %v", d)
			}
			if d.Bytes == 2<<20 { // others may be what other tests left
				if s := d.String(); !strings.Contains(s, "never closed") || !strings.Contains(s, "page_test.forget") {
					t.Errorf("told %q; want who made it", s)
				}
				return
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	if invariant.Debug {
		t.Error("nobody was told")
	}
}

// forgetOn drops a Prefix on src that has committed its first bytes, and returns its first byte.
func forgetOn(t *testing.T, src page.Source) (base uintptr, seen weak.Pointer[byte]) {
	t.Helper()
	p, err := page.NewPrefix(src, 3<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(page.Granule); err != nil {
		t.Fatal(err)
	}
	first := (*byte)(p.Base())
	*first = 7
	base = uintptr(p.Base())
	if src == page.Heap() {
		seen = weak.Make(first)
	}
	return base, seen
}

func TestDropped_WhatTheSystemReservedStays(t *testing.T) {
	page.OnDropped(func(page.Dropped) {})
	defer page.OnDropped(nil)
	if page.OS() == page.Heap() {
		return // nothing is mapped here
	}
	base, _ := forgetOn(t, page.OS())
	for range 3 {
		runtime.GC()
	}
	for _, s := range page.AppendMapped(nil) {
		if base-s.Base < s.Size {
			return
		}
	}
	t.Errorf("the reservation at %#x is gone, and a pointer into it may be left", base)
}

func TestDropped_WhatIsGosIsCollected(t *testing.T) {
	page.OnDropped(func(page.Dropped) {})
	defer page.OnDropped(nil)
	_, seen := forgetOn(t, page.Heap())
	for range 20 {
		runtime.GC()
		if seen.Value() == nil {
			return
		}
	}
	t.Error("a Prefix of the Go heap was dropped and is not collected")
}
