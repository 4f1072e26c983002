package game

import (
	"math"
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

// A store allocates all of a game's memory: in the manager's tiers, or in Config.Heap. The rules do not
// depend on it.
//
//	             tiers                 Heap                       Heap and Reuse
//	columns      tlsf in pools         a block a chunk            the same
//	lists        slab                  a block a list             the same
//	scorch       large                 a block a sector           the same
//	scratch      frame arena           make, or append from nil   a slice each, cut to [:0]
//	fixed sizes  pools                 a slice each               the same
//	spawns       level arena           an object                  the same
//	passes       static                an object                  the same
//	fields       worker's heap, large  a block each               the same
//
// Of the tiers all but the passes count under tags.
type store struct {
	heap  memory.Allocator // nil: the tiers
	reuse bool
	m     *tiers.Manager
	tick  *tiers.Tag       // of the scratch of a tick
	kept  kept             // with reuse
	guard *guard.Allocator // of all lists; nil without Config.Guard
	begun uint64           // the guard's moment when the realm began

	poolsBudget, slabBudget uint64 // bytes of the tiers, when the realm began
	tight                   bool   // the slab tier has less than a quarter left, which is kept for mines, fires and lightning
}

// kept are the slices that are reused in every tick.
type kept struct {
	begin  []int32
	spots  []spot
	crowds []crowd
	at     []vec
	who    []cell
	doom   []doom
	hits   []hit
}

func (s *store) tiers() bool { return s.heap == nil }

// grows reports whether scratch lists start without capacity.
func (s *store) grows() bool { return s.heap != nil && !s.reuse }

// source is the backing of everything with a fixed capacity: the index of entities, particles, pools, texts. On the Go
// heap that is a slice made once.
func (s *store) source() page.Source {
	if s.tiers() {
		return s.m.PoolSource()
	}
	return page.Heap()
}

// register has something reset when the realm ends and closed by the manager. Its memory counts under a tag. The
// tiers' statistics exclude memory of the Go heap.
func (s *store) register(under, name string, stats func() memory.Stats, reset func(), close func() error) error {
	if !s.tiers() {
		s.m.AddPool(name, &tiers.Funcs{ResetFunc: reset, CloseFunc: close})
		return nil
	}
	tag, err := s.m.Tag(under)
	if err == nil {
		tag.AddPool(name, &tiers.Funcs{StatsFunc: stats, ResetFunc: reset, CloseFunc: close})
	}
	return err
}

// entities returns the capacity of the index of entities; 0 is the largest. In the tiers that costs address space
// only.
func (s *store) entities(extra int) int {
	if s.tiers() {
		return 0
	}
	return 1<<17 + extra
}

// newPool makes a pool of fixed capacity, which counts under a tag.
func newPool[T any](s *store, under string, cfg pool.Config) (*pool.Pool[T], error) {
	if s.tiers() {
		tag, err := s.m.Tag(under)
		if err != nil {
			return nil, err
		}
		return tiers.NewPoolIn[T](tag, cfg)
	}
	p, err := pool.New[T](s.source(), cfg)
	if err == nil {
		err = s.register(under, cfg.Name, nil, p.Reset, p.Close)
	}
	return p, err
}

// list returns the allocator of a kind of list, which counts under a tag of this name.
func (s *store) list(name string) (memory.Allocator, error) {
	switch {
	case s.guard != nil:
		return s.guard, nil
	case s.tiers():
		return s.m.Tag(name)
	}
	return s.heap, nil
}

// numbered returns the blocks of a kind of list whose blocks have numbers.
func (s *store) numbered(name string) (b blocks, err error) {
	b.a, err = s.list(name)
	if s.tiers() {
		b.base = s.m.Base()
	}
	return b, err
}

// large returns the allocator of blocks that no guard watches, which count under a tag of this name. Those above
// SlabMax come from the large tier.
func (s *store) large(name string) (memory.Allocator, error) {
	if s.tiers() {
		return s.m.Tag(name)
	}
	return s.heap, nil
}

// SlabMax is the value of tiers.Config.SlabMax for a game. With this value a scorched sector is a block of the large
// tier.
const SlabMax = scorchBytes / 2

// levelSlice makes n zeroed values in the level tier, which are valid until the realm ends.
func levelSlice[T any](s *store, name string, n int) ([]T, error) {
	if !s.tiers() {
		return make([]T, n), nil
	}
	tag, err := s.m.Tag(name)
	if err != nil {
		return nil, err
	}
	return memory.MakeSlice[T](tag.Level(), n)
}

// scratch makes n values that are valid until the tick ends. They are zero if they are new objects of the Go heap, and
// undefined otherwise. kept is the slice to reuse.
func scratch[T any](s *store, _ memory.Type[T], kept *[]T, n int) ([]T, error) {
	switch {
	case s.tiers():
		p, err := s.tick.Frame().Alloc(uintptr(n)*unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T)))
		if err != nil {
			return nil, err
		}
		return unsafe.Slice((*T)(p), n), nil
	case !s.reuse:
		return make([]T, n), nil
	}
	if cap(*kept) < n {
		*kept = make([]T, n+n/4)
	}
	return (*kept)[:n], nil
}

// listsRoom is what the frame arena keeps for the lists of a tick, which are short and matter more than the grid.
const listsRoom = 256 << 10

// entries returns how many entries of so many bytes the frame arena has space for, beside listsRoom. On the Go heap there
// is no limit.
func (s *store) entries(bytes uintptr) int {
	if !s.tiers() {
		return math.MaxInt
	}
	left := uintptr(s.m.Frame().Available())
	return int((left - min(left, listsRoom)) / bytes)
}

// look notes how full the slab tier is, once a tick.
func (s *store) look() {
	s.tight = s.tiers() && s.m.Stats(tiers.Slab).InUse > s.slabBudget/4*3
}

// crowded reports whether the pools tier has less than an eighth of its budget left, which is kept for shots, gifts and
// wardens.
func (s *store) crowded() bool {
	if !s.tiers() {
		return false
	}
	used, budget := s.m.Stats(tiers.Pools).Committed, s.poolsBudget
	return used > budget-budget/8
}

// scratchZero is scratch with zeroed values.
func scratchZero[T any](s *store, t memory.Type[T], kept *[]T, n int) ([]T, error) {
	v, err := scratch(s, t, kept, n)
	if !s.grows() {
		clear(v)
	}
	return v, err
}

// scratchList begins a list of at most n values that is valid until the tick ends. Without reuse it starts without
// capacity on the Go heap: a plain game would not reserve 4,096 entries for three.
func scratchList[T any](s *store, t memory.Type[T], kept *[]T, n int) ([]T, error) {
	if s.grows() {
		return nil, nil
	}
	v, err := scratch(s, t, kept, n)
	if err != nil {
		return nil, err
	}
	return v[:0:n], nil
}

// declare places the buffers of the frame's passes.
func (s *store) declare(p *plan.Plan) (*plan.Arena, error) {
	if s.tiers() {
		return s.m.Declare(p)
	}
	return plan.New(page.Heap(), p)
}

// undeclare ends them, unless the manager does.
func (s *store) undeclare(a *plan.Arena) error {
	if s.tiers() || a == nil {
		return nil
	}
	return a.Close()
}

// flow starts the worker that searches the paths to the player; nil without workers.
func (s *store) flow() (*realm.Flow, error) {
	k := s.m.Workers() - 1
	switch {
	case k < 0:
		return nil, nil
	case s.tiers():
		return realm.NewFlow(s.m, k)
	}
	return realm.NewFlowIn(s.heap), nil
}

// A general is the manager's general heap without its Close: a guard closes what it guards.
type general struct{ m *tiers.Manager }

func (g general) Alloc(size, align uintptr) (unsafe.Pointer, error) { return g.m.Alloc(size, align) }
func (g general) Free(p unsafe.Pointer, size uintptr)               { g.m.Free(p, size) }

// quarantine is how many bytes of freed blocks a guarded game keeps from reuse.
const quarantine = 64 << 10

// watch puts a guard around the lists, if wanted.
func (s *store) watch(guarded bool) (err error) {
	if guarded {
		s.guard, err = guard.New(general{s.m}, guard.Config{QuarantineBytes: quarantine})
	}
	return err
}

// begin notes the budget, and starts to count leaks.
func (s *store) begin() {
	var snap tiers.Snapshot
	s.m.Snapshot(&snap)
	s.poolsBudget, s.slabBudget = snap.Tiers[tiers.Pools].Budget, snap.Tiers[tiers.Slab].Budget
	if s.guard != nil {
		s.begun = s.guard.Now()
	}
}

// close returns what the guard has found.
func (s *store) close() error {
	if s.guard == nil {
		return nil
	}
	return s.guard.Close()
}

// Leaks returns the blocks of lists that the game has allocated in this realm and not freed, with call sites. Without
// Config.Guard it returns nil.
func (g *Game) Leaks() []guard.Leak {
	if g.store.guard == nil {
		return nil
	}
	return g.store.guard.LeaksSince(g.store.begun)
}
