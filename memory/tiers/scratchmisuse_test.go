package tiers

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A hook of a scratch arena may use its worker, but not the task that ends under it.
func TestWorker_HooksOfATaskCannotEndOrBeginOne(t *testing.T) {
	m := newManager(t, tagged())
	w := m.Worker(0)
	tag := newTag(t, m, "a")
	a, err := w.BeginTask()
	must(t, err)
	var inside []error
	for range 2 {
		a.OnReset(func() {
			inside = append(inside, protect(w.EndTask), protect(func() error { _, err := w.BeginTask(); return err }),
				protect(func() error { _, err := w.Scratch().Alloc(10, 1); return err }), protect(m.Check))
			w.Tag(tag).Free(alloc(t, w.Tag(tag), 100), 100)
		})
	}
	alloc(t, a, 100)
	must(t, w.EndTask())
	if len(inside) != 8 {
		t.Fatalf("%v", inside)
	}
	for i, err := range inside {
		bad := (*memory.Misuse)(nil)
		switch i % 4 {
		case 0:
			if !errors.As(err, &bad) {
				t.Errorf("call %d of a hook: %v", i, err)
			}
		case 1:
			if !errors.Is(err, ErrOrder) {
				t.Errorf("call %d of a hook: %v", i, err)
			}
		default: // what the hook takes dies at once
			must(t, err)
		}
	}
	must(t, m.Check())
	a, err = w.BeginTask()
	must(t, err)
	if a.Used() != 0 {
		t.Errorf("%d bytes are in use as a task begins", a.Used())
	}
	must(t, w.EndTask())
	if s := tag.Stats(); s.Allocs != 2 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

// Nobody but the task gives its memory back, and no mark outlives it.
func TestWorker_ScratchIsRefusedByEveryoneElse(t *testing.T) {
	m := newManager(t, tagged())
	w, tag := m.Worker(0), newTag(t, m, "a")
	a, err := w.BeginTask()
	must(t, err)
	p := alloc(t, a, 100)
	mark := a.Mark()
	for name, free := range map[string]func(){
		"Worker.Free":    func() { w.Free(p, 100) },
		"WorkerTag.Free": func() { w.Tag(tag).Free(p, 100) },
		"Worker.Resize":  func() { w.Resize(p, 100, 50) },
		"another worker": func() { m.Worker(1).Free(p, 100) },
		"Tag.Free":       func() { tag.Free(p, 100) },
		"Tag.Resize":     func() { tag.Resize(p, 100, 50) },
		"Tag.SizeOf":     func() { tag.SizeOf(p) },
		"another's mark": func() { b, _ := m.Worker(1).BeginTask(); b.Rewind(mark) },
	} {
		if err := protect(func() error { free(); return nil }); !errors.As(err, new(*memory.Misuse)) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, m.Check())
	}
	freeElsewhere(t, m, p)
	memtest.Misuse(t, func() { _ = m.BeginFrame() }, "remote.Drain", ofScratch)
	must(t, m.BeginFrame())
	must(t, m.EndFrame())
	must(t, w.EndTask())
	must(t, m.Worker(1).EndTask())
	b, err := w.BeginTask()
	must(t, err)
	memtest.Misuse(t, func() { b.Rewind(mark) }, "arena.Rewind")
	must(t, w.EndTask())
	must(t, m.Check())
}

// A Close out of a hook of a task is refused, and the manager closes later.
func TestWorker_ACloseOutOfATasksHookIsRefusedAndCanBeRepeated(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	a, err := w.BeginTask()
	must(t, err)
	ran := 0
	a.OnReset(func() { ran++ })
	a.OnReset(func() {
		ran++
		if err := m.Close(); !errors.Is(err, ErrOrder) {
			t.Errorf("Close: %v", err)
		}
	})
	must(t, w.EndTask())
	must(t, m.Close())
	if ran != 2 {
		t.Errorf("%d hooks ran", ran)
	}
	if err := w.EndTask(); err != memory.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// The source of a manager may end while a task is open: no hook runs, and nothing of it is touched.
func TestWorker_ATaskIsClosedWithTheManagersSource(t *testing.T) {
	mem, err := page.Default().Reserve(64 << 20)
	must(t, err)
	defer page.Default().Release(mem)
	carve, err := page.NewCarve(page.Default(), mem)
	must(t, err)
	cfg := tagged()
	cfg.Source = carve
	m, err := New(cfg)
	must(t, err)
	w, tag := m.Worker(0), newTag(t, m, "a")
	a, err := w.BeginTask()
	must(t, err)
	a.OnReset(func() { t.Error("the hook ran") })
	p := alloc(t, tag, 100)
	v := w.Tag(tag)
	alloc(t, v, 100)
	carve.Close()
	if _, err := a.Alloc(1, 1); err != memory.ErrClosed {
		t.Errorf("scratch: %v", err)
	}
	if _, err := w.BeginTask(); err != memory.ErrClosed {
		t.Errorf("BeginTask: %v", err)
	}
	if err := w.EndTask(); err != memory.ErrClosed {
		t.Errorf("EndTask: %v", err)
	}
	for _, al := range []memory.Allocator{tag, v} {
		if _, err := al.Alloc(1, 1); err != memory.ErrClosed {
			t.Errorf("Alloc: %v", err)
		}
	}
	memtest.Misuse(t, func() { tag.Free(p, 100) }, "the manager is closed")
	memtest.Misuse(t, func() { v.Free(p, 100) }, "closed")
	memtest.Misuse(t, func() { w.Tag(tag) }, "the manager is closed")
	if s := tag.Stats(); s.Live != 0 || s.Allocs != 2 || m.Inspect().TagOf(p) != nil {
		t.Errorf("%+v", s)
	}
	must(t, m.Close())
}

// A page source that fails or panics at any call leaves a worker whose tasks begin when it no
// longer does.
func TestWorker_ATaskThatCouldNotBeginBeginsLater(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for at := 1; at < 20; at++ {
			src := memtest.NewFaulty()
			cfg := small()
			cfg.Source, cfg.GC.Keep, cfg.Scratch = src, true, 1<<20
			m := newManager(t, cfg)
			w := m.Worker(0)
			made := src.Calls()
			if src.FailAt = made + at; panics {
				src.FailAt, src.PanicAt = 0, made+at
			}
			begun := 0
			for range 3 * (2 + arena.RestingFrames) {
				var a *arena.Linear
				err := protect(func() (err error) { a, err = w.BeginTask(); return err })
				if err != nil {
					if !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memtest.ErrInjected) {
						t.Fatal(err)
					}
					if err := w.EndTask(); !errors.Is(err, ErrOrder) {
						t.Fatalf("a task that was refused: %v", err)
					}
					must(t, m.Check())
					continue
				}
				begun++
				s := unsafe.Slice((*byte)(alloc(t, a, a.Available())), a.Used())
				s[0], s[len(s)-1] = 1, 1
				must(t, w.EndTask())
				must(t, m.Check())
			}
			if begun < 3*(2+arena.RestingFrames)-1 {
				t.Fatalf("call %d: %d tasks began", at, begun)
			}
			must(t, m.Close())
			if src.Calls() < made+at {
				break
			}
		}
	}
}
