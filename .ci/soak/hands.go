package main

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A hand is a worker's goroutine for the length of a round, and the blocks that it made.
type hand struct {
	rand
	w    *tiers.Worker
	ids  uint64
	live []block // its own, or sent to the game's goroutine
}

// round has the workers allocate and free, while the game frees what they made before.
func (m *managed) round() {
	m.s.note("round of workers", 0, uint64(len(m.hands)), 0)
	ended := make(chan error, len(m.hands))
	for _, w := range m.hands {
		ours := w.live
		w.live = nil
		go func() { ended <- w.work(m.s.op) }()
		for _, b := range ours {
			m.general.verify(b)
			m.m.FreeAny(b.p)
		}
	}
	for range m.hands {
		m.s.must("worker", <-ended)
	}
}

// work runs on the worker's goroutine.
func (w *hand) work(op int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	for range 40 {
		if n := len(w.live); n > 0 && w.one(3) {
			b := w.live[n-1]
			if off, ok := b.intact(); !ok {
				return fmt.Errorf("byte %d of %v has changed", off, b)
			}
			w.live = w.live[:n-1]
			w.w.Free(b.p, b.size)
			continue
		}
		size, align := w.size(64<<10), w.align(256)
		p, err := w.w.Alloc(size, align)
		if errors.Is(err, memory.ErrOutOfMemory) {
			continue
		} else if err != nil {
			return err
		}
		w.ids++
		b := block{p, size, align, w.ids}
		b.fill()
		w.live = append(w.live, b)
	}
	w.w.Settle()
	return nil
}
