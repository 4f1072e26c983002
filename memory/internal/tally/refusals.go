package tally

import "github.com/strata-go/strata/memory"

// Refusals are the last errors of requests that did not fit. A program may be refused the same sizes in every frame: the
// same refusal is the same error, and makes no Go allocation.
type Refusals struct {
	last [8]*memory.Exhausted
	next uint8
}

// Of returns an error equal to e, whose Cause is nil.
func (r *Refusals) Of(e memory.Exhausted) error {
	for _, l := range r.last {
		if l != nil && *l == e {
			return l
		}
	}
	l := new(memory.Exhausted)
	*l = e
	r.last[r.next%uint8(len(r.last))] = l
	r.next++
	return l
}
