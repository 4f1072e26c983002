// Package watch has the list of functions that an allocator or source calls when it ends.
package watch

import "slices"

// A List has functions that are called once. It belongs to one goroutine. The zero List is empty.
type List struct {
	lost []*func() // oldest first
}

// Add adds lost. The function remove removes it; a second call of remove does nothing.
func (l *List) Add(lost func()) (remove func()) {
	own := &lost
	l.lost = append(l.lost, own)
	return func() {
		l.lost = slices.DeleteFunc(l.lost, func(o *func()) bool { return o == own })
	}
}

// Len returns the number of functions.
func (l *List) Len() int { return len(l.lost) }

// Tell removes each function and calls it, newest first. If functions panic or end the goroutine, Tell calls the others
// nevertheless, and then panics with the value of the last panic.
func (l *List) Tell() {
	defer func() {
		if len(l.lost) > 0 {
			l.Tell() // a function did not return
		}
	}()
	for n := len(l.lost); n > 0; n = len(l.lost) {
		lost := *l.lost[n-1]
		l.lost = slices.Delete(l.lost, n-1, n)
		lost()
	}
}
