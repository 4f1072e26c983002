package main

import "strconv"

// A server is one of the variants: what it does with memory.
type server interface {
	shared() *base
	forget(c *connection, n int)     // the first n snapshots are not needed any more
	say(zone int, text []byte) error // a line of chat; text is a part of the packet
	tick(to *clients) error          // steps the zones and sends a packet to each client
	close() error
}

// base is what is the same in all: zones and connections are Go objects that live as long as the server.
type base struct {
	zones       [zoneCount]zone
	connections [clientCount]connection
	malformed   int
	joined      int
}

func (b *base) shared() *base { return b }

// A connection is a player at its other end.
type connection struct {
	history []snapshot // sent and not acknowledged, by tick, after the one that was
	acked   uint32     // tick of the newest that the client has
	heard   int        // lines of chat
	session *session
}

// A snapshot has the entities that were sent to a client in a tick.
type snapshot struct {
	tick     uint32
	entities []Entity
}

// A session has Go pointers: it is on the Go heap in every variant.
type session struct {
	name  string
	items []item
}

type item struct {
	name  string
	count int
}

var itemNames = [...]string{"sword", "shield", "potion", "torch", "rope"}

const (
	mostKept  = 32 // snapshots of a connection
	mostLines = 16 // of chat that a zone keeps
)

func (b *base) init(seed uint64) {
	for k := range b.zones {
		b.zones[k].init(seed, uint64(k))
	}
	for i := range b.connections {
		b.connections[i] = connection{history: make([]snapshot, 0, mostKept), session: b.newSession()}
	}
}

func (b *base) newSession() *session {
	b.joined++
	s := &session{name: "player " + strconv.Itoa(b.joined), items: make([]item, 20)}
	for k := range s.items {
		s.items[k] = item{itemNames[k%len(itemNames)], k}
	}
	return s
}

// receive reads a packet of client i. What follows a mistake is ignored.
func receive(s server, i int, packet []byte) error {
	b := s.shared()
	c := &b.connections[i]
	tick, rest, err := acknowledged(packet)
	if err == nil && tick > c.acked {
		old := 0
		for old < len(c.history) && c.history[old].tick < tick {
			old++
		}
		s.forget(c, old)
		c.acked = tick
	}
	for err == nil && len(rest) > 0 {
		var m message
		if m, rest, err = next(rest); err != nil {
			break
		}
		if m.text == nil {
			b.zones[i/perZone].inputs[i%perZone] = m.input
		} else if err := s.say(i/perZone, m.text); err != nil {
			return err
		}
	}
	if err != nil {
		b.malformed++
	}
	return nil
}

// rejoin ends connection i, and begins another in its place.
func rejoin(s server, i int) {
	b := s.shared()
	c := &b.connections[i]
	s.forget(c, len(c.history))
	*c = connection{history: c.history, session: b.newSession()}
	b.zones[i/perZone].join(i % perZone)
}

// known returns the snapshot that the client has, if it is still kept, and its tick.
func (c *connection) known() (tick uint32, entities []Entity) {
	if len(c.history) == 0 || c.history[0].tick != c.acked {
		return 0, nil
	}
	return c.acked, c.history[0].entities
}

// seen is about how much a client sees.
func (c *connection) seen() int {
	if len(c.history) == 0 {
		return 0
	}
	return len(c.history[len(c.history)-1].entities)
}

// keep adds a snapshot. If there are too many the oldest is forgotten.
func keep(s server, c *connection, tick uint32, entities []Entity) {
	if len(c.history) == mostKept {
		s.forget(c, 1)
	}
	c.history = append(c.history, snapshot{tick, entities})
}

// A chat has the last lines of a zone, as the variant keeps them.
type chat[S ~string | ~[]byte] struct {
	lines []S
	said  int
}

// since appends the lines that a client has not heard, and notes that it has.
func (l *chat[S]) since(b []byte, c *connection) []byte {
	for _, line := range l.lines[max(0, len(l.lines)-(l.said-c.heard)):] {
		b = appendLine(b, line)
	}
	c.heard = l.said
	return b
}

// bytes is how much since appends at most.
func (l *chat[S]) bytes(c *connection) (n int) {
	for _, line := range l.lines[max(0, len(l.lines)-(l.said-c.heard)):] {
		n += 1 + len(line)
	}
	return n
}
