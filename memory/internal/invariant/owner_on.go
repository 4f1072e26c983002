//go:build memdebug || race

package invariant

// Owner is a word that every operation of an allocator writes. With -race, two goroutines that use one
// allocator without synchronization race on it, and the race detector reports both callers. Passing the
// allocator on through a channel or a lock is not reported.
type Owner struct{ uses uint64 }

// Lock does nothing. go vet reports copies of a type with Lock and Unlock: the copy of an allocator would
// allocate the same bytes as the original.
func (*Owner) Lock() {}

// Unlock does nothing.
func (*Owner) Unlock() {}

// Touch writes the word.
func (o *Owner) Touch() { o.uses++ }
