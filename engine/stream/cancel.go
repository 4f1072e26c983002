package stream

import (
	"errors"
	"fmt"
)

// Settle makes every worker call Config.Drain soon. If Config.Free refused blocks before, Settle calls Config.Free for
// these blocks again. Call Settle when loading is complete, for example at the end of a loading screen. Without it the
// last freed blocks stay in the inbox of their worker until its next Alloc, or until the next Scope.Cancel or
// Streamer.Close.
//
// Settle does not wait, and cancels nothing. It also releases assets that were evicted since the last Poll, and frees
// their blocks. After Streamer.Close Settle calls no Drain. If Kind.Release or Config.Free panics, Settle completes its
// work, and then the panic continues to the caller.
func (s *Streamer) Settle() {
	s.mu.Lock()
	s.again()
	s.mu.Unlock()
	defer s.raiseEpoch()
	s.flush()
}

// Settled reports whether every worker has acknowledged all calls of Scope.Cancel and Settle so far. If it returns true,
// no worker has a block of an asset that was cancelled in the last of these calls or before it. Handle.Close is not one
// of these calls: to wait for the assets that it cancels, call Settle after it. Settled ignores abandoned workers (see
// Config.Patience): they may still have such blocks.
//
// A busy worker acknowledges when Kind.Decode has returned, or earlier in a call of the file system, of Heap.Alloc or
// of Reader.Wanted. If the worker's own asset was cancelled, these calls fail instead. A Heap.Alloc that waits for space
// also fails.
func (s *Streamer) Settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acknowledged()
}

func (s *Streamer) acknowledged() bool {
	for w, a := range s.acked {
		if a != s.epoch && !s.workers[w].lost {
			return false
		}
	}
	return true
}

// again has the strays sent once more.
func (s *Streamer) again() {
	s.leaving = append(s.leaving, s.strays...)
	clear(s.strays)
	s.strays = s.strays[:0]
}

// raiseEpoch asks every worker to acknowledge, and after Close to end.
func (s *Streamer) raiseEpoch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return // nobody is left
	}
	s.epoch++
	s.over = s.closing
	s.wake.Broadcast()
}

// Close closes every handle, releases the delivered assets, waits for the workers to end and frees all blocks.
// Afterwards the streamer does not use the heaps, and refuses every request with ErrClosed. If Config.Free refused
// blocks, a second Close calls Config.Free for these blocks again. If it refused none, a second Close returns nil and
// does nothing.
//
// Close waits at most 2 s for a call of the file system, and then abandons the worker. The error has the reason of each
// worker that was abandoned since New, and its file if it had one. An abandoned worker does not touch its heap again.
// Its blocks are not freed, and Stats().Staging counts their bytes. The error also has the number of assets with blocks
// that Config.Free refused, and the last panic of Kind.Release or Config.Free. Close waits without a limit for decode
// functions and Drain.
//
// If Deliver or Release calls Close, Close does not free the blocks of the asset of this callback. The method that made
// the callback, such as Poll, frees them later. Keep the heaps open until this method returns.
func (s *Streamer) Close() error {
	bad := s.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.hurry(); s.running > 0; {
		s.news.Wait()
	}
	errs := s.lost
	s.lost = nil
	if n := len(s.strays) + len(s.leaving); n > 0 {
		errs = append(errs, fmt.Errorf("stream: close: Config.Free refused the blocks of %d assets", n))
	}
	if bad != nil {
		errs = append(errs, panicked("stream: close: Release or Config.Free", bad))
	}
	return errors.Join(errs...)
}

// begin closes every handle, and then evicts what is cached. Whatever Free and Release do,
// everything else is done, also where they end the goroutine, as t.FailNow does.
func (s *Streamer) begin() (bad any) {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		s.look = 0
		for i := range s.requests {
			if s.requests[i].gen&1 == 1 {
				s.shut(uint32(i))
			}
		}
		for s.oldest != 0 {
			i := s.oldest - 1
			s.uncache(i)
			s.discard(i)
		}
	}
	s.again()
	s.mu.Unlock()
	defer s.raiseEpoch()
	return caught(s.flush)
}
