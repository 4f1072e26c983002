package session

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/demo/goheap"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A Store selects the allocators of a game's blocks. Rules and hash are the same with each.
type Store uint8

// The stores. Stores is their number.
const (
	StoreTiers  Store = iota // the manager's tiers, off the Go heap; the manager paces the collector
	StoreGoHeap              // an object of the Go heap for each block; the collector finds and frees it
	StorePooled              // the Go heap with reuse: sync.Pool, and slices cut to [:0]
	Stores      = iota
)

var storeNames = [Stores]string{"tiers", "goheap", "pooled"}

// String returns the name that ParseStore accepts. It panics for an unknown store.
func (k Store) String() string { return storeNames[k] }

// StoreNames returns the names of all stores. The caller must not change the slice.
func StoreNames() []string { return storeNames[:] }

// ParseStore returns the store with this name. For any other name the error lists the allowed names.
func ParseStore(name string) (Store, error) {
	for i, n := range storeNames {
		if n == name {
			return Store(i), nil
		}
	}
	return 0, fmt.Errorf("%.40q is no memory; allowed are %s", name, strings.Join(storeNames[:], ", "))
}

// heap returns the allocator in place of the tiers, and whether scratch slices are reused; nil for the tiers.
func (k Store) heap() (a memory.Allocator, reuse bool) {
	switch k {
	case StoreGoHeap:
		return goheap.Plain{}, false
	case StorePooled:
		return new(goheap.Pooled), true
	}
	return nil, false
}

// realmMemory returns the allocator of a realm, whose blocks are valid until it ends. On the Go heap nothing is freed.
func (s *Session) realmMemory() memory.Allocator {
	if s.cfg.Store == StoreTiers {
		return s.tags.realm.Level()
	}
	return goheap.Plain{}
}

// tags attribute the memory that a Session allocates, beside that of the game.
type tags struct{ realm, assets *tiers.Tag }

func (t *tags) make(m *tiers.Manager) (err error) {
	if t.realm, err = m.Tag("realm"); err == nil {
		t.assets, err = m.Tag("assets")
	}
	return err
}

// A workerHeap is a worker's heap whose blocks count under a tag. Its statistics are those of all of the heap.
type workerHeap struct {
	*tiers.WorkerTag
	w *tiers.Worker
}

func (h workerHeap) Stats() memory.Stats { return h.w.Stats() }

// workerHeap returns the allocator of worker k.
func (s *Session) workerHeap(k int) memory.Allocator {
	if s.cfg.Store == StoreTiers {
		w := s.Mem.Worker(k)
		return workerHeap{w.Tag(s.tags.assets), w}
	}
	return s.cfg.Game.Heap
}

// drain frees the blocks in the inbox of worker k.
func (s *Session) drain(k int) {
	if s.cfg.Store == StoreTiers {
		s.Mem.Worker(k).Settle()
	}
}

// freeBlock frees a block of a worker.
func (s *Session) freeBlock(p unsafe.Pointer, size uintptr) {
	if s.cfg.Store == StoreTiers {
		s.Mem.Free(p, size)
		return
	}
	s.cfg.Game.Heap.Free(p, size)
}

// collect runs a collection during the fade into a realm, as a careful program does and a plain one does not.
func (s *Session) collect() {
	if s.cfg.Store != StoreGoHeap {
		s.Mem.Collect()
	}
}
