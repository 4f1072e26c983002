package ecs

import "testing"

// BenchmarkTicks walks 100,000 rows of two components that nobody tracks, that are tracked, that the loop
// says it writes, and of which some have changed.
func BenchmarkTicks(b *testing.B) {
	const rows = 100_000
	for _, c := range []struct {
		name    string
		tracked bool
		writes  bool
		every   int // one of so many has changed; 0 none; -1 it is not asked
	}{
		{"untracked", false, false, -1}, {"tracked", true, false, -1}, {"writes", true, true, -1},
		{"changed=0%", true, false, 0}, {"changed=1%", true, false, 100}, {"changed=100%", true, false, 1},
		{"writes/changed=100%", true, true, 1},
	} {
		w, _ := newTestWorld(b, Config{})
		pos, vel := mustRegisterTest[position](b, w), mustRegisterTest[velocity](b, w)
		if c.tracked {
			if err := w.Track(pos.ID(), vel.ID()); err != nil {
				b.Fatal(err)
			}
		}
		if err := NewMap2[position, velocity](w).NewBatch(rows, nil); err != nil {
			b.Fatal(err)
		}
		f := NewFilter2[position, velocity](w)
		if c.every >= 0 {
			f.ChangedSince(w.Tick(), vel.ID())
			i := 0
			for e := range NewFilter1[position](w).All() {
				if c.every > 0 && i%c.every == 0 {
					vel.Touch(e)
				}
				i++
			}
		}
		if c.writes {
			f.Writes(pos.ID())
		}
		b.Run(c.name+"/All", func(b *testing.B) {
			for b.Loop() {
				moveAll(f)
			}
		})
		b.Run(c.name+"/Chunks", func(b *testing.B) {
			for b.Loop() {
				moveChunks(f)
			}
		})
		b.Run(c.name+"/Query", func(b *testing.B) {
			for b.Loop() {
				q := f.Query()
				for q.Next() {
					p, v := q.Get()
					p.X += v.X
					p.Y += v.Y
				}
			}
		})
	}
}

// The compiler inlines no iterator in the loop of a benchmark, and does so in a function.
//
//go:noinline
func moveAll(f *Filter2[position, velocity]) {
	for _, r := range f.All() {
		r.A.X += r.B.X
		r.A.Y += r.B.Y
	}
}

//go:noinline
func moveChunks(f *Filter2[position, velocity]) {
	for _, cols := range f.Chunks() {
		ps, vs := cols.A, cols.B[:len(cols.A)]
		for i := range ps {
			ps[i].X += vs[i].X
			ps[i].Y += vs[i].Y
		}
	}
}
