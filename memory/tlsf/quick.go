package tlsf

// quick defers coalescing (Weinstock's "quick lists"): a freed block waits on the stack of
// its bin for a request of that bin, and is merged only when it must be. Requests are rounded
// up to whole bins, so that every block of a stack serves every request of its bin.
type quick struct {
	heads  [binCount]uint32 // newest waiting block of each bin, linked by nextFree
	held   uint64           // granules that wait
	budget uint64           // the most granules that may wait
}

// pop takes the newest waiting block of bin b, or returns 0.
func (q *quick) pop(blocks []block, b uint32) uint32 {
	i := q.heads[b&(binCount-1)]
	if i != 0 {
		x := &blocks[i]
		q.heads[b&(binCount-1)] = x.nextFree
		q.held -= uint64(x.size)
	}
	return i
}

// push has a freed block wait, if the budget allows it.
func (q *quick) push(i uint32, x *block) bool {
	held := q.held + uint64(x.size)
	if held > q.budget {
		return false
	}
	b := x.bin & (binCount - 1)
	x.state = waiting
	x.nextFree = q.heads[b]
	q.heads[b] = i
	q.held = held
	return true
}

// flushQuick merges everything that waits, and returns a block that has come of it with n
// granules at a multiple of step, or 0. Cost: proportional to the blocks that wait.
func (h *Heap) flushQuick(n, step uint32) (found uint32) {
	q := h.quick
	if q == nil || q.held == 0 {
		return 0
	}
	for b := range q.heads {
		for i := q.heads[b]; i != 0; {
			x := &h.blocks[i]
			next := x.nextFree
			// What is found later may have absorbed what was found before, and then fits, too.
			if i = h.coalesce(i, x); h.blocks[i].holds(n, step) {
				found = i
			}
			i = next
		}
		q.heads[b] = 0
	}
	q.held = 0
	return found
}

// largestWaiting returns the granules of the largest block that flushQuick would make. Cost:
// proportional to the blocks that wait, each of which is met once.
func (h *Heap) largestWaiting() (most uint32) {
	for _, i := range h.quick.heads {
		for ; i != 0; i = h.blocks[i].nextFree {
			most = max(most, h.runFrom(i))
		}
	}
	return most
}

// runFrom returns the granules of all blocks around the waiting block i that are not live, or
// 0 if another one that waits is in front of i: no two free blocks are neighbours, so it is one
// or two places away.
func (h *Heap) runFrom(i uint32) (granules uint32) {
	first := &h.blocks[i]
	if front := &h.blocks[first.prev]; front.state == free {
		granules, first = front.size, front
	}
	if h.blocks[first.prev].state == waiting {
		return 0
	}
	for x := &h.blocks[i]; x.state == waiting || x.state == free; x = &h.blocks[x.next] {
		granules += x.size
	}
	return granules
}
