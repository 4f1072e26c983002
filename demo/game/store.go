package game

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

// A Store says what a game keeps its blocks in. The rules are the same in each, and so is the hash.
type Store uint8

// The stores.
const (
	StoreTiers  Store = iota // the manager's tiers, off the Go heap; the collector is paced by the manager
	StoreGoHeap              // an object of the Go heap for each block, for the collector to find and free
	StorePooled              // the Go heap with what is used again kept: sync.Pool, and slices cut to [:0]
	Stores      = iota
)

var storeNames = [Stores]string{"tiers", "goheap", "pooled"}

// String returns the name that ParseStore knows.
func (k Store) String() string { return storeNames[k] }

// StoreNames returns the names of all stores.
func StoreNames() []string { return storeNames[:] }

// ParseStore returns the store of a name. The error names those that there are.
func ParseStore(name string) (Store, error) {
	for i, n := range storeNames {
		if n == name {
			return Store(i), nil
		}
	}
	return 0, fmt.Errorf("%.40q is no memory; allowed are %s", name, strings.Join(storeNames[:], ", "))
}

// A store is the one place where a game gets memory. Everything that asks for a block asks here, so
// that no rule need know what it lies in.
//
//	             tiers                 goheap                     pooled
//	columns      tlsf in pools         an object a chunk          sync.Pool by size
//	lists        slab, by tag          an object a list           sync.Pool by size
//	scorch       large                 an object a sector         sync.Pool by size
//	scratch      frame arena           make, or append from nil   a slice each, cut to [:0]
//	fixed room   pools                 a slice each               a slice each
//	realm        level arena           objects                    objects
//	passes       static                one object                 one object
//	fields       worker's heap, large  objects                    sync.Pool
//	files        workers' heaps        objects                    sync.Pool by size
type store struct {
	kind   Store
	m      *tiers.Manager
	blocks memory.Allocator // of the Go heap; nil in tiers
	kept   kept             // of StorePooled
}

// kept are the slices that are used again in every tick.
type kept struct {
	begin  []int32
	spots  []spot
	crowds []crowd
	at     []vec
	who    []cell
	doom   []doom
	hits   []hit
}

func newStore(kind Store, m *tiers.Manager) store {
	s := store{kind: kind, m: m}
	switch kind {
	case StoreGoHeap:
		s.blocks = goHeap{}
	case StorePooled:
		s.blocks = &pooledHeap{}
	}
	return s
}

func (s *store) tiers() bool { return s.kind == StoreTiers }

// room is where what has a capacity lies: the index of entities, particles, pools, texts. On the Go heap
// that is a slice made once, as anybody would.
func (s *store) room() page.Source {
	if s.tiers() {
		return s.m.PoolSource()
	}
	return page.Heap()
}

// register has something reset at the level's end and closed at the manager's. What lies on the Go heap
// is in no tier's books.
func (s *store) register(name string, stats func() memory.Stats, reset func(), close func() error) {
	if !s.tiers() {
		stats = nil
	}
	s.m.AddFuncs(name, stats, reset, close)
}

// entities returns how many the index of entities has room for: as many as can be numbered in the tiers,
// where that costs address space only; on the Go heap as many as there may be.
func (s *store) entities(extra int) int {
	if s.tiers() {
		return 0
	}
	return 1<<17 + extra
}

// newPool makes a pool with room from the start.
func newPool[T any](s *store, cfg pool.Config) (*pool.Pool[T], error) {
	if s.tiers() {
		return tiers.NewPool[T](s.m, cfg)
	}
	p, err := pool.New[T](s.room(), cfg)
	if err == nil {
		s.register(cfg.Name, nil, p.Reset, p.Close)
	}
	return p, err
}

// list returns the allocator of a kind of list.
func (s *store) list(name string) (memory.Allocator, error) {
	if s.tiers() {
		return s.m.Tag(name)
	}
	return s.blocks, nil
}

// numbered returns the blocks of a kind of list that is known by number.
func (s *store) numbered(a memory.Allocator) blocks {
	b := blocks{a: a}
	if s.tiers() {
		b.base = s.m.Base()
	}
	return b
}

// large returns the allocator of large blocks.
func (s *store) large() memory.Allocator {
	if s.tiers() {
		return large{s.m}
	}
	return s.blocks
}

// level returns the allocator of what a realm has until it ends. On the Go heap nobody frees it.
func (s *store) level() memory.Allocator {
	if s.tiers() {
		return s.m.Level()
	}
	return goHeap{}
}

// levelSlice makes n zeroed values that are there until the realm ends.
func levelSlice[T any](s *store, t memory.Type[T], n int) ([]T, error) {
	if s.tiers() {
		return arena.MakeSliceIn(s.m.Level(), t, n)
	}
	return make([]T, n), nil
}

// scratch makes n values that are there until the tick ends. They are zero on the Go heap, whether
// anybody needs that or not, and whatever was there elsewhere. again is where StorePooled keeps them.
func scratch[T any](s *store, t memory.Type[T], again *[]T, n int) ([]T, error) {
	switch s.kind {
	case StoreGoHeap:
		return make([]T, n), nil
	case StorePooled:
		if cap(*again) < n {
			*again = make([]T, n+n/4)
		}
		return (*again)[:n], nil
	}
	return arena.MakeSliceUninit(s.m.Frame(), t, n)
}

// scratchZero is scratch with zeroes.
func scratchZero[T any](s *store, t memory.Type[T], again *[]T, n int) ([]T, error) {
	v, err := scratch(s, t, again, n)
	if s.kind != StoreGoHeap {
		clear(v)
	}
	return v, err
}

// scratchList begins a list of at most n values that is there until the tick ends. On the Go heap it
// begins without any: nobody would make room for 4,096 where there are three.
func scratchList[T any](s *store, t memory.Type[T], again *[]T, n int) ([]T, error) {
	if s.kind == StoreGoHeap {
		return nil, nil
	}
	v, err := scratch(s, t, again, n)
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

// undeclare ends them where the manager does not.
func (s *store) undeclare(a *plan.Arena) error {
	if s.tiers() || a == nil {
		return nil
	}
	return a.Close()
}

// flow starts what looks for the way to the player; nil without workers.
func (s *store) flow() *realm.Flow {
	k := s.m.Workers() - 1
	switch {
	case k < 0:
		return nil
	case s.tiers():
		return realm.NewFlow(s.m, k)
	}
	return realm.NewFlowIn(s.blocks)
}

// worker returns the allocator of what a worker makes from a file.
func (s *store) worker(k int) memory.Allocator {
	if s.tiers() {
		return s.m.Worker(k)
	}
	return s.blocks
}

// settle takes home what was a worker's.
func (s *store) settle(k int) {
	if s.tiers() {
		s.m.Worker(k).Settle()
	}
}

// free gives back what a worker has made.
func (s *store) free(p unsafe.Pointer, size uintptr) {
	if s.tiers() {
		s.m.Free(p, size)
		return
	}
	s.blocks.Free(p, size)
}

// collect runs a collection behind the fade into a realm, as a careful program does and a plain one does
// not.
func (s *store) collect() {
	if s.kind != StoreGoHeap {
		s.m.Collect()
	}
}
