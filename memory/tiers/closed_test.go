package tiers_test

import (
	"bytes"
	"errors"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/particles"
)

type (
	hot  struct{ A, B int64 }
	cold struct{ C [3]int64 }
)

// An estate is an owner in use, and what others hold of it.
type estate struct {
	held  []any // whose methods are called when it has closed
	args  []any // what was live: they are called with these, and with zeros
	close func() error
}

// A source is what an estate is built on; ok gives up where that fails.
type source struct {
	page.Source
	t *testing.T
}

func ok[T any](s source, v T, err error) T {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// blocks are two blocks of an allocator and their size.
func blocks(s source, a memory.Allocator) []any {
	p, err := a.Alloc(16, 8)
	q, also := a.Alloc(16, 8)
	return []any{p, ok(s, q, errors.Join(err, also)), uintptr(16)}
}

// plain is an estate of one allocator.
func plain(s source, a interface {
	memory.Allocator
	Close() error
}, err error) estate {
	ok(s, a, err)
	return estate{[]any{a}, blocks(s, a), a.Close}
}

// estates build each exported type that closes, and what it hands out.
var estates = map[string]func(source) estate{
	"arena.Linear": func(s source) estate {
		a, err := arena.NewLinear(s.Source, arena.LinearConfig{Bytes: 64 << 10})
		e := plain(s, a, err)
		e.args = append(e.args, a.Mark())
		return e
	},
	"arena.Growing": func(s source) estate {
		a, err := arena.NewGrowing(s.Source, arena.GrowingConfig{Reserve: 1 << 20})
		e := plain(s, a, err)
		e.args = append(e.args, a.Mark())
		return e
	},
	"arena.Frames": func(s source) estate {
		a, err := arena.NewFrames(s.Source, arena.FramesConfig{Bytes: 64 << 10})
		e := plain(s, a, err)
		v, err := arena.New(a.Current(), memory.MustType[hot]())
		ref := arena.RefTo(a, ok(s, v, err))
		e.held = append(e.held, a.Current(), ref)
		e.args = append(e.args, a, a.Current().Mark())
		return e
	},
	"arena.Region": func(s source) estate {
		a, err := arena.NewRegion(s.Source, arena.RegionConfig{Reserve: 1 << 20})
		return plain(s, a, err)
	},
	"arena.StepBack": func(s source) estate {
		a, err := arena.NewStepBack(s.Source, arena.StepBackConfig{Bytes: 64 << 10})
		return plain(s, a, err)
	},
	"stack.Stack": func(s source) estate {
		a, err := stack.New(s.Source, stack.Config{Bytes: 64 << 10})
		e := plain(s, a, err)
		e.args = append(e.args, a.Mark())
		return e
	},
	"stack.Double": func(s source) estate {
		a, err := stack.NewDouble(s.Source, stack.DoubleConfig{Bytes: 64 << 10})
		ok(s, a, err)
		return estate{[]any{a, a.Bottom(), a.Top()}, append(blocks(s, a.Bottom()), a.Bottom().Mark(), a.Top().Mark()), a.Close}
	},
	"stack.Pivot": func(s source) estate {
		a, err := stack.NewPivot(s.Source, stack.PivotConfig{Forward: 64 << 10, Backward: 64 << 10})
		ok(s, a, err)
		return estate{[]any{a, a.Forward(), a.Backward()}, append(blocks(s, a.Backward()), a.Forward().Mark()), a.Close}
	},
	"slab.Central": func(s source) estate {
		h, err := slab.New(s.Source, slab.Config{Reserve: 1 << 20})
		central, err := slab.NewCentral(ok(s, h, err))
		central = ok(s, central, err)
		open, closed := slab.NewCache(central), slab.NewCache(central)
		e := estate{[]any{h, central, open, closed}, blocks(s, open), func() error { return errors.Join(open.Close(), central.Close()) }}
		closed.FreeAny(blocks(s, closed)[0].(unsafe.Pointer))
		_ = closed.Close()
		return e
	},
	"tlsf": func(s source) estate {
		a, err := tlsf.New(s.Source, tlsf.Config{Reserve: 1 << 20})
		return plain(s, a, err)
	},
	"buddy": func(s source) estate {
		a, err := buddy.New(s.Source, buddy.Config{Reserve: 1 << 20})
		return plain(s, a, err)
	},
	"freelist": func(s source) estate {
		a, err := freelist.New(s.Source, freelist.Config{Reserve: 1 << 20})
		return plain(s, a, err)
	},
	"compact": func(s source) estate {
		a, err := compact.New(s.Source, compact.Config{Reserve: 1 << 20})
		ok(s, a, err)
		x, err := a.Alloc(100)
		a.Lock(ok(s, x, err))
		return estate{[]any{a}, []any{x, uintptr(100), compact.Budget{Bytes: 100}}, a.Close}
	},
	"plan": func(s source) estate {
		p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Death: 2}})
		a, err := plan.New(s.Source, ok(s, p, err))
		ok(s, a, err).Begin(0)
		return estate{[]any{a}, []any{a.Get(0), 1}, a.Close}
	},
	"pool.Pool": func(s source) estate {
		a, err := pool.New[hot](s.Source, pool.Config{Capacity: 100})
		h, _, also := ok(s, a, err).New()
		return estate{[]any{a, ok(s, h, also)}, []any{h, 5}, a.Close}
	},
	"pool.Split": func(s source) estate {
		a, err := pool.NewSplit[hot, cold](s.Source, pool.Config{Capacity: 100})
		h, _, _, also := ok(s, a, err).New()
		return estate{[]any{a}, []any{ok(s, h, also), 5}, a.Close}
	},
	"pool.Blocks": func(s source) estate {
		a, err := pool.NewBlocks(s.Source, pool.BlocksConfig{Size: 16, Capacity: 100})
		return plain(s, a, err)
	},
	"pool.Registry": func(s source) estate {
		r := pool.NewRegistry(s.Source)
		a, err := pool.Register[hot](r, pool.Config{Capacity: 100})
		h, _, also := ok(s, a, err).New()
		return estate{[]any{r, a}, []any{ok(s, h, also), 5}, r.Close}
	},
	"guard.Allocator": func(s source) estate {
		inner, err := tlsf.New(s.Source, tlsf.Config{Reserve: 1 << 20})
		a, also := guard.New(ok(s, inner, err), guard.Config{})
		e := plain(s, a, also)
		a.Free(e.args[0].(unsafe.Pointer), 16) // one is in quarantine, and one live, which Close reports
		e.close = func() error { _ = a.Close(); return inner.Close() }
		return e
	},
	"guard.Stomp": func(s source) estate {
		a, err := guard.NewStomp(s.Source, guard.StompConfig{Reserve: 1 << 20})
		e := plain(s, a, err)
		e.close = func() error { _ = a.Close(); return nil } // which reports what is live
		return e
	},
	"remote": func(s source) estate {
		heap, err := tlsf.New(s.Source, tlsf.Config{Reserve: 1 << 20})
		in, also := remote.New(ok(s, heap, err), remote.Config{})
		open, closed := ok(s, in, also).NewFreer(), in.NewFreer()
		args := blocks(s, heap)
		open.FreeAny(args[0].(unsafe.Pointer))
		_ = closed.Close()
		return estate{[]any{in, open, closed}, args[1:], func() error { return errors.Join(in.Close(), heap.Close()) }}
	},
	"particles": func(s source) estate {
		a, err := particles.New(s.Source, particles.Config{Capacity: 100})
		kind, also := ok(s, a, err).Register(particles.Kind{Name: "spark"})
		e := &particles.Emitter{Kind: ok(s, kind, also), Rate: 100, Life: particles.Just(1), Size: particles.Just(2)}
		a.Emit(e, 10)
		return estate{[]any{a}, []any{e, 5, float32(1), make([]particles.Vertex, 400), make([]uint32, 600), make([]particles.Region, 3)}, a.Close}
	},
	"ecs": func(s source) estate {
		mem, err := pool.NewBlocks(s.Source, pool.BlocksConfig{Size: 16 << 10, Align: 64, Capacity: 50})
		w, also := ecs.New(ok(s, mem, err), ecs.Config{})
		c, err := ecs.Register[hot](ok(s, w, also))
		m1, m2 := ecs.NewMap1[hot](w), ecs.NewMap2[hot, cold](w)
		e, also := m2.NewEntity(hot{}, cold{})
		f := ecs.NewFilter1[hot](w)
		q := f.Query()
		q.Next()
		w.EndQueries()
		events, broken := ecs.NewEvents[hot](mem, 10)
		ok(s, events, errors.Join(err, also, broken)).Send(hot{})
		near, err := ecs.RegisterRelation[struct{ near bool }](w)
		workers, also := ecs.NewWorkers(ecs.WorkersConfig{Count: 2, Pages: s.Source})
		ok(s, workers, errors.Join(err, also, near.Add(e, struct{ near bool }{}, e)))
		aimed, untyped := ecs.NewFilter1[hot](w).To(near.ID(), e), ecs.NewFilterOf(w, c.ID())
		return estate{[]any{w, c, m1, m2, f, &q, w.Commands(), events, e, near, workers, aimed, untyped},
			[]any{e, ecs.Selection(f), hot{}, near.ID(), workers, new(bytes.Buffer)},
			func() error { return errors.Join(w.Close(), events.Close(), mem.Close(), workers.Close()) }}
	},
	"tiers": func(s source) estate {
		m, err := tiers.New(tiers.Config{Source: s.Source, Workers: 2, GC: gcpace.Config{Keep: true}, Tags: true,
			Reserve: [tiers.Count]uintptr{tiers.Static: 1 << 20, tiers.Frame: 1 << 20, tiers.Level: 4 << 20, tiers.Pools: 8 << 20, tiers.Slab: 4 << 20, tiers.Large: 8 << 20, tiers.Inbox: 4 << 20}})
		ok(s, m, err)
		p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Death: 2}})
		static, also := m.Declare(ok(s, p, errors.Join(err, m.BeginLevel())))
		objects, broken := tiers.NewPool[hot](m, pool.Config{Capacity: 100})
		ok(s, static, errors.Join(also, broken, m.BeginFrame()))
		e := estate{[]any{m, m.Frame(), m.Frames(), m.Level(), m.Slab(), m.Large(), m.Worker(0), static, m.NewFreer(), objects},
			append(blocks(s, m), new(tiers.Snapshot), "name"), m.Close}
		e.args = append(e.args, blocks(s, m.Frame())[0], blocks(s, m.Level())[0], blocks(s, m.Worker(0))[0], static.Get(0))
		tag, err := m.Tag("tag")
		task, also := m.Worker(1).BeginTask()
		ok(s, tag, errors.Join(err, also))
		onWorker := m.Worker(0).Tag(tag)
		e.held = append(e.held, tag, tag.Frame(), tag.Level(), onWorker, m.Worker(1), task)
		e.args = append(e.args, tag, blocks(s, tag)[0], blocks(s, onWorker)[0], blocks(s, task)[0])
		ok(s, m, errors.Join(m.EndFrame(), m.Worker(1).EndTask()))
		return e
	},
}

// excused are the methods that ask for more than an owner, open or not.
var excused = []string{
	"Query1[hot].Entity",                        // a step of Next that said true
	"Filter1[hot].With", "Filter1[hot].Without", // that no query is open, as Query has left one
}

// Nobody who holds something of an owner that has closed, or whose source has ended and is
// mapped no longer, gets more from any method than an error or a panic that says so.
func TestClosed_EveryMethodOfEveryTypeSaysSoAndTouchesNothing(t *testing.T) {
	for name, build := range estates {
		t.Run(name, func(t *testing.T) {
			e := build(source{page.OS(), t})
			if err := e.close(); err != nil {
				t.Fatal(err)
			}
			callAll(t, e)
		})
		t.Run(name+"/source", func(t *testing.T) {
			whole, err := page.OS().Reserve(96 << 20)
			carve, also := page.NewCarve(page.OS(), whole)
			if err := errors.Join(err, also); err != nil {
				t.Fatal(err)
			}
			e := build(source{carve, t})
			carve.Close()
			if err := page.OS().Release(whole); err != nil {
				t.Fatal(err)
			}
			callAll(t, e)
			if err := e.close(); err != nil && !errors.Is(err, memory.ErrClosed) {
				t.Error(err)
			}
			callAll(t, e)
		})
	}
}

func callAll(t *testing.T, e estate) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, held := range e.held {
		v := reflect.ValueOf(held)
		for i := range v.NumMethod() {
			name := strings.ReplaceAll(v.Type().String(), "github.com/strata-go/strata/memory/tiers_test.", "") + "." + v.Type().Method(i).Name
			for _, args := range choices(v.Method(i).Type(), e.args) {
				callClosed(t, name, v.Method(i), args)
			}
		}
	}
}

// choices are the lists of arguments that a function is called with, at most 300.
func choices(f reflect.Type, live []any) [][]reflect.Value {
	lists := [][]reflect.Value{nil}
	for i := range f.NumIn() {
		if f.IsVariadic() && i == f.NumIn()-1 {
			break
		}
		var longer [][]reflect.Value
		for _, l := range lists {
			for _, v := range values(f.In(i), live) {
				longer = append(longer, append(l[:len(l):len(l)], v))
			}
		}
		lists = longer[:min(len(longer), 300)]
	}
	return lists
}

// values are a zero of a type, and what is live of it.
func values(t reflect.Type, live []any) (vs []reflect.Value) {
	switch t.Kind() {
	case reflect.Func: // says true, and goes on
		return []reflect.Value{reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			for i := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(i)))
				if t.Out(i).Kind() == reflect.Bool {
					out[i] = reflect.ValueOf(true)
				}
			}
			return out
		})}
	case reflect.Pointer:
		vs = append(vs, reflect.New(t.Elem()))
	case reflect.Interface:
	default:
		vs = append(vs, reflect.Zero(t))
	}
	for _, v := range live {
		if reflect.TypeOf(v).AssignableTo(t) {
			vs = append(vs, reflect.ValueOf(v))
		}
	}
	return vs
}

func callClosed(t *testing.T, name string, f reflect.Value, args []reflect.Value) {
	defer func() {
		r := recover()
		for _, ex := range excused {
			if r != nil && strings.HasSuffix(name, ex) {
				return
			}
		}
		if m, isMisuse := r.(*memory.Misuse); r != nil && (!isMisuse || !strings.Contains(m.Error(), "closed")) {
			t.Errorf("%s%v panics: %v", name, args, r)
		}
	}()
	for _, out := range f.Call(args) {
		switch v := out.Interface().(type) {
		case error:
			never := strings.HasSuffix(name, "guard.Stomp.CanSave") && errors.Is(v, memory.ErrConfig) || errors.Is(v, save.ErrPortable) // open or closed
			if !never && !errors.Is(v, memory.ErrClosed) && !errors.Is(v, memory.ErrAlign) && !errors.Is(v, tiers.ErrOrder) {
				t.Errorf("%s%v: %v", name, args, v)
			}
		case memory.Stats:
			if v.Live|v.InUse|v.Committed|v.Reserved|v.Free|v.LargestFree != 0 {
				t.Errorf("%s: %+v", name, v)
			}
		case unsafe.Pointer:
			if v != nil {
				t.Errorf("%s%v gives %p", name, args, v)
			}
		}
		if out.Kind() == reflect.Slice && out.Len() > 0 && name != "ecs.Entity.MarshalText" { // of a number, not of its owner
			t.Errorf("%s%v gives %d of %v", name, args, out.Len(), out.Type())
		}
	}
}
