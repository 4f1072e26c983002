package main

import "slices"

// reused makes buffers once. Snapshots that are forgotten go to a list, from which the next ones are taken. A server
// with a goroutine for each zone would use a sync.Pool in place of the list.
type reused struct {
	base
	chats [zoneCount]chat[[]byte]
	out   [clientCount][]byte
	free  [][]Entity
}

func newReused(seed uint64) (server, error) {
	s := &reused{}
	s.init(seed)
	return s, nil
}

func (s *reused) forget(c *connection, n int) {
	for _, old := range c.history[:n] {
		s.free = append(s.free, old.entities[:0])
	}
	c.history = slices.Delete(c.history, 0, n)
}

func (s *reused) say(zone int, text []byte) error {
	l := &s.chats[zone]
	var line []byte
	if len(l.lines) == mostLines {
		line = l.lines[0][:0]
		l.lines = slices.Delete(l.lines, 0, 1)
	}
	l.lines, l.said = append(l.lines, append(line, text...)), l.said+1
	return nil
}

func (s *reused) tick(to *clients) error {
	for k := range s.zones {
		s.zones[k].step()
	}
	for i := range s.connections {
		c, r := &s.connections[i], &s.zones[i/perZone]
		now := r.visible(s.entities(c.seen()+4), i%perZone)
		tick, known := c.known()
		packet := appendDelta(s.out[i][:0], r.tick, tick, known, now)
		s.out[i] = s.chats[i/perZone].since(packet, c)
		keep(s, c, r.tick, now)
	}
	for i, packet := range s.out {
		to.deliver(i, s.zones[0].tick, packet)
	}
	return nil
}

// entities returns an empty slice of the list, or a new one with capacity n.
func (s *reused) entities(n int) []Entity {
	last := len(s.free) - 1
	if last < 0 {
		return make([]Entity, 0, n)
	}
	e := s.free[last]
	s.free = s.free[:last]
	return e
}

func (s *reused) close() error { return nil }
