package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// steer turns a velocity to a direction at a speed.
func steer(v *vec, dir vec, speed, agility float32) {
	*v = engine.Mix(*v, engine.Scale(dir, speed), mul(agility, step))
}

// sway turns a direction of the table to and fro, each by its own time.
func (w *walk) sway(dir vec, e *Enemy, wide int) vec {
	n := int(w.ticks/2+uint64(e.Phase)) & 127
	if n > 63 {
		n = 127 - n
	}
	by := realm.Headings[1+(n-32)*wide/32&127]
	if n < 32 {
		by = realm.Headings[1+(32-n)*wide/32&127]
		by[1] = -by[1]
	}
	return engine.Rotate(dir, by)
}

// headingOf returns the angle of v by the arctangent's odd polynomial: rendering and steering
// need a thousandth of a turn, and it is the same everywhere.
func headingOf(v vec) float32 {
	x, y := v[0], v[1]
	ax, ay := max(x, -x), max(y, -y)
	if ax+ay == 0 {
		return 0
	}
	t := min(ax, ay) / max(ax, ay)
	s := mul(t, t)
	a := mul(t, 0.99997726+mul(s, -0.33262347+mul(s, 0.19354346+mul(s, -0.11643287+mul(s, 0.05265332+mul(s, -0.0117212))))))
	if ay > ax {
		a = 1.5707964 - a
	}
	if x < 0 {
		a = 3.1415927 - a
	}
	if y < 0 {
		return -a
	}
	return a
}

// turnTo turns an angle towards a direction by at most rate radians a second.
func turnTo(angle float32, dir vec, rate float32) float32 {
	d := headingOf(dir) - angle
	if d > 3.1415927 {
		d -= 6.2831855
	} else if d < -3.1415927 {
		d += 6.2831855
	}
	angle += clamp(d, -mul(rate, step), mul(rate, step))
	if angle > 3.1415927 { // kept within half a turn of 0, so that d is within one
		angle -= 6.2831855
	} else if angle < -3.1415927 {
		angle += 6.2831855
	}
	return angle
}
