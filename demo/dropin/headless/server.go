package main

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

const (
	perTick = 40  // requests that come in a tick
	lasting = 400 // requests that wait for an answer: each some ten ticks
)

// A server answers requests in the order in which they came.
type server struct {
	m        *tiers.Manager
	bodies   *tiers.Tag
	waiting  [][]byte
	received int
	answered int
}

// tick takes what has come and answers what is due.
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
		// The reply is sent within the tick: it lies in frame memory, and nobody frees it.
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
