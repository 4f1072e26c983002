package main

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A simulation is something to look at: paths that live for a tick, half of what a
// frame may take, and sounds that nobody frees.
type simulation struct {
	m             *tiers.Manager
	paths, sounds *tiers.Tag
}

func (s *simulation) init() (err error) {
	if s.paths, err = s.m.Tag("paths"); err != nil {
		return err
	}
	s.sounds, err = s.m.Tag("sounds")
	return err
}

func (s *simulation) tick() error {
	for range 20 {
		p, err := memory.MakeSlice[byte](s.paths, 700)
		if err != nil {
			return err
		}
		memory.FreeSlice(s.paths, p)
	}
	if _, err := memory.MakeSlice[byte](s.m.Frame(), 2<<20); err != nil {
		return err
	}
	_, err := memory.MakeSlice[byte](s.sounds, 2048)
	return err
}
