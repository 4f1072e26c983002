package save

// A load that may fail must not leave a trace. Fitting passes change a State only where it commits memory, and then its
// metadata describes this memory. So the first fitting pass is dry: it finds the parts that have to commit. The Set notes
// their metadata as Save does, without the contents of blocks, and restores it as Load does if the load fails. A load that
// commits nothing has no more passes and copies than without this.

// endDry ends the visit of a part in the first fitting pass, if the part has to commit memory. The rest of the part was not
// visited, such as its other allocators. So this pass cannot find out whether later parts lie in them: the next one does.
func (c *Coder) endDry(p *part, depth int) {
	if p.grows = c.err == errDry; p.grows {
		c.err, c.at, c.depth, c.quiet = nil, len(c.buf), depth, true
	}
}

// note copies the metadata of the parts that have to commit, after a dry pass. A part that can only be in a file has none.
// note returns how many fitting passes count for [Coder.Again]: the dry one does if no part has to commit.
func (s *Set) note() (passes int) {
	passes = 1
	for i := range s.parts {
		if s.parts[i].grows {
			passes = 0
		}
	}
	if s.undo = passes == 0; s.undo {
		defer func() { s.undo, s.coder.again = false, true }()
		if n, err := s.run(measuring, false, nil); err == nil {
			s.before = make([]byte, n)
			if _, err = s.run(saving, false, s.before); err != nil {
				s.before = nil
			}
		}
	}
	return passes
}

// takeBack restores the metadata that note has copied, after a load that was refused. Committing may have called functions of
// the program. If these have decommitted memory of a part, it is committed again first.
func (s *Set) takeBack() {
	if s.before == nil {
		return
	}
	s.undo = true
	defer func() { s.undo, s.before = false, nil }()
	for range fits {
		if _, err := s.run(fitting, false, s.before); err != nil {
			return
		}
		if !s.coder.again {
			_, _ = s.run(loading, false, s.before)
			return
		}
	}
}
