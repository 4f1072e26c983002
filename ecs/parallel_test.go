package ecs

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

func newTestWorkers(t testing.TB, n int) *Workers {
	t.Helper()
	ws, err := NewWorkers(WorkersConfig{Count: n, Scratch: page.Granule, Pages: page.Heap()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Check(); err != nil {
			t.Error(err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		if err := ws.Check(); err != nil {
			t.Error(err)
		}
	})
	return ws
}

// manyBatches is a world of four archetypes with position, one of them empty, whose chunks are of
// several sizes; x of the position is the number of the entity in the order of All. The pieces are
// as many as it takes for a claim to span two archetypes.
func manyBatches(t testing.TB, cfg Config) (*World, *Filter1[position]) {
	t.Helper()
	w, _ := newTestWorld(t, cfg)
	gone := NewMap2[position, health](w)
	for _, err := range []error{
		NewMap1[position](w).NewBatch(10*batchRows+1, nil), gone.NewBatch(5, nil),
		NewMap2[position, velocity](w).NewBatch(9*batchRows, nil),
		NewMap4[position, velocity, armour, brain](w).NewBatch(700, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.RemoveAll(NewFilter1[health](w))
	f, n := NewFilter1[position](w), float32(0)
	for _, p := range f.All() {
		p.X = n
		n++
	}
	return w, f
}

var workerCounts = []int{1, 2, 3, 8}

func TestParallel_MeetsEachEntityOnceInPiecesOfTheWorldAlone(t *testing.T) {
	for _, cfg := range []Config{{}, {ChunkBytes: 1024}, {ChunkBytes: 1024, MaxChunkBytes: 1024}, {ChunkBytes: 64 << 10}} {
		w, f := manyBatches(t, cfg)
		want := inOrder(f)
		if f.Batches() != 11+9+1 || len(want) != 19*batchRows+701 {
			t.Fatalf("%d pieces of %d entities", f.Batches(), len(want))
		}
		for _, n := range workerCounts {
			ws := newTestWorkers(t, n)
			got := make([]Entity, len(want))
			batches := make([]int, len(want))
			var firsts Results[[]int]
			firsts.Prepare(f)
			f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
				if len(es) != len(ps) || len(es) == 0 || task.Worker() >= n {
					panic("other rows")
				}
				copy(got[task.Index():], es)
				for i := range es {
					batches[task.Index()+i] = task.Batch()
					if ps[i].X != float32(task.Index()+i) {
						panic("another position")
					}
					ps[i].Y++
				}
				at := firsts.At(task)
				*at = append(*at, task.Index())
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d workers of %+v meet others than All", n, cfg)
			}
			for i, batch := range batches {
				part := 0
				switch {
				case i >= 19*batchRows+1:
					part = 20
				case i >= 10*batchRows+1:
					part = 11 + (i-10*batchRows-1)/batchRows
				default:
					part = i / batchRows
				}
				if batch != part {
					t.Fatalf("%d workers of %+v: entity %d is in piece %d, not %d", n, cfg, i, batch, part)
				}
			}
			for i, at := range firsts.Values() {
				if !slices.IsSorted(at) || len(at) == 0 {
					t.Errorf("piece %d was called for %v", i, at)
				}
			}
			if w.Locked() || w.Check() != nil {
				t.Errorf("after the pass: %v", w.Check())
			}
		}
		for _, p := range f.All() {
			if p.Y != float32(len(workerCounts)) {
				t.Fatalf("an entity was met %v times", p.Y)
			}
		}
	}
}

// TestParallel_EachArityHasItsColumns also reads pointerful columns and tags.
func TestParallel_EachArityHasItsColumns(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	const n = 2*batchRows + 100
	m := NewMap4[position, armour, brain, burning](w)
	i := 0
	if err := m.NewBatch(n, func(i int, p *position, a *armour, b *brain, _ *burning) {
		p.X, a.Value, b.Target = float32(i), uint64(i), &i
	}); err != nil {
		t.Fatal(err)
	}
	ws := newTestWorkers(t, 2)
	var met Results[int]
	all := func(f Selection, pass func()) {
		t.Helper()
		met.Prepare(f)
		pass()
		i = 0
		for _, n := range met.Values() {
			i += n
		}
		if i != n {
			t.Errorf("%d of %d rows are right", i, n)
		}
	}
	f2, f3, f4 := NewFilter2[position, armour](w), NewFilter3[brain, armour, position](w), NewFilter4[burning, brain, armour, position](w)
	all(f2, func() {
		f2.Parallel(ws, func(task *Task, es []Entity, c Columns2[position, armour]) {
			for i := range es {
				if c.A[i].X == float32(task.Index()+i) && c.B[i].Value == uint64(task.Index()+i) {
					*met.At(task)++
				}
			}
		})
	})
	all(f3, func() {
		f3.Parallel(ws, func(task *Task, es []Entity, c Columns3[brain, armour, position]) {
			for i := range es {
				if *c.A[i].Target == task.Index()+i && c.B[i].Value == uint64(task.Index()+i) && c.C[i].X == float32(task.Index()+i) {
					*met.At(task)++
				}
			}
		})
	})
	all(f4, func() {
		f4.Parallel(ws, func(task *Task, es []Entity, c Columns4[burning, brain, armour, position]) {
			for i := range es {
				if len(c.A) == len(es) && *c.B[i].Target == task.Index()+i && c.C[i].Value == uint64(task.Index()+i) && c.D[i].X == float32(task.Index()+i) {
					*met.At(task)++
				}
			}
		})
	})
}

// TestParallel_ResultsAreThoseOfAnyNumberOfWorkers sums what does not commute.
func TestParallel_ResultsAreThoseOfAnyNumberOfWorkers(t *testing.T) {
	totals, hashes := map[float32]bool{}, map[uint64]bool{}
	for _, cfg := range []Config{{ChunkBytes: 1024}, {ChunkBytes: 1024, MaxChunkBytes: 1024}} {
		for _, n := range workerCounts {
			w, f := manyBatches(t, cfg)
			ws := newTestWorkers(t, n)
			var sums Results[float32]
			for range 3 {
				sums.Prepare(f)
				f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
					sum := sums.At(task)
					for i := range ps {
						ps[i].X = ps[i].X*1.0001 + 0.1
						*sum += ps[i].X
					}
				})
			}
			total := float32(0)
			for _, sum := range sums.Values() {
				total += sum
			}
			totals[total], hashes[w.Hash(0)] = true, true
		}
	}
	if len(totals) != 1 || len(hashes) != 1 {
		t.Error(totals, hashes)
	}
}

func TestParallel_SteadyStateAllocatesNothing(t *testing.T) {
	w, f1 := manyBatches(t, Config{})
	f4 := NewFilter4[brain, armour, velocity, position](w)
	ws := newTestWorkers(t, 2)
	var sums Results[float32]
	body1 := func(task *Task, es []Entity, ps []position) {
		for i := range ps {
			*sums.At(task) += ps[i].X
		}
	}
	body4 := func(task *Task, es []Entity, c Columns4[brain, armour, velocity, position]) {
		if _, err := task.Scratch().Alloc(100, 8); err != nil {
			panic(err)
		}
	}
	pass := func() {
		sums.Prepare(f1)
		f1.Parallel(ws, body1)
		f4.Parallel(ws, body4)
	}
	pass()
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestParallel_HelpersTakePart holds each of as many pieces as there are workers until all have one.
func TestParallel_HelpersTakePart(t *testing.T) {
	_, f := manyBatches(t, Config{})
	for _, n := range []int{2, 4} {
		ws := newTestWorkers(t, n)
		var all sync.WaitGroup
		all.Add(n)
		var once [8]sync.Once
		f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
			once[task.Worker()].Do(func() {
				all.Done()
				all.Wait()
			})
		})
	}
}

func TestParallel_WithoutEntitiesCallsNobody(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	f, ws := NewFilter1[position](w), newTestWorkers(t, 2)
	body := func(*Task, []Entity, []position) { t.Error("there is an entity") }
	f.Parallel(ws, body)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Parallel(ws, body)
}

// panicIn runs a pass over f in which the bodies of the pieces panic, and returns with what.
func panicIn(ws *Workers, f *Filter1[position], batches ...int) any {
	return caught(func() {
		f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
			if slices.Contains(batches, task.Batch()) {
				panic(fmt.Sprint("piece ", task.Batch()))
			}
		})
	})
}

func TestParallel_ThePanicOfTheFirstPieceIsTheCallers(t *testing.T) {
	w, f := manyBatches(t, Config{})
	for _, n := range workerCounts {
		ws := newTestWorkers(t, n)
		for range 5 {
			for _, batches := range [][]int{{0}, {20}, {10, 11}, {19, 2, 3}, {0, 1, 2, 3, 4, 5, 6}} {
				if got, want := panicIn(ws, f, batches...), fmt.Sprint("piece ", slices.Min(batches)); got != want {
					t.Fatalf("%d workers carry %v, want %s", n, got, want)
				}
				if !strings.Contains(string(ws.Stack()), "panicIn") {
					t.Fatalf("the stack of the body is\n%s", ws.Stack())
				}
				if err := w.Check(); w.Locked() || err != nil || ws.Check() != nil {
					t.Fatalf("after the panic: %v, %v", err, ws.Check())
				}
			}
			if r := panicIn(ws, f); r != nil || ws.Stack() != nil {
				t.Fatalf("the next pass carries %v", r)
			}
		}
	}
}

func TestParallel_PiecesBeforeThePanicAreRun(t *testing.T) {
	_, f := manyBatches(t, Config{})
	for _, n := range workerCounts {
		ws := newTestWorkers(t, n)
		var ran Results[bool]
		ran.Prepare(f)
		var late atomic.Int32
		caught(func() {
			f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
				if task.Batch() >= 4 {
					late.Add(1)
					panic("late")
				}
				*ran.At(task) = true
			})
		})
		got := ran.Values()
		if slices.Contains(got[:4], false) || n == 1 && (late.Load() != 1 || slices.Contains(got[4:], true)) {
			t.Errorf("%d workers ran %v, and %d that panic", n, got, late.Load())
		}
	}
}

func TestParallel_GoexitEndsTheCallerAndNobodyElse(t *testing.T) {
	w, f := manyBatches(t, Config{})
	for _, n := range workerCounts {
		ws := newTestWorkers(t, n)
		for _, batch := range []int{0, 10, 20} {
			returned, over := false, make(chan bool)
			go func() {
				defer close(over)
				f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
					if task.Batch() == batch {
						runtime.Goexit()
					}
				})
				returned = true
			}()
			<-over
			if returned || w.Locked() || ws.Check() != nil {
				t.Fatalf("%d workers, piece %d: the caller went on: %v, %v", n, batch, returned, ws.Check())
			}
			// All helpers are there, those that are new too.
			var all sync.WaitGroup
			all.Add(n)
			var once [8]sync.Once
			f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
				once[task.Worker()].Do(func() {
					all.Done()
					all.Wait()
				})
			})
		}
	}
}

// onHelper runs a pass in which the caller waits in his first piece until a helper has run one.
func onHelper(ws *Workers, f *Filter1[position], body func()) {
	came := make(chan bool)
	var once sync.Once
	f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
		if task.Worker() == 0 {
			<-came
			return
		}
		once.Do(func() {
			defer close(came)
			body()
		})
	})
}

func TestParallel_AHelperEndsTheCallerAsItsBodyEnded(t *testing.T) {
	w, f := manyBatches(t, Config{})
	ws := newTestWorkers(t, 2)
	for range 3 {
		if r := caught(func() { onHelper(ws, f, func() { panic("helper") }) }); r != "helper" || w.Locked() || ws.Check() != nil {
			t.Errorf("%v, %v", r, ws.Check())
		}
		returned, over := false, make(chan bool)
		go func() {
			defer close(over)
			onHelper(ws, f, runtime.Goexit)
			returned = true
		}()
		<-over
		if returned || w.Locked() || ws.Check() != nil {
			t.Errorf("the caller returned: %v, %v", returned, ws.Check())
		}
		onHelper(ws, f, func() {})
	}
}

func TestParallel_MisuseIsRefusedAndNothingChanges(t *testing.T) {
	w, f := manyBatches(t, Config{})
	other, ws, second := NewFilter1[velocity](w), newTestWorkers(t, 2), newTestWorkers(t, 1)
	vel, m := mustRegisterTest[velocity](t, w), NewMap2[position, velocity](w)
	pos := mustRegisterTest[position](t, w)
	child, e0 := mustRelation[childOf](t, w), f.EntityAt(0)
	cmd := w.Commands()
	o := vel.OnSet(func(Entity, *velocity) {})
	e := other.EntityAt(0)
	open := NewFilter1[position](w).Query()
	open.Next()
	calls := slices.DeleteFunc(structural(w, m, pos, f, e), func(c change) bool { return c.op == "Apply" || c.op == "Discard" })
	for op, call := range map[string]func(){
		"Parallel":    func() { f.Parallel(second, func(*Task, []Entity, []position) {}) },
		"Query":       func() { other.Query() },
		"All":         func() { other.All()(func(Entity, *velocity) bool { return true }) },
		"To":          func() { f.To(child.ID(), e0) },
		"ToAny":       func() { f.ToAny() },
		"AddID":       func() { w.AddID(e, child.ID()) },
		"RelateID":    func() { w.RelateID(e, child.ID(), e0) },
		"SetTarget":   func() { child.SetTarget(e, e0) },
		"RemoveTree":  func() { child.RemoveTree(e0) },
		"AddRelation": func() { AddRelation(cmd, child, e, childOf{}, e0) },
		"SetTargetOf": func() { SetTargetOf(cmd, child, e, e0) },
		"Len":         func() { other.Len() },
		"EntityAt":    func() { other.EntityAt(0) },
		"Batches":     func() { other.Batches() },
		"With":        func() { f.With(vel.ID()) },
		"Exclusive":   func() { f.Exclusive() },
		"Close":       func() { open.Close() },
		"EndQueries":  func() { w.EndQueries() },
		"Commands":    func() { w.Commands() },
		"Apply":       func() { cmd.Apply() },
		"Discard":     func() { cmd.Discard() },
		"Spawn":       func() { cmd.Spawn() },
		"Destroy":     func() { cmd.Destroy(e) },
		"AddTo":       func() { AddTo(cmd, vel, e, velocity{}) },
		"Set":         func() { vel.Set(e, velocity{1, 1}) },
		"Stop":        func() { o.Stop() },
		"OnAdd":       func() { vel.OnAdd(func(Entity, *velocity) {}) },
		"Register":    func() { Register[odd](w) },
		"SetResource": func() { SetResource(w, new(int)) },
	} {
		calls = append(calls, change{op, call})
	}
	for _, c := range calls {
		for _, ws := range []*Workers{ws, second} {
			if text := misuse(t, func() { f.Parallel(ws, func(*Task, []Entity, []position) { c.f() }) }); text != "ecs."+c.op+": a parallel run is in progress" {
				t.Errorf("%s: %q", c.op, text)
			}
		}
	}
	text := misuse(t, func() {
		f.Parallel(ws, func(*Task, []Entity, []position) {
			w2, f2 := manyBatches(t, Config{})
			defer w2.Close()
			f2.Parallel(ws, func(*Task, []Entity, []position) {})
		})
	})
	if text != "ecs.Parallel: the workers are in a parallel run; a body must not start another" {
		t.Error(text)
	}
	if text := misuse(t, func() { f.Parallel(ws, func(*Task, []Entity, []position) { ws.Close() }) }); text != "ecs.Close: a parallel run is in progress" {
		t.Error(text)
	}
	f.Parallel(ws, func(*Task, []Entity, []position) {
		if err := ws.Check(); err == nil || err.Error() != "ecs: workers: a parallel run is in progress" {
			t.Errorf("Check in a pass: %v", err)
		}
	})
	if v := must2(vel.Get(e)); *v != (velocity{}) {
		t.Errorf("a Set that is refused has written %v", *v)
	}
	open.Close()
	o.Stop()
	if w.Locked() || w.Check() != nil || ws.Check() != nil || f.Check() != nil {
		t.Errorf("%v, %v, %v", w.Check(), ws.Check(), f.Check())
	}
	const need = "ecs.Parallel: Parallel needs workers and a body"
	if text := misuse(t, func() { f.Parallel(ws, nil) }); text != need {
		t.Error(text)
	}
	if text := misuse(t, func() { f.Parallel(nil, func(*Task, []Entity, []position) {}) }); text != need {
		t.Error(text)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if text := misuse(t, func() { f.Parallel(second, func(*Task, []Entity, []position) {}) }); text != "ecs.Parallel: the workers are closed" {
		t.Error(text)
	}
}

func TestTask_IsValidInItsBodyAlone(t *testing.T) {
	_, f := manyBatches(t, Config{})
	ws := newTestWorkers(t, 1)
	var kept *Task
	f.Parallel(ws, func(task *Task, _ []Entity, _ []position) { kept = task })
	var r Results[int]
	for op, call := range map[string]func(){
		"Batch": func() { kept.Batch() }, "Index": func() { kept.Index() }, "Scratch": func() { kept.Scratch() },
	} {
		if text := misuse(t, call); text != "ecs."+op+": a Task is valid only until its body returns" {
			t.Error(text)
		}
	}
	text := misuse(t, func() { f.Parallel(ws, func(task *Task, _ []Entity, _ []position) { r.At(task) }) })
	if text != "ecs.At: there is no result for the batch; call Prepare with the filter before the run" {
		t.Error(text)
	}
}

// TestTask_ScratchLivesUntilTheNextPass keeps lists in it.
func TestTask_ScratchLivesUntilTheNextPass(t *testing.T) {
	_, f := manyBatches(t, Config{})
	for _, n := range workerCounts {
		ws := newTestWorkers(t, n)
		var lists Results[[]int32]
		for pass := range 3 {
			lists.Prepare(f)
			f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
				list, err := memory.MakeSlice[int32](task.Scratch(), min(len(ps), 8))
				if err != nil {
					panic(err)
				}
				for i := range list {
					list[i] = int32(ps[i].X) * int32(pass)
				}
				if at := lists.At(task); *at == nil {
					*at = list
				}
			})
			for i, list := range lists.Values() {
				first := i * batchRows
				if i > 10 {
					first -= batchRows - 1
				}
				for k, v := range list {
					if int(v) != (first+k)*pass {
						t.Fatalf("piece %d has %v", i, list)
					}
				}
			}
		}
	}
}

func TestTask_ScratchThatIsFullIsAnErrorAndEmptyInTheNextPass(t *testing.T) {
	_, f := manyBatches(t, Config{})
	ws := newTestWorkers(t, 2)
	for range 3 {
		var full Results[bool]
		full.Prepare(f)
		f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
			if _, err := task.Scratch().Alloc(1, 1); err != nil && !*full.At(task) && task.Scratch().Used() < page.Granule-1 {
				panic(err)
			}
			for {
				if _, err := task.Scratch().Alloc(1024, 1); err != nil {
					*full.At(task) = errors.Is(err, memory.ErrOutOfMemory) && strings.Contains(err.Error(), "raise WorkersConfig.Scratch")
					return
				}
			}
		})
		if slices.Contains(full.Values(), false) {
			t.Error(full.Values())
		}
	}
}

// An allocator that ends in a pass takes the memory of columns that other bodies are at: no other body
// is called, and the world is closed when the pass is over, whatever ended it.
func TestParallel_AllocatorClosedDuringARunClosesTheWorld(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, panics := range []bool{false, true} {
			mem := &tellingMemory{testMemory: newTestMemory(t)}
			w, m, f, es := populated(t, mem)
			if err := m.NewBatch(3*batchRows, nil); err != nil {
				t.Fatal(err)
			}
			ws, said := newTestWorkers(t, workers), any(nil)
			if panics {
				said = "body"
			}
			calls := 0
			r := caught(func() {
				f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
					if task.Batch() > 0 {
						return
					}
					calls++
					mem.close()
					if task.Commands().Destroy(es[0]); panics {
						panic("body")
					}
				})
			})
			if r != said || calls != 1 || ws.Check() != nil {
				t.Errorf("%d workers: %v after %d calls, %v", workers, r, calls, ws.Check())
			}
			isClosed(t, w, m, f, es)
		}
	}
}
