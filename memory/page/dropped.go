package page

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Dropped describes a Prefix that became garbage without Close, because the program lost the allocator that uses
// it. A reservation of [OS] then stays reserved and committed until the process ends, because a pointer into it may
// exist. A reservation of [Heap] is collected when there is no pointer into it, but the Prefix is reported, too.
type Dropped struct {
	Bytes uintptr // the size of the reservation
	Site  string  // the callers that made the Prefix, innermost first, at most six
}

// String returns a line with the size of the reservation and the callers.
func (d Dropped) String() string {
	return fmt.Sprintf("page: %d bytes of address space were reserved and never closed, by %s", d.Bytes, d.Site)
}

// OnDropped sets the function that is called for each [Dropped] Prefix. Several goroutines of the runtime may call f at
// the same time. The new function replaces the previous one. If f is nil, OnDropped restores the default function,
// which prints a line on standard error.
//
// Only builds with -tags memdebug or -race detect dropped Prefixes, at the cost of a stack trace for each Prefix. A
// Prefix is reported some time after it became garbage. A Prefix that is still reachable when the program ends is not
// reported. OnDropped is safe for concurrent use.
func OnDropped(f func(Dropped)) {
	if f == nil {
		f = complain
	}
	onDropped.Store(&f)
}

var onDropped atomic.Pointer[func(Dropped)]

func init() { OnDropped(nil) }

func complain(d Dropped) { fmt.Fprintln(os.Stderr, d) }

// A tracker is garbage when the Prefix that contains it is.
type tracker struct {
	cleanup runtime.Cleanup
	_       [2]uintptr // keeps it from being a tiny object, several of which share a block
}

// watchDropped returns a tracker for a Prefix of that many bytes, or nil in builds that do not detect dropped ones.
func watchDropped(bytes uintptr) *tracker {
	if !invariant.Debug {
		return nil
	}
	d := Dropped{Bytes: bytes, Site: callers()}
	t := new(tracker)
	t.cleanup = runtime.AddCleanup(t, func(d Dropped) { (*onDropped.Load())(d) }, d)
	return t
}

// end records that the Prefix was closed.
func (t *tracker) end() {
	if t != nil {
		t.cleanup.Stop()
	}
}

// callers returns the callers of NewPrefix, innermost first.
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
