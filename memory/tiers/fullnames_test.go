package tiers

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A program with many allocators must learn from the error which of them is full, and which field would help.
func TestFull_TheErrorNamesTheTierAndItsLimit(t *testing.T) {
	const some = 1 << 20
	for _, c := range []struct {
		name   string
		config Config
		want   [Count]string
	}{
		{"budget", Config{Budget: [Count]uintptr{Frame: some, Level: some, Slab: some, Large: some, Inbox: some}}, [Count]string{
			Frame: "tiers: no space in the frame's buffer of 524288 bytes; raise Config.Reserve[Frame], and Budget[Frame]",
			Level: "tiers: level: budget: out of memory: need ",
			Slab:  "tiers: slab: budget: out of memory: need ",
			Large: "tiers: large: budget: out of memory: need ",
			Inbox: "tiers: inbox of worker 1: budget: out of memory: need ",
		}},
		{"reservation", Config{Reserve: [Count]uintptr{Frame: some, Level: some, Slab: some, Large: some, Inbox: some}}, [Count]string{
			Frame: "tiers: no space in the frame's buffer of ",
			Level: "tiers: level: reservation: out of memory: need ",
			Slab:  "tiers: slab: reservation: out of memory: need ",
			Large: "tiers: large: alloc: out of memory: need ",
			Inbox: "tiers: inbox of worker 1: alloc: out of memory: need ",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManager(t, c.config)
			must(t, m.BeginLevel())
			must(t, m.NextFrame())
			allocs := [Count]func(size, al uintptr) (unsafe.Pointer, error){
				Frame: m.Frame().Alloc, Level: m.Level().Alloc, Slab: m.Alloc, Large: m.Alloc, Inbox: m.Worker(1).Alloc,
			}
			for tier, alloc := range allocs {
				if alloc == nil {
					continue
				}
				size := uintptr(5000)
				if Tier(tier) == Slab {
					size = 64
				}
				var err error
				for err == nil {
					_, err = alloc(size, 8)
				}
				if !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), c.want[tier]) {
					t.Errorf("%s: %v\nwant %q", Tier(tier), err, c.want[tier])
				}
			}
			scratch, err := m.Worker(0).BeginTask()
			must(t, err)
			_, err = scratch.Alloc(scratch.Available()+1, 1)
			if want := "tiers: no space in the task's scratch of 262144 bytes; raise Config.Scratch: "; !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("scratch: %v\nwant %q", err, want)
			}
			m.Worker(0).EndTask()
		})
	}
}

func TestFull_AFrameWithoutMemoryNamesTheBudget(t *testing.T) {
	m := newManager(t, Config{})
	must(t, m.SetBudget(Frame, 64<<10))
	must(t, m.NextFrame())
	_, err := m.Frame().Alloc(100, 8)
	if want := "tiers: frame: budget: out of memory: need "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), " of 65536") {
		t.Errorf("%v, want %s", err, want)
	}
	must(t, m.SetBudget(Frame, 64<<20))
	for range 3 {
		must(t, m.NextFrame())
	}
	_, err = m.Frame().Alloc(100, 8)
	must(t, err)
}
