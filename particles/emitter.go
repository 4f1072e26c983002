package particles

// A Shape is the set of places, around the emitter's centre, where particles begin.
type Shape uint8

const (
	Point Shape = iota // at the centre
	Disc               // evenly distributed within Radius
	Ring               // evenly distributed on the circle of Radius
	Line               // evenly distributed on a line of length 2*Radius, at a right angle to Angle
)

// An Emitter describes where particles begin and how they fly. It contains no Go pointer, so it may be a component.
// The caller may change every field between calls. Lengths are in units of the world, times in seconds. Angles are in
// radians, clockwise if y points down. A direction of 1e4 radians or more, positive or negative, counts as 0.
type Emitter struct {
	Kind   KindID
	Shape  Shape
	Radial bool    // Disc and Ring: Angle counts from the direction away from the centre
	X, Y   float32 // the centre
	Radius float32

	VX, VY  float32 // velocity of the emitting object, units/s
	Inherit float32 // the share of VX, VY that is added to the velocity of particles

	Angle  float32 // middle of the cone of directions; 0 is +x
	Spread float32 // full width of the cone; 2π is every direction
	Speed  Range   // units/s; with a negative speed particles fly in the opposite direction
	Life   Range   // seconds, limited to 1/1024 to 3600
	Size   Range   // side of the quad, before Kind.Size

	Burst int     // particles of one call of System.Burst
	Rate  float32 // particles a second, for System.EmitRate
	Owed  float32 // fraction of a particle that EmitRate carries over to its next call
}

// Emit emits n particles and returns the number of emitted particles. If the capacity is reached or the source
// refuses memory, Emit emits fewer particles and counts the missing ones in Stats.Dropped. If n is negative, Emit
// emits none.
//
// If the columns are full, Emit commits memory. After a refusal Emit does not ask the source again until
// [System.Reserve], [System.Reset] or [System.Trim], or until a save.Slot from before the refusal is loaded. If the kind
// is not registered, Emit panics with a *memory.Misuse. The function of page.Limit.OnSoft must not emit more particles
// than fit in Stats.Rows: during a commit of this System, Emit may then panic with a *memory.Misuse. Cost: see the
// package documentation.
func (s *System) Emit(e *Emitter, n int) int {
	s.open("Emit")
	return s.emit(e, n, 0)
}

// Burst emits e.Burst particles and returns the number of emitted particles. Limits and panics are those of
// [System.Emit].
func (s *System) Burst(e *Emitter) int {
	s.open("Burst")
	return s.emit(e, e.Burst, 0)
}

// EmitRate emits e.Rate*dt + e.Owed particles, rounded down, and returns the number of emitted particles. Dt is in
// seconds. The sum is limited to 0 to 1<<24, and NaN counts as 0. EmitRate stores the fraction of the limited sum in
// e.Owed for the next call. Particles that cannot be emitted count in Stats.Dropped, and not in e.Owed.
//
// The particles are distributed along the path of the emitter during dt, so that a fast emitter leaves an even trail.
// The path begins at (X, Y) - (VX, VY)*dt and ends at (X, Y). EmitRate panics if [System.Emit] would.
func (s *System) EmitRate(e *Emitter, dt float32) int {
	s.open("EmitRate")
	owed := e.Owed + float32(e.Rate*dt)
	if !(owed >= 0) {
		owed = 0
	}
	owed = min(owed, maxCapacity)
	n := int(owed)
	emitted := s.emit(e, n, limit(dt, most))
	e.Owed = owed - float32(n) // last: if a callback of the source panics, Owed is unchanged
	return emitted
}

// emit distributes n particles along the path of the last dt seconds.
func (s *System) emit(e *Emitter, n int, dt float32) int {
	s.known("Emit", e.Kind)
	if n <= 0 {
		return 0
	}
	// s.n + n cannot wrap below: n is cut to what may ever fit first.
	fits := min(n, s.max-s.n)
	if s.n+fits > s.usable {
		s.grow(s.n + fits)
		fits = min(fits, s.usable-s.n)
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
		late := 1 - (float32(i)+0.5)/float32(n) // how far back on the path, from 0 to 1
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

// jitter returns a random place in the shape, and its direction from the centre.
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
