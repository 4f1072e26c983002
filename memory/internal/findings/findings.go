// Package findings collects the errors that a Check finds.
package findings

import (
	"errors"
	"fmt"
)

// Most is how many errors a List keeps: one corrupt link can break thousands of blocks.
const Most = 32

// A List has up to Most errors, and counts the others.
type List struct {
	Of   string // each error begins with it: the package
	errs []error
	more int
}

// Add adds an error that is formatted as by fmt.Errorf.
func (l *List) Add(format string, args ...any) { l.Join(fmt.Errorf(l.Of+": "+format, args...)) }

// Join adds errors as they are, except nil.
func (l *List) Join(errs ...error) {
	for _, err := range errs {
		switch {
		case err == nil:
		case len(l.errs) < Most:
			l.errs = append(l.errs, err)
		default:
			l.more++
		}
	}
}

// None reports whether nothing was added.
func (l *List) None() bool { return len(l.errs) == 0 }

// Err returns all errors, joined into one, or nil.
func (l *List) Err() error {
	if l.more > 0 {
		return errors.Join(append(l.errs, fmt.Errorf("%s: %d errors more", l.Of, l.more))...)
	}
	return errors.Join(l.errs...)
}
