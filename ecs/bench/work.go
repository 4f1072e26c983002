package main

import (
	"math/rand/v2"
	"unsafe"
)

// The components of all rows.
type (
	position struct{ X, Y float64 }
	velocity struct{ X, Y float64 }
	drag     struct{ X, Y float64 }
	force    struct{ X, Y float64 }
)

// What entity i has in a world that is walked.
func positionOf(i int) position { return position{float64(i % 1000), 1} }
func velocityOf(i int) velocity { return velocity{1, float64(i % 7)} }
func dragOf(i int) drag         { return drag{float64(i % 5), 1} }
func forceOf(i int) force       { return force{1, float64(i % 3)} }

// The work of a walk on one entity, the same in every loop.

// move1 turns a position about the origin. The products are rounded each, so that no compiler fuses them with
// the sums on one side and not on another.
func move1(p *position) {
	const cos, sin = 0.9998, 0.02
	p.X, p.Y = float64(p.X*cos)-float64(p.Y*sin), float64(p.X*sin)+float64(p.Y*cos)
}

func move2(p *position, v *velocity) {
	p.X += v.X
	p.Y += v.Y
}

func move3(p *position, v *velocity, d *drag) {
	v.X += d.X
	v.Y += d.Y
	move2(p, v)
}

func move4(p *position, v *velocity, d *drag, f *force) {
	v.X += d.X + f.X
	v.Y += d.Y + f.Y
	move2(p, v)
}

// The loops that a programmer writes by hand over slices. Walks by columns call them too: one
// piece of code at one address, so that what differs is how they come to their slices.

//go:noinline
func columns1(ps []position) {
	for i := range ps {
		move1(&ps[i])
	}
}

//go:noinline
func columns2(ps []position, vs []velocity) {
	vs = vs[:len(ps)]
	for i := range ps {
		move2(&ps[i], &vs[i])
	}
}

//go:noinline
func columns3(ps []position, vs []velocity, ds []drag) {
	vs, ds = vs[:len(ps)], ds[:len(ps)]
	for i := range ps {
		move3(&ps[i], &vs[i], &ds[i])
	}
}

//go:noinline
func columns4(ps []position, vs []velocity, ds []drag, fs []force) {
	vs, ds, fs = vs[:len(ps)], ds[:len(ps)], fs[:len(ps)]
	for i := range ps {
		move4(&ps[i], &vs[i], &ds[i], &fs[i])
	}
}

// filled returns a slice of n values whose memory is there: what was never written is one page
// of zeros, which stays in the cache however long the slice is.
func filled[T any](n int, of func(i int) T) []T {
	s := make([]T, n)
	for i := range s {
		*(*byte)(unsafe.Pointer(&s[i])) = 1
		s[i] = of(i)
	}
	return s
}

// shuffled puts s into an order that is the same in every program.
func shuffled[T any](s []T) []T {
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// tallyOf is the tally of entities whose columns are slices.
func tallyOf(ps []position, vs []velocity) (t tally) {
	for i := range ps {
		t.add(ps[i].X, ps[i].Y, vs[i].X, vs[i].Y)
	}
	return t
}
