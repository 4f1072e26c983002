package memtest

import (
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/page"
)

// TrimAnywhere trims at every ninth step of a program that allocates and frees in random order, so that trimmed memory
// is committed again. The memory of a must be one range, and a must be a memory.Trimmer, a memory.AnyFreer and a
// memory.StatsReporter. An error of Trim or Check fails the test. The function tail returns the end of the last live
// block, in bytes from the base of a. After a Trim only whole pages of page.Default() up to this end may be committed.
func TrimAnywhere(t testing.TB, a memory.Allocator, tail func() uintptr) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 11))
	shadow, unit := NewShadow(t), page.SizeOf(page.Default())
	for step := range 1500 {
		if grow := step/150%2 == 0; rng.IntN(8) > 2 == grow {
			size, al := uintptr(rng.UintN(8000)), uintptr(1)<<rng.IntN(13)
			if p, err := a.Alloc(size, al); err == nil {
				shadow.Add(p, size, al)
			}
		} else if n := len(shadow.Live()); n > 0 {
			b := shadow.Take(rng.IntN(n))
			a.(memory.AnyFreer).FreeAny(b.Ptr)
		}
		if step%9 != 0 {
			continue
		}
		if err := a.(trimmer).Trim(); err != nil {
			t.Fatal(err)
		}
		if s := stats(t, a); s.Committed > uint64(align.Up(tail(), unit)) {
			t.Fatalf("%d bytes committed, everything behind %d is free", s.Committed, tail())
		}
		check(t, a)
	}
	shadow.FreeAll(a)
}
