package meter

// A collector is what is known of the collection that is under way. A collection finds all in use that is allocated
// while it marks, and examines none of it: the slower it is, the larger the live size that it reports.
type collector struct {
	cycles uint64 // as of the last frame
	pauses uint64 // stops of the world for a collection: one when it begins to mark, and one when it ends
	frames int    // since a collection ended

	ended   bool // a collection has, and was not told by mark yet
	began   bool // the same of its beginning
	marking bool
	from    uint64 // bytes allocated when it was seen first
	until   uint64 // the same, when it was seen last
}

// follow takes the counts of a frame, and reports whether a collection begins, is under way or ends.
func (c *collector) follow(first bool, cycles, pauses uint64) bool {
	c.frames++
	switch {
	case first:
	case cycles != c.cycles:
		c.ended, c.began, c.frames = true, false, 0
	case pauses != c.pauses && c.frames > 1: // the stop at the end may be counted a moment after the collection
		c.began = true
	}
	c.cycles, c.pauses = cycles, pauses
	return c.ended || c.began || c.marking
}

// mark takes the bytes allocated so far, and reports whether a collection has ended. If so, floating is how many of
// them were allocated while it marked, at least. Of the frames in which that began and ended it is not known how much
// came before and after; they are left out.
func (c *collector) mark(allocated uint64) (floating uint64, ended bool) {
	switch {
	case c.ended:
		if c.marking {
			floating = c.until - c.from
		}
		c.ended, c.marking = false, false
		return floating, true
	case c.began && !c.marking:
		c.marking, c.from = true, allocated
	}
	c.began, c.until = false, allocated
	return 0, false
}
