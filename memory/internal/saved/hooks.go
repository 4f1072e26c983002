package saved

import "github.com/strata-go/strata/memory/save"

// A HookID identifies a registered hook. The owner of the hooks stores the HookID of the hook that was registered last.
type HookID struct {
	// number counts the registrations from 1, and loading restores it, so that equal programs save equal bytes. A hook
	// that is registered after a load may have the number of one that the load has dropped.
	number uint64
	serial uint64 // from 1; loading leaves it, so that no hook has that of another
}

// Next returns the HookID of the next hook.
func (h *HookID) Next() HookID {
	h.number++
	h.serial++
	return *h
}

// SaveState visits how many hooks are registered, and the newest. If that one is registered when the state is loaded,
// all of the saved ones are. The parameter n is their number now, and id returns the HookID of each. SaveState returns
// how many remain after it. Canonical bytes contain numbers instead of serials. A load from them cannot tell two hooks
// with the same number apart.
func (h *HookID) SaveState(c *save.Coder, n int, id func(i int) HookID) (remain int) {
	newest := func(n int) uint64 {
		switch {
		case n == 0:
			return 0
		case c.Canonical():
			return id(n - 1).number
		}
		return id(n - 1).serial
	}
	count, was := c.Word(uint64(n)), c.Word(newest(n))
	save.Num(c, &h.number)
	if count > uint64(n) || newest(int(count)) != was {
		c.Differs("%d hooks were registered, and some have run or were dropped since", count)
	}
	if c.Loading() {
		return int(count)
	}
	return n
}
