package pool

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func newRegistry(t testing.TB, src page.Source) *Registry {
	t.Helper()
	r := NewRegistry(src)
	closeAtEnd(t, r.Close)
	if _, err := Register[enemy](r, Config{Capacity: 100}); err != nil {
		t.Fatal(err)
	}
	if _, err := Register[body](r, Config{Capacity: 2, Name: "bullets"}); err != nil {
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
	if _, ok := Of[particle](r); ok {
		t.Error("a type that was not registered has a pool")
	}
	if _, _, err := NewIn[particle](r); !errors.Is(err, ErrUnregistered) || !strings.Contains(err.Error(), "pool.particle: call Register first") {
		t.Errorf("NewIn[particle]: %v", err)
	}
	if _, err := Register[enemy](r, Config{}); err == nil || !strings.Contains(err.Error(), `it has one named "pool.enemy"`) {
		t.Errorf("registered twice: %v", err)
	}
	if _, err := Register[brainy](r, Config{}); err == nil || r.Len() != 2 {
		t.Errorf("Register[brainy]: %v, %d pools", err, r.Len())
	}
}

func TestRegistry_SumsAndIteratesInOrderWithoutAllocating(t *testing.T) {
	r := newRegistry(t, nil)
	for range 3 {
		NewIn[body](r) // the third is refused
	}
	if _, _, err := NewIn[enemy](r); err != nil {
		t.Fatal(err)
	}
	s := r.Stats()
	if s.Live != 3 || s.Failures != 1 || s.InUse != 2*16+uint64(unsafe.Sizeof(enemy{})) {
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
	if n := testenv.LeastObjects(11, func() {
		live += r.Stats().Live
		for _, s := range r.All() {
			live += s.Live
		}
	}); n != 0 {
		t.Errorf("reading the statistics costs %v Go allocations", n)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegistry_ResetTrimAndCloseReachEveryPool(t *testing.T) {
	src := memtest.NewFaulty()
	r := newRegistry(t, src)
	a, _, _ := NewIn[enemy](r)
	b, _, _ := NewIn[body](r)
	r.Reset()
	enemies, _ := Of[enemy](r)
	bullets, _ := Of[body](r)
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
	if _, err := Register[particle](r, Config{}); err != memory.ErrClosed {
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

func TestRegistry_FreesWhatItMade(t *testing.T) {
	r := newRegistry(t, nil)
	h, v, err := NewIn[enemy](r)
	if err != nil {
		t.Fatal(err)
	}
	v.ID = 1
	if !FreeIn(r, h) || FreeIn(r, h) || r.Stats().Live != 0 {
		t.Error("FreeIn must be true once")
	}
	if FreeIn(r, memory.Handle[enemy]{}) {
		t.Error("the zero handle was freed")
	}
	p, ok := Of[enemy](r) // held: no lookup
	g, _ := mustNew(t, p)
	if !ok || !FreeIn(r, g) || p.Len() != 0 {
		t.Error("the pool that Of returns is not the one of FreeIn")
	}
	mustCheck(t, r)
}

func TestRegistry_MisuseOfFreeIn(t *testing.T) {
	r, other := newRegistry(t, nil), newRegistry(t, nil)
	h, _, _ := NewIn[enemy](r)
	NewIn[enemy](other)
	if FreeIn(other, h) || other.Stats().Live != 1 || r.Stats().Live != 1 {
		t.Error("freed through the wrong registry")
	}
	memtest.Misuse(t, func() { FreeIn(r, memory.Handle[particle]{}) }, "pool.FreeIn: ", "type is not registered: pool.particle: call Register first")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if FreeIn(r, h) || FreeIn(r, memory.Handle[particle]{}) {
		t.Error("a closed registry freed something")
	}
	if _, _, err := NewIn[particle](r); err != memory.ErrClosed {
		t.Errorf("NewIn of a type without a pool after Close: %v", err)
	}
	if p, ok := Of[enemy](r); !ok || p.Cap() != 0 {
		t.Error("the pool of a closed registry is not closed")
	}
	mustCheck(t, r)
	mustCheck(t, other)
}

func TestRegistry_LeavesOutPoolsThatAreClosed(t *testing.T) {
	r := newRegistry(t, nil)
	h, _, _ := NewIn[body](r)
	enemies, _ := Of[enemy](r)
	if err := enemies.Close(); err != nil {
		t.Fatal(err)
	}
	r.Reset()
	if bullets, _ := Of[body](r); bullets.Len() != 0 || FreeIn(r, h) {
		t.Error("Reset stopped at a closed pool")
	}
	if err := r.Trim(); err != nil {
		t.Errorf("Trim: %v", err)
	}
	mustCheck(t, r)
	bullets, _ := Of[body](r)
	if err := bullets.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, r.Reset, "the registry is closed")
	if err := r.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim with all pools closed: %v", err)
	}
}

func TestRegistry_ZeroAndEmptyOnesWork(t *testing.T) {
	var r Registry
	r.Reset()
	if err := r.Trim(); err != nil {
		t.Error(err)
	}
	if _, ok := Of[particle](&r); ok || r.Len() != 0 {
		t.Error("an empty registry has a pool")
	}
	if _, _, err := NewIn[particle](&r); !errors.Is(err, ErrUnregistered) {
		t.Errorf("NewIn: %v", err)
	}
	if _, err := Register[particle](&r, Config{Capacity: 10}); err != nil {
		t.Fatal(err)
	}
	if _, v, err := NewIn[particle](&r); err != nil || *v != (particle{}) {
		t.Errorf("NewIn: %v", err)
	}
	mustCheck(t, &r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func TestRegistry_StaysOpenWhenMemoryCannotBeReturned(t *testing.T) {
	src := memtest.NewFaulty()
	r := newRegistry(t, src)
	NewIn[enemy](r)
	src.FailReturns = true
	if err := r.Close(); err == nil {
		t.Fatal("Close hid that the system kept the memory")
	}
	src.FailReturns = false
	if s := r.Stats(); s.Live != 0 || s.InUse != 0 {
		t.Errorf("the failed Close left the statistics %+v", s)
	}
	h, _, err := NewIn[enemy](r)
	if err != nil || !FreeIn(r, h) {
		t.Errorf("NewIn after a failed Close: %v", err)
	}
	if _, err := Register[particle](r, Config{Capacity: 1}); err != nil {
		t.Errorf("Register after a failed Close: %v", err)
	}
	mustCheck(t, r)
}

func TestRegistry_CheckNamesWhatIsCorrupt(t *testing.T) {
	r := newRegistry(t, nil)
	r.closed = true
	mustName(t, r, "the registry is closed, and pool pool.enemy is not", "pool bullets is not")
	r.closed = false
	r.pools = r.pools[:1]
	mustName(t, r, "2 types have a pool, there are 1 pools")
	r.pools = r.pools[:2]
	bullets, _ := Of[body](r)
	bullets.allocs++
	mustName(t, r, "bullets: pool: the generations count 0 allocations instead of 1")
	bullets.allocs--
	mustCheck(t, r)
}
