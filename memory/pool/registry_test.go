package pool

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

type bullet struct{ X, Y float32 }

func newRegistry(t testing.TB, src page.Source) *Registry {
	t.Helper()
	r := NewRegistry(src)
	closeAtEnd(t, r.Close)
	if _, err := Register[enemy](r, Config{Capacity: 100}); err != nil {
		t.Fatal(err)
	}
	if _, err := Register[bullet](r, Config{Capacity: 2, Name: "bullets"}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRegistry_EachTypeHasItsPool(t *testing.T) {
	r := newRegistry(t, nil)
	h, v, err := NewIn[enemy](r)
	if err != nil || *v != (enemy{}) {
		t.Fatalf("NewIn = %v, %v", v, err)
	}
	p, ok := Of[enemy](r)
	if w, found := p.Get(h); !ok || !found || w != v {
		t.Error("the object is not in the pool of its type")
	}
	if _, ok := Of[int](r); ok {
		t.Error("a type that was not registered has a pool")
	}
	if _, _, err := NewIn[int](r); !errors.Is(err, ErrUnregistered) || !strings.Contains(err.Error(), "int: call Register first") {
		t.Errorf("NewIn[int]: %v", err)
	}
	if _, err := Register[enemy](r, Config{}); err == nil || !strings.Contains(err.Error(), `it has a pool already, named "pool.enemy"`) {
		t.Errorf("registered twice: %v", err)
	}
	if _, err := Register[string](r, Config{}); err == nil || r.Len() != 2 {
		t.Errorf("Register[string]: %v, %d pools", err, r.Len())
	}
}

func TestRegistry_SumsAndIteratesInOrderWithoutAllocating(t *testing.T) {
	r := newRegistry(t, nil)
	for range 3 {
		NewIn[bullet](r) // the third is refused
	}
	if _, _, err := NewIn[enemy](r); err != nil {
		t.Fatal(err)
	}
	s := r.Stats()
	if s.Live != 3 || s.Failures != 1 || s.InUse != 2*8+32 {
		t.Errorf("sum %+v", s)
	}
	var names []string
	var sum memory.Stats
	for name, s := range r.All() {
		names = append(names, name)
		sum = sum.Add(s)
	}
	if !slices.Equal(names, []string{"pool.enemy", "bullets"}) || sum != s {
		t.Errorf("names %q, sum %+v", names, sum)
	}
	for range r.All() {
		break
	}
	live := uint64(0)
	if n := testing.AllocsPerRun(10, func() {
		live += r.Stats().Live
		for _, s := range r.All() {
			live += s.Live
		}
	}); n != 0 {
		t.Errorf("reading the books costs %v Go allocations", n)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegistry_ResetTrimAndCloseReachEveryPool(t *testing.T) {
	src := memtest.NewFaulty()
	r := newRegistry(t, src)
	a, _, _ := NewIn[enemy](r)
	b, _, _ := NewIn[bullet](r)
	r.Reset()
	enemies, _ := Of[enemy](r)
	bullets, _ := Of[bullet](r)
	if _, ok := enemies.Get(a); ok {
		t.Error("an enemy survived")
	}
	if _, ok := bullets.Get(b); ok {
		t.Error("a bullet survived")
	}
	src.FailReturns = true
	if err := r.Trim(); err == nil || !strings.Contains(err.Error(), "bullets: ") || !strings.Contains(err.Error(), "pool.enemy: ") {
		t.Errorf("Trim = %v", err)
	}
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "bullets: ") {
		t.Errorf("Close = %v", err)
	}
	src.FailReturns = false
	if err := r.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close = %v, %d reservations left", err, src.Reserved())
	}
	if _, err := Register[int](r, Config{}); err != memory.ErrClosed {
		t.Errorf("Register after Close: %v", err)
	}
	if _, _, err := NewIn[enemy](r); err != memory.ErrClosed {
		t.Errorf("NewIn after Close: %v", err)
	}
	if err := r.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim after Close: %v", err)
	}
	memtest.Misuse(t, r.Reset, "the registry is closed")
}
