package ecs

// segments verifies the invariants of segments, and returns the number of runs and of free ones. Where
// it is not sound the runs cannot be walked.
func (c *checker) segments(w *World) (runs, free int, sound bool) {
	s := &w.store.segments
	n := len(s.chunks)
	for i := 0; i < n; i += 1 << (s.chunks[i].run - 1) { // (1)
		order := int(s.chunks[i].run) - 1
		if !c.that(order >= 0 && order <= maxOrder && i&(1<<order-1) == 0 && i+1<<order <= n, "directory: segment %d of %d begins a run of order %d", i, n, order) {
			return runs, free, false
		}
		vacant := s.chunks[i].base == nil
		for k := i + 1; k < i+1<<order; k++ {
			c.that(s.chunks[k].run == 0 && (s.chunks[k].base == nil) == vacant, "directory: segment %d is in the run of order %d from %d: run %d, block %v",
				k, order, i, s.chunks[k].run, s.chunks[k].base != nil)
		}
		if runs++; vacant {
			free++
			buddy := i ^ 1<<order
			c.that(order == maxOrder || buddy >= n || !s.free(uint32(buddy), order), "directory: segments %d and %d are free runs of order %d", i, buddy, order) // (3)
		}
	}
	listed := 0
	for order := range s.vacant { // (2)
		before := uint32(0)
		for i := s.vacant[order]; i != 0; i = s.chunks[i-1].pos {
			if listed++; listed > free || uint64(i) > uint64(n) || !s.free(i-1, order) || s.chunks[i-1].class != before {
				c.that(false, "directory: the free segments meet %d, which is out of range, met before or no free run of order %d", i-1, order)
				return runs, free, false
			}
			before = i
		}
	}
	c.that(listed == free, "directory: %d of %d free runs are listed", listed, free)
	return runs, free, true
}
