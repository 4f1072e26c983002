package engine

import (
	"errors"
	"fmt"
)

// BeginCancel ends the level of every [ScopeLevel] asset requested so far: what is unfinished
// is cancelled, and staging blocks that wait for an upload go home. It does not wait; requests
// made from now on belong to the next level. Call CancelDone once a frame, or CancelLevel. A
// panic of LoaderConfig.Free goes on to the caller when everything else is done.
func (l *Loader) BeginCancel() { l.mustBegin() }

// CancelDone reports whether every worker has acknowledged the last BeginCancel: none of them
// holds a block of the old level, or will produce one; one that was given up keeps what it
// holds. From then on its assets are stale. Where nothing was cancelled it is true.
func (l *Loader) CancelDone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.acknowledged() {
		return false
	}
	l.retire(false)
	return true
}

// CancelLevel is BeginCancel, and waits for CancelDone: at most as long as one call of the
// file system takes (LoaderConfig.Patience bounds it), the decoding of 64 KiB of a PNG, or
// Drain. It never waits for a worker that waits for room in its heap. A frame may be late;
// to keep drawing, and in a browser, whose event loop the workers need, use the other two.
func (l *Loader) CancelLevel() {
	l.mustBegin()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.acknowledged() {
		l.news.Wait()
	}
	l.retire(false)
}

// Close cancels everything, waits for the workers to end and sends all blocks home. Then the
// heaps belong to the caller again, and every asset is stale. A second Close does nothing.
//
// The error names each file over which a worker was given up, now or before: Close waits 2 s
// at most for a call of the file system. Such a worker will not touch its heap again, nor has
// the loader freed what it held there; Stats().Staging says how much. It also says which
// blocks LoaderConfig.Free refused.
//
// From inside a sink, Close sends its picture home when the sink returns.
func (l *Loader) Close() error {
	refused := l.begin(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.hurry(); l.running > 0; {
		l.news.Wait()
	}
	if l.closed {
		return nil
	}
	l.closed = true
	l.retire(true)
	errs := append([]error(nil), l.lost...)
	if n := len(l.strays); n > 0 {
		why := errGoexit // of an earlier Close
		if refused != nil {
			why = panicked("LoaderConfig.Free", refused)
		}
		errs = append(errs, fmt.Errorf("engine: close: %d blocks are not home: %w", n, why))
	}
	return errors.Join(errs...)
}

func (l *Loader) mustBegin() {
	if refused := l.begin(false); refused != nil {
		panic(refused)
	}
}

// begin cancels the level, or all. Blocks go home before the epoch is raised, so that a worker
// that drains its inbox when it acknowledges finds them there. After Close there is nothing
// to cancel, and no worker to acknowledge it. Whatever Free does, everything else is done, also
// where it ends the goroutine, as t.FailNow does; refused is what it panicked with last.
func (l *Loader) begin(all bool) (refused any) {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return nil
	}
	l.level++
	if all {
		l.closing = true
	}
	for i := range l.entries {
		if e := &l.entries[i]; l.doomed(e, all) && !e.state.Finished() {
			l.set(uint32(i), Cancelled)
			l.stats.Cancels++
		}
	}
	l.queue.keep(l.entries, Queued)
	l.ready.keep(l.entries, Ready)
	strays := l.strays
	l.strays = nil
	l.handed += len(strays)
	l.mu.Unlock()

	defer l.raiseEpoch()
	return l.sendAll(strays, 0)
}

// raiseEpoch asks every worker to acknowledge, and after Close to end.
func (l *Loader) raiseEpoch() {
	l.mu.Lock()
	l.epoch++
	l.over = l.closing
	l.wake.Broadcast()
	l.mu.Unlock()
}

// sendAll sends the strays home again, and then the blocks of cancelled entries, beginning
// with number from of them all. What is refused becomes a stray.
func (l *Loader) sendAll(strays []stray, from int) (refused any) {
	i, n := from, len(strays)+len(l.entries)
	defer func() {
		if i < n { // Free has ended the goroutine
			l.sendAll(strays, i+1)
		}
	}()
	for ; i < n; i++ {
		v := caught(func() {
			if i < len(strays) {
				l.sendHome(strays[i].block, strays[i].worker, false)
			} else {
				l.reclaim(uint32(i - len(strays)))
			}
		})
		if v != nil {
			refused = v
		}
	}
	return refused
}

// doomed reports whether e ends with the level that was left, or with the loader.
func (l *Loader) doomed(e *entry, all bool) bool {
	return e.state != Vacant && (all || l.old(e))
}

// reclaim sends the block of a cancelled entry home. The callback runs without the lock.
func (l *Loader) reclaim(i uint32) {
	l.mu.Lock()
	e := &l.entries[i]
	b, mine := block{e.block, e.size}, e.state == Cancelled && e.block != nil
	if mine {
		e.block = nil
		l.handed++
	}
	l.mu.Unlock()
	if mine {
		l.sendHome(b, e.worker, e.picture)
	}
}

func (l *Loader) acknowledged() bool {
	for w, a := range l.acked {
		if a != l.epoch && !l.workers[w].lost {
			return false
		}
	}
	return true
}

// retire makes the places of the old level vacant, and its assets stale. A place whose
// generation is worn out stays unused: an old asset must never name a new one.
func (l *Loader) retire(all bool) {
	for i := range l.entries {
		e := &l.entries[i]
		if !l.doomed(e, all) {
			continue
		}
		l.set(uint32(i), Vacant)
		gen := e.gen + 1
		*e = entry{gen: gen}
		if gen != 0 {
			l.vacant = append(l.vacant, uint32(i))
		}
	}
}

// Wait blocks until there is something for the game goroutine to do: a picture is ready, an
// asset became ready or failed since the last Wait, a worker acknowledged, or nothing is under
// way, or a worker waits for room that only the caller can give: the blocks in the hands of the
// sink that calls Wait. It is for headless runs and tests; a game with frames to draw polls.
func (l *Loader) Wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.events == l.seen && len(l.ready.heap) == 0 && l.underWay() && !(l.starved > 0 && l.handed > 0) {
		l.news.Wait()
	}
	l.seen = l.events
}

func (l *Loader) underWay() bool {
	c := &l.stats.Counts
	return !l.closing && (c[Queued]+c[Reading]+c[Decoding] > 0 || !l.acknowledged())
}

// Settle has every worker call Drain soon, as a cancellation would, and cancels nothing: after
// a load, so that blocks which went home last do not count as in use until the next one. It
// does not wait.
func (l *Loader) Settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	l.epoch++
	l.wake.Broadcast()
}
