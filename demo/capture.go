package main

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/render"
)

// What -capture takes: six seconds of the game's time, in pictures of at most half of a 1280's width.
const (
	filmWide    = 640
	filmRate    = 15 // pictures a second
	filmSeconds = 6
	pictureAt   = 300 // the tick of -screenshot, and -capture's first, unless -ticks says
)

// photographer takes what -screenshot and -capture ask for, and then ends the run.
type photographer struct {
	o    *options
	s    *game.Session
	film *render.Film
	next uint64 // tick of the film's next picture
	quit func() error
}

// afterDraw returns what to call after each frame was drawn; nil where no picture is wanted.
func (o *options) afterDraw(s *game.Session, quit func() error) (func(*render.Frame) error, error) {
	if o.screenshot == "" && o.capture == "" {
		return nil, nil
	}
	p := &photographer{o: o, s: s, quit: quit, next: o.ticks}
	if p.next == 0 {
		p.next = pictureAt
	}
	if o.capture == "" {
		return p.shoot, nil
	}
	var err error
	p.film, err = render.NewFilm(filmWide, filmRate)
	return p.shoot, err
}

func (p *photographer) shoot(f *render.Frame) error {
	if p.s.Game.Ticks < p.next {
		return nil
	}
	if p.film == nil {
		if err := f.Screenshot(p.o.screenshot); err != nil {
			return err
		}
		return p.quit()
	}
	p.next += 60 / filmRate // of the game's time: a slow machine films a fast game
	if err := p.film.Add(f); err != nil {
		return err
	}
	if p.film.Len() < filmSeconds*filmRate {
		return nil
	}
	if err := p.film.Write(p.o.capture); err != nil {
		return err
	}
	return p.quit()
}
