package pool

import "slices"

type watcher struct{ lost func() }

// Watch registers the function lost, which is called once when the memory of b ends: at a Close that succeeds, or
// earlier if the source ends (see page.Watched). Several functions are called newest first. They must not touch a
// slot. unwatch removes lost. If the pool is closed already, lost is never called.
func (b *Blocks) Watch(lost func()) (unwatch func()) {
	w := &watcher{lost}
	if b.base != nil {
		b.watchers = append(b.watchers, w)
	}
	return func() {
		b.watchers = slices.DeleteFunc(b.watchers, func(o *watcher) bool { return o == w })
	}
}

// lost is called by Close, and when the source has ended, whose addresses may have a new owner. It closes b without touching the
// memory, and calls the watchers.
func (b *Blocks) lost() {
	b.forget(0)
	b.base, b.free, b.live, b.asked = nil, nil, nil, nil
	b.n, b.capacity, b.soiled = 0, 0, 0
	for n := len(b.watchers); n > 0; n = len(b.watchers) {
		w := b.watchers[n-1]
		b.watchers = b.watchers[:n-1]
		w.lost()
	}
	b.watchers = nil
}
