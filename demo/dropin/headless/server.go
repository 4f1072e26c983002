package main

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

const (
	perTick = 40  // requests that arrive in a tick
	lasting = 400 // requests that wait for an answer, each for about ten ticks
)

// A server answers requests in the order of their arrival.
type server struct {
	m        *tiers.Manager
	bodies   *tiers.Tag
	waiting  [][]byte
	received int
	answered int
}

// tick receives requests and answers the oldest.
func (s *server) tick() error {
	for range perTick {
		body, err := memory.MakeSlice[byte](s.bodies, 100+s.received%40*200)
		if err != nil {
			return err
		}
		body[0] = byte(s.received)
		s.received++
		s.waiting = append(s.waiting, body)
	}
	for len(s.waiting) > lasting {
		// The reply is sent within the tick: it lies in frame memory, which needs no Free.
		reply, err := memory.MakeSlice[byte](s.m.Frame(), 512)
		if err != nil {
			return err
		}
		copy(reply, s.waiting[0])
		memory.FreeSlice(s.bodies, s.waiting[0])
		s.waiting = s.waiting[1:]
		s.answered++
	}
	return nil
}

// drop frees the bodies of the requests that are not answered.
func (s *server) drop() {
	for _, body := range s.waiting {
		memory.FreeSlice(s.bodies, body)
	}
}
