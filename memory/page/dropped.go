package page

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Dropped is a Prefix that became garbage without having been closed: an allocator that
// somebody forgot. It is reported also if it does no harm. What [OS] has reserved stays reserved
// and committed until the process ends, since a pointer into it may be left. What [Heap] has
// reserved is Go's: it is collected when no pointer into it is left.
type Dropped struct {
	Bytes uintptr // that were reserved
	Site  string  // who made it, innermost first
}

func (d Dropped) String() string {
	return fmt.Sprintf("page: %d bytes of address space were reserved and never closed, by %s", d.Bytes, d.Site)
}

// OnDropped makes the runtime call f for each Prefix that is dropped from now on, on a goroutine of
// its own; nil restores the default, a line on standard error. Builds with -tags memdebug or -race
// watch for that, others do not: it costs a stack walk for each Prefix. What is dropped at the end
// of the program is not reported.
func OnDropped(f func(Dropped)) {
	if f == nil {
		f = complain
	}
	onDropped.Store(&f)
}

var onDropped atomic.Pointer[func(Dropped)]

func init() { OnDropped(nil) }

func complain(d Dropped) { fmt.Fprintln(os.Stderr, d) }

// A ticket is garbage when the Prefix that holds it is.
type ticket struct {
	cleanup runtime.Cleanup
	_       [2]uintptr // no tiny object: those share a block, and its end
}

// watchDropped returns a ticket for a Prefix of that many bytes, or nil where builds do not watch.
func watchDropped(bytes uintptr) *ticket {
	if !invariant.Debug {
		return nil
	}
	d := Dropped{Bytes: bytes, Site: callers()}
	t := new(ticket)
	t.cleanup = runtime.AddCleanup(t, func(d Dropped) { (*onDropped.Load())(d) }, d)
	return t
}

// end says that the Prefix was closed in good order.
func (t *ticket) end() {
	if t != nil {
		t.cleanup.Stop()
	}
}

// callers names who called NewPrefix, and who called those.
func callers() string {
	var pcs [6]uintptr
	var b strings.Builder
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for f, more := frames.Next(); f.Function != ""; f, more = frames.Next() {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		if !more {
			break
		}
	}
	return b.String()
}
