package main

// curveSteps straight pieces make one curve: at sprite sizes the error stays below a tenth of a pixel.
const curveSteps = 10

// A path collects the corners of a polygon.
type path []vec

func from(x, y float64) path { return path{{x, y}} }

func (s path) line(x, y float64) path { return append(s, vec{x, y}) }

// curve goes to (x, y), bending towards the control point (cx, cy).
func (s path) curve(cx, cy, x, y float64) path {
	a, c, b := s[len(s)-1], vec{cx, cy}, vec{x, y}
	for i := 1; i <= curveSteps; i++ {
		t := float64(i) / curveSteps
		s = append(s, a.scale((1-t)*(1-t)).add(c.scale(2*t*(1-t))).add(b.scale(t*t)))
	}
	return s
}

// symmetric closes a path that runs from the X axis to the X axis with its mirror image.
func (s path) symmetric() path {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].y != 0 {
			s = append(s, vec{s[i].x, -s[i].y})
		}
	}
	return s
}

// stroke is the distance to the open path and how far along it the nearest point is, 0 to 1.
func (s path) stroke(p vec) (d, along float64) {
	d = 1e9
	for i := range len(s) - 1 {
		if e, t := segment(p, s[i], s[i+1]); e < d {
			d, along = e, (float64(i)+t)/float64(len(s)-1)
		}
	}
	return d, along
}
