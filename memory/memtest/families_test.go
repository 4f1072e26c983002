package memtest_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
)

// A family is one that Run has nothing to say of, since it is no memory.Allocator or more than one.
type family interface {
	memory.Checker
	memory.StatsReporter
	Close() error
}

type item struct{ A, B, C uint64 }

// families open one each, and return what is done with it, one thing after the other: each of the calls
// it makes of its source among them.
var families = map[string]func(src page.Source) (family, []func(), error){
	"compact":  openCompact,
	"pool":     openPool,
	"split":    openSplit,
	"registry": openRegistry,
	"cache":    openCache,
	"window": func(src page.Source) (family, []func(), error) {
		w, err := arena.NewWindow(src, memory.MustType[item](), arena.WindowConfig{Keep: 500})
		if err != nil {
			return nil, nil, err
		}
		return w, []func(){func() { w.Push(item{}) }, func() { w.All() }, func() { w.Drop(1) }, w.Reset}, nil
	},
	"plan": func(src page.Source) (family, []func(), error) {
		p, err := plan.Fast([]plan.Buffer{{ID: 1, Size: 100_000, Death: 3}, {ID: 2, Size: 50_000, Birth: 1, Death: 2}})
		if err != nil {
			return nil, nil, err
		}
		a, err := plan.New(src, p)
		if err != nil {
			return nil, nil, err
		}
		return a, []func(){func() { a.Begin(0) }, func() { *(*byte)(a.Get(1)) = 1 }, func() { a.Advance(1) }, a.Reset}, nil
	},
	"double": func(src page.Source) (family, []func(), error) {
		d, err := stack.NewDouble(src, stack.DoubleConfig{Bytes: 200_000})
		if err != nil {
			return nil, nil, err
		}
		return d, append(allocAndFree(d.Bottom()), append(allocAndFree(d.Top()), d.Reset)...), nil
	},
	"pivot": func(src page.Source) (family, []func(), error) {
		p, err := stack.NewPivot(src, stack.PivotConfig{Forward: 100_000, Backward: 100_000})
		if err != nil {
			return nil, nil, err
		}
		return p, append(allocAndFree(p.Forward()), append(allocAndFree(p.Backward()), p.Reset)...), nil
	},
}

// allocAndFree takes blocks, writes to the last byte of each, and frees the newest one now and then.
func allocAndFree(a memory.Allocator) (steps []func()) {
	var blocks []unsafe.Pointer
	var sizes []uintptr
	for i := range 60 {
		size := uintptr(100 + 997*i)
		steps = append(steps, func() {
			if p, err := a.Alloc(size, 16); err == nil {
				*(*byte)(unsafe.Add(p, size-1)) = 1
				blocks, sizes = append(blocks, p), append(sizes, size)
			}
		})
		if i%4 == 3 {
			steps = append(steps, func() {
				if k := len(blocks) - 1; k >= 0 {
					p, size := blocks[k], sizes[k]
					blocks, sizes = blocks[:k], sizes[:k]
					a.Free(p, size)
				}
			})
		}
	}
	return steps
}

// cached is a Central with a Cache before it.
type cached struct {
	*slab.Central
	front *slab.Cache
}

func (c cached) Check() error { return errors.Join(c.front.Check(), c.Central.Check()) }
func (c cached) Close() error { return errors.Join(c.front.Close(), c.Central.Close()) }

func openCache(src page.Source) (family, []func(), error) {
	h, err := slab.New(src, slab.Config{Reserve: 4 << 20, MaxSize: 65536})
	if err != nil {
		return nil, nil, err
	}
	c, err := slab.NewCentral(h)
	if err != nil {
		return nil, nil, err
	}
	front := slab.NewCache(c)
	steps := append(allocAndFree(front), front.Flush, func() { _ = c.Trim() }, func() { front.Cached() })
	return cached{c, front}, append(steps, allocAndFree(c)...), nil
}

func openCompact(src page.Source) (family, []func(), error) {
	h, err := compact.New(src, compact.Config{Reserve: 1 << 20, Step: 16 << 10})
	if err != nil {
		return nil, nil, err
	}
	var blocks []compact.Handle
	var steps []func()
	for i := range 30 {
		steps = append(steps, func() {
			x, _ := h.Alloc(uintptr(500 + 3000*i)) // that of nothing is stale
			blocks = append(blocks, x)
		}, func() {
			if i%3 == 2 {
				h.Free(blocks[i/3])
			}
		}, func() { h.Compact(compact.Budget{Bytes: 3000}) }, func() {
			x := blocks[len(blocks)-1]
			if h.Resize(x, 40_000) {
				b, _ := h.Bytes(x)
				b[39_999] = 1
			}
		}, func() {
			if i%10 == 9 {
				_ = h.Trim()
			}
		})
	}
	return h, steps, nil
}

func openPool(src page.Source) (family, []func(), error) {
	p, err := pool.New[item](src, pool.Config{Capacity: 20_000})
	if err != nil {
		return nil, nil, err
	}
	return p, objects(func() error {
		_, v, err := p.New()
		if err == nil {
			v.C = 1
		}
		return err
	}, func() { _ = p.Grow(5000) }, func() { _ = p.Trim() }, p.Reset), nil
}

func openSplit(src page.Source) (family, []func(), error) {
	p, err := pool.NewSplit[item, [40]uint64](src, pool.Config{Capacity: 20_000})
	if err != nil {
		return nil, nil, err
	}
	return p, objects(func() error {
		_, v, c, err := p.New()
		if err == nil {
			v.C, c[39] = 1, 1
		}
		return err
	}, func() { _ = p.Grow(5000) }, func() { _ = p.Trim() }, p.Reset), nil
}

func openRegistry(src page.Source) (family, []func(), error) {
	r := pool.NewRegistry(src)
	if _, err := pool.Register[item](r, pool.Config{Capacity: 20_000}); err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, objects(func() error {
		_, v, err := pool.NewIn[item](r)
		if err == nil {
			v.C = 1
		}
		return err
	}, func() { r.Stats() }, func() { _ = r.Trim() }, r.Reset), nil
}

// objects makes many, and calls each of the others now and then.
func objects(make func() error, others ...func()) (steps []func()) {
	for i := range 60 {
		steps = append(steps, func() {
			for range 300 {
				if make() != nil {
					return
				}
			}
		})
		if i%9 == 8 {
			steps = append(steps, others[i/9%len(others)])
		}
	}
	return steps
}

// Whatever call of its source a family is in the midst of when that ends, with the memory: it is
// closed, answers, and touches nothing.
func TestFamilies_TheirSourceMayEndInTheMidstOfEachOfItsCalls(t *testing.T) {
	for name, open := range families {
		ended := 0
		for at := 1; at <= 60; at++ {
			src := memtest.NewSudden(t, 24<<20, at)
			f, steps, err := open(src)
			if err != nil {
				if !src.Ended || !errors.Is(err, memory.ErrClosed) {
					t.Errorf("%s: New whose source ended (%t) in its call %d: %v; want ErrClosed", name, src.Ended, at, err)
				}
				ended++
				continue
			}
			for i, step := range steps {
				misuse := use(step)
				if misuse != nil && !src.Ended {
					t.Fatalf("%s: step %d: %v", name, i, misuse)
				}
				if src.Ended {
					isEnded(t, name, at, f)
				}
			}
			if err := errors.Join(f.Close(), f.Close()); err != nil {
				t.Errorf("%s: closed (%t) in call %d: %v", name, src.Ended, at, err)
			}
			if !src.Ended {
				src.End(t)
				break
			}
			isEnded(t, name, at, f)
			ended++
		}
		if ended == 0 {
			t.Errorf("%s: its source never ended", name)
		}
	}
}

// use calls step and returns the misuse that it panics with.
func use(step func()) (m *memory.Misuse) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if m, ok = r.(*memory.Misuse); !ok {
				panic(r)
			}
		}
	}()
	step()
	return nil
}

func isEnded(t *testing.T, name string, at int, f family) {
	t.Helper()
	memtest.MustCheck(t, f)
	if st := f.Stats(); st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.Free != 0 || st.LargestFree != 0 {
		t.Errorf("%s: its source has ended in call %d, yet the books are %+v", name, at, st)
	}
}
