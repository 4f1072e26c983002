package pool

import "slices"

type watcher struct{ lost func() }

// Watch has lost called when the memory of b goes while slots may be in use: at Close, and
// when what b stands on ends first (see page.Watched). Newest first, and none of them may
// touch a slot any more. It returns what takes that back. A closed pool calls nobody.
func (b *Blocks) Watch(lost func()) (unwatch func()) {
	w := &watcher{lost}
	if b.base != nil {
		b.watchers = append(b.watchers, w)
	}
	return func() {
		b.watchers = slices.DeleteFunc(b.watchers, func(o *watcher) bool { return o == w })
	}
}

// lost is called when the source has ended, whose addresses may be somebody else's, and by
// Close: it empties the books, and closes what stands on b.
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
