package guard

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
)

// Check returns the errors in the metadata, joined into one, or nil. Damage to blocks is included, as a *memory.Misuse
// for each. After 32 errors Check only counts the others. Check looks for damage only if the metadata has no errors. If
// inner is a memory.Checker, the errors of its Check are included. Check does not call OnFault. Check ends even if
// links form a cycle. Cost: proportional to the blocks and their bytes.
func (a *Allocator) Check() error {
	a.ended()
	c := checker{List: findings.List{Of: "guard"}, a: a, seen: make([]uint8, len(a.records))}
	for s := range anchorCount {
		c.ring(s)
	}
	c.spares()
	c.records()
	c.counters()
	if c.None() { // else the bytes may not be where the books say
		c.Join(a.damages("Check")...)
	}
	if k, ok := a.inner.(memory.Checker); ok {
		c.Join(k.Check())
	}
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	a    *Allocator
	seen []uint8 // by record: how often it was met

	named     int // records in rings
	liveCount uint64
	sum       books
}

// ring verifies invariant 1 for the records of state s, and adds them up.
func (c *checker) ring(s state) {
	records := c.a.records
	for prev, i := uint32(s), records[s].next; ; {
		if uint64(i) >= uint64(len(records)) {
			c.Add("ring %d: next of record %d leads to record %d of %d", s, prev, i, len(records))
			return
		}
		r := &records[i]
		if r.prev != prev {
			c.Add("ring %d: record %d has prev %d, but follows %d", s, i, r.prev, prev)
		}
		if i == uint32(s) {
			return
		}
		if c.seen[i]++; c.seen[i] > 1 || i < uint32(anchorCount) {
			c.Add("record %d is in a ring twice", i)
			return
		}
		if r.state != s {
			c.Add("record %d in ring %d has state %d", i, s, r.state)
		}
		c.named++
		c.sum.count(r, 1)
		if s == live {
			c.liveCount++
			if r.serial == 0 || r.serial > c.a.allocs {
				c.Add("record %d is of allocation %d of %d", i, r.serial, c.a.allocs)
			}
		}
		prev, i = i, r.next
	}
}

// spares verifies the rest of invariant 1.
func (c *checker) spares() {
	records := c.a.records
	for i := c.a.spare; i != 0; i = records[i].next {
		if uint64(i) >= uint64(len(records)) || i < uint32(anchorCount) {
			c.Add("the spare records lead to record %d of %d", i, len(records))
			return
		}
		if c.seen[i]++; c.seen[i] > 1 {
			c.Add("record %d is spare and met before", i)
			return
		}
		if records[i].state != spare {
			c.Add("record %d is spare and has state %d", i, records[i].state)
		}
	}
	for i := int(anchorCount); i < len(records); i++ {
		if c.seen[i] == 0 {
			c.Add("record %d is lost", i)
		}
	}
}

// records verifies invariants 2 and 3.
func (c *checker) records() {
	a := c.a
	for i := int(anchorCount); i < len(a.records); i++ {
		r := &a.records[i]
		if r.state == spare {
			continue
		}
		if got, ok := a.names[r.addr]; !ok || int(got) != i {
			c.Add("address %#x of record %d names record %d", r.addr, i, got)
		}
		if wanted := r.state != gone; wanted != (r.block != nil) || wanted && uintptr(r.block) != r.addr {
			c.Add("record %d in state %d of the block at %#x has memory at %p", i, r.state, r.addr, r.block)
		}
		if n := uint64(len(a.sites.list)); uint64(r.allocSite) >= n || uint64(r.freeSite) >= n {
			c.Add("record %d names call sites %d and %d of %d", i, r.allocSite, r.freeSite, n)
		}
		if uintptr(r.back) != a.cfg.CanaryBytes || uintptr(r.front) < a.cfg.CanaryBytes {
			c.Add("record %d has canaries of %d and %d bytes, configured are %d", i, r.front, r.back, a.cfg.CanaryBytes)
		}
	}
	if len(a.names) != c.named {
		c.Add("%d addresses are known for %d records", len(a.names), c.named)
	}
}

// counters verifies invariants 4 to 6.
func (c *checker) counters() {
	a := c.a
	if a.inUse != c.sum.inUse || a.requested != c.sum.requested {
		c.Add("%d bytes in use, %d requested; the live records sum to %d and %d", a.inUse, a.requested, c.sum.inUse, c.sum.requested)
	}
	if a.held != c.sum.held || a.held > a.cfg.QuarantineBytes {
		c.Add("the quarantine holds %d bytes of %d, its records sum to %d", a.held, a.cfg.QuarantineBytes, c.sum.held)
	}
	if a.goneCount != c.sum.goneCount || a.goneCount > a.cfg.History {
		c.Add("%d of %d records are gone, the ring has %d", a.goneCount, a.cfg.History, c.sum.goneCount)
	}
	if a.allocs-a.frees != c.liveCount {
		c.Add("%d allocations less %d frees, but %d blocks are live", a.allocs, a.frees, c.liveCount)
	}
	if a.inUse > a.peak {
		c.Add("%d bytes in use are above the peak of %d", a.inUse, a.peak)
	}
}
