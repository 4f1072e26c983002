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

// flushQuick merges everything that waits and reports whether anything did. Cost: proportional
// to the blocks that wait. Doing so before the heap grows would keep it smaller, and made
// replacing blocks of 4 to 256 KiB with a budget of 64 MiB nine times as slow.
func (h *Heap) flushQuick() bool {
	q := h.quick
	if q == nil || q.held == 0 {
		return false
	}
	for b := range q.heads {
		for i := q.heads[b]; i != 0; {
			x := &h.blocks[i]
			next := x.nextFree
			h.coalesce(i, x)
			i = next
		}
		q.heads[b] = 0
	}
	q.held = 0
	return true
}
