package guard

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Leak describes live blocks that one call site has allocated.
type Leak struct {
	Blocks int    // live blocks
	Bytes  uint64 // the requested bytes
	Site   Site   // the call site that allocated the blocks
}

func (l Leak) String() string {
	return fmt.Sprintf("%s, %d bytes, allocated at %s", count(l.Blocks, "block"), l.Bytes, l.Site)
}

// count returns a text such as "1 block" or "2 blocks".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// Leaks returns the live blocks by call site, the site with most bytes first. Sites with equal bytes are in the order
// in which their oldest live blocks were allocated or last resized. If no block is live, and after Close, Leaks
// returns nil. Cost: proportional to the live blocks. Leaks allocates on the Go heap.
func (a *Allocator) Leaks() []Leak { return a.LeaksSince(0) }

// Now returns the number of blocks that were allocated since New. Pass this number to [Allocator.LeaksSince].
func (a *Allocator) Now() uint64 { return a.allocs }

// LeaksSince is [Allocator.Leaks] for newer blocks only. The parameter now is the result of an earlier call of
// [Allocator.Now], for example at the beginning of a level. LeaksSince returns the live blocks that were allocated
// after this call of Now, or nil if there are none. After a state was loaded, call Now again.
func (a *Allocator) LeaksSince(now uint64) []Leak {
	a.ended()
	var l leakage
	for i := a.records[live].next; i != uint32(live); i = a.records[i].next {
		r := &a.records[i]
		if r.serial <= now {
			continue
		}
		l.add(a.sites.list[r.allocSite], r.size)
	}
	return l.sorted()
}

// leakage gathers blocks by call site.
type leakage struct {
	leaks []Leak
	place map[Site]int
}

func (l *leakage) add(at Site, size uintptr) {
	k, ok := l.place[at]
	if !ok {
		if l.place == nil {
			l.place = make(map[Site]int)
		}
		k = len(l.leaks)
		l.place[at] = k
		l.leaks = append(l.leaks, Leak{Site: at})
	}
	l.leaks[k].Blocks++
	l.leaks[k].Bytes += uint64(size)
}

func (l *leakage) sorted() []Leak {
	slices.SortStableFunc(l.leaks, func(x, y Leak) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return l.leaks
}

// WriteLeaks writes the result of [Allocator.Leaks] to w as text: a line with the totals, and each Leak with its
// whole call site. If w fails, WriteLeaks returns its error.
func (a *Allocator) WriteLeaks(w io.Writer) error {
	b := bufio.NewWriter(w)
	leaks := a.Leaks()
	fmt.Fprintf(b, "%s\n", total(leaks))
	for _, l := range leaks {
		fmt.Fprintf(b, "\n%s, %d bytes, allocated at\n", count(l.Blocks, "block"), l.Bytes)
		for f := range l.Site.Frames() {
			fmt.Fprintf(b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		}
	}
	return b.Flush()
}

func total(leaks []Leak) string {
	blocks, bytes := 0, uint64(0)
	for _, l := range leaks {
		blocks += l.Blocks
		bytes += l.Bytes
	}
	verb := "are"
	if blocks == 1 {
		verb = "is"
	}
	return fmt.Sprintf("guard: %s of %d bytes in all %s live, from %s", count(blocks, "block"), bytes, verb, count(len(leaks), "call site"))
}

// A LeakError names the blocks that were live at the first Close. The error of Close wraps it: use errors.As. The
// field Leaks is the result of [Allocator.Leaks] or [Stomp.Leaks] at that time.
type LeakError struct{ Leaks []Leak }

func (e *LeakError) Error() string {
	var s strings.Builder
	s.WriteString(total(e.Leaks))
	for _, l := range e.Leaks {
		s.WriteString("\n\t" + l.String())
	}
	return s.String()
}

// leakError returns nil when nothing is live.
func (a *Allocator) leakError() error {
	if leaks := a.Leaks(); leaks != nil {
		return &LeakError{Leaks: leaks}
	}
	return nil
}
