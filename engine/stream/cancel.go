package stream

import (
	"errors"
	"fmt"
)

// Settle has every worker call Config.Drain soon, and blocks that Config.Free refused sent
// again: after a load, so that blocks which went home last do not count as in use until the
// next Cancel. It does not wait, and cancels nothing.
func (s *Streamer) Settle() {
	s.mu.Lock()
	s.again()
	s.mu.Unlock()
	defer s.raiseEpoch()
	s.flush()
}

// Settled reports whether every worker has acknowledged the last Cancel and Settle: none of
// them holds a block of what was cancelled, or will produce one, but for one that was given
// up, which keeps what it holds. It never takes longer than one call of the file system
// (Config.Patience bounds it), what a decoder does between two reads, or Drain; a worker that
// waits for room in its heap gives up what it holds.
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

// Close closes every ticket, releases what was delivered, waits for the workers to end and sends
// all blocks home. Then the heaps belong to the caller again. A second Close sends again what
// Config.Free refused, and does nothing where that was nothing.
//
// The error names each file over which a worker was given up, now or before: Close waits 2 s
// at most for a call of the file system. Such a worker will not touch its heap again, nor has
// the streamer freed what it held there; Stats().Staging says how much. It also says which
// blocks Config.Free refused, and what Release panicked with.
//
// From inside Deliver, Close sends that asset's blocks home when Deliver returns.
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
		errs = append(errs, fmt.Errorf("stream: close: the blocks of %d assets are not home", n))
	}
	if bad != nil {
		errs = append(errs, panicked("stream: close: Release or Config.Free", bad))
	}
	return errors.Join(errs...)
}

// begin closes every ticket, and then evicts what is cached. Whatever Free and Release do,
// everything else is done, also where they end the goroutine, as t.FailNow does.
func (s *Streamer) begin() (bad any) {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		s.look = 0
		for i := range s.tickets {
			if s.tickets[i].gen&1 == 1 {
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
