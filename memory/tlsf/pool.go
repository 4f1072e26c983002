package tlsf

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/page"
)

// maxPools is how many pools a Heap may have: a few budgets or kinds of memory, not a way to
// grow. Any pool but the first is found by comparing ranges, one after the other.
const maxPools = 16

// A pool is one reservation. Its blocks merge only with each other.
type pool struct {
	base   unsafe.Pointer // aligned to page.BaseAlign; nil once closed
	starts []uint32       // by granule, at least of what is committed: the live block that starts there, or 0
	mem    page.Prefix
	table  page.Table // of starts
}

// AddPool reserves another pool from src and commits no memory yet. The argument `bytes` is the size of the pool,
// rounded up as Config.Reserve. A nil src means page.Default(). If the system refuses so much, AddPool halves the size
// until the system agrees, but not below Config.Step. AddPool may copy the descriptors of all blocks. Blocks of
// different pools are never coalesced. The heap grows in the first pool that has space, in the order of AddPool. A heap
// has at most 16 pools. While it has more than one pool, Base returns nil.
//
// For a 17th pool, and if bytes is 0 or above the maximum of Config.Reserve, the error wraps memory.ErrConfig. If src
// fails, the error wraps the error of src. If AddPool returns an error, nothing has changed.
func (h *Heap) AddPool(src page.Source, bytes uintptr) error {
	if h.closed {
		return memory.ErrClosed
	}
	h.owner.Touch()
	return h.addPool(src, bytes, 0)
}

// addPool is AddPool, if the Go heap has space for so many descriptors.
func (h *Heap) addPool(src page.Source, bytes uintptr, descriptors int) error {
	if h.poolCount == maxPools {
		return fmt.Errorf("tlsf: add pool of %d bytes: want at most %d pools: %w", bytes, maxPools, memory.ErrConfig)
	}
	if bytes == 0 || uint64(bytes) > maxGranules<<h.grain {
		return fmt.Errorf("tlsf: add pool of %d bytes: want 1 to %d with a Granule of %d: %w", bytes, uint64(maxGranules)<<h.grain, h.config.Granule, memory.ErrConfig)
	}
	want := max(align.Up(bytes, max(h.config.Granule, page.Granule)), bytes) // bytes, if it wraps: the source refuses that
	mem, err := page.NewPrefixWithMetadata(src, want, min(h.config.Step, want), align.Up(h.config.Step, h.config.Granule),
		func(uintptr) uint64 { return uint64(descriptors) * blockBytes })
	if err != nil {
		return fmt.Errorf("tlsf: add pool of %d bytes: %w", bytes, err)
	}
	count := mem.Reserved() >> h.grain
	h.pools[h.poolCount] = pool{base: mem.Base(), mem: mem, table: page.NewTable(src, count*startBytes)}
	h.lives[h.poolCount].Open(mem.Base(), mem.Reserved(), uint(h.grain))
	h.pools[h.poolCount].mem.Watch(func() { _ = h.Close() }) // touches no block; what fails can be tried again
	h.poolCount++
	if most := h.mostBlocks() * blockBytes; h.blocks == nil {
		h.table = page.NewTable(src, most)
	} else {
		h.blocks = page.Widen(&h.table, h.blocks, most)
	}
	h.serve(max(h.limit, uintptr(min(uint64(count)<<h.grain, maxBytes))))
	return nil
}

// poolOf returns the pool whose reservation holds p, or nil.
func (h *Heap) poolOf(p unsafe.Pointer) *pool {
	for k := range h.poolCount {
		if pl := &h.pools[k]; pl.mem.Contains(p) {
			return pl
		}
	}
	return nil
}

// startOf returns the live block that starts at p, or 0.
func (h *Heap) startOf(p unsafe.Pointer) uint32 {
	pl := &h.pools[0]
	g := h.grain.Index(pl.base, p)
	if g < uint64(len(pl.starts)) {
		return pl.starts[g]
	}
	if pl = h.poolOf(p); pl == nil {
		return 0
	}
	if g = h.grain.Index(pl.base, p); g >= uint64(len(pl.starts)) {
		return 0
	}
	return pl.starts[g]
}

// reach lengthens the starts of a pool to granule end, and to what Ensure may commit beyond. So their size is
// proportional to the memory in use. If there is no memory for them, reach returns an error and has changed nothing.
func (h *Heap) reach(pl *pool, end uint32) error {
	reserved := pl.mem.Reserved() >> h.grain
	ahead := pl.mem.Ahead(h.grain.Bytes(end)) >> h.grain
	want := min(max(uintptr(end), ahead)+2*page.BaseAlign>>h.grain, reserved)
	have := uintptr(len(pl.starts))
	if want <= have {
		return nil
	}
	want = min(max(want, have+have/4), reserved)
	if !pl.table.Prepare(want * startBytes) {
		if err := page.ProbeHeap(want * startBytes); err != nil {
			return err
		}
	}
	pl.starts = page.Lengthen(&pl.table, pl.starts, want)
	return nil
}

// committed returns the granules that a pool has memory for.
func (h *Heap) committed(pl *pool) uint32 { return uint32(pl.mem.Committed() >> h.grain) }

// reserved returns the address space of all pools in bytes.
func (h *Heap) reserved() (bytes uintptr) {
	for k := range h.poolCount {
		bytes += h.pools[k].mem.Reserved()
	}
	return bytes
}

// grow commits memory in the first pool that can have a block of n granules at a multiple of
// step at its end. It returns the free block there, or 0 and the last refusal.
func (h *Heap) grow(n, step uint32) (uint32, error) {
	var refused error
	for k := range h.poolCount {
		i, err := h.growPool(k, n, step)
		if i != 0 || h.closed {
			return i, err
		}
		if err != nil {
			refused = err
		}
	}
	return 0, refused
}

// growPool is grow for pool k. It returns 0 and no error if the reservation has no addresses left.
func (h *Heap) growPool(k int, n, step uint32) (uint32, error) {
	pl := &h.pools[k]
	for {
		end := align.UpTo(h.tail(k), step) + n
		if uint64(end) > uint64(pl.mem.Reserved()>>h.grain) {
			return 0, nil
		}
		if err := h.reach(pl, end); err != nil {
			return 0, err
		}
		if err := pl.mem.Ensure(h.grain.Bytes(end)); err != nil {
			return 0, err
		}
		if h.closed { // by a function of the source
			return 0, memory.ErrClosed
		}
		i := h.extend(k, h.committed(pl))
		if i == 0 || !h.blocks[i].holds(n, step) {
			continue // a function of the source has allocated from it
		}
		if h.blocks[i].bin >= roomBin {
			i = h.halve(i, n, step)
		}
		return i, nil
	}
}

// tail returns where the free memory at the end of pool k starts, in granules.
func (h *Heap) tail(k int) uint32 {
	x := &h.blocks[h.blocks[k].prev]
	if x.state == free {
		return x.off
	}
	return x.off + x.size
}

// extend makes the memory up to granule end part of the free block at the end of pool k. It
// returns that block, or 0 when there is none.
func (h *Heap) extend(k int, end uint32) uint32 {
	i := h.blocks[k].prev
	x := &h.blocks[i]
	h.poison(k, x.off+x.size, end)
	if x.state == free {
		h.unlink(x)
		x.size = end - x.off
		h.relink(i, x)
		return i
	}
	off := x.off + x.size
	if off == end {
		return 0
	}
	j := h.newBlock()
	y := &h.blocks[j]
	*y = block{off: off, size: end - off, prev: i, next: uint32(k), pool: uint8(k)}
	h.blocks[i].next = j
	h.blocks[k].prev = j
	h.link(j, y)
	return j
}

// Trim coalesces the blocks that wait because of Config.QuickBytes. Then Trim returns the free memory at the end of
// each pool to the page source, in whole pages. The address space stays reserved. [Heap.TrimStep] returns memory
// between live blocks, too. If the function of page.Limit.OnSoft calls Trim during a commit for a pool, Trim returns no
// memory of this pool. If a page source fails, Trim continues with the other pools and returns the joined errors of the
// page sources. Cost: proportional to the waiting blocks, and a system call per pool. Each range that TrimStep has
// returned behind the last live block of a pool takes one more system call.
func (h *Heap) Trim() error {
	if h.closed {
		return memory.ErrClosed
	}
	h.owner.Touch()
	h.flushQuick()
	var errs []error
	for k := range h.poolCount {
		if h.pools[k].mem.Busy() {
			continue
		}
		if err := h.trimWhole(k); err != nil {
			errs = append(errs, fmt.Errorf("tlsf: trim pool %d: %w", k, err))
		}
	}
	return errors.Join(errs...)
}

// trimWhole returns the memory behind the last live block of pool k. It may lie in free blocks and between them.
func (h *Heap) trimWhole(k int) error {
	for {
		if err := h.cutDropped(k); err != nil {
			return err
		}
		if err := h.trimPool(k, h.grain.Bytes(h.tail(k))); err != nil {
			return err
		}
		if h.blocks[h.blocks[k].prev].state != dropped {
			return nil
		}
	}
}

// stillOpen returns err, the result of a call of a source. If the source of another pool has ended during the call, the
// error wraps memory.ErrClosed.
func (h *Heap) stillOpen(err error) error {
	switch {
	case !h.closed || errors.Is(err, memory.ErrClosed):
		return err
	case err == nil:
		return memory.ErrClosed
	}
	return fmt.Errorf("%w: %w", memory.ErrClosed, err)
}

// trimPool returns the memory of pool k behind the first keep bytes, of which all is free.
func (h *Heap) trimPool(k int, keep uintptr) error {
	pl := &h.pools[k]
	if err := h.stillOpen(pl.mem.Trim(keep)); err != nil {
		return err
	}
	i := h.blocks[k].prev
	x := &h.blocks[i]
	if x.state != free {
		return nil
	}
	h.unlink(x)
	x.size = h.committed(pl) - x.off
	if x.size > 0 {
		h.relink(i, x)
		return nil
	}
	h.blocks[x.prev].next = uint32(k)
	h.blocks[k].prev = x.prev
	h.discard(i, x)
	return nil
}
