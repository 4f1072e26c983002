package main

import (
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// subjects are all allocator types, with each configuration that changes their algorithm.
func subjects() []subject {
	all := []subject{
		{"linear", openLinear}, {"growing", openGrowing}, {"stepback", openStepBack}, {"frames", openFrames},
		{"region", one(region)},
		{"stack", openStack}, {"double", openDouble}, {"pivot", openPivot},
		{"blocks", one(blocks)}, {"pool", openPool}, {"split", openSplit},
		{"buddy-binary", one(buddies(buddy.Binary))}, {"buddy-fibonacci", one(buddies(buddy.Fibonacci))},
		{"tlsf", one(fit(false))}, {"tlsf-quick", one(fit(true))},
	}
	for p := freelist.FirstFit; ; p++ { // as many policies as there are
		h, err := freelist.New(nil, freelist.Config{Reserve: 1 << 16, Policy: p})
		if err != nil {
			break
		}
		h.Close()
		all = append(all, subject{"freelist-" + lower(p.String()), one(list(p))})
	}
	for t := slab.Geometric; t.Sizes(4096) != nil; t++ {
		all = append(all, subject{"slab-" + lower(t.String()), one(classes(t))})
	}
	return append(all,
		subject{"caches", openCaches},
		subject{"remote-slab", openRemote(classes(slab.Geometric))}, subject{"remote-tlsf", openRemote(fit(false))},
		subject{"compact", openCompact},
		subject{"guard", one(guarded)},
		subject{"plan", openPlan},
		subject{"tiers", openTiers},
	)
}

// one returns the opener of a heap model without a backing allocator of its own.
func one(open func(*segment, page.Source) heapConfig) func(*segment) model {
	return func(s *segment) model { return newHeap(s, open(s, nil)) }
}

// up rounds n up to a multiple of a power of two.
func up(n, unit uintptr) uintptr { return (n + unit - 1) &^ (unit - 1) }

func region(s *segment, src page.Source) heapConfig {
	bytes := uintptr(16<<10) << s.n(4)
	r, err := arena.NewRegion(src, arena.RegionConfig{RegionBytes: bytes, Reserve: bytes * s.between(4, 64)})
	s.must("NewRegion", err)
	return heapConfig{
		a: r, shift: 4, most: 1024, aligns: 256, blocks: 2000,
		cost:  func(size, align uintptr) uintptr { return up(max(size, 1), 16) + align },
		slack: func() uint64 { return r.Stats().Committed }, // the dead beside the living
	}
}

func blocks(s *segment, src page.Source) heapConfig {
	size, align := s.between(1, 400), s.align(256)
	b, err := pool.NewBlocks(src, pool.BlocksConfig{Size: size, Align: align, Capacity: 1 + s.n(5000)})
	s.must("NewBlocks", err)
	return heapConfig{
		a: b, shift: 4, most: size, aligns: align, blocks: 6000,
		cost: func(uintptr, uintptr) uintptr { return b.Size() },
	}
}

func list(p freelist.Policy) func(*segment, page.Source) heapConfig {
	return func(s *segment, src page.Source) heapConfig {
		granule := uintptr(16) << s.n(5)
		h, err := freelist.New(src, freelist.Config{Reserve: s.between(512<<10, 4<<20), Policy: p, Granule: granule})
		s.must("New", err)
		return heapConfig{
			a: h, shift: 4, most: 8 << 10, aligns: 4096, blocks: 300, exact: true,
			cost: func(size, _ uintptr) uintptr { return up(max(size, 1), granule) },
		}
	}
}

func buddies(system buddy.System) func(*segment, page.Source) heapConfig {
	return func(s *segment, src page.Source) heapConfig {
		least := uintptr(16) << s.n(6)
		h, err := buddy.New(src, buddy.Config{Reserve: s.between(1<<20, 8<<20), MinBlock: least, System: system})
		s.must("New", err)
		return heapConfig{
			a: h, shift: 4, most: 32 << 10, aligns: 4096, blocks: 1500, exact: true,
			// Less than half of a block is wasted, unless padding keeps it from being split.
			cost: func(size, align uintptr) uintptr { return 2 * (up(max(size, 1), least) + max(align, least)) },
		}
	}
}

func fit(quick bool) func(*segment, page.Source) heapConfig {
	return func(s *segment, src page.Source) heapConfig {
		cfg := tlsf.Config{Reserve: s.between(1<<20, 16<<20), Granule: 16 << s.n(7), Step: s.between(1, 1<<20), Blocks: 1 + s.n(100)}
		bins := uintptr(0)
		if quick {
			cfg.QuickBytes = s.between(1, 512<<10)
			bins = 1
		}
		h, err := tlsf.New(src, cfg)
		s.must("New", err)
		return heapConfig{
			a: h, shift: 4, most: 32 << 10, aligns: 4096, blocks: 2000, exact: true,
			// Quick stacks round up to whole bins, 16 of them per doubling.
			cost: func(size, _ uintptr) uintptr {
				n := up(max(size, 1), cfg.Granule)
				return n + bins*up(n/16, cfg.Granule)
			},
		}
	}
}

func classes(t slab.ClassTable) func(*segment, page.Source) heapConfig {
	return func(s *segment, src page.Source) heapConfig {
		most := s.between(64, 4096)
		if s.one(4) {
			most = s.between(4097, 16<<10)
		}
		if t == slab.Step16 {
			most = min(most, 4096)
		}
		h, err := slab.New(src, slab.Config{Reserve: s.between(8<<20, 32<<20), MaxSize: most, Classes: t})
		s.must("New", err)
		return heapConfig{
			a: h, shift: 4, most: most, aligns: 4096, blocks: 4000,
			// Every ladder at least doubles, and a page serves the widest alignments.
			cost: func(size, align uintptr) uintptr {
				return max(2*up(max(size, 1), 16), 2*up(size, align), 4096*((align+4095)/4096))
			},
		}
	}
}

func guarded(s *segment, src page.Source) heapConfig {
	h, err := tlsf.New(src, tlsf.Config{Reserve: 16 << 20, Granule: 16})
	s.must("tlsf.New", err)
	canary := s.between(1, 64)
	g, err := guard.New(h, guard.Config{CanaryBytes: canary, QuarantineBytes: s.between(0, 256<<10), History: 1 + s.n(2000), Frames: 1})
	s.must("New", err)
	return heapConfig{
		a: g, shift: 0, most: 2048, aligns: 1024, blocks: 500, exact: true,
		cost: func(size, align uintptr) uintptr { return size + 2*up(canary, 16) + 2*align + 32 },
	}
}

// lower is a name as the command line writes it.
func lower(name string) string {
	b := []byte(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		} else if c == ' ' {
			b[i] = '-'
		}
	}
	return string(b)
}
