// Command inline calls what must cost no call: TestFastPaths_Inline reads the compiler's
// report on it.
package main

import "github.com/strata-go/strata/ecs"

type position struct{ X, Y float32 }
type velocity struct{ X, Y float32 }

func main() {}

func walk(f *ecs.Filter2[position, velocity]) (last ecs.Entity) {
	q := f.Query()
	for q.Next() {
		p, v := q.Get()
		p.X += v.X
		last = q.Entity()
	}
	return last
}

func columns(f *ecs.Filter2[position, velocity]) (n int) {
	q := f.Query()
	for q.NextChunk() {
		es, _, _ := q.Columns()
		n += len(es)
	}
	return n
}

func get(c ecs.Component[position], e ecs.Entity) float32 {
	p, ok := c.Get(e)
	if !ok {
		return 0
	}
	return p.X
}

func alive(w *ecs.World, e ecs.Entity) bool { return w.Alive(e) }

func all1(f *ecs.Filter1[position]) {
	for _, p := range f.All() {
		p.X++
	}
}

func all2(f *ecs.Filter2[position, velocity]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X
		last = e
	}
	return last
}

func all3(f *ecs.Filter3[position, velocity, int]) {
	for _, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C)
	}
}

func all4(f *ecs.Filter4[position, velocity, int, byte]) {
	for _, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D)
	}
}

func chunks1(f *ecs.Filter1[position]) (n int) {
	for es, ps := range f.Chunks() {
		n += len(es) + len(ps)
	}
	return n
}

func chunks4(f *ecs.Filter4[position, velocity, int, byte]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.D)
	}
	return n
}
