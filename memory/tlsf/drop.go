package tlsf

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Free memory in the middle of a pool can be returned to the page source, too, see [Heap.TrimStep]. A returned run of
// pages is a block of its own, which is neither live nor free: it does not merge, and it is on no list by size. So the
// fast paths never meet it. The slow path of Alloc commits such memory again, as far as the request needs, before the
// pool grows. The same does a block that grows in place.
const (
	// dropBin is the anchor of the list of dropped blocks: no block is so large that it has this bin.
	dropBin = roomBin - binsPer

	// maxDrops bounds the list, and so the search before a pool grows. With so many it takes 3 µs, and 9 µs if the
	// descriptors are in no cache: less than the page faults of the memory that the pool then commits.
	maxDrops = 1024
)

// TrimStep returns at most `most` bytes of free memory to the page source. If a page or Config.Granule is larger than
// `most`, TrimStep may return one page or granule nevertheless. The first steps return memory at the end of a pool.
// Further steps return memory in one of the largest free blocks. The result is the number of returned bytes. It is 0 if
// there is no whole free page at the end of a pool or in that block. A heap has at most 1,024 ranges of returned memory
// between its blocks. If it has 1,024, TrimStep returns only memory at the end of pools. Blocks that wait because of
// Config.QuickBytes are not returned.
//
// If the source prefers a boundary for commits, as with huge pages, the bytes between two boundaries count as a page.
// Alloc and Resize commit returned memory again when they need it. If the function of page.Limit.OnSoft calls TrimStep
// during a commit for a pool, TrimStep does not change this pool.
//
// If the page source fails, the error wraps the source's error, no block has changed, and no memory was returned. Cost:
// constant, and a call of the source. After a failed load, TrimStep may call the source a second time, to return memory
// that the load has left committed. The result does not count this memory.
func (h *Heap) TrimStep(most uintptr) (uintptr, error) {
	if h.closed {
		return 0, memory.ErrClosed
	}
	h.owner.Touch()
	n, err := h.trimEnds(most)
	if n == 0 && err == nil {
		n, err = h.dropLargest(most)
	}
	if err != nil {
		return 0, fmt.Errorf("tlsf: trim step: %w", err)
	}
	return n, nil
}

// TakePeak returns the highest InUse of Stats, in bytes, since the last TakePeak or since New. It does not change Peak
// of Stats.
func (h *Heap) TakePeak() uintptr { return h.grain.Bytes(uint32(h.counts.TakePeak())) }

// dropped returns the bytes of all pools that TrimStep has returned and that were not committed again.
func (h *Heap) dropped() (bytes uintptr) {
	for k := range h.poolCount {
		bytes += h.pools[k].mem.Dropped()
	}
	return bytes
}

// trimEnds returns at most that many bytes at the end of the first pool that has a free page there.
func (h *Heap) trimEnds(most uintptr) (uintptr, error) {
	for k := range h.poolCount {
		mem := &h.pools[k].mem
		if mem.Busy() {
			continue
		}
		held := mem.Committed() - mem.Dropped()
		if err := h.cutDropped(k); err != nil {
			return 0, err
		}
		if n := held - (mem.Committed() - mem.Dropped()); n > 0 {
			return n, nil // behind the last whole granule
		}
		end := mem.Committed()
		_, keep := mem.Around(0, h.grain.Bytes(h.tail(k)))
		if keep < end && end-keep > most {
			if _, keep = mem.Around(0, end-most); keep == end { // a unit is larger
				keep, _ = mem.Around(end-1, end)
			}
		}
		if keep >= end {
			continue
		}
		if err := h.trimPool(k, keep); err != nil {
			return 0, err
		}
		if n := end - mem.Committed(); n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// cutDropped removes the dropped block at the end of pool k, if there is one. That needs a call of the source only if
// bytes behind the last whole granule are committed.
func (h *Heap) cutDropped(k int) error {
	i := h.blocks[k].prev
	x := &h.blocks[i]
	if x.state != dropped {
		return nil
	}
	if err := h.stillOpen(h.pools[k].mem.Trim(h.grain.Bytes(x.off))); err != nil {
		return err
	}
	h.unlinkDropped(x)
	h.blocks[x.prev].next = uint32(k)
	h.blocks[k].prev = x.prev
	h.discard(i, x)
	return nil
}

// dropLargest returns the far end of the largest free block, at most that many bytes of it.
func (h *Heap) dropLargest(most uintptr) (uintptr, error) {
	i := h.blocks[h.bins.highest()].nextFree
	for taken := h.bins.lists[roomLevel]; taken != 0; taken &= taken - 1 {
		if j := h.room(taken); i == 0 || h.blocks[j].size > h.blocks[i].size {
			i = j
		}
	}
	if i == 0 || h.drops == maxDrops {
		return 0, nil
	}
	x := &h.blocks[i]
	mem := &h.pools[x.pool].mem
	if mem.Busy() {
		return 0, nil
	}
	from, to := mem.Droppable(h.grain.Bytes(x.off), h.grain.Bytes(x.off+x.size))
	most = max(most, h.config.Granule) // blocks begin at whole ones
	if to-from > most {
		if first, last := mem.Droppable(to-most, to); first < last {
			from = first
		} else { // a unit is larger
			from, _ = mem.Around(to-1, to)
		}
	}
	if from = align.Up(from, h.config.Granule); from >= to {
		return 0, nil
	}
	if err := h.drop(i, from, to); err != nil {
		return 0, err
	}
	return to - from, nil
}

// drop takes the bytes [from, to) out of the free block i and returns them to the source. They are out of reach while
// the source is called, and free again if it fails or panics.
func (h *Heap) drop(i uint32, from, to uintptr) error {
	start, end := uint32(from>>h.grain), uint32(to>>h.grain)
	x := &h.blocks[i]
	pool, bin := int(x.pool), x.bin
	h.unlink(x)
	if x.off < start {
		front := i
		x = h.split(i, start-x.off)
		i = x.next
		if bin >= roomBin { // the headroom of the block in front
			x.bin = bin
		}
		h.relink(front, x)
		h.unlink(&h.blocks[i])
	}
	if x = &h.blocks[i]; x.off+x.size > end {
		x = h.split(i, end-start)
	}
	h.linkDropped(i, x)
	done := false
	defer func() {
		if !done && !h.closed && h.blocks[i].state == dropped {
			x := &h.blocks[i]
			h.unlinkDropped(x)
			h.coalesce(i, x)
		}
	}()
	if err := h.stillOpen(h.pools[pool].mem.Drop(from, to-from)); err != nil {
		return err
	}
	done = true
	h.joinDropped(i)
	return nil
}

// joinDropped merges the dropped block i with dropped neighbours.
func (h *Heap) joinDropped(i uint32) {
	x := &h.blocks[i]
	if j := x.next; h.blocks[j].state == dropped {
		h.unlinkDropped(&h.blocks[j])
		h.absorb(i, x, j, &h.blocks[j])
	}
	if j := x.prev; h.blocks[j].state == dropped {
		h.unlinkDropped(x)
		y := &h.blocks[j]
		h.absorb(j, y, i, x)
		x = y
	}
	x.bin = uint16(binOf(x.size))
}

func (h *Heap) linkDropped(i uint32, x *block) {
	head := h.blocks[dropBin].nextFree
	h.blocks[dropBin].nextFree, h.blocks[head].prevFree = i, i
	x.prevFree, x.nextFree = dropBin, head
	x.bin = uint16(binOf(x.size))
	x.state = dropped
	h.drops++
}

// unlinkDropped takes a dropped block off the list. The caller gives it its next state.
func (h *Heap) unlinkDropped(x *block) {
	h.blocks[x.prevFree].nextFree = x.nextFree
	h.blocks[x.nextFree].prevFree = x.prevFree
	h.drops--
}

// more commits memory for a free block of n granules at a multiple of step: dropped memory, or else at the end of a
// pool. It returns the block, or 0 and the last refusal.
func (h *Heap) more(n, step uint32) (uint32, error) {
	i, refused := h.refill(n, step)
	if i != 0 {
		return i, nil
	}
	if h.closed { // by a function of the source
		return 0, memory.ErrClosed
	}
	if i, err := h.grow(n, step); i != 0 || err != nil {
		return i, err
	}
	return 0, refused // no addresses are left, but the source refuses what is there
}

// refill commits dropped memory again for n granules at a multiple of step, and returns a free block that has them, or
// 0 and the refusal of the source. Cost: a search proportional to the dropped blocks, and a call of the source for each
// one that is needed.
func (h *Heap) refill(n, step uint32) (uint32, error) {
	if h.drops == 0 {
		return 0, nil
	}
	pool, start, _ := h.smallestRun(n, step)
	if pool < 0 {
		return 0, nil
	}
	at := align.UpTo(start, step)
	if err := h.fillRange(pool, at, at+n); err != nil {
		return 0, err
	}
	return h.find(n, step), nil
}

// smallestRun returns the pool and the first granule of the smallest run that has n granules at a multiple of step. A
// run consists of free and dropped blocks and ends with its region of them. It begins with a dropped block, or with the
// free block in front of one. The pool is -1 if there is no run. seen counts the blocks that the search has looked at:
// at most five for each dropped block.
func (h *Heap) smallestRun(n, step uint32) (pool int, start uint32, seen int) {
	pool = -1
	least := ^uint32(0)
	for i := h.blocks[dropBin].nextFree; i != dropBin; i = h.blocks[i].nextFree {
		x := &h.blocks[i]
		seen++
		if y := &h.blocks[x.prev]; y.state == free && h.blocks[y.prev].state == dropped {
			continue // in the region of a dropped block in front
		}
		end := x.off
		for y := x; y.state == free || y.state == dropped; y = &h.blocks[y.next] {
			end += y.size
			seen++
		}
		for y := x; y.state == free || y.state == dropped; y = &h.blocks[y.next] {
			seen++
			from := y.off
			if z := &h.blocks[y.prev]; z.state == free {
				from = z.off
			}
			if size := end - from; y.state == dropped && size < least && align.UpTo(from, step)-from+n <= size {
				pool, start, least = int(y.pool), from, size
			}
		}
	}
	return pool, start, seen
}

// fillRange commits what is dropped of the granules from start to end of a pool.
func (h *Heap) fillRange(pool int, start, end uint32) error {
	for {
		i := h.droppedIn(pool, start, end)
		if i == 0 {
			return nil
		}
		if err := h.fill(i, start, end); err != nil {
			return err
		}
	}
}

// droppedIn returns a dropped block that has some of the granules from start to end of a pool, or 0.
func (h *Heap) droppedIn(pool int, start, end uint32) uint32 {
	for i := h.blocks[dropBin].nextFree; i != dropBin; i = h.blocks[i].nextFree {
		if x := &h.blocks[i]; int(x.pool) == pool && x.off < end && x.off+x.size > start {
			return i
		}
	}
	return 0
}

// fill commits the part of the dropped block i in the granules from start to end, and makes it free. If i has so many
// bytes, it commits at least Config.Step. If that is refused, it tries what is needed, unless that is the same range.
func (h *Heap) fill(i, start, end uint32) error {
	pool := int(h.blocks[i].pool)
	from, to := h.rangeIn(i, start, end, h.config.Step)
	err := h.commitDropped(pool, from, to)
	if err == nil || h.closed {
		return err
	}
	if i = h.droppedIn(pool, start, end); i == 0 { // a function of OnSoft
		return err
	}
	least, most := h.rangeIn(i, start, end, 0)
	if least == from && most == to {
		return err
	}
	return h.commitDropped(pool, least, most)
}

// rangeIn returns the bytes of the dropped block i to commit for the granules from start to end, and for step bytes.
func (h *Heap) rangeIn(i, start, end uint32, step uintptr) (from, to uintptr) {
	x := &h.blocks[i]
	lo := h.grain.Bytes(max(start, x.off))
	from, to = h.pools[x.pool].mem.Around(lo, max(h.grain.Bytes(end), lo+step))
	from = max(align.Down(from, h.config.Granule), h.grain.Bytes(x.off))
	to = min(align.Up(to, h.config.Granule), h.grain.Bytes(x.off+x.size))
	return from, to
}

// commitDropped commits the dropped bytes [from, to) of a pool, and makes them free.
func (h *Heap) commitDropped(pool int, from, to uintptr) error {
	if err := h.pools[pool].mem.Fill(from, to-from); err != nil {
		return err
	}
	if h.closed { // by a function of the source
		return memory.ErrClosed
	}
	lo, end := uint32(from>>h.grain), uint32(to>>h.grain)
	// A function of OnSoft may have freed blocks, or all by Reset: but what was dropped still is, in some block.
	h.undrop(h.droppedIn(pool, lo, end), lo, end)
	return nil
}

// undrop makes the granules from start to end of the dropped block i, which are committed again, free. The rest stays
// dropped.
func (h *Heap) undrop(i, start, end uint32) {
	x := &h.blocks[i]
	h.unlinkDropped(x)
	if rest := x.off + x.size - end; rest > 0 {
		j := h.cut(i, x.size-rest)
		h.linkDropped(j, &h.blocks[j])
	}
	if front := start - h.blocks[i].off; front > 0 {
		j := h.cut(i, front)
		h.linkDropped(i, &h.blocks[i])
		i = j
	}
	x = &h.blocks[i]
	h.poison(int(x.pool), start, end)
	h.coalesce(i, x)
}

// cut cuts i, which is on no list, after n granules, and returns the rest, which is on no list either.
func (h *Heap) cut(i, n uint32) uint32 {
	j := h.newBlock()
	x, y := &h.blocks[i], &h.blocks[j]
	*y = block{off: x.off + n, size: x.size - n, prev: i, next: x.next, pool: x.pool}
	h.blocks[x.next].prev = j
	x.next, x.size = j, n
	return j
}

// fillBehind commits dropped memory behind the live block i, so that it can grow to n granules. It does nothing if the
// free and dropped blocks there are too few and do not reach the end of the pool. It returns false if a function of the
// source has changed i.
func (h *Heap) fillBehind(i, n uint32) bool {
	x := &h.blocks[i]
	k := int(x.pool)
	end := x.off + x.size
	for y := &h.blocks[x.next]; y.state == free || y.state == dropped; y = &h.blocks[y.next] {
		end += y.size
	}
	if end < x.off+n && end < h.committed(&h.pools[k]) {
		return true
	}
	off, req, size := x.off, x.req, x.size
	_ = h.fillRange(k, off, off+n) // if it fails, the block moves
	return !h.closed && h.unchanged(i, req, size) && h.blocks[i].off == off
}

// layOut makes the blocks of an empty pool: free ones, and dropped ones where the pages are.
func (h *Heap) layOut(k int) {
	mem := &h.pools[k].mem
	for off := uintptr(0); off < mem.Committed(); {
		from, to := mem.NextHole(off)
		if from > off {
			h.extend(k, uint32(from>>h.grain))
		}
		if from < to {
			j := h.newBlock()
			last := h.blocks[k].prev
			h.blocks[j] = block{off: uint32(from >> h.grain), size: uint32((to - from) >> h.grain), prev: last, next: uint32(k), pool: uint8(k)}
			h.blocks[last].next, h.blocks[k].prev = j, j
			h.linkDropped(j, &h.blocks[j])
		}
		off = to
	}
}
