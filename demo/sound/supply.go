package sound

import (
	"io"
	"sync/atomic"
	"time"
)

const (
	frameBytes = 8
	grain      = 128 // frames that are mixed at once for a player
	// playerMost is the size at which a player is not enlarged further: a fifth of a second.
	playerMost = Rate / 5
)

// A Delay is the longest time from a tick until its sounds leave the buffers. Each field is the part that one buffer
// adds.
type Delay struct {
	Mixer  time.Duration // the frames that the mixer renders at once, and the limiter
	Player time.Duration // the library's buffer
	Device time.Duration // the system's buffer, in the size that was requested
}

// Sum returns the sum of the parts.
func (d Delay) Sum() time.Duration { return d.Mixer + d.Player + d.Device }

// Delays returns the delay of a new device. If the system reads more samples at once than the device's buffer
// contains, the device enlarges its buffer and thus its delay, see [Open]. The result of Delays does not change.
func Delays() Delay { return delayOf(playerFrames) }

func delayOf(player int64) Delay {
	return Delay{Mixer: (grain + ahead) * time.Second / Rate, Player: time.Duration(player) * time.Second / Rate, Device: deviceHolds}
}

// A supply is a mixer as the library's player reads it. The player asks for a whole buffer whenever its buffer is not
// full, and would have up to two. So a Read returns one grain: the buffer is one grain longer than its size, at most.
//
// Grains that are read in quick succession replace what the system has taken. If they are a whole buffer, then the
// player was empty, or nearly so, and the system had a gap or was about to.
type supply struct {
	from    io.Reader
	now     func() time.Time
	frames  atomic.Int64 // of the player's buffer
	emptied atomic.Int64 // how often the player was empty

	last time.Time
	run  int64 // frames in quick succession
}

func newSupply(from io.Reader, now func() time.Time) *supply {
	s := &supply{from: from, now: now}
	s.frames.Store(playerFrames)
	return s
}

// quick is the longest pause between grains of one succession.
const quick = time.Millisecond

// Read returns at most a grain.
func (s *supply) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(len(p), grain*frameBytes)])
	now := s.now()
	if now.Sub(s.last) > quick {
		s.run = 0
	}
	s.last = now
	before := s.run
	s.run += int64(n / frameBytes)
	if size := s.frames.Load(); before < size && s.run >= size {
		s.emptied.Add(1)
	}
	return n, err
}

// widen returns the frames for a longer buffer if the present one was empty more than once since the last call. The
// first filling counts as one.
func (s *supply) widen() (frames int64, ok bool) {
	size := s.frames.Load()
	if s.emptied.Swap(0) < 2 || size >= playerMost {
		return size, false
	}
	size = min(size*3/2, playerMost)
	s.frames.Store(size)
	return size, true
}
