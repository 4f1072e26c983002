package pool

import "github.com/strata-go/strata/memory/page"

// Watch registers a function lost. When the memory of b ends, lost is called once: at a Close that succeeds, or earlier
// if the source ends (see page.Watched). b is closed then, and lost must not touch a slot. Several functions are called
// newest first. If functions panic, the others are called nevertheless. Then Close, or the call that ended the source,
// panics with the last value. unwatch removes lost. If the pool is closed already, Watch returns nil and does not call
// lost.
func (b *Blocks) Watch(lost func()) (unwatch func()) {
	if b.base == nil {
		return nil
	}
	return b.watchers.Add(lost)
}

// lost is called by Close, and when the source has ended, whose addresses may have a new owner. It closes b without
// touching the memory, and calls the watchers.
func (b *Blocks) lost() {
	b.forget(0)
	b.base, b.free, b.live, b.asked = nil, nil, nil, nil
	b.n, b.capacity, b.soiled = 0, 0, 0
	b.stack.Release()
	b.bits.Release()
	b.stack, b.bits = page.Table{}, page.Table{}
	b.watchers.Tell()
}
