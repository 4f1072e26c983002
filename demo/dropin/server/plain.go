package main

import "slices"

// plain makes what it needs when it needs it, with capacities that fit, and leaves the rest to the collector.
type plain struct {
	base
	chats [zoneCount]chat[string]
	out   [clientCount][]byte // for the writers of the connections
}

func newPlain(seed uint64) (server, error) {
	s := &plain{}
	s.init(seed)
	return s, nil
}

func (s *plain) forget(c *connection, n int) { c.history = slices.Delete(c.history, 0, n) }

func (s *plain) say(zone int, text []byte) error {
	l := &s.chats[zone]
	if len(l.lines) == mostLines {
		l.lines = slices.Delete(l.lines, 0, 1)
	}
	l.lines, l.said = append(l.lines, string(text)), l.said+1
	return nil
}

func (s *plain) tick(to *clients) error {
	for k := range s.zones {
		s.zones[k].step()
	}
	for i := range s.connections {
		c, r := &s.connections[i], &s.zones[i/perZone]
		now := r.visible(make([]Entity, 0, c.seen()+4), i%perZone)
		tick, known := c.known()
		packet := appendDelta(make([]byte, 0, 384), r.tick, tick, known, now)
		s.out[i] = s.chats[i/perZone].since(packet, c)
		keep(s, c, r.tick, now)
	}
	for i, packet := range s.out {
		to.deliver(i, s.zones[0].tick, packet)
	}
	return nil
}

func (s *plain) close() error { return nil }
