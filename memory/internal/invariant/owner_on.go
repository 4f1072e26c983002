//go:build memdebug || race

package invariant

// Owner is a plain word in the Go heap that every operation of an allocator writes. Under
// -race, two goroutines that use one allocator without synchronising race on this word, and
// the detector names both callers; a hand-over through a channel or lock stays silent.
type Owner struct{ uses uint64 }

// Lock and Unlock do nothing. A type that has both is not to be copied: `go vet` names every
// copy of an allocator, which would hand out the same bytes as the original.
func (*Owner) Lock() {}

// Unlock does nothing.
func (*Owner) Unlock() {}

// Touch writes the word.
func (o *Owner) Touch() { o.uses++ }
