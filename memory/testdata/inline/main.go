// Command inline uses each generic function that inline.txt lists: the compiler says of
// those whether it can inline them where they are used. TestInlining builds it.
package main

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/pool"
)

type hot struct{ X, Y float32 }
type cold struct{ Name [16]byte }

func main() {}

func fresh(l *arena.Linear, t memory.Type[hot]) (*hot, error) { return arena.New(l, t) }

func get(p *pool.Pool[hot], h memory.Handle[hot]) (*hot, bool) { return p.Get(h) }

func halves(p *pool.Split[hot, cold], h memory.Handle[hot]) (*hot, *cold) {
	_, _, _ = p.Get(h)
	x, _ := p.Hot(h)
	y, _ := p.Cold(h)
	return x, y
}

func walk(p *pool.Pool[hot]) (sum float32) {
	for _, v := range p.All() {
		sum += v.X
	}
	for run := range p.Runs() {
		sum += run[0].X
	}
	return sum
}

func contain(sp *container.Space, v *container.Vec[hot], r *container.Ring[hot]) hot {
	_ = v.TryAppend(sp, v.At(sp, 0))
	*v.Ptr(sp, 0) = v.Slice(sp)[1]
	x, _ := r.PopFront(sp)
	return x
}
