package sound

import "sync"

// The commands of the game goroutine to the core.
const (
	opAdd    = iota // slot now has a clip
	opRemove        // slot's clip is removed
	opPlay
	opCut // effects begun after stamp
	opMusic
	opHeat
	opBack // left: 1 or 0
	opVolumes
)

// A command is all of the above in one shape, so that the queue is one array.
type command struct {
	op                uint8
	slot, kind        uint8
	prio, most        uint8
	left, right, duck float32 // opPlay; opVolumes: master, effects, music; opHeat: left
	step              uint64  // opPlay: source frames per frame played, 32.32
	stamp             uint64
	clip              Clip
	layers            [Layers]int16 // opMusic: slots, or -1
	fade              float32       // opMusic: share of the fade that a frame is
}

// queueSize is how many commands may wait: a tick at its loudest begins 25 sounds, and the
// device takes them some 40 times a second.
const queueSize = 192

// keepFree is the part of it that is reserved for commands that must not be lost.
const keepFree = 32

// A queue carries commands from the game goroutine to the core and slots back. Its lock is held
// for a copy only, never while anything is mixed.
type queue struct {
	mu       sync.Mutex
	list     [queueSize]command
	n        int
	beat     bool // Update has been called since the last take
	released [MaxClips]bool
	any      bool // one of released is true
}

// put appends a command, and reports whether it fitted.
func (q *queue) put(c *command, room int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n >= queueSize-room {
		return false
	}
	q.list[q.n] = *c
	q.n++
	return true
}

// take moves all commands into to, and reports how many there are and whether the game is alive.
func (q *queue) take(to *[queueSize]command) (n int, beat bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, beat = q.n, q.beat
	copy(to[:n], q.list[:n])
	clear(q.list[:n]) // clips must not stay reachable, nor readable, from here
	q.n, q.beat = 0, false
	return n, beat
}

func (q *queue) release(slot int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.released[slot], q.any = true, true
}

// heartbeat signals that the game runs, and returns the slots released since the last one.
func (q *queue) heartbeat(to *[MaxClips]bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.beat = true
	if !q.any {
		return false
	}
	*to, q.any = q.released, false
	clear(q.released[:])
	return true
}
