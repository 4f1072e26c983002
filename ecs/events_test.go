package ecs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestEvents_AreReadableForOneTick(t *testing.T) {
	mem := newTestMemory(t)
	q := must[*Events[health]](t)(NewEvents[health](mem, 2))
	for i := range int32(3) {
		if ok := q.Send(health{i, i}); ok != (i < 2) {
			t.Errorf("Send %d = %v", i, ok)
		}
	}
	if len(q.Read()) != 0 || q.Pending() != 2 || q.Dropped() != 1 || q.Cap() != 2 {
		t.Errorf("%d, %d, %d", len(q.Read()), q.Pending(), q.Dropped())
	}
	q.Swap()
	q.Send(health{9, 9})
	if !slices.Equal(q.Read(), []health{{0, 0}, {1, 1}}) {
		t.Error(q.Read())
	}
	q.Swap()
	if !slices.Equal(q.Read(), []health{{9, 9}}) || q.Pending() != 0 {
		t.Error(q.Read())
	}
	q.Clear()
	if len(q.Read()) != 0 {
		t.Error("Clear keeps events")
	}
	q.Close()
	q.Close()
	if q.Send(health{}) || len(q.Read()) != 0 || len(mem.live) != 0 || q.Dropped() != 2 {
		t.Error("a closed queue takes events")
	}
}

func TestEvents_RefusePointersAndBadSizes(t *testing.T) {
	mem := newTestMemory(t)
	var pe *memory.PointerError
	if _, err := NewEvents[brain](mem, 4); !errors.As(err, &pe) || pe.Path != "brain.Name" {
		t.Error(err)
	}
	mem.failNext(false)
	if _, err := NewEvents[health](mem, 4); !errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrConfig) {
		t.Error(err)
	}
}

func TestNewEvents_CapacityOutOfRangeIsErrConfig(t *testing.T) {
	mem := newTestMemory(t)
	for _, n := range []int{0, -1, math.MinInt, maxEvents + 1, math.MaxInt} {
		q, err := NewEvents[health](mem, n)
		want := fmt.Sprintf("ecs: the capacity of NewEvents is %d; it must be from 1 to %d: %v", n, maxEvents, memory.ErrConfig)
		if q != nil || !errors.Is(err, memory.ErrConfig) || err.Error() != want || len(mem.live) != 0 {
			t.Errorf("capacity %d: %v, want %s", n, err, want)
		}
	}
	for _, n := range []int{1, 2, 3, 1000} {
		q, err := NewEvents[health](mem, n)
		if err != nil || q.Cap() != n {
			t.Fatalf("capacity %d: %v", n, err)
		}
		for i := range n + 1 {
			if sent := q.Send(health{}); sent != (i < n) {
				t.Errorf("capacity %d: Send %d is %v", n, i, sent)
			}
		}
		q.Close()
	}
}

// A constructor that refuses its configuration says so by one error.
func TestConfig_InvalidIsErrConfig(t *testing.T) {
	mem := newTestMemory(t)
	for name, make := range map[string]func() error{
		"New without an allocator": func() error { _, err := New(nil, Config{}); return err },
		"ChunkBytes":               func() error { _, err := New(mem, Config{ChunkBytes: 1000}); return err },
		"MaxChunkBytes":            func() error { _, err := New(mem, Config{MaxChunkBytes: 1}); return err },
		"FirstChunkBytes":          func() error { _, err := New(mem, Config{FirstChunkBytes: 1 << 20}); return err },
		"MaxEntities":              func() error { _, err := New(mem, Config{MaxEntities: -1}); return err },
		"WorkersConfig.Count":      func() error { _, err := NewWorkers(WorkersConfig{Count: -1}); return err },
		"NewEvents":                func() error { _, err := NewEvents[health](mem, 0); return err },
	} {
		err := make()
		if !errors.Is(err, memory.ErrConfig) || errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), strings.TrimSuffix(name, " without an allocator")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEvents_AllocateNothing(t *testing.T) {
	q := must[*Events[health]](t)(NewEvents[health](newTestMemory(t), 8))
	if n := testing.AllocsPerRun(100, func() { q.Send(health{}); q.Swap(); q.Read() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestResource_IsSharedByType(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	if Resource[health](w) != nil {
		t.Error("a resource from nowhere")
	}
	h := &health{1, 2}
	SetResource(w, h)
	w.Reset()
	if Resource[health](w) != h || Resource[position](w) != nil {
		t.Error("the resource is another")
	}
	if n := testing.AllocsPerRun(100, func() { Resource[health](w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	SetResource[health](w, nil)
	if Resource[health](w) != nil {
		t.Error("a nil resource stays")
	}
}
