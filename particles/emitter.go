package particles

// A Shape is where around its centre an emitter puts particles.
type Shape uint8

const (
	Point Shape = iota
	Disc        // evenly within Radius
	Ring        // on the circle of Radius
	Line        // evenly on the line of half length Radius across Angle
)

// An Emitter says where particles begin and how they fly. It holds no pointer, so it may
// be a component; between calls the caller changes it as it likes. Units are those of the
// world, seconds and radians, clockwise where y points down.
type Emitter struct {
	Kind   KindID
	Shape  Shape
	Radial bool // Disc and Ring: the cone opens away from the centre, and Angle is added to that
	X, Y   float32
	Radius float32

	VX, VY  float32 // of the thing that emits
	Inherit float32 // the share of VX, VY that particles get

	Angle  float32 // middle of the cone
	Spread float32 // its full width; 2π is everywhere
	Speed  Range   // along the cone's direction; negative flies inwards
	Life   Range   // seconds; less than 1/1024 counts as that, more than 3600 as 3600
	Size   Range   // side of the quad

	Burst int     // particles of one System.Burst
	Rate  float32 // particles a second of EmitRate
	Owed  float32 // the fraction of a particle that EmitRate carries to its next call
}

// Emit emits n particles and returns how many there was room for; the rest is counted in
// Stats.Dropped. It commits memory when the columns are full and allocates nothing on the
// Go heap unless memory is refused. A kind that is not registered panics with a
// *memory.Misuse. Cost: see the package
// documentation.
func (s *System) Emit(e *Emitter, n int) int {
	s.open("Emit")
	return s.emit(e, n, 0)
}

// Burst emits e.Burst particles, as [System.Emit].
func (s *System) Burst(e *Emitter) int {
	s.open("Burst")
	return s.emit(e, e.Burst, 0)
}

// EmitRate emits what e.Rate asks for in dt seconds and carries the fraction in e.Owed. The
// particles are spread along the way that VX, VY took the emitter in dt, so that fast
// things leave an even trail.
func (s *System) EmitRate(e *Emitter, dt float32) int {
	s.open("EmitRate")
	owed := e.Owed + float32(e.Rate*dt)
	if !(owed >= 0) {
		owed = 0
	}
	owed = min(owed, maxCapacity)
	n := int(owed)
	emitted := s.emit(e, n, limit(dt, most))
	e.Owed = owed - float32(n) // last: where a callback of the source panics they are still owed
	return emitted
}

// emit puts n particles on the way of the last dt seconds.
func (s *System) emit(e *Emitter, n int, dt float32) int {
	s.known("Emit", e.Kind)
	if n <= 0 {
		return 0
	}
	// s.n + n cannot wrap below: n is cut to what may ever fit first.
	fits := min(n, s.max-s.n)
	if s.n+fits > s.room {
		s.grow(s.n + fits)
		fits = min(fits, s.room-s.n)
	}
	s.dropped += uint64(n - fits)
	if fits == 0 {
		return 0
	}
	lo := s.n
	s.n += fits
	s.peak = max(s.peak, s.n)
	s.emitted += uint64(fits)
	s.alive[e.Kind] += uint32(fits)
	s.fill(e, lo, dt)
	return fits
}

// fill writes every column of the rows from lo to n.
func (s *System) fill(e *Emitter, lo int, dt float32) {
	if !e.bounded() {
		limited := e.limited()
		e = &limited
	}
	k := &s.kinds[e.Kind]
	turns := k.turns()
	kind := s.kind[lo:s.n]
	n := len(kind)
	tint := s.tint[lo:][:n]
	xs, ys, vxs, vys := s.x[lo:][:n], s.y[lo:][:n], s.vx[lo:][:n], s.vy[lo:][:n]
	left, births := s.left[lo:][:n], s.birth[lo:][:n]

	backX, backY := float32(e.VX*dt), float32(e.VY*dt)
	pushX, pushY := float32(e.VX*e.Inherit), float32(e.VY*e.Inherit)
	rng := s.rng
	for i := range kind {
		late := 1 - (float32(i)+0.5)/float32(n) // how far back on the way
		x, y := e.X-float32(backX*late), e.Y-float32(backY*late)
		u, w, spare := rng.pair()
		angle := e.Angle + float32(e.Spread*(u-0.5))
		if e.Shape != Point {
			dx, dy, out := e.jitter(&rng)
			x, y = x+dx, y+dy
			if e.Radial {
				angle += out
			}
		}
		sin, cos := sincos(angle)
		speed := e.Speed.at(w)
		u, w, _ = rng.pair()
		life := e.Life.at(u)
		if !(life >= shortestLife) {
			life = shortestLife
		}
		kind[i], tint[i] = uint8(e.Kind), spare
		xs[i], ys[i] = x, y
		vxs[i], vys[i] = pushX+float32(cos*speed), pushY+float32(sin*speed)
		left[i] = life
		b := birth{inv: 1 / life, size: e.Size.at(w)}
		if turns {
			u, w, _ = rng.pair()
			b.rot = float32(k.Angle.at(u) * perTurn)
			b.spin = float32(float32(k.Spin.at(w)*life) * perTurn)
		}
		births[i] = b
	}
	s.rng = rng
}

// jitter draws a place in the shape, and the direction in which it lies from the centre.
func (e *Emitter) jitter(rng *random) (dx, dy, out float32) {
	u, w, _ := rng.pair()
	if e.Shape == Line {
		sin, cos := sincos(e.Angle)
		along := float32(e.Radius * (u + u - 1))
		return -float32(sin * along), float32(cos * along), 0
	}
	r := e.Radius
	if e.Shape == Disc {
		r = float32(r * sqrt(w))
	}
	out = float32(u * tau)
	sin, cos := sincos(out)
	return float32(cos * r), float32(sin * r), out
}
