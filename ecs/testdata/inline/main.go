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

func all1(f *ecs.Filter1[position]) (last ecs.Entity) {
	for e, p := range f.All() {
		p.X++
		last = e
	}
	return last
}

func all2(f *ecs.Filter2[position, velocity]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X
		last = e
	}
	return last
}

func all3(f *ecs.Filter3[position, velocity, int]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C)
		last = e
	}
	return last
}

func all4(f *ecs.Filter4[position, velocity, int, byte]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D)
		last = e
	}
	return last
}

func all5(f *ecs.Filter5[position, velocity, int, byte, uint16]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D) + float32(*r.E)
		last = e
	}
	return last
}

func all6(f *ecs.Filter6[position, velocity, int, byte, uint16, int32]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D) + float32(*r.E) + float32(*r.F)
		last = e
	}
	return last
}

func all7(f *ecs.Filter7[position, velocity, int, byte, uint16, int32, float32]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D) + float32(*r.E) + float32(*r.F) + float32(*r.G)
		last = e
	}
	return last
}

func all8(f *ecs.Filter8[position, velocity, int, byte, uint16, int32, float32, int64]) (last ecs.Entity) {
	for e, r := range f.All() {
		r.A.X += r.B.X + float32(*r.C) + float32(*r.D) + float32(*r.E) + float32(*r.F) + float32(*r.G) + float32(*r.H)
		last = e
	}
	return last
}

func chunks1(f *ecs.Filter1[position]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c)
	}
	return n
}

func chunks2(f *ecs.Filter2[position, velocity]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.B)
	}
	return n
}

func chunks3(f *ecs.Filter3[position, velocity, int]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.C)
	}
	return n
}

func chunks4(f *ecs.Filter4[position, velocity, int, byte]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.D)
	}
	return n
}

func chunks5(f *ecs.Filter5[position, velocity, int, byte, uint16]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.E)
	}
	return n
}

func chunks6(f *ecs.Filter6[position, velocity, int, byte, uint16, int32]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.F)
	}
	return n
}

func chunks7(f *ecs.Filter7[position, velocity, int, byte, uint16, int32, float32]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.G)
	}
	return n
}

func chunks8(f *ecs.Filter8[position, velocity, int, byte, uint16, int32, float32, int64]) (n int) {
	for es, c := range f.Chunks() {
		n += len(es) + len(c.H)
	}
	return n
}

func gets(
	q1 *ecs.Query1[position],
	q2 *ecs.Query2[position, velocity],
	q3 *ecs.Query3[position, velocity, int],
	q4 *ecs.Query4[position, velocity, int, byte],
	q5 *ecs.Query5[position, velocity, int, byte, uint16],
	q6 *ecs.Query6[position, velocity, int, byte, uint16, int32],
	q7 *ecs.Query7[position, velocity, int, byte, uint16, int32, float32],
	q8 *ecs.Query8[position, velocity, int, byte, uint16, int32, float32, int64],
) {
	q1.Get()
	q2.Get()
	q3.Get()
	q4.Get()
	q5.Get()
	q6.Get()
	q7.Get()
	q8.Get()
}
