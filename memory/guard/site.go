package guard

import (
	"fmt"
	"iter"
	"path"
	"runtime"
	"strings"
)

// maxFrames keeps a Site, the key of a map, within two cache lines.
const maxFrames = 16

// A Site is a call stack of up to 16 callers, innermost first. The zero Site is an unknown call stack. Two Sites are
// equal if all their callers are equal.
type Site struct{ pcs [maxFrames]uintptr }

// Frames returns an iterator over function, file and line of each caller, innermost first. The zero Site has no
// callers.
func (s Site) Frames() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		n := 0
		for n < maxFrames && s.pcs[n] != 0 {
			n++
		}
		if n == 0 {
			return
		}
		for frames := runtime.CallersFrames(s.pcs[:n]); ; {
			f, more := frames.Next()
			if !yield(f) || !more {
				return
			}
		}
	}
}

// lineFrames is how many callers String names: who called, and why.
const lineFrames = 3

// String returns the three innermost callers on one line, or "an unknown place" for the zero Site.
func (s Site) String() string {
	var parts []string
	for f := range s.Frames() {
		if parts = append(parts, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)); len(parts) == lineFrames {
			break
		}
	}
	if parts == nil {
		return "an unknown place"
	}
	return strings.Join(parts, " from ")
}

// sites keeps every Site once, so that a record holds two numbers.
type sites struct {
	list    []Site // list[0] is the unknown one
	index   map[Site]uint32
	scratch Site // what runtime.Callers writes to, off the stack for want of escape analysis
}

func newSites() sites {
	return sites{list: make([]Site, 1, 16), index: make(map[Site]uint32)}
}

// caller returns the number of the place that called the function which calls caller.
func (s *sites) caller(frames int) uint32 {
	n := runtime.Callers(3, s.scratch.pcs[:frames])
	clear(s.scratch.pcs[n:])
	i, ok := s.index[s.scratch]
	if !ok {
		i = uint32(len(s.list))
		s.list = append(s.list, s.scratch)
		s.index[s.scratch] = i
	}
	return i
}
