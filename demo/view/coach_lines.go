package view

import (
	"github.com/strata-go/strata/demo/coach"
	"github.com/strata-go/strata/render"
)

// coachLines returns the texts of the coach's lines in the wording of a device.
func coachLines(b *render.Bindings, d render.Device) (lines [coach.Lines]string) {
	lines = [coach.Lines]string{
		coach.Collect: "COLLECT THE EMBERS OF THE FALLEN: THEY BUY GIFTS",
		coach.Gift:    "YOUR EMBERS BOUGHT A GIFT: TAKE ONE",
		coach.Seals:   "BREAK THE FOUR SEALS, THEN THE WARDEN: FOLLOW THE ARROW",
		coach.Break:   "A SEAL IS A HEXAGON: FIRE AT IT UNTIL IT BREAKS",
		coach.Next:    "THREE SEALS ARE LEFT: FOLLOW THE ARROW",
		coach.Heart:   "ALL SEALS ARE BROKEN: FOLLOW THE ARROW TO THE WARDEN",
		coach.Warden:  "THE WARDEN: FIRE, AND FLY BETWEEN ITS SHOTS",
		coach.Portal:  "FLY INTO THE PORTAL",
	}
	dash := said(b, render.Dash, d, "DASH")
	switch d {
	case render.Touch:
		lines[coach.Move], lines[coach.Fire], dash = "LEFT THUMB: MOVE", "RIGHT THUMB: AIM AND FIRE", "BUTTON >>: DASH"
	case render.Gamepad:
		lines[coach.Move], lines[coach.Fire] = "LEFT STICK: MOVE", "RIGHT STICK: AIM AND FIRE"
	default:
		lines[coach.Move], lines[coach.Fire] = ways(b, d)+": MOVE", join("MOUSE: AIM", said(b, render.Fire, d, "FIRE"))
	}
	rewind := said(b, render.Rewind, d, "REWIND FOUR SECONDS")
	if d == render.Touch {
		rewind = "BUTTON <<: REWIND FOUR SECONDS"
	}
	lines[coach.Rewind] = rewind + ". A SEAL GIVES A CHARGE"
	if rewind == "" {
		lines[coach.Rewind] = "A CHARGE REWINDS FOUR SECONDS. A SEAL GIVES ONE"
	}
	if lines[coach.Dash] = "NOTHING HURTS IN A DASH"; dash != "" {
		lines[coach.Dash] = dash + ". NOTHING HURTS IN A DASH"
	}
	return lines
}
