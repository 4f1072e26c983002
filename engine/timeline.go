package engine

// A Timeline passes a [Rewind] to the bar of the overlay: set overlay.Config.Timeline. Only [Rewind.Timeline] makes one
// that can be used.
type Timeline[T any] struct {
	r    *Rewind[T]
	then func(error)
}

// Timeline returns a Timeline of the Rewind. Each Seek of the Timeline calls `then` with the error of [Rewind.Seek], or
// with nil. This function must update all data that the state does not contain, such as sprites and sounds. After an
// error that leaves no valid state, it must end the game. If `then` is nil, all errors are lost.
func (r *Rewind[T]) Timeline(then func(error)) Timeline[T] { return Timeline[T]{r, then} }

// Span returns [Rewind.Oldest], [Rewind.Now] and [Rewind.End].
func (t Timeline[T]) Span() (first, now, last uint64) {
	return t.r.Oldest(), t.r.Now(), t.r.End()
}

// Seek calls [Rewind.Seek], and then the function that was passed to Rewind.Timeline.
func (t Timeline[T]) Seek(tick uint64) {
	_, err := t.r.Seek(tick)
	if t.then != nil {
		t.then(err)
	}
}

// Memory returns the bytes of all states, and the length of [RewindConfig.Memory].
func (t Timeline[T]) Memory() (used, reserved uint64) {
	_, n, size := t.r.States()
	return uint64(n), uint64(size)
}
