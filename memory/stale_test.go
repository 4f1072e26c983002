package memory_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// The Freers of a manager and of a worker detect stale frees of small and of large blocks.
func TestStale_FreersOfTheManagerDetectIt(t *testing.T) {
	if !invariant.Debug {
		return
	}
	for _, size := range []uintptr{100, 10_000} {
		m := must[*tiers.Manager](t)(tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1, FreeItems: 8}))
		w := m.Worker(0)
		for name, c := range map[string]struct {
			a     memory.Allocator
			f     *remote.Freer
			drain func()
		}{
			"game":   {m, m.NewFreer(), func() { m.BeginFrame(); m.EndFrame() }},
			"worker": {w, w.NewFreer(), w.Settle},
		} {
			p := memtest.MustAlloc(t, c.a, size, 16)
			c.f.FreeAny(p)
			c.a.Free(p, size)
			var others []unsafe.Pointer
			for q := memtest.MustAlloc(t, c.a, size, 16); q != p; q = memtest.MustAlloc(t, c.a, size, 16) {
				if others = append(others, q); len(others) > 100 {
					t.Fatalf("%s: 100 blocks, and none at %p", name, p)
				}
			}
			if err := c.f.Flush(); err != nil {
				t.Fatal(err)
			}
			memtest.Misuse(t, c.drain, "stale free", "TestStale_FreersOfTheManagerDetectIt")
			c.drain()
			c.a.Free(p, size) // it is live
			for _, q := range others {
				c.f.FreeAny(q)
			}
			if err := c.f.Close(); err != nil {
				t.Fatal(err)
			}
			c.drain()
		}
		memtest.MustCheck(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// freers are the allocators that a remote.Inbox can free into, but Manager and Tag, which have Freers of
// their own, and guards, which keep freed blocks in quarantine.
func freers(t testing.TB) map[string]memory.Allocator {
	list := func() *freelist.Heap {
		h := must[*freelist.Heap](t)(freelist.New(nil, freelist.Config{Reserve: 1 << 20}))
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	twin := must[*buddy.Heap](t)(buddy.New(nil, buddy.Config{Reserve: 1 << 20}))
	fib := must[*buddy.Heap](t)(buddy.New(nil, buddy.Config{Reserve: 1 << 20, System: buddy.Fibonacci}))
	t.Cleanup(func() { _, _ = twin.Close(), fib.Close() })
	all := map[string]memory.Allocator{
		"freelist": list(), "buddy": twin, "buddy, Fibonacci": fib,
		"Counted on freelist":   must[compose.Counter](t)(compose.NewCounted(list(), compose.CountedConfig{})),
		"Locked on Fallback":    must[compose.Allocator](t)(compose.NewLocked(must[compose.Allocator](t)(compose.NewFallback(list(), list())), nil)),
		"BySize, the large one": must[compose.Allocator](t)(compose.NewBySize(8, list(), list())),
	}
	for name, a := range routes(t) {
		if name != "Manager" && name != "Tag" && name != "Worker" {
			all[name] = a
		}
	}
	return all
}

// A block is given to a Freer, then freed by its owner or by a Reset. Its address is allocated again before
// the drain. The drain of every target reports that and keeps the new block.
func TestStale_EveryTargetDetectsIt(t *testing.T) {
	if !invariant.Debug {
		return
	}
	for name, a := range freers(t) {
		for _, reset := range []bool{false, true} {
			r, ok := a.(memory.Resetter)
			if reset && (!ok || name == "Cache" || name == "Central") { // no Reset while a Cache is open
				continue
			}
			in := must[*remote.Inbox](t)(remote.New(a.(remote.Target), remote.Config{}))
			f := in.NewFreer()
			p := memtest.MustAlloc(t, a, 100, 16)
			f.FreeAny(p)
			if reset {
				r.Reset()
			} else {
				a.Free(p, 100)
			}
			var others []unsafe.Pointer
			for q := memtest.MustAlloc(t, a, 100, 16); q != p; q = memtest.MustAlloc(t, a, 100, 16) {
				if others = append(others, q); len(others) > 5000 {
					t.Fatalf("%s: 5000 blocks, and none at %p", name, p)
				}
			}
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			var found *memory.Misuse
			func() {
				defer func() { found, _ = recover().(*memory.Misuse) }()
				in.Drain()
			}()
			if found == nil || !strings.Contains(found.Reason, "stale free") {
				t.Errorf("%s, after a Reset %t: the drain says %v; want a stale free", name, reset, found)
				continue
			}
			a.Free(p, 100) // it is live
			for _, q := range others {
				a.Free(q, 100)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A type that frees blocks without their sizes counts them, too, so that every target detects stale frees.
func TestStale_EveryTargetIsGenerational(t *testing.T) {
	others := []string{
		"tiers.Manager", "tiers.Tag", "tiers.inboxFreer", // have Freers of their own
		"remote.Freer",                   // passes blocks to its inbox
		"guard.Allocator", "guard.Stomp", // keep freed blocks in quarantine
	}
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	has, found := map[string]bool{}, 0
	method := regexp.MustCompile(`(?m)^func \(\w+ \*?(\w+)\) (FreeAny|Generation)\(`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			has[filepath.Dir(file)+"."+m[1]+"."+m[2]] = true
		}
	}
	for name := range has {
		if of, ok := strings.CutSuffix(name, ".FreeAny"); ok {
			if found++; !has[of+".Generation"] && !slices.Contains(others, of) {
				t.Errorf("%s has FreeAny and no Generation: a remote.Inbox that frees into it detects no stale free", of)
			}
		}
	}
	if found < 12 {
		t.Errorf("%d types with FreeAny", found)
	}
}
