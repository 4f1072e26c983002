package main

import (
	"github.com/strata-go/strata/render"
)

// What -capture takes: five seconds of the game's time, in pictures of at most half of a 1280's width.
const (
	filmWide    = 640
	filmRate    = 12 // pictures a second
	filmSeconds = 5
	pictureAt   = 300 // the tick of -screenshot, and -capture's first, unless -ticks says
)

// photographer takes what -screenshot and -capture ask for, and then ends the run.
type photographer struct {
	o    *options
	a    *app
	film *render.Film
	next uint64 // tick of the film's next picture
}

// afterDraw returns the function to call after each frame was drawn, or nil if no picture is requested.
func (o *options) afterDraw(a *app) (func(*render.Frame) error, error) {
	if o.screenshot == "" && o.capture == "" {
		return nil, nil
	}
	p := &photographer{o: o, a: a, next: o.pictureTick()}
	if o.capture == "" {
		return p.shoot, nil
	}
	var err error
	p.film, err = render.NewFilm(filmWide, filmRate)
	return p.shoot, err
}

func (p *photographer) shoot(f *render.Frame) error {
	if p.a.s.Game.Ticks < p.next || !p.a.posed() {
		return nil
	}
	if p.film == nil {
		if err := f.Screenshot(p.o.screenshot); err != nil {
			return err
		}
		return p.a.quit()
	}
	// Of the game's time: a slow machine films a fast game. No tick is shown twice.
	p.next = max(p.next+60/filmRate, p.a.s.Game.Ticks+1)
	if err := p.film.Add(f); err != nil {
		return err
	}
	if p.film.Len() < filmSeconds*filmRate {
		return nil
	}
	if err := p.film.Write(p.o.capture); err != nil {
		return err
	}
	return p.a.quit()
}
