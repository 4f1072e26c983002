package tiers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// cramped is a source that refuses what is larger than room, as the system does under a limit on
// address space.
type cramped struct {
	page.Source
	room    uintptr
	refused int
}

func (c *cramped) Reserve(size uintptr) (page.Memory, error) {
	if size > c.room {
		c.refused++
		return page.Memory{}, &memory.Exhausted{Op: "cramped: reserve", Need: size, Limit: c.room, Cause: errors.New("no room")}
	}
	return c.Source.Reserve(size)
}

func TestNew_ShrinksEveryTierUntilTheSystemHasRoom(t *testing.T) {
	for _, room := range []uintptr{1 << 30, 300 << 20, 100 << 20, smallest() + 10<<20, smallest() + 1<<20} {
		if arena.RestingFrames > 0 && room < 30<<20 {
			continue // these frames alone are more
		}
		src := &cramped{Source: page.Default(), room: room}
		m, err := New(Config{Source: src, GC: gcpace.Config{Keep: true}, Budget: [Count]uintptr{Level: 3 << 20}})
		must(t, err)
		total := uintptr(0)
		want, err := Config{}.withDefaults()
		must(t, err)
		for range src.refused {
			want.shrink()
		}
		for tier := range Tier(Count) {
			n, asked := m.cfg.reserved(tier), want.reserved(tier)
			if n != asked || n < 1<<20 || m.cfg.Budget[tier] > n {
				t.Errorf("room for %d: %s has %d bytes of %d after %d refusals, and a budget of %d", room, tier, n, asked, src.refused, m.cfg.Budget[tier])
			}
			if got := m.Stats(tier).Reserved; got != uint64(n) {
				t.Errorf("room for %d: %s says that %d bytes are reserved, and %d are", room, tier, got, n)
			}
			total += n
		}
		if total > room || total < room*4/5 && src.refused > 0 && room > 100<<20 || m.cfg.Budget[Level] != min(3<<20, m.cfg.Reserve[Level]) {
			t.Errorf("room for %d: %d bytes taken, %d of budget", room, total, m.cfg.Budget[Level])
		}
		must(t, m.Check())
		must(t, m.BeginFrame())
		for _, a := range []memory.Allocator{m, m.Frame(), m.Worker(1)} {
			if _, err := a.Alloc(10_000, 16); err != nil {
				t.Errorf("room for %d: %v", room, err)
			}
		}
		must(t, m.EndFrame())
		must(t, m.Close())
	}
}

// smallest returns the least reservation for two frames and two workers.
func smallest() uintptr {
	c := Config{Frames: 2, Workers: 2, Scratch: 256 << 10}
	for t := range c.Reserve {
		c.Reserve[t] = regionBytes
	}
	total, _ := c.total()
	return total
}

func TestNew_SaysWhatWasAskedForAndWhatIsTheLeast(t *testing.T) {
	src := &cramped{Source: page.Default(), room: 8 << 20}
	for frames, least := range map[int]uintptr{2: smallest(), 64: smallest() + 4<<20} {
		cfg := Config{Frames: frames, Workers: 2, Scratch: 256 << 10}
		for tier := range Tier(Count) {
			cfg.Reserve[tier] = tier.Info().Reserve
		}
		asked, err := cfg.total()
		must(t, err)
		if arena.RestingFrames > 0 { // their addresses make it more
			for cfg.shrink() {
			}
			least, err = cfg.total()
			must(t, err)
		}
		_, err = New(Config{Source: src, GC: gcpace.Config{Keep: true}, Frames: frames})
		want := fmt.Sprintf("tiers: reserve: %d bytes were requested, and %d, the least for these tiers, are refused, too: cramped: reserve", asked, least)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	limited, err := page.NewCarve(page.Default(), reserveOf(t, 64<<20))
	must(t, err)
	defer limited.Close()
	if _, err := New(Config{Source: limited, GC: gcpace.Config{Keep: true}}); err == nil || !strings.Contains(err.Error(), "page: carve") {
		t.Errorf("a Carve that is too small is no reason to shrink: %v", err)
	}
}

func reserveOf(t *testing.T, size uintptr) page.Memory {
	m, err := page.Default().Reserve(size)
	must(t, err)
	t.Cleanup(func() { must(t, page.Default().Release(m)) })
	return m
}

// Under a limit on address space the manager is as large as there is room for, beside the Go heap,
// or an error says that there is none; filling it ends in errors, too.
func TestNew_UnderALimitOnAddressSpace(t *testing.T) {
	if !memtest.UnderUlimit(t, 4<<20, 1<<20, 896<<10, 832<<10, 800<<10, 768<<10, 736<<10) {
		return
	}
	m, err := New(Config{GC: gcpace.Config{Keep: true}})
	if err != nil && strings.Contains(err.Error(), fmt.Sprintf("bytes were requested, and %d, the least for these tiers, are refused, too", smallest())) {
		t.Logf("not even %d MiB can be reserved", smallest()>>20)
		return
	}
	must(t, err)
	total := uintptr(0)
	for tier := range Tier(Count) {
		total += m.cfg.reserved(tier)
	}
	t.Logf("%d MiB reserved", total>>20)
	must(t, m.BeginFrame())
	for _, size := range []uintptr{16, 3000, 100_000} {
		for _, a := range []memory.Allocator{m, m.Frame(), m.Worker(0)} {
			err := error(nil)
			for n := 0; err == nil && n < 8<<20/int(size); n++ {
				_, err = a.Alloc(size, 16)
			}
			if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
				t.Errorf("%v", err)
			}
		}
	}
	must(t, m.EndFrame())
	must(t, m.Close())
}
