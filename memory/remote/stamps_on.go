//go:build memdebug || race

package remote

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// stamps say of each block in a batch what its address held when it was given to the Freer, and who
// gave it.
type stamps []stamp

type stamp struct {
	generation uint32
	pcs        [4]uintptr // the callers of Freer.Free, innermost first
}

func newStamps(slots int) stamps { return make(stamps, slots) }

// set stamps the block at p, in slot i.
func (s stamps) set(i int, dated Generational, p unsafe.Pointer) {
	if dated == nil {
		return
	}
	s[i].generation = dated.Generation(p)
	s[i].pcs = [4]uintptr{}
	runtime.Callers(3, s[i].pcs[:])
}

// stale says that the address of the block at p, in slot i, was allocated again since it was stamped;
// "" if it was not.
func (s stamps) stale(i int, dated Generational, p unsafe.Pointer) string {
	if dated == nil {
		return ""
	}
	now := dated.Generation(p)
	if now == s[i].generation {
		return ""
	}
	return fmt.Sprintf("stale free: %s freed block %d of this address, and its owner has handed out block %d there since: the first was freed twice, or its allocator was reset",
		s[i].caller(), s[i].generation, now)
}

// caller names the innermost caller outside of the Freer.
func (s *stamp) caller() string {
	frames := runtime.CallersFrames(s.pcs[:])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/remote.(*Freer).") || !more {
			return fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
	}
}
