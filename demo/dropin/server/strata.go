package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strata-go/strata/demo/dropin/profiles"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

// strata has packets and scratch in frame memory, which ends with the tick. Snapshots and lines live longer: they are
// allocated under a tag and freed one by one.
type strata struct {
	base
	m                *tiers.Manager
	snapshots, lines *tiers.Tag
	chats            [zoneCount]chat[[]byte]
	out              [clientCount][]byte
	asked            profiles.Requests // nil without -http
}

// The proofs that these have no Go pointers, made once.
var (
	entityType = memory.MustType[Entity]()
	byteType   = memory.MustType[byte]()
)

// newStrata makes the variant. It answers requests for profiles between ticks, if asked is not nil.
func newStrata(seed uint64, asked profiles.Requests) (_ server, err error) {
	s := &strata{asked: asked}
	s.init(seed)
	// Keep: the collector runs as in the other variants.
	cfg := tiers.Config{Tags: true, GC: gcpace.Config{Keep: true}}
	if asked != nil {
		cfg.SampleBytes = profiles.SampleBytes
	}
	if s.m, err = tiers.New(cfg); err != nil {
		return nil, err
	}
	s.snapshots, err = s.m.Tag("snapshots")
	if err == nil {
		s.lines, err = s.m.Tag("chat")
	}
	if err == nil {
		err = s.m.BeginLevel() // blocks left at its end are leaks
	}
	if err != nil {
		return nil, errors.Join(err, s.m.Close())
	}
	return s, nil
}

func (s *strata) forget(c *connection, n int) {
	for _, old := range c.history[:n] {
		memory.FreeSlice(s.snapshots, old.entities)
	}
	c.history = slices.Delete(c.history, 0, n)
}

func (s *strata) say(zone int, text []byte) error {
	line, err := memory.Clone(s.lines, text)
	if err != nil {
		return err
	}
	l := &s.chats[zone]
	if len(l.lines) == mostLines {
		memory.FreeSlice(s.lines, l.lines[0])
		l.lines = slices.Delete(l.lines, 0, 1)
	}
	l.lines, l.said = append(l.lines, line), l.said+1
	return nil
}

func (s *strata) tick(to *clients) error {
	select {
	case request := <-s.asked:
		if err := profiles.Answer(request, s.m); err != nil {
			return err
		}
	default:
	}
	if err := s.m.BeginFrame(); err != nil {
		return err
	}
	for k := range s.zones {
		s.zones[k].step()
	}
	scratch, err := arena.MakeSliceUninit(s.m.Frame(), entityType, mostSeen)
	if err != nil {
		return err
	}
	for i := range s.connections {
		if err := s.send(i, scratch[:0]); err != nil {
			return err
		}
	}
	for i, packet := range s.out {
		to.deliver(i, s.zones[0].tick, packet)
	}
	return s.m.EndFrame() // the packets were delivered
}

// send makes the packet and the snapshot of a client.
func (s *strata) send(i int, scratch []Entity) error {
	c, r, l := &s.connections[i], &s.zones[i/perZone], &s.chats[i/perZone]
	seen := r.visible(scratch, i%perZone)
	now, err := memory.Clone(s.snapshots, seen)
	if err != nil {
		return err
	}
	tick, known := c.known()
	most := 11 + mostEntityBytes*(len(known)+len(now)) + l.bytes(c) // it cannot grow
	packet, err := arena.MakeSliceUninit(s.m.Frame(), byteType, most)
	if err != nil {
		return err
	}
	s.out[i] = l.since(appendDelta(packet[:0], r.tick, tick, known, now), c)
	keep(s, c, r.tick, now)
	return nil
}

// close frees what players have left, and reports what was forgotten.
func (s *strata) close() error {
	for i := range s.connections {
		s.forget(&s.connections[i], len(s.connections[i].history))
	}
	for k := range s.chats {
		for _, line := range s.chats[k].lines {
			memory.FreeSlice(s.lines, line)
		}
	}
	leaks, err := s.m.EndLevel()
	if leaks.Any() {
		err = errors.Join(err, fmt.Errorf("%v", leaks))
	}
	return errors.Join(err, s.m.Close())
}
